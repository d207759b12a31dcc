"""A real server and the proxy in front of it, for one suite: both gone when the `with` block ends, whatever ended it.

The server is `nuthatch lab up` in a scratch directory below the build directory, on a free port; the proxy is
`nuthatch serve` on free ports and a Unix socket. The program under test is named by $NUTHATCH.
Passwords stand in files and in memory, never on a command line.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pymysql

SOURCES = Path(__file__).resolve().parent.parent.parent
ACCEPT_SECONDS_MAX = 30
STOP_SECONDS_MAX = 40


@dataclass(frozen=True)
class Way:
    """Where a client connects, and as whom."""

    name: str
    port: int
    user: str
    password: str = field(repr=False)
    option_file: Path

    def connect(self, **more):
        """A PyMySQL connection, with autocommit on unless told otherwise."""
        settings = {"autocommit": True, "charset": "utf8mb4", "read_timeout": 120} | more
        if "unix_socket" not in settings:
            settings |= {"host": "127.0.0.1", "port": self.port}
        return pymysql.connect(**({"user": self.user, "password": self.password} | settings))

    def rows(self, sql, **more):
        """All rows of one statement, on a connection of its own."""
        with self.connect(**more) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()


class Stage:
    """`direct`, `proxy` and `admin` are the three ways in; `dir` is for the suite's own files."""

    def __init__(self, *lab_options):
        """`lab_options` choose another server than Debian's MariaDB."""
        self.lab_options = lab_options
        self.program = Path(os.environ.get("NUTHATCH", SOURCES / "target/release/nuthatch")).resolve()
        if not os.access(self.program, os.X_OK):
            sys.exit(f"{self.program} is not there: build it, or name another in $NUTHATCH")
        self.dir = self.lab = self.serving = None

    def __enter__(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        try:
            self._set_up()
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(self, *_):
        self._tear_down()

    def _set_up(self):
        base = self.program.parent.parent / "drivers"
        base.mkdir(parents=True, exist_ok=True)
        self.dir = Path(tempfile.mkdtemp(prefix="stage-", dir=base))
        # Beside the other labs, because the lab keeps an empty data directory there for the next one.
        self.lab = self.dir.with_name(self.dir.name.replace("stage", "lab", 1))
        self._lab("up", "--replicas", "0", *self.lab_options, stdout=subprocess.DEVNULL)
        status = json.loads(self._lab("status", "--json", stdout=subprocess.PIPE).stdout)
        self.password_file = Path(status["password_file"])
        password = self.password_file.read_text().splitlines()[0]
        self.direct = self._way("direct", status["servers"][0]["port"], status["user"], password)
        self.direct.rows("SET GLOBAL max_allowed_packet = 67108864")
        for _ in range(3):
            if self._serve(password):
                return
        sys.exit("the proxy did not start; end of its log:\n" + self.log_end())

    def _lab(self, verb, *arguments, **more):
        return subprocess.run([self.program, "lab", verb, self.lab, *arguments], check=True, **more)

    def _way(self, name, port, user, password):
        path = self.dir / f"{name}.cnf"
        path.touch(mode=0o600)
        path.write_text(f'[client]\nhost=127.0.0.1\nport={port}\nuser={user}\npassword="{password}"\n')
        return Way(name, port, user, password, path)

    def _serve(self, password):
        """Starts the proxy on ports that were free a moment ago; False if it ended at once."""
        self.proxy = self._way("proxy", free_port(), self.direct.user, password)
        self.admin = self._way("admin", free_port(), "admin", "admin")
        return self.start_proxy()

    def start_proxy(self):
        """The proxy accepts, on the same ports and with the same data directory as before; False if it ended."""
        self.socket = self.dir / "proxy.sock"
        self.log = self.dir / "nuthatch.log"
        command = [
            self.program,
            "serve",
            "--datadir",
            self.dir / "data",
            "--mysql",
            f"127.0.0.1:{self.proxy.port}",
            "--mysql",
            self.socket,
            "--admin",
            f"127.0.0.1:{self.admin.port}",
            "--drain-seconds",
            "5",
            "--backend",
            f"127.0.0.1:{self.direct.port}",
            "--user",
            f"{self.direct.user}:@{self.password_file}",
        ]
        with self.log.open("ab") as log:
            self.serving = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        ports = (self.proxy.port, self.admin.port)
        return (
            holds(lambda: self.serving.poll() is not None or all(map(accepts, ports)), ACCEPT_SECONDS_MAX)
            and self.serving.poll() is None
        )

    def stop_proxy(self):
        """The proxy has ended; its exit status, or None if it had to be killed."""
        if self.serving is None:
            return None
        serving, self.serving = self.serving, None
        serving.terminate()
        try:
            return serving.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            serving.kill()
            serving.wait()
            return None

    def _tear_down(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.stop_proxy()
        if self.lab and (self.lab / "lab.json").exists():
            subprocess.run([self.program, "lab", "down", self.lab], check=False, stdout=subprocess.DEVNULL)
        for path in (self.dir, self.lab):
            if path:
                shutil.rmtree(path, ignore_errors=True)

    def log_end(self, lines=30):
        """The end of the proxy's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def fresh_schema(self, name="t"):
        """An empty schema of that name, made past the proxy."""
        for sql in (f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}"):
            self.direct.rows(sql)

    def statistic(self, name):
        """One number of the proxy's stats_mysql_global."""
        return int(
            self.admin.rows(f"SELECT Variable_Value FROM stats_mysql_global WHERE Variable_Name = '{name}'")[0][0]
        )

    def selects_of_server(self):
        """How many SELECTs the server has executed."""
        return int(self.direct.rows("SHOW GLOBAL STATUS LIKE 'Com_select'")[0][1])

    def set_rules(self, *rules):
        """These are the query rules in force: each a dict of columns."""
        with self.admin.connect() as connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM mysql_query_rules")
            for number, rule in enumerate(rules, 1):
                row = {"rule_id": number, "active": 1, "apply": 1} | rule
                marks = ", ".join(["%s"] * len(row))
                cursor.execute(f"INSERT INTO mysql_query_rules ({', '.join(row)}) VALUES ({marks})", list(row.values()))
            cursor.execute("LOAD MYSQL QUERY RULES TO RUNTIME")
            cursor.execute("PROXYSQL FLUSH QUERY CACHE")

    def connections_in_use(self):
        """Backend connections that sessions hold."""
        return int(self.admin.rows("SELECT SUM(ConnUsed) FROM stats_mysql_connection_pool")[0][0])


def free_port():
    """A port on which nothing listens at this moment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def accepts(port):
    """Whether something listens there."""
    with socket.socket() as one:
        one.settimeout(5)
        return one.connect_ex(("127.0.0.1", port)) == 0


def holds(condition, seconds_max):
    """Whether the condition comes true in that time; looks often."""
    deadline = time.monotonic() + seconds_max
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
