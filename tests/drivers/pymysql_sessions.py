"""What PyMySQL sees of a session: transactions, insert ids, errors, warnings, several results, state, commands."""

import threading
from pathlib import Path

from pymysql import err
from pymysql.constants import CLIENT, COMMAND

from verdict import difference
from wire import answer, answers, refusal, values

TABLE = "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL UNIQUE, s VARCHAR(3)) ENGINE=InnoDB"


# Ids that are not the server's own choice, or that no OK packet tells.
GIVEN_IDS = [
    "INSERT INTO a (id, v) VALUES (50, 50)",
    "INSERT INTO a VALUES (60, 60, NULL)",
    "INSERT INTO a (id, v) SELECT id + 10, v + 10 FROM a",
    "INSERT INTO a (v) VALUES (1) ON DUPLICATE KEY UPDATE s = 'd'",
    "SELECT LAST_INSERT_ID(123)",
    "DO LAST_INSERT_ID(124)",
    "SET last_insert_id = 9",
    "SET insert_id = 500",
    "INSERT INTO a (v) VALUES (200), (201) RETURNING id, v",
    "CALL inserts()",
]

TWO_HUNDRED = "; ".join(f"SELECT {number}" for number in range(200))


def statements(name):
    """Those of statements/NAME.sql: one on each line."""
    return (Path(__file__).parent / "statements" / f"{name}.sql").read_text().splitlines()


def listed(sent, what=lambda seen: seen, **more):
    """A check that sends the statements one after the other in one session; `what` of the answers is compared."""
    sent = statements(sent) if isinstance(sent, str) else sent

    def observe(way):
        with way.connect(database="t", **more) as connection:
            return what(answers(connection, TABLE, *sent))

    return observe


def given_ids(way):
    """Each statement on a connection and a table of its own, after an INSERT that drew two ids."""
    seen = []
    before = ["DROP TABLE IF EXISTS a", TABLE, "CREATE OR REPLACE PROCEDURE inserts() INSERT INTO a (v) VALUES (5)"]
    after = ["SELECT LAST_INSERT_ID()", "INSERT INTO a (v) VALUES (7)", "SELECT LAST_INSERT_ID()"]
    for statement in GIVEN_IDS:
        with way.connect(database="t") as connection:
            told = answers(connection, *before, "INSERT INTO a (v) VALUES (1), (2)", statement, *after)
            seen += values(told[len(before) :])
    return seen


def right_or_refused(stage):
    """Sent both ways at once, because what was refused has no counterpart."""
    observe, told = listed("counts_inside", values), {}
    for way in (stage.proxy, stage.direct):
        stage.fresh_schema()
        told[way.name] = observe(way)
    pairs = list(zip(told["proxy"], told["direct"]))
    wrong = [(mine, truth) for mine, truth in pairs if mine != truth and "1235" not in repr(mine)]
    return (len(pairs) > 10 and not wrong) or wrong


def connection_id(stage):
    """The number of the greeting, as a type that drivers take for it."""

    def columns(way):
        with way.connect() as connection:
            columns, rows, *_ = answer(connection, "SELECT CONNECTION_ID()")[0]
            assert rows == ((connection.thread_id(),),), (rows, connection.thread_id())
            return columns

    return difference(columns(stage.direct), columns(stage.proxy)) or True


def seen_by_another(way):
    """What one session does in a transaction, a second one sees when it is committed."""
    seen = []
    with way.connect(database="t") as one, way.connect(database="t") as other:
        answer(one, TABLE)
        for sql in (
            "BEGIN",
            "INSERT INTO a (v) VALUES (1)",
            "COMMIT",
            "SET autocommit = 0",
            "UPDATE a SET v = 2",
            "ROLLBACK",
            "DELETE FROM a",
            "COMMIT",
        ):
            seen.append((sql, answer(one, sql), answer(other, "SELECT v FROM a")))
    return seen


def locks_of_one_who_left(way):
    """A session that goes in the middle of a transaction leaves neither locks nor rows."""
    leaver = way.connect(database="t")
    answers(
        leaver,
        TABLE,
        "INSERT INTO a (v) VALUES (1)",
        "BEGIN",
        "UPDATE a SET s = 'z'",
        "INSERT INTO a (v) VALUES (2)",
        "SELECT GET_LOCK('left', 0)",
    )
    leaver._force_close()
    with way.connect(database="t") as connection:
        return answers(
            connection,
            "SET innodb_lock_wait_timeout = 10",
            "UPDATE a SET s = 'w'",
            "SELECT v, s FROM a",
            "SELECT GET_LOCK('left', 10)",
        )


