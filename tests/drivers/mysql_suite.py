"""Oracle MySQL through the proxy: `caching_sha2_password` and TLS on both sides, and PyMySQL's sessions as past the proxy."""

import functools
import hashlib
import ssl
import subprocess
import sys
from pathlib import Path

import pymysql

import pymysql_sessions
import pymysql_types
import server_resets
from binlog import is_read_alike
from stage import Stage, holds
from verdict import Verdict

ROOT = sys.argv.pop(1)
PASSWORD = "p@ss wörd"

# These ask a MySQL what only a MariaDB has (sequences, its error numbers), or get a warning that the proxy does not make.
ONLY_MARIADB = {
    "rows and statements at the boundaries of packets arrive whole",
    "rows of 20 MB arrive whole",
    "100,000 rows arrive; half a result harms nobody",
    "LAST_INSERT_ID after ids that were given",
    "ROW_COUNT and FOUND_ROWS are those of the last statement",
    "what the proxy answers alone has the server's metadata",
    "a session whose schema another has dropped goes on",
}


def client(stage, way, user, password, *options, sql="SELECT CURRENT_USER()"):
    """What MySQL's own command line prints, or the number of its error."""
    option_file = stage.dir / "client.cnf"
    option_file.touch(mode=0o600)
    option_file.write_text(f'[client]\nuser={user}\npassword="{password}"\n')
    where = [f"--port={way.port}", "--host=127.0.0.1"]
    if any(option.startswith("--socket") for option in options):
        where = []
    ran = subprocess.run(
        [f"{ROOT}/usr/bin/mysql", f"--defaults-file={option_file}", *where, *options, "-N", "-e", sql],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return ran.stdout.strip() if ran.returncode == 0 else ran.stderr.split(":")[0].strip()


def of_secret_kinds(stage):
    """A user for each form of the password column."""
    forms = {"clear": PASSWORD}
    for name in ("clear", "hashed"):
        stage.direct.rows(f"DROP USER IF EXISTS {name}")
        stage.direct.rows(f"CREATE USER {name} IDENTIFIED BY '{PASSWORD}'")
        stage.direct.rows(f"GRANT ALL ON *.* TO {name}")
    forms["hashed"] = stage.direct.rows("SELECT authentication_string FROM mysql.user WHERE user = 'hashed'")[0][0]
    with stage.admin.connect() as connection, connection.cursor() as cursor:
        for name, form in forms.items():
            cursor.execute("DELETE FROM mysql_users WHERE username = %s", [name])
            cursor.execute("INSERT INTO mysql_users (username, password) VALUES (%s, %s)", [name, form])
        cursor.execute("LOAD MYSQL USERS TO RUNTIME")


def logins(stage):
    """Fast and full authentication, over TLS, the Unix socket and with the RSA key; wrong passwords never."""
    of_secret_kinds(stage)
    plain, tls, key = "--ssl-mode=DISABLED", "--ssl-mode=REQUIRED", "--get-server-public-key"
    socket = f"--socket={stage.socket}"
    ask = functools.partial(client, stage, stage.proxy)
    seen = [
        # The password is known: the fast path does.
        ask("clear", PASSWORD, plain),
        ask("clear", PASSWORD, tls),
        ask("clear", PASSWORD, socket),
        ask("clear", "wrong", plain),
        ask("nobody", PASSWORD, plain),
        # Only a hash is known: the first time the password itself is wanted.
        ask("hashed", "wrong", tls),
        ask("hashed", "wrong", plain, key),
        ask("hashed", PASSWORD, plain),
        ask("hashed", PASSWORD, plain, key),
        # Then the fast path does; a wrong password asks for the full one again, as on a server.
        ask("hashed", PASSWORD, plain),
        ask("hashed", PASSWORD, tls),
        ask("hashed", "wrong", plain),
    ]
    denied, insecure = "ERROR 1045 (28000)", "ERROR 2061 (HY000)"
    expected = ["clear@%"] * 3 + [denied] * 4 + [insecure] + ["hashed@%"] * 3 + [insecure]
    return seen == expected or seen


def administrators(stage):
    """MySQL 9's client reaches the admin interface."""
    ran = client(stage, stage.admin, "admin", "admin", "--ssl-mode=DISABLED", sql="SELECT 1 FROM mysql_users LIMIT 1")
    return ran == "1" or ran


def tls_of_clients(stage):
    """TLS 1.2 and 1.3; a session under it is as good as another; `use_ssl` keeps others out."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    big = "SELECT REPEAT('x', 3000000), 'end'"
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context.minimum_version = context.maximum_version = version
        with stage.proxy.connect(ssl=context, database="t") as connection, connection.cursor() as cursor:
            for number in range(200):
                cursor.execute("SELECT %s", [number])
                if cursor.fetchall() != ((number,),):
                    return f"{version} {number}"
            cursor.execute(big)
            if len(cursor.fetchall()[0][0]) != 3000000:
                return "a large answer was cut"
            cursor.execute("SELECT LENGTH(%s)", ["y" * 5000000])
            if cursor.fetchall() != ((5000000,),):
                return "a large statement was cut"
    of_secret_kinds(stage)
    with stage.admin.connect() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE mysql_users SET use_ssl = 1 WHERE username = 'clear'")
        cursor.execute("LOAD MYSQL USERS TO RUNTIME")
    seen = [
        client(stage, stage.proxy, "clear", PASSWORD, mode)
        for mode in ("--ssl-mode=DISABLED", "--ssl-mode=REQUIRED")
    ]
    return seen == ["ERROR 3159 (HY000)", "clear@%"] or seen


def set_admin(stage, *statements):
    """Operators' statements, one after the other."""
    with stage.admin.connect() as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def tls_of_servers(stage):
    """`use_ssl` encrypts; with an authority it is verified, and never falls back to the clear."""
    cipher = "SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Ssl_cipher'"
    how = "SELECT DISTINCT tls FROM stats_mysql_connection_pool"
    load = ("LOAD MYSQL VARIABLES TO RUNTIME", "LOAD MYSQL SERVERS TO RUNTIME")
    authority = stage.direct.rows("SELECT CONCAT(@@datadir, 'ca.pem')")[0][0]

    def now():
        try:
            return stage.proxy.rows(cipher)[0][0] != "", stage.admin.rows(how)[0][0]
        except pymysql.MySQLError as error:
            return error.args[0], stage.admin.rows(how)[0][0]

    seen = [now()]
    set_admin(stage, "UPDATE mysql_servers SET use_ssl = 1", *load)
    seen.append(now())
    set_admin(stage, f"SET mysql-ssl_p2s_ca = '{authority}'", "SET mysql-ssl_p2s_verify = 'ca'", *load)
    seen.append(now())
    # MySQL's own certificates bear no host's name.
    set_admin(
        stage,
        "SET mysql-ssl_p2s_verify = 'hostname'",
        "SET mysql-connect_timeout_server_max = 500",
        "SET mysql-shun_on_failures = 1000",
        *load,
    )
    seen.append(now())
    set_admin(stage, "SET mysql-ssl_p2s_ca = '/nowhere'", *load)
    seen.append(now())
    set_admin(
        stage,
        "SET mysql-ssl_p2s_ca = ''",
        "SET mysql-connect_timeout_server_max = 10000",
        "UPDATE mysql_servers SET use_ssl = 0",
        *load,
    )
    seen.append(now())
    if "cannot connect to a server with use_ssl" not in stage.log.read_text():
        return "the log does not say why"
    expected = [(False, ""), (True, "unverified"), (True, "ca"), (9001, "hostname"), (9001, "hostname"), (False, "")]
    return seen == expected or seen


def tls_of_single_servers(stage):
    """`mysql_servers_ssl_params` and `ssl_verify` stand in the place of the variables, and never for less than they say."""
    version = "SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Ssl_version'"
    load = ("LOAD MYSQL VARIABLES TO RUNTIME", "LOAD MYSQL SERVERS TO RUNTIME")
    files = Path(stage.direct.rows("SELECT @@datadir")[0][0])
    authorities = stage.dir / "authorities"
    authorities.mkdir(exist_ok=True)
    (authorities / "one.pem").write_bytes((files / "ca.pem").read_bytes())
    (authorities / "no-certificate").write_text("nothing")
    of_secret_kinds(stage)
    stage.direct.rows("ALTER USER clear REQUIRE X509")

    def row(user="", **columns):
        names = ["hostname", "port", "username", *columns]
        values = ["127.0.0.1", str(stage.direct.port), user, *map(str, columns.values())]
        quoted = ", ".join(f"'{value}'" for value in values)
        return f"REPLACE INTO mysql_servers_ssl_params ({', '.join(names)}) VALUES ({quoted})"

    def verify(word):
        settings = f'{{"ssl_verify": "{word}"}}'
        return f"REPLACE INTO mysql_hostgroup_attributes (hostgroup_id, hostgroup_settings) VALUES (0, '{settings}')"

    def after(*statements):
        set_admin(stage, *statements, *load)
        how = "SELECT DISTINCT tls FROM stats_mysql_connection_pool WHERE hostgroup = 0"
        try:
            return stage.proxy.rows(version)[0][0], stage.admin.rows(how)[0][0]
        except pymysql.MySQLError as error:
            return error.args[0], stage.admin.rows(how)[0][0]

    def certified():
        return client(stage, stage.proxy, "clear", PASSWORD, "--ssl-mode=REQUIRED")

    capath, ca = row(ssl_capath=authorities), row(ssl_ca=files / "ca.pem")
    own = row("clear", ssl_cert=files / "client-cert.pem", ssl_key=files / "client-key.pem")
    quick = ("SET mysql-connect_timeout_server_max = 500", "SET mysql-shun_on_failures = 1000")
    seen = [
        after("UPDATE mysql_servers SET use_ssl = 1", *quick),
        # There is nothing to verify by.
        after(verify("ca")),
        after(capath),
        after(verify("hostname")),
        after(verify("no such word")),
        after(verify("off")),
        after(row(tls_version="TLSv1.2")),
        after(row(tls_version="TLSv1.1")),
        after(row(), "SET mysql-ssl_p2s_min_version = 'TLSv1.3'"),
        after("DELETE FROM mysql_hostgroup_attributes", "SET mysql-ssl_p2s_verify = 'ca'", ca),
        certified(),
        after(own),
        certified(),
        after(row("clear", ssl_cert=files / "client-cert.pem")),
        certified(),
    ]
    clean = (
        "DELETE FROM mysql_servers_ssl_params",
        "SET mysql-ssl_p2s_verify = 'hostname'",
        "SET mysql-ssl_p2s_min_version = 'TLSv1.2'",
        "SET mysql-connect_timeout_server_max = 10000",
        "UPDATE mysql_servers SET use_ssl = 0",
    )
    seen.append(after(*clean))
    expected = [
        ("TLSv1.3", "unverified"),
        (9001, "ca"),
        ("TLSv1.3", "ca"),
        (9001, "hostname"),
        (9001, "hostname"),
        ("TLSv1.3", "unverified"),
        ("TLSv1.2", "unverified"),
        (9001, "unverified"),
        ("TLSv1.3", "unverified"),
        ("TLSv1.3", "ca"),
        "ERROR 1045 (28000) at line 1",
        ("TLSv1.3", "ca"),
        "clear@%",
        ("TLSv1.3", "ca"),
        "ERROR 9001 (HY000) at line 1",
        ("", ""),
    ]
    return seen == expected or seen


def oldest_tls_of_clients(stage):
    """`mysql-ssl_min_version` keeps older versions out from the LOAD on; a word that is none changes nothing."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    def spoken():
        seen = []
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1_2, version
            context.minimum_version = version
            try:
                seen.append(stage.proxy.rows("SELECT 1", ssl=context) == ((1,),))
            except (pymysql.MySQLError, ssl.SSLError):
                seen.append(False)
        return seen

    seen = [spoken()]
    for word in ("TLSv1.3", "TLSv1.1", "TLSv1.2"):
        set_admin(stage, f"SET mysql-ssl_min_version = '{word}'", "LOAD MYSQL VARIABLES TO RUNTIME")
        seen.append(spoken())
    return seen == [[True, True], [False, True], [False, True], [True, True]] or seen


def clear_passwords(stage):
    """A client that does not speak a hash's plugin is asked for its password, where that is allowed and nobody can read along."""
    of_secret_kinds(stage)
    stage.direct.rows("DROP USER IF EXISTS native")
    stage.direct.rows(f"CREATE USER native IDENTIFIED BY '{PASSWORD}'")
    once = hashlib.sha1(PASSWORD.encode()).digest()
    native_hash = "*" + hashlib.sha1(once).hexdigest().upper()
    tls, plain, enabled = "--ssl-mode=REQUIRED", "--ssl-mode=DISABLED", "--enable-cleartext-plugin"
    socket, first = f"--socket={stage.socket}", "--default-auth=mysql_clear_password"

    def switch(word):
        set_admin(stage, f"SET mysql-clear_password_from_clients = '{word}'", "LOAD MYSQL VARIABLES TO RUNTIME")

    def ask(user, password, *options):
        return client(stage, stage.proxy, user, password, *options).removesuffix(" at line 1")

    # A user whom no other check has let in.
    set_admin(
        stage,
        "DELETE FROM mysql_users WHERE username = 'native'",
        f"INSERT INTO mysql_users (username, password) VALUES ('native', '{native_hash}')",
        "LOAD MYSQL USERS TO RUNTIME",
    )
    seen = [ask("native", PASSWORD, tls, enabled)]
    switch("true")
    seen += [
        ask("native", PASSWORD, plain, enabled),
        ask("native", PASSWORD, tls),
        ask("native", "wrong", tls, enabled),
        ask("native", PASSWORD, tls, enabled),
        ask("native", PASSWORD, socket, enabled),
        # It offers its password; any column can be checked with it.
        ask("native", PASSWORD, tls, enabled, first),
        ask("clear", PASSWORD, tls, enabled, first),
        ask("clear", "wrong", tls, enabled, first),
        ask("hashed", PASSWORD, tls, enabled, first),
        ask("hashed", "wrong", tls, enabled, first),
        ask("nobody", PASSWORD, tls, enabled, first),
    ]
    switch("false")
    seen.append(ask("native", PASSWORD, tls, enabled))
    denied, unknown = "ERROR 1045 (28000)", "ERROR 2059 (HY000)"
    expected = [unknown, unknown, unknown, denied, "native@%", "native@%"]
    expected += ["native@%", "clear@%", denied, "hashed@%", denied, denied, unknown]
    return seen == expected or seen


def compression(stage):
    """zlib and zstd towards clients, with TLS and without; zlib towards the server."""
    of_secret_kinds(stage)
    big = "SELECT LENGTH(REPEAT('x', 3000000)), SHA2(REPEAT('y', 3000000), 256), REPEAT('z', 300000)"
    on = "SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Compression'"
    expected = client(stage, stage.direct, "clear", PASSWORD, "--ssl-mode=REQUIRED", sql=big)
    seen = []
    for towards_server in (0, 1):
        set_admin(stage, f"UPDATE mysql_servers SET compression = {towards_server}", "LOAD MYSQL SERVERS TO RUNTIME")
        for algorithm in ("zlib", "zstd", "uncompressed"):
            for mode in ("DISABLED", "REQUIRED"):
                options = (f"--compression-algorithms={algorithm}", f"--ssl-mode={mode}")
                answer = client(stage, stage.proxy, "clear", PASSWORD, *options, sql=big)
                if answer != expected:
                    return towards_server, algorithm, mode, answer[:200]
        seen.append(stage.proxy.rows(on)[0][0])
    set_admin(stage, "UPDATE mysql_servers SET compression = 0", "LOAD MYSQL SERVERS TO RUNTIME")
    return seen == ["OFF", "ON"] or seen


def binlogs(stage):
    """By position and by GTID."""
    ways = [["--read-from-remote-server"], ["--read-from-remote-source=BINLOG-DUMP-GTIDS"]]
    return is_read_alike(f"{ROOT}/usr/bin/mysqlbinlog", ways, stage)


def checks_that_were_switched_off(stage):
    """DEFAULT gives `foreign_key_checks` and `unique_checks` the opposite of the global value: no session must get it."""
    look = "SELECT @@foreign_key_checks, @@unique_checks"
    wrong = []
    set_admin(stage, "UPDATE mysql_servers SET max_connections = 1", "LOAD MYSQL SERVERS TO RUNTIME")
    for value in (0, 1, "DEFAULT"):
        with stage.proxy.connect() as one, one.cursor() as cursor:
            cursor.execute(f"SET foreign_key_checks = {value}, unique_checks = {value}")
            cursor.execute(look)
            # What DEFAULT comes to is the server's affair.
            wrong += [seen for seen in cursor.fetchall() if seen != (value, value) and value != "DEFAULT"]
        wrong += [seen for _ in range(3) for seen in stage.proxy.rows(look) if seen != (1, 1)]
    set_admin(stage, "UPDATE mysql_servers SET max_connections = 1000", "LOAD MYSQL SERVERS TO RUNTIME")
    return wrong == [] or wrong


def transactions_that_are_told_of(stage):
    """MySQL has the flag of a changed session in the OK of each COMMIT and ROLLBACK, for the transaction's own state."""
    before = stage.statistic("Pins_stored_code")
    with stage.proxy.connect() as one, one.cursor() as cursor:
        for end in ("COMMIT", "ROLLBACK"):
            for sql in ("BEGIN", "SELECT COUNT(*) FROM mysql.user", end):
                cursor.execute(sql)
        is_free = holds(lambda: stage.connections_in_use() == 0, 10)
    seen = (is_free, stage.statistic("Pins_stored_code") - before)
    return seen == (True, 0) or seen


with Stage("--server", "mysql", "--root", ROOT) as stage:
    verdict = Verdict(stage)
    for name, check in pymysql_types.CHECKS + pymysql_sessions.CHECKS:
        if name not in ONLY_MARIADB:
            verdict.same(name, check)
    stage.fresh_schema()
    for name, check in (
        ("logins by caching_sha2_password, in every way", logins),
        ("MySQL's own client reaches the admin interface", administrators),
        ("TLS of clients", tls_of_clients),
        ("TLS of servers", tls_of_servers),
        ("TLS of single servers and hostgroups", tls_of_single_servers),
        ("the oldest TLS of clients", oldest_tls_of_clients),
        ("clear passwords of clients", clear_passwords),
        ("compression of clients and servers", compression),
        ("mysqlbinlog reads to the end", binlogs),
        ("checks of keys that a session has switched off are on for others", checks_that_were_switched_off),
        ("a transaction that has ended holds no connection", transactions_that_are_told_of),
    ):
        verdict.claim(name, functools.partial(check, stage))
    for name, check in server_resets.CHECKS:
        verdict.claim(name, functools.partial(check, stage.direct))
    verdict.end(questions_min=500)
