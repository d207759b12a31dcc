"""Runs the main suite of MariaDB's own tests (mtr) through the proxy with its exact cache on: what passes directly must pass.

Each test is run by Debian's `mariadb-test`, which `mysql-test-run --extern` would run too. That one restores nothing between tests on
a server that is not its own, so that after one failure most others fail; here each begins with an empty `test`.

Tests that want a server with options of their own are left out, as they are by `--extern`. How each ended stands in target/mtr, and a
run that was interrupted goes on where it was: directly for the packages at hand, through the proxy for the program at hand.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pymysql

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent.parent / "tests/drivers"), str(HERE.parent)]

from expected import Expected
from stage import SOURCES, Stage, holds

EXPECTED = HERE / "expected-differences.txt"
HOME = Path(os.environ.get("CARGO_TARGET_DIR", SOURCES / "target")).resolve() / "mtr"
TREE = HOME / "tree"
SUITE = TREE / "usr/share/mysql/mysql-test"
LOGS = HOME / "logs"
PACKAGES = ("mariadb-test", "mariadb-test-data", "mariadb-client-core", "mariadb-client", "mariadb-server", "mariadb-server-core",
            "libpcre2-posix3", "libnuma1", "liburing2", "libaio1")
TEST_SECONDS_MAX = 30
LOOK_SECONDS_MAX = 30
SKIPPED = 62
OF_THE_SERVER = ("information_schema", "mysql", "performance_schema", "sys", "mtr")

# As mysql-test-run has its servers, as far as it can be set while one runs.
SERVER = (
    "SET GLOBAL character_set_server = latin1, collation_server = latin1_swedish_ci",
    "SET GLOBAL default_storage_engine = MyISAM",
    "SET GLOBAL local_infile = 1, log_bin_trust_function_creators = 1",
    "CREATE USER root@127.0.0.1",
    "GRANT ALL PRIVILEGES ON *.* TO root@127.0.0.1 WITH GRANT OPTION",
    "CREATE DATABASE mtr",
    "CREATE PROCEDURE mtr.add_suppression(pattern TEXT) DO 1",
)
PROXY = (
    "INSERT INTO mysql_users (username, password) VALUES ('root', '')",
    "LOAD MYSQL USERS TO RUNTIME",
    "SET mysql-query_cache_type = 1",
    "SET mysql-enable_load_data_local_infile = 'true'",
    "LOAD MYSQL VARIABLES TO RUNTIME",
)


def main():
    arguments = parsed()
    subprocess.run([SOURCES / "tools/unpack.sh", TREE, *PACKAGES], check=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    tests = [test for test in all_tests() if not arguments.tests or test in arguments.tests]
    expected = Expected("mariadb", EXPECTED.read_text())
    with Server() as server:
        direct = run_all(server, "direct", tests, Ends(HOME / "direct.txt"))
        passing = [test for test in tests if direct[test] == "pass"]
        print(f"-- {len(passing)} of {len(tests)} tests pass directly", flush=True)
        proxied = run_all(server, "proxy", passing, Ends(HOME / f"proxied-{server.program()}.txt", arguments.tests))
        failed = judge(server, passing, proxied, expected)
        server.tell_of_cache()
    if not arguments.tests:
        for entry in expected.unmet():
            failed += 1
            print(f"FAILED {EXPECTED.name}:{entry.line}: it is not so any more: {entry.step}")
    print(f"{len(passing) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not passing else 0)


def parsed():
    parser = argparse.ArgumentParser(prog="make mtr", description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", metavar="TEST", help="of the main suite; none is all. Those that are named go through the proxy again")
    return parser.parse_args()


def all_tests():
    """Those that need no server of their own."""
    own = {path.name.split(".")[0].removesuffix("-master").removesuffix("-slave")
           for kind in ("opt", "cnf", "combinations", "sh") for path in (SUITE / "main").glob(f"*.{kind}")}
    return sorted(path.stem for path in (SUITE / "main").glob("*.test") if path.stem not in own and path.with_suffix(".result").exists())


class Server:
    """The stage, made anew when a test has left a server that lets nobody in."""

    def __enter__(self):
        self._begin()
        return self

    def __exit__(self, *_):
        self.stage.__exit__()

    def _begin(self):
        self.stage = Stage()
        self.stage.__enter__()
        for sql in SERVER:
            self.stage.direct.rows(sql)
        for sql in PROXY:
            self.stage.admin.rows(sql)
        asked = f"EXPLAIN CACHE FOR USER '{self.stage.direct.user}' SELECT 1"
        if not holds(lambda: dict(self.stage.admin.rows(asked))["mode"].startswith("exact"), LOOK_SECONDS_MAX):
            sys.exit("the proxy does not cache as exact")
        self.usual = dict(self.stage.direct.rows("SHOW GLOBAL VARIABLES"))
        self.own = own_tables(self.stage)

    def program(self):
        return hashlib.sha256(self.stage.program.read_bytes()).hexdigest()[:12]

    def run(self, way, test):
        """How the test ends: pass, fail, skipped or slow. Its output stays in the logs."""
        try:
            empty(getattr(self.stage, way))
        except pymysql.MySQLError as error:
            self._begin_anew(error)
            empty(getattr(self.stage, way))
        end = run(self.stage, getattr(self.stage, way), test)
        if end in ("fail", "slow"):
            self._restore(test)
        return end

    def _restore(self, test):
        """Puts back the globals that a test which failed has left; if it has left its mark on the server's own tables, there is a new one."""
        try:
            restore(self.stage, self.usual)
            if own_tables(self.stage) != self.own:
                self._begin_anew(f"{test} has changed its tables")
        except pymysql.MySQLError as error:
            self._begin_anew(error)

    def _begin_anew(self, why):
        print(f"-- a new server, as this one is in no state to go on: {why}", flush=True)
        self.stage.__exit__()
        self._begin()

    def tell_of_cache(self):
        counters = dict(self.stage.admin.rows("SELECT Variable_Name, Variable_Value FROM stats_mysql_global"))
        print(f"-- cache: {counters['Query_Cache_count_GET_OK']} hits of {counters['Query_Cache_count_GET']} look-ups")


