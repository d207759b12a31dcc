"""Two runs of one driver, step by step: the same, expected to differ, or a failure."""

SHOWN_CHARS_MAX = 700


class Verdict:
    """The count over all drivers."""

    def __init__(self, expected):
        self.expected, self.passed, self.failed, self.differing = expected, 0, 0, 0

    def compare(self, driver, direct, proxied):
        """Judges each step of two runs, given as lists of (step, result)."""
        for step, one, other in pairs(direct, proxied):
            self._judge(driver, step, one, other)

    def _judge(self, driver, step, one, other):
        entry = self.expected.find(driver, step)
        if one is None:
            self.fail(driver, step, "the direct run has no such step; through the proxy: " + shortened(other))
        elif one.startswith("raised "):
            self.fail(driver, step, "the step itself is at fault, directly: " + shortened(one))
        elif one == other and entry and not entry.is_by_chance():
            self.fail(driver, step, f"it is expected to differ and no longer does ({entry.reason}); directly: " + shortened(one))
        elif one == other:
            self.ok(driver, step)
        elif other is None:
            self.fail(driver, f"{step} (not reached through the proxy)")
        elif entry:
            self.differing += 1
            self.ok(driver, f"{step} (differs as expected: {entry.reason})")
        else:
            self.fail(driver, step, *difference(one, other))

    def ok(self, driver, step):
        self.passed += 1
        print(f"ok {driver}: {step}", flush=True)

    def fail(self, driver, step, *lines):
        self.failed += 1
        print(f"FAILED {driver}: {step}", flush=True)
        for line in lines:
            print("       " + line, flush=True)


def pairs(direct, proxied):
    """Steps in the direct run's order, then those that only the other has; a missing result is None."""
    one, other = dict(direct), dict(proxied)
    if len(one) != len(direct) or len(other) != len(proxied):
        names = [name for name, _ in direct]
        raise SystemExit(f"a step's name is used twice: {sorted({name for name in names if names.count(name) > 1})}")
    for step in [*one, *(step for step in other if step not in one)]:
        yield step, one.get(step), other.get(step)


def difference(one, other):
    """Both lines, from shortly before the place where they part."""
    at = next((n for n, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    at = 0 if at < SHOWN_CHARS_MAX // 2 else at - SHOWN_CHARS_MAX // 4
    skipped = "..." if at else ""
    return "direct: " + skipped + shortened(one[at:]), "proxy:  " + skipped + shortened(other[at:])


def shortened(text):
    """The beginning of a long text."""
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[:SHOWN_CHARS_MAX]}... ({len(text)} characters)"


def test_itself():
    """The comparison can fail, in each of its ways."""
    from expected import Expected

    expected = Expected("mariadb", "a | TLS* | later\na | luck | by chance: as numbers fall\nmysql: a | ping | never\nmariadb: b | ping | here\n")
    cases = [
        ([("x", "1")], [("x", "1")], 0),
        ([("x", "1")], [("x", "2")], 1),
        ([("x", "1")], [], 1),
        ([], [("x", "1")], 1),
        ([("x", "raised E")], [("x", "raised E")], 1),
        ([("TLS", "1")], [("TLS", "2")], 0),
        ([("TLS 1", "1")], [("TLS 1", "1")], 1),
        ([("luck", "1")], [("luck", "1")], 0),
        ([("luck", "1")], [("luck", "2")], 0),
        ([("ping", "1")], [("ping", "2")], 1),
    ]

    class Silent(Verdict):
        def ok(self, *_):
            self.passed += 1

        def fail(self, *_):
            self.failed += 1

    for direct, proxied, failed in cases:
        verdict = Silent(expected)
        verdict.compare("a", direct, proxied)
        assert verdict.failed == failed, (direct, proxied)
    assert [entry.driver for entry in expected.unmet()] == ["b"]
