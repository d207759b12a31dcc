#!/usr/bin/python3
"""Thirteen instances, in pairs with a second host, behind a proxy: what clients of eleven see while one is killed and one is taken out.

Two roots with addresses of their own are the hosts; an sshd of this run is on the second one's. Each instance of the first is a hostgroup of
the proxy. A client of each reads and writes without a pause, once as it is (`quiet`), once while one instance is killed and another one is
taken for maintenance (`rough`). Nothing may be seen by the other eleven: no error, and a p99 within the noise of the quiet runs.

    NUTHATCH=target/release/nuthatch drivers/instances/showing.py --mysql target/servers/mysql [--seconds 20]
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pymysql

MARIADB, MYSQL = 10, 3
NEAR, FAR = "127.0.0.2", "127.0.0.3"
PASSWORD = "showing"


def free_port(address):
    with socket.socket() as listener:
        listener.bind((address, 0))
        return listener.getsockname()[1]


class Hosts:
    """Two hosts on this machine, and ssh from the first to the second."""

    def __init__(self, program, work):
        self.program, self.work = program, pathlib.Path(work)
        self.roots = {NEAR: self.work / "near", FAR: self.work / "far"}
        for address, root in self.roots.items():
            user = "root" if os.geteuid() == 0 else "mysql"
            self.run(address, "host", "--address", address, "--user", user)
        self.sshd = self._sshd()

    def run(self, address, *words, check=True):
        command = [self.program, "instance", "--root", self.roots[address], *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if check and done.returncode:
            sys.exit(f"{words}: {done.stderr or done.stdout}")
        return done.stdout

    def list(self, address):
        return json.loads(self.run(address, "list", "--json"))

    def _sshd(self):
        keys = self.work / "ssh"
        keys.mkdir(mode=0o700)
        for name in ["host", "key"]:
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name], check=True)
        port = free_port(FAR)
        (keys / "authorized").write_text((keys / "key.pub").read_text())
        (keys / "known").write_text(f"[{FAR}]:{port} {(keys / 'host.pub').read_text()}")
        (keys / "sshd_config").write_text(
            f"ListenAddress {FAR}:{port}\nHostKey {keys / 'host'}\nAuthorizedKeysFile {keys / 'authorized'}\nPidFile none\n"
            "UsePAM no\nStrictModes no\nPasswordAuthentication no\nMaxStartups 100\nUseDNS no\n"
        )
        (keys / "config").write_text(
            f"Host far\n HostName {FAR}\n Port {port}\n IdentityFile {keys / 'key'}\n IdentitiesOnly yes\n"
            f" IdentityAgent none\n UserKnownHostsFile {keys / 'known'}\n"
        )
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        return subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", keys / "sshd_config"], stderr=subprocess.DEVNULL)

    def ssh_config(self):
        return f"-F{self.work / 'ssh' / 'config'}"

    def end(self):
        for address in self.roots:
            self.run(address, "stop", "--all", check=False)
        self.sshd.kill()


class Proxy:
    """A proxy with a hostgroup and a user for each instance of the first host."""

    def __init__(self, hosts, instances):
        self.port, self.admin = free_port("127.0.0.1"), free_port("127.0.0.1")
        command = [hosts.program, "serve", "--mysql", f"127.0.0.1:{self.port}", "--admin", f"127.0.0.1:{self.admin}"]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                admin = pymysql.connect(host="127.0.0.1", port=self.admin, user="admin", password="admin", autocommit=True)
                break
            except pymysql.err.OperationalError:
                time.sleep(0.1)
        else:
            sys.exit("the proxy does not answer")
        with admin.cursor() as cursor:
            for number, one in enumerate(instances):
                cursor.execute(
                    f"INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES ({number}, '{one['host']}', {one['port']})"
                )
                cursor.execute(
                    "INSERT INTO mysql_users (username, password, default_hostgroup) "
                    f"VALUES ('app{number}', '{PASSWORD}', {number})"
                )
            for what in ["SERVERS", "USERS"]:
                cursor.execute(f"LOAD MYSQL {what} TO RUNTIME")
        file = hosts.work / "admin.password"
        file.write_text("admin\n")
        hosts.run(NEAR, "host", "--proxy", f"127.0.0.1:{self.admin}", "--proxy-password-file", str(file))

    def end(self):
        self.process.terminate()
        self.process.wait()


def client(number, port, seconds, results):
    """One application: a read and, now and then, a write, every few milliseconds."""
    took, errors, until = [], [], time.monotonic() + seconds
    connection = None
    while time.monotonic() < until:
        begun = time.monotonic()
        try:
            if connection is None:
                connection = pymysql.connect(
                    host="127.0.0.1", port=port, user=f"app{number}", password=PASSWORD, autocommit=True, connect_timeout=2
                )
            with connection.cursor() as cursor:
                if len(took) % 10 == 0:
                    cursor.execute(f"UPDATE app.t SET n = n + 1 WHERE id = {len(took) % 1000}")
                else:
                    cursor.execute(f"SELECT n FROM app.t WHERE id = {len(took) * 7 % 1000}")
                    cursor.fetchall()
        except pymysql.err.MySQLError as error:
            errors.append(str(error))
            connection = None
        took.append(time.monotonic() - begun)
        time.sleep(0.01)
    took.sort()
    results.put((number, len(took), took[len(took) * 99 // 100], errors))


def load(proxy, count, seconds, meanwhile):
    results = multiprocessing.Queue()
    clients = [multiprocessing.Process(target=client, args=(n, proxy.port, seconds, results)) for n in range(count)]
    for one in clients:
        one.start()
    meanwhile()
    found = dict()
    for _ in clients:
        number, asked, p99, errors = results.get()
        found[number] = (asked, p99, errors)
    for one in clients:
        one.join()
    return found


def fill(hosts, number, name):
    rows = ",".join(f"({n},{n})" for n in range(1000))
    sql = (
        "CREATE DATABASE app; CREATE TABLE app.t (id INT PRIMARY KEY, n INT NOT NULL);"
        f"INSERT INTO app.t VALUES {rows}; CREATE USER app{number}@'%' IDENTIFIED BY '{PASSWORD}';"
        f"GRANT ALL ON app.* TO app{number}@'%'"
    )
    hosts.run(NEAR, "client", name, "--", "--execute", sql)


def add_all(hosts, mysql):
    templates = hosts.roots[NEAR] / "templates"
    templates.mkdir()
    (templates / "tiny.cnf").write_text("[mysqld]\ninnodb_buffer_pool_size = 48M\nperformance_schema = OFF\nmax_connections = 60\n")
    shutil.copytree(templates, hosts.roots[FAR] / "templates")
    names = []
    for number in range(MARIADB + MYSQL):
        is_mysql = number >= MARIADB
        names.append(f"{'my' if is_mysql else 'maria'}{number}")
        server = mysql if is_mysql else "mariadb"
        hosts.run(NEAR, "add", names[-1], "--template", ["small", "tiny"][number % 2], "--server", server)
        fill(hosts, number, names[-1])
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mysql", required=True)
    parser.add_argument("--seconds", type=int, default=20)
    arguments = parser.parse_args()
    work = tempfile.mkdtemp(prefix="nh")
    hosts = Hosts(os.path.abspath(os.environ["NUTHATCH"]), work)
    proxy = None
    try:
        begun = time.monotonic()
        names = add_all(hosts, os.path.abspath(arguments.mysql))
        print(f"{len(names)} instances added and filled in {time.monotonic() - begun:.0f} s", flush=True)
        begun = time.monotonic()
        hosts.run(
            NEAR, "pair", "--with", "far", "--remote-root", str(hosts.roots[FAR]), "--remote-program", hosts.program,
            f"--ssh-option={hosts.ssh_config()}", "--yes",
        )
        print(f"paired with {FAR} in {time.monotonic() - begun:.0f} s", flush=True)
        instances = hosts.list(NEAR)
        names = [one["name"] for one in instances]
        # Users are those of the instance's number when it was added.
        order = [names.index(name) for name in sorted(names, key=lambda name: int(name.lstrip("mariy")))]
        instances = [instances[at] for at in order]
        names = [one["name"] for one in instances]
        proxy = Proxy(hosts, instances)
        killed, taken = 3, MARIADB + 1

        def rough():
            time.sleep(arguments.seconds / 4)
            os.kill(hosts.list(NEAR)[[one["name"] for one in hosts.list(NEAR)].index(names[killed])]["pid"], signal.SIGKILL)
            time.sleep(arguments.seconds / 8)
            hosts.run(NEAR, "maintenance", names[taken], "--last", "--within", "5", check=False)
            time.sleep(arguments.seconds / 4)
            hosts.run(NEAR, "maintenance", names[taken], "--over")

        runs = [(what, load(proxy, len(names), arguments.seconds, meanwhile))
                for what, meanwhile in [("quiet", lambda: None), ("rough", rough), ("quiet", lambda: None)]]
        return judge(hosts, names, runs, {killed, taken})
    finally:
        if proxy:
            proxy.end()
        hosts.end()
        shutil.rmtree(work, ignore_errors=True)


def judge(hosts, names, runs, touched):
    print(f"{'instance':10} " + " ".join(f"{what + ' p99':>12} {'errors':>7}" for what, _ in runs))
    faults, ratios = 0, []
    for number, name in enumerate(names):
        cells = [found[number] for _, found in runs]
        print(f"{name:10} " + " ".join(f"{p99 * 1000:9.2f} ms {len(errors):7}" for _, p99, errors in cells)
              + ("  touched" if number in touched else ""))
        if number in touched:
            continue
        for _, _, errors in cells:
            faults += len(errors)
        ratios.append(cells[1][1] / max(cells[0][1], cells[2][1]))
    ratios.sort()
    table = json.loads(hosts.run(NEAR, "replication", "--json"))
    broken = [row for row in table if row.get("state") != "running"]
    print(f"the other {len(ratios)}: {faults} errors; p99 rough to quiet: median {ratios[len(ratios) // 2]:.2f}, worst {ratios[-1]:.2f}; "
          f"replication of {len(table)}: {len(broken)} not running")
    return 1 if faults or broken or ratios[len(ratios) // 2] > 1.5 else 0


if __name__ == "__main__":
    sys.exit(main())
