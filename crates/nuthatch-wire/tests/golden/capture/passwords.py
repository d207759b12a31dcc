"""Answers to a server's nonce, written from the protocol's documents and not from the Rust that they check."""

import base64
import hashlib
import os


def answer(plugin, password, nonce):
    """What a client that knows `password` says to `nonce` by `plugin`; nothing for a plugin of the operating system."""
    if not password:
        return b""
    return {
        "mysql_native_password": native,
        "caching_sha2_password": sha2,
        "client_ed25519": ed25519,
    }[plugin](password.encode(), nonce)


def native(password, nonce):
    once = hashlib.sha1(password).digest()
    twice = hashlib.sha1(once).digest()
    return xor(once, hashlib.sha1(nonce + twice).digest())


def sha2(password, nonce):
    once = hashlib.sha256(password).digest()
    twice = hashlib.sha256(once).digest()
    return xor(once, hashlib.sha256(twice + nonce).digest())


def xor(one, other):
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def encrypted(password, nonce, pem):
    """The password for a server that has an RSA key: masked with the nonce, then OAEP with SHA-1 (RFC 8017, 7.1.1)."""
    modulus, exponent = rsa_key(pem)
    length = (modulus.bit_length() + 7) // 8
    clear = password.encode() + b"\0"
    message = bytes(byte ^ nonce[place % len(nonce)] for place, byte in enumerate(clear))
    digest = hashlib.sha1(b"").digest()
    block = digest + bytes(length - len(message) - 2 * len(digest) - 2) + b"\x01" + message
    seed = os.urandom(len(digest))
    masked = xor(block, mask(seed, len(block)))
    whole = b"\0" + xor(seed, mask(masked, len(seed))) + masked
    return pow(int.from_bytes(whole, "big"), exponent, modulus).to_bytes(length, "big")


def mask(seed, length):
    pieces = (hashlib.sha1(seed + number.to_bytes(4, "big")).digest() for number in range(length // 20 + 1))
    return b"".join(pieces)[:length]


def rsa_key(pem):
    """Modulus and exponent: the two integers at the end of a public key."""
    der = base64.b64decode(b"".join(line for line in pem.splitlines() if b"-----" not in line))
    body = value(der)[0]
    bits = value(value(body)[1])[0]
    modulus, rest = value(value(bits[1:])[0])
    return int.from_bytes(modulus, "big"), int.from_bytes(value(rest)[0], "big")


def value(der):
    """What the first element holds, and what follows it."""
    length, start = der[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[2:start], "big")
    return der[start : start + length], der[start + length :]


# Ed25519 (RFC 8032, 5.1), but for the seed, which is MariaDB's: the password itself, of any length.
FIELD = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, FIELD) % FIELD


def ed25519(password, nonce):
    halves = hashlib.sha512(password).digest()
    secret = int.from_bytes(halves[:32], "little") & (1 << 254) - 8 | 1 << 254
    public = encoded(times(secret, base_point()))
    chance = hashed(halves[32:] + nonce)
    point = encoded(times(chance, base_point()))
    proof = (chance + hashed(point + public + nonce) * secret) % ORDER
    return point + proof.to_bytes(32, "little")


def hashed(text):
    return int.from_bytes(hashlib.sha512(text).digest(), "little") % ORDER


def base_point():
    y = 4 * pow(5, -1, FIELD) % FIELD
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if (x * x - square) % FIELD:
        x = x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    return (FIELD - x if x & 1 else x), y


def plus(one, other):
    (a, b), (c, d) = one, other
    product = CURVE * a * b * c * d
    x = (a * d + b * c) * pow(1 + product, -1, FIELD)
    y = (b * d + a * c) * pow(1 - product, -1, FIELD)
    return x % FIELD, y % FIELD


def times(number, point):
    sum_ = (0, 1)
    while number:
        if number & 1:
            sum_ = plus(sum_, point)
        point = plus(point, point)
        number >>= 1
    return sum_


def encoded(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")