def deadlock(way):
    """Of two sessions that wait for each other exactly one is told so, and its transaction is over."""
    with way.connect(database="t") as one, way.connect(database="t") as other:
        answers(one, TABLE, "INSERT INTO a (v) VALUES (1), (2)", "BEGIN", "UPDATE a SET s = 'o' WHERE id = 1")
        answers(other, "BEGIN", "UPDATE a SET s = 'p' WHERE id = 2")
        waiting = []
        waiter = threading.Thread(target=lambda: waiting.append(answer(one, "UPDATE a SET s = 'o' WHERE id = 2")))
        waiter.start()
        crossing = answer(other, "UPDATE a SET s = 'p' WHERE id = 1")
        waiter.join(30)
        outcomes = [(one, waiting[0]), (other, crossing)]
        return [
            (outcome, answer(loser, "SELECT @@in_transaction"), answer(loser, "SELECT v FROM a"))
            for loser, outcome in outcomes
            if "1213" in repr(outcome)
        ]


def twenty_sessions(way):
    """Sessions with different state, in turn: none sees another's."""
    connections = [way.connect(database="t") for _ in range(20)]
    seen = []
    for number, connection in enumerate(connections):
        answers(
            connection,
            f"SET @mine = {number}, sql_mode = '{'ANSI' if number % 2 else ''}', time_zone = '+{number % 12:02}:00'",
        )
        if number % 3 == 0:
            answer(connection, f"SET NAMES {'latin1' if number % 2 else 'utf8mb4'}")
        if number % 4 == 0:
            answer(connection, "USE information_schema")
        if number % 5 == 0:
            connection.autocommit(False)
    for _ in range(3):
        for connection in connections:
            seen.append(
                answer(
                    connection,
                    "SELECT @mine, @@sql_mode, @@time_zone, @@character_set_results, DATABASE(), @@autocommit",
                )
            )
    for connection in connections:
        connection.close()
    return seen


def logins(way):
    """Whom the server takes and with which schema, and what those hear who are refused."""
    seen = []
    for more in (
        {"database": "t"},
        {"database": "nodb"},
        {"database": ""},
        {"password": "wrong"},
        {"password": ""},
        {"user": "nobody"},
        {"database": "t", "client_flag": CLIENT.FOUND_ROWS},
        {"init_command": "SET @i = 1"},
        {"sql_mode": "ANSI"},
        {"autocommit": False},
        {"charset": "latin1"},
        {"client_flag": CLIENT.IGNORE_SPACE | CLIENT.INTERACTIVE},
    ):
        try:
            with way.connect(**more) as connection:
                seen.append(
                    (
                        more,
                        connection.get_server_info(),
                        connection.server_language,
                        answer(
                            connection,
                            "SELECT DATABASE(), @i, @@sql_mode, @@autocommit, @@character_set_client, @@collation_connection, "
                            ""
                            "@@interactive_timeout = @@wait_timeout, VERSION()",
                        ),
                    )
                )
        except err.MySQLError as error:
            code, *rest = refusal(error)[1:]
            seen.append((more.keys(), code, repr(rest).replace("127.0.0.1", "localhost")))
    return seen


def schema_dropped_by_another(way):
    """A session whose schema is gone can go to another."""
    with way.connect(database="t") as other:
        answers(other, "CREATE DATABASE IF NOT EXISTS gone")
        one = way.connect(database="gone")
        setup = answers(one, "SELECT 1")
        answers(other, "DROP DATABASE gone")
        # The server still knows the schema's name (1146), the proxy says that there is none (1046): docs/differences.md.
        try:
            one.query("SELECT * FROM a")
            raise AssertionError("a table of a schema that is gone was found")
        except (err.ProgrammingError, err.OperationalError) as error:
            assert error.args[0] in (1046, 1146), error
        seen = answers(one, "SELECT 1", "USE t", "SELECT DATABASE()")
        one.select_db("mysql")
        seen += answers(one, "SELECT DATABASE()", "DROP DATABASE IF EXISTS gone")
        one.close()
    return [setup, *seen]


def own_schema_dropped(way):
    """Who drops the own schema has none."""
    with way.connect(database="t") as one:
        return answers(
            one,
            "CREATE DATABASE own",
            "USE own",
            "CREATE TABLE a (n INT)",
            "DROP DATABASE own",
            "SELECT DATABASE()",
            "SELECT * FROM a",
            "USE t",
            "SELECT DATABASE()",
        )


def found_rows_flag(way):
    """CLIENT_FOUND_ROWS counts the rows found, not those changed."""
    seen = []
    for flag in (0, CLIENT.FOUND_ROWS):
        with way.connect(database="t", client_flag=flag) as connection:
            seen.append(
                answers(connection, TABLE, "INSERT INTO a (v) VALUES (1)", "UPDATE a SET v = 1", "DROP TABLE a")
            )
    return seen


