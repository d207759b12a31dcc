"""The suites: how each is fetched, told where to connect, and what its output means."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from typing import Callable

import sources
from sources import HOME

SCHEMAS = ("test1", "test2", "gotest", "test", "test_schema", "test_schema_2")


@dataclass(frozen=True)
class Suite:
    """`start(way, dir)` tells command, environment and directory for one run; `read(dir, output)` gives each test's name
    and how it ended."""

    name: str
    prepare: Callable
    start: Callable
    read: Callable
    # Exit statuses of a run that came to its end: all passed, or some test failed.
    ended: tuple = (0, 1)


# It dials an address of the Internet's, and ends the run where there is none.
GO_LEFT_OUT = {"TestConnectorReturnsTimeout"}


def go(way, _):
    environment = {
        "MYSQL_TEST_USER": way.user,
        "MYSQL_TEST_PASS": way.password,
        "MYSQL_TEST_ADDR": f"127.0.0.1:{way.port}",
        "MYSQL_TEST_DBNAME": "gotest",
        "MYSQL_TEST_CONCURRENT": "1",
    }
    home = HOME / "go"
    listed = subprocess.run(["./mysql.test", "-test.list=^Test"], cwd=home, capture_output=True, text=True, check=True)
    chosen = "|".join(name for name in listed.stdout.split() if name not in GO_LEFT_OUT)
    return ["./mysql.test", "-test.v", "-test.timeout=150s", f"-test.run=^({chosen})$"], environment, home


def go_tests(_, output):
    ends = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
    return [(name, ends[end]) for end, name in re.findall(r"^ *--- (PASS|FAIL|SKIP): (\S+)", output, re.M)]


def pytest(dir, *more):
    return [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={dir}/tests.xml", *more]


def pymysql(way, dir):
    account = {"host": "127.0.0.1", "port": way.port, "user": way.user, "password": way.password}
    first = account | {"database": "test1", "use_unicode": True, "local_infile": True}
    path = HOME / "pymysql/pymysql/tests/databases.json"
    path.write_text(json.dumps([first, account | {"database": "test2"}]))
    return pytest(dir, "pymysql"), {"PYTHONPATH": str(HOME / "pymysql")}, HOME / "pymysql"


def mysqlclient(way, dir):
    path = dir / "suite.cnf"
    path.touch(mode=0o600)
    settings = f"host=127.0.0.1\nport={way.port}\nuser={way.user}\npassword={way.password}\ndatabase=test\n"
    path.write_text(f"[MySQLdb-tests]\n{settings}default-character-set=utf8mb4\n")
    return pytest(dir, "tests"), {"TESTDB": str(path)}, HOME / "mysqlclient"


def sqlalchemy(way, dir):
    url = f"mysql+pymysql://{way.user}:{way.password}@127.0.0.1:{way.port}/test?charset=utf8mb4"
    # The tests of all dialects, and those of this one. The first begins with an empty schema.
    tests = ["test/dialect/test_suite.py", "test/dialect/mysql"]
    home = HOME / "sqlalchemy"
    return pytest(dir, "--maxfail=10000", "--dburi", url, *tests), {"PYTHONPATH": str(home / "lib")}, home


def mysql_async(way, _):
    # It would go on by the server's Unix socket, past the proxy.
    url = f"mysql://{way.user}:{way.password}@127.0.0.1:{way.port}/test?prefer_socket=false"
    # These two race with their own pool, and fail now and then directly.
    options = ["--test-threads=1", "--skip=should_reconnect", "--skip=check_absolute_connection_ttl"]
    return ["./mysql_async.test", *options], {"DATABASE_URL": url, "RUST_BACKTRACE": "0"}, HOME / "mysql_async"


def mysqli(way, dir):
    environment = {
        "MYSQL_TEST_HOST": "127.0.0.1",
        "MYSQL_TEST_PORT": str(way.port),
        "MYSQL_TEST_USER": way.user,
        "MYSQL_TEST_PASSWD": way.password,
        "MYSQL_TEST_DB": "test",
        "NO_INTERACTION": "1",
        "SKIP_ONLINE_TESTS": "1",
    }
    results = dir / "phpt"
    results.unlink(missing_ok=True)
    options = ["-P", "-q", "--set-timeout", "60", "-W", results, "ext/mysqli/tests"]
    return ["php", "run-tests.php", *options], environment, HOME / "php"


def phpt_tests(dir, _):
    ends = {"PASSED": "passed", "SKIPPED": "skipped"}
    lines = [line.split("\t") for line in (dir / "phpt").read_text().splitlines()]
    return [(path.rpartition("/")[2], ends.get(end, "failed")) for end, path in lines if path.endswith(".phpt")]


def dbd_mariadb(way, _):
    dsn = f"DBI:MariaDB:database=test;host=127.0.0.1;port={way.port}"
    return ["prove", "-v", "t"], {"DBI_DSN": dsn, "DBI_USER": way.user, "DBI_PASS": way.password}, HOME / "dbd-mariadb"


def tap_tests(_, output):
    """By file and number: what a test calls itself has addresses and thread numbers in it, in no order."""
    seen, file = [], ""
    for line in output.splitlines():
        if begun := re.match(r"(t/\S+\.t) \.+(?: (skipped))?", line):
            file = begun[1]
            seen += [(file, "skipped")] if begun[2] else []
        elif test := re.match(r"(not )?ok (\d+)(.*# skip)?", line):
            seen.append((f"{file} {test[2]}", "failed" if test[1] else "skipped" if test[3] else "passed"))
    return seen


def rust_tests(_, output):
    ends = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
    return [(name, ends[end]) for name, end in re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", output, re.M)]


def pytest_tests(dir, _):
    seen = []
    path = dir / "tests.xml"
    for case in xml.parse(path).iter("testcase") if path.exists() else ():
        marks = {child.tag for child in case}
        end = "failed" if marks & {"failure", "error"} else "skipped" if "skipped" in marks else "passed"
        seen.append((f"{case.get('classname')}.{case.get('name')}", end))
    return seen


SUITES = [
    Suite("go-sql-driver", sources.go, go, go_tests),
    Suite("pymysql", sources.pymysql, pymysql, pytest_tests),
    Suite("mysqlclient", sources.mysqlclient, mysqlclient, pytest_tests),
    Suite("sqlalchemy", sources.sqlalchemy, sqlalchemy, pytest_tests),
    Suite("mysqli", sources.php, mysqli, phpt_tests),
    Suite("dbd-mariadb", sources.dbd_mariadb, dbd_mariadb, tap_tests),
    Suite("mysql_async", sources.mysql_async, mysql_async, rust_tests, ended=(0, 101)),
]
