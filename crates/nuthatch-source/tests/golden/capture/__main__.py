"""Captures event streams of real servers:

    python3 -B crates/nuthatch-source/tests/golden/capture [SERVER...]

SERVER is a folder of `golden/`: `mariadb-10.11` is Debian's; for the others, `make test-servers` first. Nothing but
Python's standard library is needed. UUIDs, times and thread ids stay as they came.
"""

import os
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent
CRATES = GOLDEN.parent.parent.parent
# The client is the one that the golden answers are captured with.
sys.path.append(str(CRATES / "nuthatch-wire/tests/golden/capture"))

import scenarios  # noqa: E402
import server  # noqa: E402

SERVERS = CRATES.parent / os.environ.get("CARGO_TARGET_DIR", "target") / "servers"
CHOICES = {
    "mariadb-10.11": ("mariadb", "/"),
    "mariadb-11.8": ("mariadb", SERVERS / "mariadb"),
    "mysql-9.7": ("mysql", SERVERS / "mysql"),
}


def capture(folder):
    kind, root = CHOICES[folder]
    (GOLDEN / folder).mkdir(exist_ok=True)
    for old in (GOLDEN / folder).glob("*.events"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="golden-") as scratch, server.running(kind, root, scratch) as port:
        for scenario in scenarios.all_of(kind):
            print(f"{folder}: {scenario.__name__}", flush=True)
            stage = scenarios.Stage(kind, port, Path(scratch) / "data")
            scenario(stage)
            write(GOLDEN / folder / f"{scenario.__name__}.events", stage)


def write(path, stage):
    lines = [f"# {stage.version}", *stage.lines, *(event.hex() for event in stage.events)]
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for choice in sys.argv[1:] or CHOICES:
        capture(choice)