def commands(way):
    """Commands that are no queries: answered, and the session stays in step."""
    seen = []
    with way.connect(database="t") as connection:

        def send(command, body=b""):
            try:
                connection._execute_command(command, body)
                packet = connection._read_packet()
                return "OK" if packet.is_ok_packet() else "EOF" if packet.is_eof_packet() else "other"
            except err.MySQLError as error:
                return refusal(error)

        connection.ping(reconnect=False)
        connection.select_db("information_schema")
        seen.append(answers(connection, "SELECT DATABASE()"))
        seen.append(send(COMMAND.COM_INIT_DB, b"nodb"))
        seen.append(answers(connection, "SELECT DATABASE()", "SET @x = 1", "BEGIN"))
        seen.append(send(0x1F))  # COM_RESET_CONNECTION
        seen.append(
            answers(connection, "SELECT DATABASE(), @x, @@in_transaction, @@autocommit, @@character_set_client")
        )
        connection._execute_command(COMMAND.COM_STATISTICS, b"")
        seen.append(connection._read_packet().get_all_data()[:8])
        seen.append(answers(connection, "SELECT 'in step'"))
    return seen


def unsupported_commands(way):
    """Whatever the answer is, it comes at once and the session stays in step."""
    seen = []
    for command, body in (
        (0x0D, b""),
        (0x1B, b"\0\0"),
        (0x55, b"x"),
        (0xFF, b""),
        (0x05, b"t"),
        (0x0A, b""),
        (0x07, b"\0"),
        (0x17, b"\1\0\0\0\0\1\0\0\0"),
    ):
        with way.connect(database="t", read_timeout=10) as connection:
            try:
                connection._execute_command(command, body)
                packet = connection._read_packet()
                if packet.is_eof_packet() or packet.is_ok_packet() or packet.is_error_packet():
                    pass
                else:
                    continue  # a result: the server's COM_PROCESS_INFO
            except err.MySQLError as error:
                assert error.args[0] not in (2006, 2013), (command, error)
            seen.append((command, answer(connection, "SELECT 'in step'")))
    return [one for one in seen if one[0] != 0x0A]


def local_file(way):
    """LOAD DATA LOCAL, whether allowed or not, does not put the session out of step."""
    with way.connect(database="t", local_infile=True, read_timeout=20) as connection:
        answers(connection, TABLE, "LOAD DATA LOCAL INFILE '/dev/null' INTO TABLE a (v)")
        return answers(connection, "SELECT 'in step'")


def kill_finds_the_session(stage):
    """Thread numbers are the proxy's own, in the greeting, in CONNECTION_ID() and for KILL."""
    with stage.proxy.connect() as killer:
        victim = stage.proxy.connect()
        number = answer(victim, "SELECT CONNECTION_ID()")[0][1][0][0]
        query = answer(killer, f"KILL QUERY {number}")[0]
        alive = answer(victim, "SELECT 1")[0][1]
        killer.kill(number)
        gone = answer(killer, "KILL 4000000000")[0][1:3]
        try:
            victim.ping(reconnect=False)
            return "the session goes on"
        except err.MySQLError:
            pass
        seen = (number == victim.thread_id(), query[0], alive, gone)
        return seen == (True, "OK", ((1,),), (1094, "HY000")) or seen


CHECKS = [
    ("transactions commit, roll back and tell their state", listed("transactions")),
    ("transactions with autocommit off", listed("transactions", autocommit=False)),
    ("one session sees of another what is committed", seen_by_another),
    ("a session that goes leaves no lock and no row", locks_of_one_who_left),
    ("a deadlock is told and ends the transaction", deadlock),
    ("LAST_INSERT_ID is the session's own", listed("insert_ids", values)),
    ("LAST_INSERT_ID with autocommit off", listed("insert_ids", values, autocommit=False)),
    ("LAST_INSERT_ID after ids that were given", given_ids),
    ("ROW_COUNT and FOUND_ROWS are those of the last statement", listed("counts", values)),
    ("what the proxy answers alone has the server's metadata", listed("answered_alone")),
    ("errors have the same code, SQLSTATE and message", listed(["", *statements("errors")])),
    ("warnings are counted and shown", listed("warnings", values)),
    ("session state is kept", listed("state")),
    ("twenty sessions do not mix their state", twenty_sessions),
    ("procedures give all their results", listed("procedures")),
    (
        "several statements in one packet give all their results",
        listed([*statements("several"), TWO_HUNDRED], client_flag=CLIENT.MULTI_STATEMENTS),
    ),
    ("several statements are refused without the flag", listed("several")),
    ("logins are taken and refused alike", logins),
    ("a session whose schema another has dropped goes on", schema_dropped_by_another),
    ("who drops the own schema has none", own_schema_dropped),
    ("CLIENT_FOUND_ROWS acts", found_rows_flag),
    ("ping, schema, reset and statistics are answered", commands),
    ("commands that nobody sends keep the session in step", unsupported_commands),
    ("LOAD DATA LOCAL keeps the session in step", local_file),
]

CLAIMS = [
    ("ROW_COUNT and FOUND_ROWS inside a larger statement are right or refused", right_or_refused),
    ("CONNECTION_ID is the number of the greeting", connection_id),
    ("KILL finds the session by its number", kill_finds_the_session),
]
