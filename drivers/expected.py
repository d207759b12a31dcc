"""expected-differences.txt: what is known to differ between direct and through the proxy, and why.

A line is `DRIVER | STEP | REASON`; `*` stands for any text in DRIVER and STEP (only `*` is special). After `mysql:` or
`mariadb:` a line holds for that server only. An entry that no longer differs is told as well, unless its reason begins with
`by chance`: then it may differ or not.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parent / "expected-differences.txt"


@dataclass
class Entry:
    """One line; `met` tells whether any step that was run has matched it."""

    line: int
    driver: str
    step: str
    reason: str
    met: bool = False

    def is_by_chance(self):
        return self.reason.startswith("by chance")

    def matches(self, driver, step):
        return glob(self.driver, driver) and glob(self.step, step)


def glob(pattern, text):
    """`*` is any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


class Expected:
    """The entries that hold for one kind of server."""

    def __init__(self, server, text):
        self.server, self.entries = server, []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            kind, _, rest = line.rpartition(": ") if re.match(r"(mysql|mariadb): ", line) is None else line.partition(": ")
            if kind not in ("mysql", "mariadb"):
                kind, rest = "", line
            parts = [part.strip() for part in rest.split(" | ")]
            if len(parts) != 3 or not all(parts):
                raise SystemExit(f"{FILE.name}:{number}: it must be DRIVER | STEP | REASON")
            if kind in ("", server):
                self.entries.append(Entry(number, *parts))

    def find(self, driver, step):
        """The first entry for it, which is met then; or None."""
        for entry in self.entries:
            if entry.matches(driver, step):
                entry.met = True
                return entry
        return None

    def unmet(self):
        """Entries that matched no step at all."""
        return [entry for entry in self.entries if not entry.met]
