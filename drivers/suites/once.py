"""One run of a suite, one way; its output stays in .cache."""

import os
import signal
import subprocess

from sources import HOME


def without_unsteady(suite, direct, proxied):
    """Both without the tests that have failed directly only: they race with their own clock, which says nothing of the
    proxy. They are named."""
    ends = dict(proxied)
    unsteady = {name for name, end in direct if end == "failed" and ends.get(name) == "passed"}
    for name in sorted(unsteady):
        print(f"unsteady {suite.name}: {name} failed directly, passed through the proxy", flush=True)
    return [[one for one in tests if one[0] not in unsteady] for tests in (direct, proxied)]


def log_of(stage, suite, way):
    return HOME / f"{stage.server}-{suite.name}-{way.name}.log"


def run(stage, suite, way, seconds_max):
    """How each test ended, as (name, end), and the exit status."""
    command, environment, where = suite.start(way, stage.dir)
    log = log_of(stage, suite, way)
    with log.open("wb") as out:
        child = subprocess.Popen(
            command,
            env=os.environ | environment | {"TZ": "UTC", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=where,
            start_new_session=True,
        )
        try:
            child.wait(seconds_max)
        except subprocess.TimeoutExpired:
            out.write(f"\nstopped after {seconds_max} s\n".encode())
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    return suite.read(stage.dir, log.read_text(errors="replace")), child.returncode
