"""One file for one connection: every byte that went over it, each packet with its header, and what it was for."""

import itertools
import textwrap

LINE_BYTES = 32


class Recording:
    """A line `@ name value` is a fact, `=== text` begins a step, `C` and `S` a packet of the client and of the server,
    with its header, and `CZ` and `SZ` one of the compressed protocol. Payloads follow, indented, with their text behind
    `;`; `* n` says that the line before comes n times more."""

    def __init__(self, path, title):
        self.path, self.title = path, title
        self.facts, self.steps = {}, []

    def fact(self, name, value):
        self.facts[name] = value

    def step(self, text):
        self.steps.append(f"=== {' '.join(text.split())}")

    def note(self, text):
        self.steps.append(f"# {text}")

    def sent(self, packets, compressed=False):
        self._keep("C", packets, compressed)

    def came(self, packets, compressed=False):
        """Returns whether they ended where a packet does."""
        return self._keep("S", packets, compressed)

    def _keep(self, side, stream, compressed):
        header_len = 7 if compressed else 4
        while len(stream) >= header_len:
            end = header_len + int.from_bytes(stream[:3], "little")
            self.steps.append(f"{side}{'Z' * compressed} {stream[:header_len].hex()}")
            self.steps.extend(dump(stream[header_len:end]))
            if len(stream) < end:
                return False
            stream = stream[end:]
        return not stream

    def write(self):
        lines = [f"# {self.title}", "# Captured by capture.py: do not edit."]
        lines += [f"@ {name} {value}" for name, value in self.facts.items()]
        self.path.write_text("\n".join(lines + self.steps) + "\n")


def dump(payload):
    for line, again in itertools.groupby(lines_of(payload)):
        yield line
        more = len(list(again)) - 1
        if more:
            yield f"  * {more}"


def lines_of(payload):
    for start in range(0, len(payload), LINE_BYTES):
        piece = payload[start : start + LINE_BYTES]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in piece)
        groups = " ".join(textwrap.wrap(piece.hex(), 8))
        yield f"  {groups:<71} ; {text}"
