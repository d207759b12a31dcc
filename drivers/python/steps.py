"""How a step is run and printed: one line each, `name<TAB>result`, the result without tabs or line ends.

What a server refuses is part of a result (`refused`). Anything else that is raised makes the result begin with
`raised `, which the runner takes for a failure, wherever it was.
"""

import hashlib
import os
import sys
import time
import traceback
from pathlib import Path

SCENARIO = Path(os.environ["DB_SCENARIO"])
BIG_BYTES = 20 << 20
SEEN_SECONDS_MAX = 10


def types():
    """Each type with its lowest and its highest value, as SQL."""
    return [line.split("\t") for line in (SCENARIO / "types.tsv").read_text().splitlines()]


def erring_statements():
    """Statements that a server refuses; they expect the table `e`."""
    return (SCENARIO / "errors.sql").read_text().splitlines()


def step(name, run, own_faults=()):
    """Prints what `run()` returns."""
    try:
        result = run()
    except Exception as error:  # one step must not hide the others
        trace = traceback.extract_tb(error.__traceback__)[1:][:1]
        place = f" at line {trace[0].lineno}" if trace else ""
        begin = "the driver itself raises" if name in own_faults else "raised"
        result = f"{begin} {type(error).__name__}: {error}{place}"
    text = result if isinstance(result, str) else repr(result)
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    sys.stdout.buffer.write(f"{name}\t{text}\n".encode(errors="backslashreplace"))
    sys.stdout.flush()


def digest(data):
    """A long value by its length and hash."""
    raw = data.encode() if isinstance(data, str) else bytes(data)
    return f"{len(raw)} bytes, {hashlib.md5(raw).hexdigest()}"


def wait_until(condition):
    """Polls for a state that comes soon."""
    deadline = time.monotonic() + SEEN_SECONDS_MAX
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not come true")
        time.sleep(0.02)