class Ends:
    """How tests ended, on disk as soon as it is known."""

    def __init__(self, path, anew=()):
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.known = {test: end for test, end in (line.split() for line in lines) if test not in anew}

    def add(self, test, end):
        self.known[test] = end
        with self.path.open("a") as file:
            file.write(f"{test} {end}\n")


def run_all(server, way, tests, ends):
    began = time.monotonic()
    for number, test in enumerate(tests):
        if test not in ends.known:
            ends.add(test, server.run(way, test))
        if number % 50 == 49:
            print(f"-- {way}: {number + 1} of {len(tests)} tests, {time.monotonic() - began:.0f} s", flush=True)
    return ends.known


def run(stage, way, test):
    var = stage.dir / "var"
    for name in ("tmp", "run"):
        (var / name).mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{test}.{way.name}"
    with log.open("wb") as output:
        try:
            done = subprocess.run(command(way, test, var), cwd=SUITE, env=environment(way, var), stdin=subprocess.DEVNULL,
                                  stdout=output, stderr=output, timeout=TEST_SECONDS_MAX, check=False)
            end = {0: "pass", SKIPPED: "skipped"}.get(done.returncode, "fail")
        except subprocess.TimeoutExpired:
            end = "slow"
    if end == "pass":
        log.unlink()
    return end


def command(way, test, var):
    return [TREE / "usr/bin/mariadb-test", *connecting(way), "--silent", "--database=test", f"--basedir={SUITE}/",
            f"--tmpdir={var}/tmp", f"--logdir={var}", f"--test-file=main/{test}.test", f"--result-file=main/{test}.result"]


