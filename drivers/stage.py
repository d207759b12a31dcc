"""The stage of tests/drivers with what drivers want on top: MySQL as the server, TLS, a second account, two ways in."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = "drivers"
OTHER_USER = "other"


def root_of(server, given=None):
    """Where the server is unpacked, None for Debian's own; a MySQL, which this Debian lacks, is fetched once."""
    if given or server == "mariadb":
        return given and given.resolve()
    sources = HERE.parent
    root = Path(os.environ.get("CARGO_TARGET_DIR", sources / "target")).resolve() / "servers/mysql"
    if not (root / "usr/sbin/mysqld").exists():
        print(f"drivers: fetching MySQL to {root}", flush=True)
        command = [sources / "tools/side-apt.sh", root, "sid", "mysql-server-core", "mysql-client-core"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit("MySQL could not be fetched:\n" + "\n".join((done.stdout + done.stderr).splitlines()[-10:]))
    return root


def _base():
    spec = importlib.util.spec_from_file_location("base_stage", HERE.parent / "tests/drivers/stage.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["base_stage"] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


base = _base()


class DriverStage(base.Stage):
    """A server of either kind with TLS, and the proxy; passwords of two accounts."""

    def __init__(self, server, root):
        super().__init__()
        self.server, self.root, self.secured = server, root, None

    def _lab(self, verb, *arguments, **more):
        if verb == "up":
            arguments += ("--server", self.server) + (("--root", self.root) if self.root else ())
        done = super()._lab(verb, *arguments, **more)
        if verb == "up":
            self._make_certificates()
            if self.server == "mariadb":
                self._restart_with_tls()
        return done

    def _restart_with_tls(self):
        """MariaDB takes a certificate only when it starts, and the lab gives it none: the same server is started
        again with one, as a process of ours. (MySQL takes it while it runs.)"""
        subprocess.run([self.program, "lab", "down", self.lab], check=True, stdout=subprocess.DEVNULL)
        program = Path(self.root or "/") / "usr/sbin/mariadbd"
        options = [f"--defaults-file={self.lab}/primary/my.cnf", f"--ssl-cert={self.dir}/server.pem"]
        options += [f"--ssl-key={self.dir}/server.key"]

        with (self.dir / "server.log").open("wb") as log:
            self.secured = subprocess.Popen(
                [program, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        port = self._port_of_server()
        if not base.holds(lambda: self.secured.poll() is not None or base.accepts(port), base.ACCEPT_SECONDS_MAX):
            sys.exit("the server with TLS did not start")

    def _make_certificates(self):
        """`certificate` is an authority's, which has signed server.pem for this host."""
        self.certificate = self.dir / "ca.pem"
        (self.dir / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        for command in (
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=drivers-ca -keyout ca.key -out ca.pem",
            "req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout server.key -out server.csr",
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 2 -set_serial 1 -extfile names -out server.pem",
        ):
            subprocess.run(["openssl", *command.split()], check=True, cwd=self.dir, stderr=subprocess.DEVNULL)

    def _port_of_server(self):
        lines = (self.lab / "primary/my.cnf").read_text().splitlines()
        return next(int(line.removeprefix("port=")) for line in lines if line.startswith("port="))

    def _set_up(self):
        super()._set_up()
        if self.server == "mysql":
            files = {"ca": self.certificate, "cert": self.dir / "server.pem", "key": self.dir / "server.key"}
            for name, path in files.items():
                self.direct.rows(f"SET GLOBAL ssl_{name} = '{path}'")
            self.direct.rows("ALTER INSTANCE RELOAD TLS")
            self.direct.rows("INSTALL COMPONENT 'file://component_query_attributes'")
        self.other_password = "of-the-other"
        for host in ("localhost", "127.0.0.1", "%"):
            account = f"'{OTHER_USER}'@'{host}'"
            self.direct.rows(f"CREATE USER {account} IDENTIFIED BY '{self.other_password}'")
            self.direct.rows(f"GRANT ALL PRIVILEGES ON *.* TO {account}")
        self.direct.rows("SET GLOBAL local_infile = 1")
        self.admin.rows(f"INSERT INTO mysql_users (username, password) VALUES ('{OTHER_USER}', '{self.other_password}')")
        self.admin.rows("LOAD MYSQL USERS TO RUNTIME")
        self.admin.rows("SET mysql-enable_load_data_local_infile = 'true'")
        self.admin.rows("LOAD MYSQL VARIABLES TO RUNTIME")

    def start_proxy(self):
        """It shows clients the server's own certificate, so that one authority vouches for both ways."""
        data = self.dir / "data"
        data.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self.dir / "server.pem", data / "nuthatch-cert.pem")
        shutil.copy(self.dir / "server.key", data / "nuthatch-key.pem")
        return super().start_proxy()

    def _tear_down(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.stop_proxy()
        if self.secured:
            self.secured.terminate()
            self.secured.wait()
            self.secured = None
        super()._tear_down()
