"""A client that keeps what it sends and gets, and understands of it as little as it can.

An answer is whatever comes until the server is silent: where it ends is not found by parsing, so what parses can be
checked against it.
"""

import contextlib
import socket
import struct
import zlib

from passwords import answer, encrypted

# Long for a server on this host that has nothing more to say, if it is not at work in between.
SILENCE_S = 0.25
ANSWER_S_MAX = 60

LONG_PASSWORD, FOUND_ROWS, LONG_FLAG, WITH_SCHEMA = 1, 2, 4, 8
COMPRESS, LOCAL_FILES, PROTOCOL_41, TRANSACTIONS = 1 << 5, 1 << 7, 1 << 9, 1 << 13
SECURE, MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS = 1 << 15, 1 << 16, 1 << 17, 1 << 18
PLUGIN_AUTH, ATTRIBUTES, LENENC_ANSWER = 1 << 19, 1 << 20, 1 << 21
SESSION_TRACK, DEPRECATE_EOF, OPTIONAL_METADATA = 1 << 23, 1 << 24, 1 << 25
ZSTD, QUERY_ATTRIBUTES = 1 << 26, 1 << 27
BASE = (
    LONG_PASSWORD | LONG_FLAG | WITH_SCHEMA | LOCAL_FILES | PROTOCOL_41 | TRANSACTIONS | SECURE | MULTI_STATEMENTS
    | MULTI_RESULTS | PS_MULTI_RESULTS | PLUGIN_AUTH | ATTRIBUTES | LENENC_ANSWER
)  # fmt: skip

# MariaDB's own, above the 32 bits.
PROGRESS, BULK, EXTENDED_TYPES, CACHE_METADATA, BULK_UNIT_RESULTS = 1, 4, 8, 16, 32

ZSTD_LEVEL = 3

# What stands behind is a closing NUL.
NONCE_BYTES = {"client_ed25519": 32}


def lenenc(number):
    for bound, marker, width in ((251, b"", 1), (1 << 16, b"\xfc", 2), (1 << 24, b"\xfd", 3)):
        if number < bound:
            return marker + number.to_bytes(width, "little")
    return b"\xfe" + number.to_bytes(8, "little")


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return lenenc(len(value)) + value


class Account:
    """Who logs in. `plugin` is the one that the client begins with, the greeting's if none."""

    def __init__(self, user, password="", plugin=None):
        self.user, self.password, self.plugin = user, password, plugin


