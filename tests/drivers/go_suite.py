"""Go's database/sql with go-sql-driver through the proxy, compared with itself past it. The observer is in go/."""

import functools
import os
import subprocess
from pathlib import Path

from stage import Stage
from verdict import Verdict

SOURCES = Path(__file__).resolve().parent / "go"
SECONDS_MAX = 40


def built(stage):
    """The observer; the module is fetched if it is not there, and go.sum holds its hash."""
    program = stage.dir / "observer"
    subprocess.run(["go", "build", "-buildvcs=false", "-o", program, "."], cwd=SOURCES, check=True)
    return program


def observe(program, name, way):
    """What a check printed, after its exit status."""
    environment = os.environ | {
        "OBSERVE_ADDRESS": f"127.0.0.1:{way.port}",
        "OBSERVE_USER": way.user,
        "OBSERVE_PASSWORD": way.password,
    }
    done = subprocess.run(
        [program, name],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    if done.returncode or not done.stdout:
        raise RuntimeError(done.stderr.decode(errors="replace") or "it printed nothing")
    return done.stdout.decode(errors="backslashreplace")


def cached(stage, program):
    """Under a rule that asks to cache them, prepared statements look the same."""
    stage.set_rules({"match_digest": "^SELECT @@sql_mode", "cache_ttl": 60000})
    name = "variables of the DSN"
    stage.fresh_schema()
    before = stage.statistic("Query_Cache_count_GET")
    truth = observe(program, name, stage.direct)
    seen = [observe(program, name, stage.proxy) for _ in range(2)]
    looked = stage.statistic("Query_Cache_count_GET") - before
    stage.set_rules()
    return seen == [truth] * 2 or (looked, truth, seen)


def second_select_is_a_hit(stage, program):
    """Text statements without parameters, from two processes."""
    stage.set_rules({"match_digest": "^SELECT v FROM a$", "cache_ttl": 60000})
    name = "several statements in one"
    stage.fresh_schema()
    truth = observe(program, name, stage.direct)
    stage.fresh_schema()
    seen = observe(program, name, stage.proxy)
    before = stage.statistic("Query_Cache_count_GET_OK")
    rows = [stage.proxy.rows("SELECT v FROM a", database="t") for _ in range(2)]
    hits = stage.statistic("Query_Cache_count_GET_OK") - before
    stage.set_rules()
    return (seen == truth and hits >= 1 and rows[0] == rows[1]) or (hits, rows, truth, seen)


with Stage() as stage:
    verdict = Verdict(stage)
    program = built(stage)
    names = subprocess.run([program, "list"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    for name in names:
        verdict.same(name, functools.partial(observe, program, name))
    verdict.claim("prepared statements under a cache rule give the same", functools.partial(cached, stage, program))
    verdict.claim("a second SELECT is a hit", functools.partial(second_select_is_a_hit, stage, program))
    verdict.end(questions_min=1000)
