"""Runs the own test suites of Django and SQLAlchemy directly and through the proxy, which caches as exact: each test must end the
same both ways, and most of their SELECTs must be judged cacheable.

Started by `drivers/run.sh orm`. What is judged, and how it is counted, stands in docs/orm.md.
"""

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "suites"), str(HERE.parent)]

from expected import Expected
from judged import Judged, became
from once import log_of, run, without_unsteady
from orms import ORMS, SCHEMAS
from programs import NotPrepared
from sources import HOME
from stage import DriverStage, base, root_of
from verdict import Verdict, test_itself

EXPECTED = HERE / "expected-differences.txt"
RUN_SECONDS_MAX = 1800
SOURCE_SECONDS_MAX = 30
SETTINGS = (
    "SET mysql-query_cache_type = 1",
    "SET mysql-query_digests_max_entries = 1000000",
    "LOAD MYSQL VARIABLES TO RUNTIME",
)


def main():
    arguments = parsed()
    test_itself()
    HOME.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    for server in arguments.servers:
        verdict = Verdict(Expected(server, EXPECTED.read_text()))
        for name in arguments.suites:
            in_front_of(server, ORMS[name], arguments, verdict)
        if not arguments.part and set(arguments.suites) == set(ORMS):
            for entry in verdict.expected.unmet():
                verdict.fail("all", f"{EXPECTED.name}:{entry.line}", f"no test is meant by it: {entry.driver} | {entry.step}")
        alike = verdict.passed - verdict.differing
        print(f"{server}: {alike} tests end alike, {verdict.differing} differ as {EXPECTED.name} says; {verdict.failed} failed")
        passed, failed = passed + verdict.passed, failed + verdict.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def parsed():
    parser = argparse.ArgumentParser(prog="drivers/run.sh orm", description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="of " + ", ".join(ORMS) + "; none is all")
    parser.add_argument("--server", choices=("mariadb", "mysql"), help="only this one, not both")
    parser.add_argument("--part", action="store_true", help="a good part of each suite, as CI does")
    arguments = parser.parse_args()
    if unknown := set(arguments.suites) - set(ORMS):
        parser.error(f"there is no suite {', '.join(sorted(unknown))}; there are {', '.join(ORMS)}")
    arguments.suites = arguments.suites or list(ORMS)
    arguments.servers = [arguments.server] if arguments.server else ["mariadb", "mysql"]
    return arguments


def in_front_of(server, orm, arguments, verdict):
    """The suite with a server of its own: each piece directly, then through the proxy."""
    try:
        orm.prepare()
    except NotPrepared as error:
        verdict.fail(orm.name, "made ready", *str(error).splitlines())
        return
    with DriverStage(server, root_of(server)) as stage:
        (stage.dir / "judged").mkdir()
        for sql in SETTINGS:
            stage.admin.rows(sql)
        if not base.holds(lambda: caches(stage), SOURCE_SECONDS_MAX):
            verdict.fail(orm.name, "the proxy caches as exact", str(explained(stage)))
        for piece in orm.pieces(arguments.part):
            direct = run_with_empty_schemas(stage, orm, piece, stage.direct, verdict)
            proxied = run_with_empty_schemas(stage, orm, asking(piece, stage), stage.proxy, verdict)
            verdict.compare(orm.name, *without_unsteady(orm, direct, proxied))
            print(f"-- {stage.server}, up to {piece.name}: {Judged(stage.dir / 'judged')}", flush=True)
        tell_what_was_judged(stage, orm, orm.percent_min, verdict)
        if stage.stop_proxy() != 0:
            verdict.fail("proxy", "it stops when told to", stage.log_end())


def run_with_empty_schemas(stage, orm, piece, way, verdict):
    """How each test ended that way. What is left of the run before goes through the proxy, which has to know of it."""
    for schema in SCHEMAS[orm.name]:
        stage.proxy.rows(f"DROP DATABASE IF EXISTS {schema}")
        stage.proxy.rows(f"CREATE DATABASE {schema}")
    tests, code = run(stage, piece, way, RUN_SECONDS_MAX)
    if not tests or code not in piece.ended:
        lines = log_of(stage, piece, way).read_text(errors="replace").splitlines()[-12:]
        verdict.fail(orm.name, f"the whole run of {piece.name}, {way.name}", f"exit status: {code}", *lines)
    counts = ", ".join(f"{count} {end}" for end, count in sorted(Counter(end for _, end in tests).items()))
    print(f"-- {stage.server}, {piece.name}, {way.name}: {counts}", flush=True)
    return tests


def explained(stage):
    return dict(stage.admin.rows(f"EXPLAIN CACHE FOR USER '{stage.direct.user}' SELECT 1"))


def caches(stage):
    told = explained(stage)
    return told["mode"].startswith("exact") and told.get("reads") == "no table"


def asking(piece, stage):
    """The piece, which also asks the proxy about each SELECT (see hook)."""
    judged = stage.dir / "judged"

    def start(way, dir):
        command, environment, where = piece.start(way, dir)
        asks = {"ORM_JUDGED": str(judged), "ORM_ADMIN_PORT": str(stage.admin.port)}
        path = f"{HERE}/hook:{environment['PYTHONPATH']}"
        return command, environment | asks | {"PYTHONPATH": path}, where

    return replace(piece, start=start)


def tell_what_was_judged(stage, orm, percent_min, verdict):
    """Prints it, and fails if too few SELECTs are judged cacheable."""
    judged = Judged(stage.dir / "judged")
    for line in [*judged.lines(), *became(stage)]:
        print(f"-- {stage.server}, {orm.name}: {line}", flush=True)
    name = f"at least {percent_min} % of its SELECTs are judged cacheable"
    if judged.percent >= percent_min:
        verdict.ok(orm.name, name)
    else:
        verdict.fail(orm.name, name, f"{judged.percent:.1f} % are")



main()
