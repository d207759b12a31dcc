"""mycli and PyMySQL at the admin interface."""

import subprocess

import pymysql
from pymysql.constants import CLIENT

from stage import holds
from terminal import Terminal
from verdict import difference
from wire import answers


def mycli(stage):
    """It asks for completions at its start, then prints what `-e` says."""
    done = subprocess.run(
        [
            "mycli",
            "--no-warn",
            f"--defaults-file={stage.admin.option_file}",
            f"--myclirc={stage.dir / 'myclirc'}",
            "--csv",
            "-D",
            "main",
            "-e",
            "SELECT COUNT(*) AS n FROM mysql_servers; SHOW TABLES LIKE 'mysql_users'; "
            "SHOW VARIABLES LIKE 'mysql-threads'",
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env={"HOME": str(stage.dir), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
    )
    seen = done.stdout.replace("\r", "")
    return all(part in seen for part in ('"n"\n"1"', '"mysql_users"', '"mysql-threads"')) or (seen, done.stderr)


def mycli_on_a_terminal(stage):
    """With its completion, which asks for tables, columns, users and functions while the user types."""
    command = [
        "mycli",
        "--no-warn",
        f"--defaults-file={stage.admin.option_file}",
        f"--myclirc={stage.dir / 'myclirc'}",
        "-D",
        "main",
        "--prompt",
        "ready> ",
    ]
    environment = {
        "HOME": str(stage.dir),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "PAGER": "cat",
    }
    with Terminal(command, environment) as terminal:
        for line, *shown in (
            ("SELECT 40 + 2 AS answer;", "| 42"),
            ("SHOW TABLES LIKE 'mysql_serv%';", "| mysql_servers"),
            ("SELEKT;", "1064"),
            ("use stats", "now connected to database"),
            ("SELECT 7 * 7 AS again;", "| 49"),
        ):
            terminal.expect("ready>")
            terminal.type(line)
            for text in shown:
                terminal.expect(text)
        terminal.expect("ready>")
        terminal.type("exit")
        return terminal.ends() == 0 and b"Traceback" not in terminal.shown or terminal.shown


def mycli_through_the_proxy(stage):
    stage.fresh_schema()
    seen = []
    for way in (stage.direct, stage.proxy):
        stage.direct.rows("CREATE OR REPLACE TABLE t.a AS SELECT 1 AS n, 'é' AS s")
        done = subprocess.run(
            [
                "mycli",
                "--no-warn",
                f"--defaults-file={way.option_file}",
                f"--myclirc={stage.dir / 'myclirc'}",
                "--csv",
                "-D",
                "t",
                "-e",
                "SELECT * FROM a; SHOW TABLES; UPDATE a SET n = 2; SELECT n FROM a",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
            env={"HOME": str(stage.dir), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
        seen.append(done.stdout + done.stderr)
    return difference(*seen) or '"é"' in seen[0] or seen


def pymysql_session(stage):
    """Types, parameters, transactions, several statements, errors; nothing is left."""
    with stage.admin.connect(client_flag=CLIENT.MULTI_STATEMENTS) as connection, connection.cursor() as cursor:

        def rules():
            return answers(connection, "SELECT COUNT(*) FROM mysql_query_rules")[0][1][0][1][0][0]

        pattern = "^SELECT \\d 'x' \"y\" é$"
        connection.begin()
        cursor.execute(
            "INSERT INTO mysql_query_rules (rule_id, match_digest, cache_ttl) VALUES (%s, %s, %s)", (7, pattern, None)
        )
        cursor.execute("SELECT rule_id, match_digest, cache_ttl FROM mysql_query_rules")
        seen = [cursor.fetchall(), rules()]
        connection.rollback()
        seen.append(rules())
        connection.begin()
        cursor.executemany("INSERT INTO mysql_query_rules (rule_id) VALUES (%s)", [(n,) for n in range(1, 101)])
        connection.commit()
        seen += [rules(), cursor.execute("DELETE FROM mysql_query_rules"), rules(), *several(cursor)]
        connection.ping(reconnect=False)
        seen.append(rules())
    return difference([((7, pattern, None),), 1, 0, 100, 100, 0, ((1,),), ((2,),), 1064, 0], seen) or True


def several(cursor):
    """The results of several statements in one packet, up to the first error."""
    cursor.execute("SELECT 1; SELECT 2; SELEKT; SELECT 3")
    yield cursor.fetchall()
    try:
        while cursor.nextset():
            yield cursor.fetchall()
    except pymysql.err.ProgrammingError as error:
        yield error.args[0]


def wrong_logins(stage):
    seen = []
    for more in (
        {"password": "wrong"},
        {"user": "nobody"},
        {"user": stage.direct.user, "password": stage.direct.password},
    ):
        try:
            stage.admin.connect(**more).close()
            seen.append("let in")
        except pymysql.err.OperationalError as error:
            seen.append(error.args[0])
    return seen == [1045] * 3 or seen


def many_at_once(stage):
    """Twenty operators who read all the time do not stop one who loads, nor each other."""
    connections = [stage.admin.connect() for _ in range(20)]
    for _ in range(5):
        for connection in connections:
            assert answers(connection, "SELECT COUNT(*) > 0 FROM stats_mysql_global")[0][1][0][1] == ((1,),)
        stage.admin.rows("LOAD MYSQL SERVERS TO RUNTIME")
    for connection in connections:
        connection.close()
    return holds(lambda: stage.statistic("Questions") >= 0, 5)
