"""Captures the golden files from real servers:

    NUTHATCH=target/debug/nuthatch python3 -B crates/nuthatch-wire/tests/golden/capture [SERVER...]

SERVER is a folder of `golden/`: `mariadb-10.11` is Debian's; for the others, `make test-servers` first. Nothing but
Python's standard library is needed. Nonces, keys, thread ids, GTIDs and times stay as they came; the passwords stand in
`scenarios.py` and are of nothing but the server that is gone afterwards.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import scenarios
from client import Account
from scenarios import MARIADB, MYSQL, Server

GOLDEN = Path(__file__).resolve().parent.parent
SOURCES = GOLDEN.parent.parent.parent.parent
SERVERS = SOURCES / os.environ.get("CARGO_TARGET_DIR", "target") / "servers"
# The folder says which server it was; the lab finds it under the root.
CHOICES = {
    "mariadb-10.11": (MARIADB, (10, 11), None),
    "mariadb-11.8": (MARIADB, (11, 8), SERVERS / "mariadb"),
    "mysql-9.7": (MYSQL, (9, 7), SERVERS / "mysql"),
}


def capture(folder):
    kind, version, root = CHOICES[folder]
    nuthatch = Path(os.environ.get("NUTHATCH", SOURCES / "target/release/nuthatch")).resolve()
    places = ["--root", root] if root else []
    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        lab = Path(scratch) / "lab"
        run = [nuthatch, "lab"]
        try:
            subprocess.run([*run, "up", lab, "--replicas", "0", "--server", kind, *places], check=True)
            said = subprocess.run([*run, "status", lab, "--json"], check=True, stdout=subprocess.PIPE).stdout
            status = json.loads(said)
            root_account = Account(status["user"], Path(status["password_file"]).read_text().splitlines()[0])
            record(Server(kind, version, status["servers"][0]["port"], root_account, GOLDEN / folder))
        finally:
            subprocess.run([*run, "down", lab], check=True)


def record(server):
    server.folder.mkdir(exist_ok=True)
    for old in server.folder.glob("*.txt"):
        old.unlink()
    scenarios.set_up(server)
    for scenario in scenarios.all_of(server):
        print(f"{server.folder.name}: {scenario.__name__}", flush=True)
        scenario(server)


if __name__ == "__main__":
    for choice in sys.argv[1:] or CHOICES:
        capture(choice)
