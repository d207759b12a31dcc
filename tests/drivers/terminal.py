"""A program on a terminal of its own, to which lines are typed when it has shown what they answer."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

ESCAPES = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])")


class Terminal:
    """Ends the program when the `with` block does."""

    def __init__(self, command, environment, seconds_max=30):
        self.seconds_max, self.shown, self.seen_bytes = seconds_max, b"", 0
        self.here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.program = subprocess.Popen(
            command, stdin=there, stdout=there, stderr=there, env=environment, start_new_session=True
        )
        os.close(there)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
        os.close(self.here)

    def expect(self, text):
        """The program has shown the text, behind what was expected before."""
        deadline = time.monotonic() + self.seconds_max
        while True:
            place = self.shown.find(text.encode(), self.seen_bytes)
            if place >= 0:
                self.seen_bytes = place + len(text.encode())
                return
            if not select.select([self.here], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"{text!r} was not shown; this was: {self.shown.decode(errors='replace')}")
            self._read(text)

    def _read(self, text):
        try:
            more = os.read(self.here, 65536)
        except OSError:  # what Linux says when the other side is closed
            raise EOFError(f"it ended before it showed {text!r}: {self.shown.decode(errors='replace')}") from None
        self.shown = ESCAPES.sub(b"", self.shown + more)

    def type(self, line):
        os.write(self.here, line.encode() + b"\r")

    def ends(self):
        """Its exit status, once it has ended by itself; what it still shows is read."""
        deadline = time.monotonic() + self.seconds_max
        while self.program.poll() is None and time.monotonic() < deadline:
            if select.select([self.here], [], [], 0.05)[0]:
                try:
                    self.shown += os.read(self.here, 65536)
                except OSError:
                    break
        return self.program.wait(max(0.1, deadline - time.monotonic()))
