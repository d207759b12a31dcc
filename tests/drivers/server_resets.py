"""What a server forgets at COM_RESET_CONNECTION. The proxy puts connections back on the strength of it, so it is shown for each
server that the proxy is tested with: after a reset a connection is as a new one in all of this.

Not forgotten, and so not here: roles, and what FOUND_ROWS() says, for which the proxy never asks a connection from its pools. The
character set is that of the login on MariaDB and the server's own on MySQL: the proxy sets it anew.
"""

import pymysql

RESET = 0x1F

# Told apart by connection, by time or by what ran before, whether there was a reset or not.
PASSING = {
    "timestamp",
    "pseudo_thread_id",
    "error_count",
    "warning_count",
    "last_insert_id",
    "identity",
    "rand_seed1",
    "rand_seed2",
    "last_gtid",
    "in_transaction",
    "statement_id",
    "external_user",
    "proxy_user",
}

CHARACTER_SETS = ("character_set_", "collation_")

# What brings it about, and what shows it, by the names of the reasons for which the proxy holds a connection.
STATE = [
    ("user variables", ["SET @a = 'mine', @b := 2"], "SELECT @a, @b"),
    ("temporary tables", ["CREATE TEMPORARY TABLE own (a INT)"], "SELECT COUNT(*) FROM own"),
    ("hidden tables", ["CREATE TEMPORARY TABLE plain (a INT)", "INSERT INTO plain VALUES (7)"], "SELECT * FROM plain"),
    ("statements prepared by text", ["PREPARE s FROM 'SELECT 1'"], "EXECUTE s"),
    ("handlers", ["HANDLER plain OPEN AS h"], "HANDLER h READ FIRST"),
    ("the last insert id", ["INSERT INTO plain VALUES (LAST_INSERT_ID(77))"], "SELECT LAST_INSERT_ID()"),
    ("warnings", ["SELECT CAST('x' AS SIGNED)"], "SHOW WARNINGS"),
    ("table locks", ["LOCK TABLES plain READ"], "UPDATE plain SET a = 2 WHERE a = -1"),
    ("the isolation level", ["SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"], "SELECT @@tx"),
    ("the next transaction's level", ["SET TRANSACTION READ ONLY"], "UPDATE plain SET a = 2 WHERE a = -1"),
    ("autocommit", ["SET autocommit = 0"], "SELECT @@autocommit"),
    ("a seed", ["SET @@rand_seed1 = 5, @@rand_seed2 = 6"], "SELECT RAND() = 0.00000013969838629123735"),
    ("a fixed time", ["SET timestamp = 1000"], "SELECT UNIX_TIMESTAMP() = 1000"),
    ("the next insert id", ["SET insert_id = 5000"], "SELECT @@insert_id = 5000"),
]

# What would be in the way of others: the statement that makes it, and what another connection asks.
LOCKS = [
    ("a named lock", ["SELECT GET_LOCK('reset_lock', 0)"], "SELECT IS_FREE_LOCK('reset_lock')"),
    ("locked tables", ["LOCK TABLES plain WRITE"], "UPDATE plain SET a = 1"),
    ("the global read lock", ["FLUSH TABLES WITH READ LOCK"], "UPDATE plain SET a = 1"),
    ("tables for export", ["FLUSH TABLES plain FOR EXPORT"], "UPDATE plain SET a = 1"),
    ("handlers' locks", ["HANDLER plain OPEN"], "ALTER TABLE plain COMMENT 'other'"),
]
OF_MARIADB = [
    ("a stage of a backup", ["BACKUP STAGE START", "BACKUP STAGE BLOCK_DDL"], "ALTER TABLE plain COMMENT 'more'"),
    ("a backup lock", ["BACKUP LOCK plain"], "ALTER TABLE plain COMMENT 'most'"),
]
OF_MYSQL = [("the instance's lock", ["LOCK INSTANCE FOR BACKUP"], "ALTER TABLE plain COMMENT 'more'")]


def reset(connection):
    connection._execute_command(RESET, b"")
    packet = connection._read_packet()
    assert packet.is_ok_packet(), packet