class Client:
    """A connection whose bytes go to `recording`; `capabilities` come on top of what every client has."""

    def __init__(self, port, recording, capabilities=0, mariadb=0, schema="golden"):
        self.recording, self.schema = recording, schema
        self.capabilities, self.mariadb = BASE | capabilities, mariadb
        if mariadb:
            self.capabilities &= ~LONG_PASSWORD
        self.compressed = False
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S_MAX)
        self.nonce = self.server_plugin = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.recording.write()

    # One packet at a time: the login.

    def log_in(self, account):
        """The first byte of the server's last packet: 0 let us in, 255 did not."""
        self.recording.step("login")
        self.recording.fact("user", account.user)
        self.recording.fact("password", account.password)
        greeting = self.take()
        if greeting[0] == 0xFF:
            return 0xFF
        self.understand(greeting)
        plugin = account.plugin or self.server_plugin
        self.send(1, self.login(account, plugin))
        verdict = self.converse(account, plugin)
        in_force = self.capabilities & self.server_capabilities | self.capabilities & LONG_PASSWORD
        self.recording.fact("capabilities", f"0x{in_force:08x}")
        if self.mariadb:
            self.recording.fact("mariadb_capabilities", f"0x{self.mariadb & self.server_mariadb:08x}")
        self.compressed = verdict == 0 and bool(in_force & (COMPRESS | ZSTD))
        return verdict

    def understand(self, greeting):
        version, _, rest = greeting[1:].partition(b"\0")
        self.recording.fact("server", version.decode())
        low, high = struct.unpack("<H", rest[13:15])[0], struct.unpack("<H", rest[18:20])[0]
        self.server_capabilities = low | high << 16
        self.server_mariadb = struct.unpack("<I", rest[27:31])[0]
        self.id = struct.unpack("<I", rest[:4])[0]
        self.nonce = rest[4:12] + rest[31:43]
        self.server_plugin = rest[44:].rstrip(b"\0").decode()

    def login(self, account, plugin):
        capabilities = self.capabilities
        if self.schema is None:
            capabilities &= ~WITH_SCHEMA
        fixed = struct.pack("<IIB19xI", capabilities, 1 << 24, 45, self.mariadb)
        # A client that does not speak the greeting's plugin has no nonce for its own.
        proof = answer(plugin, account.password, self.nonce) if plugin == self.server_plugin else b""
        whole = fixed + account.user.encode() + b"\0" + text(proof)
        if self.schema is not None:
            whole += self.schema.encode() + b"\0"
        whole += plugin.encode() + b"\0" + text(text("program_name") + text("golden"))
        return whole + (bytes([ZSTD_LEVEL]) if capabilities & ZSTD else b"")

    def converse(self, account, plugin):
        while True:
            packet = self.take()
            if packet[0] in (0x00, 0xFF):
                return packet[0]
            if packet[0] == 0xFE:
                name, _, data = packet[1:].partition(b"\0")
                plugin = name.decode()
                self.nonce = data[: NONCE_BYTES.get(plugin, 20)]
                self.reply(answer(plugin, account.password, self.nonce))
            elif packet == b"\x01\x04":
                self.reply(b"\x02")
                self.reply(encrypted(account.password, self.nonce, self.take()[1:]))

    def take(self):
        header = self.exactly(4)
        payload = self.exactly(int.from_bytes(header[:3], "little"))
        self.recording.came(header + payload)
        self.last_sequence = header[3]
        return payload

    def exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError("the server has closed")
            data += piece
        return data

    def reply(self, payload):
        self.send(self.last_sequence + 1, payload)

    def send(self, sequence, payload, packs=None):
        packet = len(payload).to_bytes(3, "little") + bytes([sequence]) + payload
        if self.compressed:
            packed = zlib.compress(packet) if packs else packet
            plain_len = len(packet) if packs else 0
            packet = len(packed).to_bytes(3, "little") + bytes([0]) + plain_len.to_bytes(3, "little") + packed
        self.recording.sent(packet, self.compressed)
        self.socket.sendall(packet)

    # Whole answers: the commands.

    def command(self, label, payload, answers=True, packs=None, silence_s=SILENCE_S):
        """Sends it and keeps the answer, which is returned."""
        self.recording.step(label)
        self.send(0, payload, packs)
        return self.hear(silence_s) if answers else b""

    def query(self, sql, **how):
        return self.command(sql, b"\x03" + sql.encode(), **how)

    def hear(self, silence_s=SILENCE_S):
        """All that comes until the server is silent."""
        data = b""
        self.socket.settimeout(ANSWER_S_MAX)
        with contextlib.suppress(TimeoutError):
            while True:
                piece = self.socket.recv(1 << 16)
                if not piece:
                    break
                data += piece
                self.socket.settimeout(silence_s)
        self.socket.settimeout(ANSWER_S_MAX)
        if not data:
            self.recording.note("the server has closed")
        assert self.recording.came(data, self.compressed), "an answer ends inside a packet"
        return data

    def prepare(self, sql):
        """The statement's number."""
        return struct.unpack("<I", self.command(f"prepare: {sql}", b"\x16" + sql.encode())[5:9])[0]

    def execute(self, label, statement, *parameters, cursor=0, types=None):
        """`parameters` are `bytes`, as text, or `None`; others give their bytes and `types` themselves."""
        fixed = b"\x17" + struct.pack("<IBI", statement, cursor, 1)
        return self.command(f"execute: {label}", fixed + bound(parameters, types))

    def on(self, code, statement, more=b""):
        """A command's payload that begins with a statement's number."""
        return bytes([code]) + struct.pack("<I", statement) + more


def bound(parameters, types=None):
    if not parameters:
        return b""
    nulls = sum(1 << place for place, value in enumerate(parameters) if value is None)
    types = types or [0x0FD] * len(parameters)
    values = b"".join(
        text(value) if kind == 0xFD else value for value, kind in zip(parameters, types, strict=True) if value is not None
    )
    bitmap = nulls.to_bytes((len(parameters) + 7) // 8, "little")
    return bitmap + b"\x01" + struct.pack(f"<{len(types)}H", *types) + values
