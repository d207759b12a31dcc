"""Runs drivers' own test suites directly and through the proxy: each test must end the same both ways.

Started by `drivers/run.sh suites`. A test that fails both ways is the driver's affair, and only counted.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

from expected import Expected
from once import log_of, run, without_unsteady
from programs import NotPrepared
from sources import HOME
from stage import DriverStage, root_of
from suites import SCHEMAS, SUITES
from verdict import Verdict, test_itself

EXPECTED = HERE / "expected-differences.txt"
RUN_SECONDS_MAX = 300
SETTINGS = (
    # A test under TLS asks the server whether its connection is.
    "UPDATE mysql_servers SET use_ssl = 1",
    "LOAD MYSQL SERVERS TO RUNTIME",
    # Another opens 1000 transactions at once, while those before it keep asking.
    "SET mysql-connect_timeout_server_max = 60000",
    "LOAD MYSQL VARIABLES TO RUNTIME",
)


def main():
    arguments = parsed()
    test_itself()
    HOME.mkdir(parents=True, exist_ok=True)
    chosen = [suite for suite in SUITES if not arguments.suites or suite.name in arguments.suites]
    before = Verdict(Expected("", ""))
    ready = [suite for suite in chosen if is_prepared(suite, before)]
    passed, failed = before.passed, before.failed
    for server in arguments.servers:
        verdict = in_front_of(server, ready)
        if len(ready) == len(SUITES):
            for entry in verdict.expected.unmet():
                verdict.fail("all", f"{EXPECTED.name}:{entry.line}", f"no test is meant by it: {entry.driver} | {entry.step}")
        alike = verdict.passed - verdict.differing
        print(f"{server}: {alike} tests end alike, {verdict.differing} differ as {EXPECTED.name} says; {verdict.failed} failed")
        passed, failed = passed + verdict.passed, failed + verdict.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def parsed():
    names = [suite.name for suite in SUITES]
    parser = argparse.ArgumentParser(prog="drivers/run.sh suites", description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="of " + ", ".join(names) + "; none is all")
    parser.add_argument("--server", choices=("mariadb", "mysql"), help="only this one, not both")
    arguments = parser.parse_args()
    if unknown := set(arguments.suites) - set(names):
        parser.error(f"there is no suite {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    arguments.servers = [arguments.server] if arguments.server else ["mariadb", "mysql"]
    return arguments


def is_prepared(suite, verdict):
    try:
        suite.prepare()
    except NotPrepared as error:
        verdict.fail(suite.name, "made ready", *str(error).splitlines())
        return False
    return True


def in_front_of(server, ready):
    """All that are ready, with one kind of server."""
    verdict = Verdict(Expected(server, EXPECTED.read_text()))
    with DriverStage(server, root_of(server)) as stage:
        for sql in SETTINGS:
            stage.admin.rows(sql)
        for suite in ready:
            run_both(stage, suite, verdict)
        if stage.stop_proxy() != 0:
            verdict.fail("proxy", "it stops when told to", stage.log_end())
    return verdict


def run_both(stage, suite, verdict):
    """The suite directly, then through the proxy; its output stays in .cache."""
    seen = []
    for way in (stage.direct, stage.proxy):
        for schema in SCHEMAS:
            stage.fresh_schema(schema)
        tests, code = run(stage, suite, way, RUN_SECONDS_MAX)
        if not tests or code not in suite.ended:
            lines = log_of(stage, suite, way).read_text(errors="replace").splitlines()[-12:]
            verdict.fail(suite.name, f"the whole run, {way.name}", f"exit status: {code}", *lines)
        seen.append(tests)
        counts = ", ".join(f"{count} {end}" for end, count in sorted(Counter(end for _, end in tests).items()))
        print(f"-- {stage.server}, {suite.name}, {way.name}: {counts}", flush=True)
    verdict.compare(suite.name, *without_unsteady(suite, *seen))


main()
