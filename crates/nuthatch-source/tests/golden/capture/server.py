"""A server of its own for the capture: fresh data, a free port, gone afterwards."""

import contextlib
import shutil
import socket
import subprocess
import time
from pathlib import Path

from client import Account, Client

READY_S_MAX = 120
ACCOUNT = Account("golden")


class Silent:
    """A recording that keeps nothing: what is kept here are events, not packets."""

    def __getattr__(self, _):
        return lambda *_: True


class Refused(Exception):
    """A statement that the server did not take."""


class Session:
    """A connection that says whether a statement failed."""

    def __init__(self, port):
        self.client = Client(port, Silent(), schema=None)
        assert self.client.log_in(ACCOUNT) == 0

    def __call__(self, sql):
        answer = self.client.query(sql, silence_s=0.03)
        if answer[4:5] == b"\xff":
            raise Refused(f"{sql}: {answer[5:].decode(errors='replace')}")
        return answer

    def value(self, sql):
        """The first value of the first row."""
        answer = self(sql)
        packets = []
        while answer:
            end = 4 + int.from_bytes(answer[:3], "little")
            packets.append(answer[4:end])
            answer = answer[end:]
        row = packets[packets[0][0] + 2]
        return row[1 : 1 + row[0]].decode()

    def close(self):
        self.client.socket.close()


@contextlib.contextmanager
def running(kind, root, scratch):
    """The port of a server of this kind from the tree under `root`."""
    usr, data = Path(root) / "usr", Path(scratch) / "data"
    port = free_port()
    init = Path(scratch) / "init.sql"
    init.write_text("CREATE USER golden@'%';\nGRANT ALL ON *.* TO golden@'%' WITH GRANT OPTION;\n")
    places = [f"--datadir={data}", f"--basedir={usr}"]
    if kind == "mariadb":
        install = [usr / "bin/mariadb-install-db", "--no-defaults", "--skip-test-db", "--force", "--user=root", *places]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        program = usr / "sbin/mariadbd"
        own = ["--skip-name-resolve", f"--lc-messages-dir={usr}/share/mysql", f"--character-sets-dir={usr}/share/mysql/charsets"]
    else:
        program = usr / "sbin/mysqld"
        subprocess.run([program, "--no-defaults", "--initialize-insecure", "--user=root", *places], check=True, stderr=subprocess.DEVNULL)
        own = ["--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--mysqlx=OFF"]
        own += [f"--lc-messages-dir={usr}/share/mysql", f"--character-sets-dir={usr}/share/mysql/charsets"]
    options = [
        "--no-defaults", "--user=root", *places, *own, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={scratch}/s",
        "--log-bin=bin", "--server-id=7", "--binlog-format=ROW", "--binlog-checksum=CRC32", "--secure-file-priv=", f"--init-file={init}",
        "--character-set-server=utf8mb4",
    ]  # fmt: skip
    with open(Path(scratch) / "log", "wb") as log:
        process = subprocess.Popen([program, *options], stdout=log, stderr=log)
    try:
        await_ready(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(data)


def await_ready(port, process):
    deadline = time.monotonic() + READY_S_MAX
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, AssertionError, EOFError):
            Session(port).close()
            return
        time.sleep(0.2)
    raise RuntimeError("the server does not come up")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