def run(connection, sql):
    """Rows, or the number of the error."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(sql)
            return list(cursor.fetchall())
        except pymysql.Error as error:
            return error.args[0]


def variables(connection):
    named = run(connection, "SHOW SESSION VARIABLES")
    return {name: value for name, value in named if name not in PASSING and not name.startswith(CHARACTER_SETS)}


def other_value(name, value):
    """Something else to set a variable to."""
    if value in ("ON", "OFF"):
        return "OFF" if value == "ON" else "ON"
    try:
        return str(int(value) + 1 if int(value) < 2 else int(value) // 2)
    except ValueError:
        pass
    texts = {"time_zone": "'+03:00'", "sql_mode": "'ANSI_QUOTES'", "lc_messages": "'de_DE'", "lc_time_names": "'de_DE'"}
    return texts.get(name)


def variables_are_reset(way):
    """The session variables that are not as in a new connection, of all that can be set."""
    with way.connect() as used:
        before = variables(used)
        for name, value in before.items():
            new = other_value(name, value)
            if new is not None:
                run(used, f"SET SESSION {name} = {new}")
        changed = sum(before.get(name) != value for name, value in variables(used).items())
        reset(used)
        seen = variables(used)
        # What was changed for the whole server is so in a new connection too.
        with way.connect() as fresh:
            left = {name: value for name, value in variables(fresh).items() if seen.get(name) != value}
        return changed > 100 and not left or (changed, left)


def prepared_statements_are_closed(way):
    with way.connect() as connection, way.connect() as other:
        count = "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'"
        before = run(other, count)
        connection._execute_command(0x16, b"SELECT 1")
        for _ in range(3):
            connection._read_packet()
        between = run(other, count)
        reset(connection)
        return before != between and run(other, count) == before


def option_stays(way):
    """COM_SET_OPTION is not undone: the proxy remembers what it said."""
    flags = pymysql.constants.CLIENT.MULTI_STATEMENTS
    with way.connect(client_flag=flags) as connection:
        seen = [run(connection, "SELECT 1; DO 0") == 1064]
        connection._execute_command(0x1B, b"\1\0")
        connection._read_packet()
        reset(connection)
        seen.append(run(connection, "SELECT 1; DO 0") == 1064)
        return seen == [False, True] or seen


def state_is_forgotten(way):
    """The names of what was not."""
    left = []
    is_mariadb = "MariaDB" in way.rows("SELECT VERSION()")[0][0]
    isolation = "SELECT @@tx_isolation" if is_mariadb else "SELECT @@transaction_isolation"
    with way.connect() as admin:
        for sql in (
            "DROP DATABASE IF EXISTS resets",
            "CREATE DATABASE resets",
            "USE resets",
            "CREATE TABLE plain (a INT) ENGINE=InnoDB",
            "INSERT INTO plain VALUES (1)",
        ):
            run(admin, sql)
        for name, makes, see in STATE:
            see = isolation if see == "SELECT @@tx" else see
            with way.connect(database="resets") as fresh, way.connect(database="resets") as used:
                expected = run(fresh, see)
                made = [run(used, sql) for sql in makes]
                reset(used)
                seen = run(used, see)
                if seen != expected:
                    left.append((name, made, expected, seen))
                if run(used, "SELECT DATABASE()") != [("resets",)]:
                    left.append((name, "the schema is gone"))
        for name, makes, ask in LOCKS + (OF_MARIADB if is_mariadb else OF_MYSQL):
            with way.connect(database="resets") as used, way.connect(database="resets") as other:
                run(other, "SET lock_wait_timeout = 1")
                made = [run(used, sql) for sql in makes]
                blocked = run(other, ask)
                reset(used)
                free = run(other, ask)
                if free not in ([], [(1,)]) or blocked == free:
                    left.append((name, made, blocked, free))
        run(admin, "DROP DATABASE resets")
    return not left or left


CHECKS = [
    ("a reset: session variables", variables_are_reset),
    ("a reset: prepared statements", prepared_statements_are_closed),
    ("a reset: COM_SET_OPTION", option_stays),
    ("a reset: other state and locks", state_is_forgotten),
]
