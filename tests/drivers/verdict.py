"""The count of a suite's checks: one line for each, then `N passed, N failed`.

`same` runs a check directly and through the proxy and fails where they differ, so it needs no expectation of its own:
what the server says is right. A check that raises has failed. `Verdict.end` shows that the proxy was really passed, that
it held on to no connection, and that it logged no fault.

A suite's argument is a pattern: only the checks in whose names it is found are run.
"""

import difflib
import re
import sys
import time
import traceback

from stage import holds

SHOWN_CHARS_MAX = 4000


class Verdict:
    """Checks against one stage."""

    def __init__(self, stage, schema="t"):
        self.stage, self.schema = stage, schema
        self.passed = self.failed = 0
        self.wanted = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
        self._test_itself()
        self.questions_before = stage.statistic("Questions")

    def claim(self, name, check):
        """Passes if `check()` returns True; anything else that it returns is shown."""
        if not self.wanted.search(name):
            return
        started = time.monotonic()
        try:
            outcome = check()
        except Exception:  # a failed check must not hide the others
            outcome = traceback.format_exc()
        self._count(name, None if outcome is True else f"{outcome}", f"{time.monotonic() - started:.1f} s")

    def same(self, name, observe):
        """Passes if `observe(way)` returns the same directly and through the proxy, each in an empty schema."""
        if not self.wanted.search(name):
            return
        seen, seconds = zip(*(self._observe(observe, way) for way in (self.stage.direct, self.stage.proxy)))
        self._count(name, difference(*seen), "{:.1f} s, directly {:.1f} s".format(*reversed(seconds)))

    def _observe(self, observe, way):
        """What was seen, and the seconds that it took."""
        self.stage.fresh_schema(self.schema)
        started = time.monotonic()
        try:
            seen = observe(way)
        except Exception:
            # Never equal to another: a check that fails both ways has failed.
            seen = f"raised, {way.name}:\n{traceback.format_exc()}"
        return seen, time.monotonic() - started

    def _count(self, name, complaint, took):
        if complaint is None:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{'ok' if complaint is None else 'FAILED':6} {name} ({took})")
        if complaint is not None:
            print("       " + complaint[:SHOWN_CHARS_MAX].replace("\n", "\n       "))
        sys.stdout.flush()

    def _test_itself(self):
        """The comparison can fail."""
        assert difference([1, "a"], [1, "a"]) is None
        for one, other in (([1], [2]), ([1], ["1"]), ([b"a"], [b"a", b"b"]), (None, 0), (True, 1)):
            assert difference(one, other), (one, other)

    def end(self, questions_min):
        """Checks what any suite must leave behind, prints the sum; exits with 1 if something failed."""
        asked = self.stage.statistic("Questions") - self.questions_before
        if not self.wanted.pattern:
            self.claim(
                f"the proxy carried at least {questions_min} statements",
                lambda: asked >= questions_min or f"it carried {asked}",
            )
        self.wanted = re.compile("")
        self.claim(
            "no backend connection is held when all clients are gone",
            lambda: holds(lambda: self.stage.connections_in_use() == 0, 10) or self.stage.connections_in_use(),
        )
        self.claim("the proxy's log tells of no fault", self._log_is_clean)
        self.claim("the proxy stops when told to", lambda: self.stage.stop_proxy() == 0 or self.stage.log_end())
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)

    def _log_is_clean(self):
        faults = [
            line
            for line in self.stage.log.read_text(errors="replace").splitlines()
            if "panic" in line or " ERROR " in line
        ]
        return not faults or "\n".join(faults[:10])


def difference(direct, proxied):
    """None if both are the same, type by type; otherwise where they differ."""
    one, other = lines_of(direct), lines_of(proxied)
    if one == other:
        return None
    return "\n".join(difflib.unified_diff(one, other, "direct", "through the proxy", lineterm="", n=1))


def lines_of(value):
    """What was seen, in lines that show types; a text by its lines."""
    if isinstance(value, str):
        return value.splitlines()
    if isinstance(value, (list, tuple)):
        return [shortened(repr(item)) for item in value]
    return [shortened(repr(value))]


def shortened(text):
    """Long texts by their ends, length and hash."""
    if len(text) <= SHOWN_CHARS_MAX:
        return text
    return f"{text[:100]}... {len(text)} characters, hash {hash(text)} ...{text[-100:]}"