def connecting(way):
    return ["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={way.port}", "--user=root",
            "--character-sets-dir=/usr/share/mysql/charsets"]


def environment(way, var):
    """What tests ask of mysql-test-run."""
    tools = {"MYSQL": "mariadb", "MYSQL_DUMP": "mariadb-dump", "MYSQLADMIN": "mariadb-admin", "MYSQL_CHECK": "mariadb-check",
             "MYSQL_IMPORT": "mariadb-import", "MYSQL_SHOW": "mariadb-show", "MYSQL_SLAP": "mariadb-slap"}
    told = {name: " ".join([str(TREE / "usr/bin" / tool), *connecting(way)]) for name, tool in tools.items()}
    libraries = next((TREE / "usr/lib").glob("*-linux-gnu"))
    told |= {"MYSQL_TEST_DIR": SUITE, "MYSQLTEST_VARDIR": var, "MYSQL_TMP_DIR": var / "tmp", "MASTER_MYPORT": way.port,
             "MYSQL_TEST_ROOT": "1", "USE_RUNNING_SERVER": "1", "DEFAULT_MASTER_PORT": "3306", "MTR_MIXED": "0",
             "LD_LIBRARY_PATH": libraries, "LC_ALL": "C", "TZ": "UTC"}
    return os.environ | {name: str(value) for name, value in told.items()}


def empty(way):
    """Nothing is left of the test before. What is dropped goes the same way, as the proxy has to know of it."""
    with way.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW DATABASES")
        for (schema,) in cursor.fetchall():
            if schema not in OF_THE_SERVER:
                cursor.execute(f"DROP DATABASE `{schema.replace('`', '``')}`")
        cursor.execute("CREATE DATABASE test CHARACTER SET latin1")


def restore(stage, usual):
    with stage.direct.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        for name, value in cursor.fetchall():
            if usual.get(name, value) != value and not name.startswith("gtid_"):
                try:
                    cursor.execute(f"SET GLOBAL {name} = %s", (int(usual[name]) if usual[name].isdigit() else usual[name],))
                except pymysql.MySQLError as error:
                    print(f"-- {name} stays: {error}", flush=True)


def own_tables(stage):
    """What is in the schema `mysql`: its columns, and how many accounts, routines and the like."""
    columns = ("SELECT table_name, COUNT(*), SUM(CRC32(CONCAT(ordinal_position, column_name, column_type, COALESCE(collation_name, ''))))"
               " FROM information_schema.columns WHERE table_schema = 'mysql' GROUP BY 1 ORDER BY 1")
    counted = ("global_priv", "db", "tables_priv", "columns_priv", "procs_priv", "proxies_priv", "roles_mapping", "proc", "event",
               "func", "plugin", "servers")
    counts = " UNION ALL ".join(f"SELECT '{name}', COUNT(*) FROM mysql.{name}" for name in counted)
    return stage.direct.rows(columns), stage.direct.rows(counts)


def judge(server, passing, proxied, expected):
    """How many fail through the proxy that are not expected to; who does is tried once more, both ways."""
    failed = 0
    for test in passing:
        entry = expected.find("main", test)
        if proxied[test] == "pass":
            if entry and not entry.reason.startswith("sometimes: "):
                failed += 1
                print(f"FAILED {test}: it is expected to fail and no longer does ({entry.reason})")
            continue
        if entry:
            print(f"ok {test}: fails as expected: {entry.reason}")
            continue
        again = server.run("proxy", test), server.run("direct", test)
        if again != ("fail", "pass") and again != ("slow", "pass"):
            print(f"ok {test}: it is unsteady: {proxied[test]}, then {again[0]} through the proxy, {again[1]} directly")
            continue
        failed += 1
        print(f"FAILED {test}: {again[0]} through the proxy")
        for line in (LOGS / f"{test}.proxy").read_text(errors="replace").splitlines()[:25]:
            print("       " + line[:200])
    return failed


main()
