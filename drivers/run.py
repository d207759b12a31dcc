"""Runs drivers directly and through the proxy, and compares what they print, step by step. Started by run.sh.

The schema is empty before each run. A program's line is `step<TAB>result`; what a result means is its own affair.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from expected import FILE, Expected
from programs import CACHE, NODE, PROGRAMS, NotPrepared
from stage import HERE, OTHER_USER, SCHEMA, DriverStage, base, root_of
from verdict import Verdict, test_itself
from wiretap import Wiretap

RUN_SECONDS_MAX = 180


def main():
    arguments = parsed()
    test_itself()
    chosen = [program for program in PROGRAMS if not arguments.drivers or program.name in arguments.drivers]
    ready, before = prepared(chosen)
    passed, failed = before.passed, before.failed
    verdicts = [in_front_of(server, arguments.root, ready) for server in arguments.servers]
    for verdict in verdicts:
        if len(ready) == len(PROGRAMS):
            for entry in verdict.expected.unmet():
                told = f"no step is meant by it: {entry.driver} | {entry.step}"
                verdict.fail("all", f"{FILE.name}:{entry.line}", told)
        alike, differing = verdict.passed - verdict.differing, verdict.differing
        print(f"{verdict.expected.server}: {alike} steps alike, {differing} differ as {FILE.name} says; {verdict.failed} failed")
        passed, failed = passed + verdict.passed, failed + verdict.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def in_front_of(server, root, ready):
    """All that are ready, with one kind of server."""
    verdict = Verdict(Expected(server, FILE.read_text()))
    with DriverStage(server, root_of(server, root)) as stage:
        print(f"== {server}: {stage.direct.rows('SELECT VERSION()')[0][0]}", flush=True)
        greetings = [[("version in the first greeting", greeting(way))] for way in (stage.direct, stage.proxy)]
        verdict.compare("proxy", *greetings)
        for program in ready:
            run_both(stage, program, verdict)
        check_the_proxy(stage, verdict)
    return verdict


def parsed():
    names = [program.name for program in PROGRAMS]
    parser = argparse.ArgumentParser(prog="drivers/run.sh", description=__doc__.splitlines()[0])
    parser.add_argument("drivers", nargs="*", metavar="DRIVER", help="of " + ", ".join(names) + "; none is all")
    parser.add_argument("--server", choices=("mariadb", "mysql"), help="only this one, not both")
    parser.add_argument("--root", type=Path, help="where it is unpacked (see tools/side-apt.sh), if it is another")
    arguments = parser.parse_args()
    if unknown := set(arguments.drivers) - set(names):
        parser.error(f"there is no driver {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if arguments.root and not arguments.server:
        parser.error("--root is of one server: say which by --server")
    arguments.servers = [arguments.server] if arguments.server else ["mariadb", "mysql"]
    return arguments


def prepared(chosen):
    """Those that are there to be run, and a verdict on each other one."""
    ready, outcome, verdict = [], {}, Verdict(Expected("", ""))
    for program in chosen:
        if program.prepare not in outcome:
            try:
                outcome[program.prepare] = program.prepare()
            except NotPrepared as error:
                outcome[program.prepare] = error
        if error := outcome[program.prepare]:
            verdict.fail(program.name, "made ready", *str(error).splitlines())
        else:
            ready.append(program)
    return ready, verdict


def run_both(stage, program, verdict):
    """The driver directly, then through the proxy."""
    seen, seconds = [], []
    for way in (stage.direct, stage.proxy):
        stage.fresh_schema(SCHEMA)
        started = time.monotonic()
        steps, trouble = run(stage, program, way)
        seconds.append(time.monotonic() - started)
        seen.append(steps)
        if trouble:
            verdict.fail(program.name, f"the whole run, {way.name}", *trouble)
    verdict.compare(program.name, *seen)
    print(f"-- {program.name}: {len(seen[0])} steps, {seconds[0]:.1f} s directly, {seconds[1]:.1f} s through the proxy", flush=True)


def run(stage, program, way):
    """The steps as (name, result), and why the run as a whole has failed, or None."""
    tls, compression = Wiretap(way.port), Wiretap(way.port)
    output, errors = stage.dir / "output", stage.dir / "errors"
    with output.open("wb") as out, errors.open("wb") as err:
        child = subprocess.Popen(
            program.command,
            env=os.environ | NODE | environment(stage, way, tls, compression),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=stage.dir,
            start_new_session=True,
        )
        try:
            code = child.wait(RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            code = f"none after {RUN_SECONDS_MAX} s"
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    steps = [tuple(line.partition("\t")[::2]) for line in output.read_text(errors="backslashreplace").split("\n") if line]
    for tap in (tls, compression):
        tap.close()
    steps += told_by_the_wire(tls, compression)
    if code == 0:
        return steps, None
    return steps, [f"exit status: {code}", *errors.read_text(errors="replace").splitlines()[-12:]]


def environment(stage, way, tls, compression):
    """What a program is told. Of TLS it may believe the one certificate."""
    return {
        "DB_HOST": "127.0.0.1",
        "DB_PORT": str(way.port),
        "DB_USER": way.user,
        "DB_PASSWORD": way.password,
        "DB_NAME": SCHEMA,
        "DB_OTHER_USER": OTHER_USER,
        "DB_OTHER_PASSWORD": stage.other_password,
        "DB_TLS_PORT": str(tls.port),
        "DB_COMPRESSION_PORT": str(compression.port),
        "DB_CA": str(stage.certificate),
        "DB_SERVER": stage.server,
        "DB_SCENARIO": str(HERE / "scenario"),
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }


def told_by_the_wire(tls, compression):
    """Two more steps, for drivers that have connected there: they fetch 1 MB by TLS and 4 MB compressed."""
    steps = []
    if tls.connections:
        steps.append(("TLS on the wire", "yes" if tls.encrypted else "no"))
    if compression.connections:
        # The greeting alone has some hundred bytes.
        answered = "yes" if compression.from_server < 1_000_000 else "no"
        steps.append(("compression on the wire", answered if compression.from_server > 2000 else "no answer"))
    return steps


def greeting(way):
    """The version that a server names before the login."""
    with socket.create_connection(("127.0.0.1", way.port)) as one:
        return one.recv(500)[5:].partition(b"\0")[0].decode()


def check_the_proxy(stage, verdict):
    """What any run must leave behind."""
    claims = {
        "no backend connection is held": lambda: base.holds(lambda: stage.connections_in_use() == 0, 10),
        "the log tells of no fault": lambda: not faults(stage),
        "it stops when told to": lambda: stage.stop_proxy() == 0,
    }
    for name, check in claims.items():
        if check():
            verdict.ok("proxy", name)
        else:
            verdict.fail("proxy", name, *faults(stage)[:5])


def faults(stage):
    lines = stage.log.read_text(errors="replace").splitlines()
    return [line for line in lines if "panic" in line or " ERROR " in line]


main()
