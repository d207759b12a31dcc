"""What is asked of each server. A function is one connection and one file, or the same file with and without a flag."""

import contextlib
import struct
import threading

import client as flags
from client import Account, Client, lenenc, text
from recording import Recording

MARIADB, MYSQL = "mariadb", "mysql"
GOLDEN = Account("golden", "golden-password")
EMPTY = Account("nopassword")

COM_INIT_DB, COM_FIELD_LIST, COM_STATISTICS, COM_PROCESS_KILL, COM_PING = 0x02, 0x04, 0x09, 0x0C, 0x0E
COM_CHANGE_USER, COM_LONG_DATA, COM_CLOSE, COM_RESET, COM_SET_OPTION = 0x11, 0x18, 0x19, 0x1A, 0x1B
COM_FETCH, COM_RESET_CONNECTION, COM_BULK = 0x1C, 0x1F, 0xFA


class Server:
    """Where one server is, what it is, and where its files go."""

    def __init__(self, kind, version, port, root, folder):
        self.kind, self.version, self.port, self.root, self.folder = kind, version, port, root, folder

    @contextlib.contextmanager
    def recorded(self, name, title, account=GOLDEN, **options):
        """A connection that is logged in, whose file is written at the end."""
        recording = Recording(self.folder / f"{name}.txt", title)
        with Client(self.port, recording, **options) as connection:
            connection.is_in = connection.log_in(account) == 0
            yield connection

    def both(self, name, title, capabilities=0, **options):
        """The same without `CLIENT_DEPRECATE_EOF` and with it, each on a connection of its own."""
        for suffix, flag in (("eof", 0), ("ok", flags.DEPRECATE_EOF)):
            with self.recorded(f"{name}-{suffix}", title, capabilities=capabilities | flag, **options) as connection:
                yield connection

    def quietly(self, *statements, account=None):
        """Runs them without a file."""
        with Client(self.port, Recording(self.folder / ".unrecorded", ""), schema=None) as connection:
            connection.recording.write = lambda: None
            assert connection.log_in(account or self.root) == 0
            for sql in statements:
                answer = connection.query(sql)
                assert answer[4] != 0xFF, (sql, answer)


TYPES = {
    "both": [
        ("a_tinyint", "TINYINT", "-128", "127"),
        ("a_smallint", "SMALLINT UNSIGNED", "0", "65535"),
        ("a_mediumint", "MEDIUMINT", "-8388608", "8388607"),
        ("an_int", "INT NOT NULL", "-2147483648", "2147483647"),
        ("a_bigint", "BIGINT UNSIGNED", "0", "18446744073709551615"),
        ("a_float", "FLOAT", "-1.5", "3.25e10"),
        ("a_double", "DOUBLE", "-1e300", "0.1"),
        ("a_decimal", "DECIMAL(10,3)", "-1234567.891", "0"),
        ("a_bit", "BIT(9)", "b'0'", "b'101010101'"),
        ("a_year", "YEAR", "1901", "2155"),
        ("a_date", "DATE", "'1000-01-01'", "'9999-12-31'"),
        ("a_time", "TIME(3)", "'-838:59:58.999'", "'00:00:00'"),
        ("a_datetime", "DATETIME(6)", "'2001-02-03 04:05:06.000007'", "'2001-02-03 00:00:00'"),
        ("a_timestamp", "TIMESTAMP NULL", "'2020-01-02 03:04:05'", "'2037-12-31 23:59:59'"),
        ("a_char", "CHAR(5)", "'ab'", "''"),
        ("a_varchar", "VARCHAR(300)", "REPEAT('v', 300)", "''"),
        ("a_latin1", "VARCHAR(5) CHARACTER SET latin1", "_utf8mb4'\u00e9'", "''"),
        ("a_binary", "BINARY(3)", "x'ff00'", "''"),
        ("a_varbinary", "VARBINARY(10)", "x'00fffefb'", "''"),
        ("a_tinyblob", "TINYBLOB", "'t'", "''"),
        ("a_blob", "BLOB", "'b'", "''"),
        ("a_longblob", "LONGBLOB", "'l'", "''"),
        ("a_text", "TEXT", "'text'", "''"),
        ("a_mediumtext", "MEDIUMTEXT", "'medium'", "''"),
        ("an_enum", "ENUM('x', 'y')", "'x'", "'y'"),
        ("a_set", "SET('p', 'q')", "'p,q'", "''"),
        ("a_json", "JSON", "'{\"a\": 1}'", "'null'"),
        ("a_point", "POINT", "ST_GeomFromText('POINT(1 2)')", "NULL"),
    ],
    MARIADB: [("an_inet4", "INET4", "'1.2.3.4'", "'0.0.0.0'"), ("an_inet6", "INET6", "'::1'", "'::'"),
              ("a_uuid", "UUID", "'123e4567-e89b-12d3-a456-426655440000'", "NULL")],
    MYSQL: [("a_vector", "VECTOR(2)", "STRING_TO_VECTOR('[1, 2]')", "NULL")],
}  # fmt: skip


def set_up(server):
    """Accounts and tables that the files speak of."""
    columns = TYPES["both"] + TYPES[server.kind]
    if server.version >= (11, 7) and server.kind == MARIADB:
        columns = [*columns, ("a_vector", "VECTOR(2)", "VEC_FromText('[1, 2]')", "NULL")]
    rows = [", ".join(column[place] for column in columns) for place in (2, 3)]
    nulls = ", ".join("0" if "NOT NULL" in column[1] else "NULL" for column in columns)
    server.quietly(
        "SET GLOBAL local_infile = 1",
        "CREATE DATABASE golden DEFAULT CHARACTER SET utf8mb4",
        "CREATE USER golden IDENTIFIED BY 'golden-password'",
        "CREATE USER nopassword",
        "GRANT ALL ON *.* TO golden",
        "GRANT ALL ON *.* TO nopassword",
        "USE golden",
        f"CREATE TABLE all_types (id INT PRIMARY KEY, {', '.join(f'{name} {kind}' for name, kind, *_ in columns)})",
        *(f"INSERT INTO all_types VALUES ({place}, {row})" for place, row in enumerate([*rows, nulls])),
        "CREATE TABLE numbers (n INT PRIMARY KEY)",
        "INSERT INTO numbers WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 300) SELECT n FROM r",
        "CREATE TABLE few (id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, word VARCHAR(20) DEFAULT 'w', UNIQUE (word))",
        "INSERT INTO few VALUES (1, 'one'), (2, 'two'), (3, NULL)",
        "CREATE PROCEDURE two_results () BEGIN SELECT 1; SELECT word FROM few ORDER BY id; END",
        "CREATE PROCEDURE no_result () SET @x = 1",
        "CREATE PROCEDURE gives (IN a INT, OUT b INT, INOUT c VARCHAR(10)) BEGIN SET b = a + 1; SET c = 'out'; END",
        "CREATE TABLE loaded (a INT, b VARCHAR(10))",
    )
    if server.kind == MARIADB:
        server.quietly(
            "INSTALL SONAME 'auth_ed25519'",
            "CREATE USER curve IDENTIFIED VIA ed25519 USING PASSWORD('golden-password')",
            "GRANT ALL ON *.* TO curve",
        )
    else:
        server.quietly("INSTALL COMPONENT 'file://component_query_attributes'")


def logins(server):
    """Every way in that the server has, and the refusals."""
    for name, title, account, options in logins_of(server):
        with server.recorded(f"login-{name}", title, account, **options) as connection:
            if connection.is_in:
                connection.query("SELECT 1")
    with contextlib.ExitStack() as open_sockets:
        server.quietly("SET GLOBAL max_connections = 10")
        for number in range(12):
            recording = Recording(server.folder / "login-too-many.txt", "An ERR packet in place of the greeting")
            connection = open_sockets.enter_context(Client(server.port, recording))
            recording.write = lambda: None
            if connection.log_in(GOLDEN) == 0xFF:
                del recording.write
                break
            assert number < 11
    # The places are free again a moment after the sockets are closed.
    for _ in range(100):
        with contextlib.suppress(Exception):
            return server.quietly("SET GLOBAL max_connections = 1000")
    raise AssertionError("no place becomes free")


def logins_of(server):
    wrong = Account("golden", "wrong-password")
    yield "empty", "A login without a password", EMPTY, {}
    yield "wrong-password", "A login with the wrong password", wrong, {}
    yield "nobody", "A login of a user that is not there", Account("nobody", "x"), {}
    yield "unknown-schema", "A login into a schema that is not there", GOLDEN, {"schema": "nowhere"}
    yield "no-schema", "A login without a schema", GOLDEN, {"schema": None}
    if server.kind == MARIADB:
        yield "native", "A login by mysql_native_password", GOLDEN, {}
        yield "switch-native", "Begun by another plugin, switched to mysql_native_password", \
            Account("golden", "golden-password", "caching_sha2_password"), {}
        yield "ed25519", "A login by client_ed25519, switched to", Account("curve", "golden-password"), {}
        yield "ed25519-wrong-password", "The same with the wrong password", Account("curve", "wrong-password"), {}
        yield "mariadb-capabilities", "A login with MariaDB's own capabilities", GOLDEN, \
            {"mariadb": flags.PROGRESS | flags.BULK | flags.EXTENDED_TYPES | flags.CACHE_METADATA}
    else:
        server.quietly("FLUSH PRIVILEGES")
        yield "sha2-full", "A login by caching_sha2_password that the server does not remember: by its RSA key", GOLDEN, {}
        yield "sha2-fast", "A login by caching_sha2_password that the server remembers", GOLDEN, {}
        yield "switch-sha2", "Begun by another plugin, switched to caching_sha2_password", \
            Account("golden", "golden-password", "mysql_native_password"), {}
        server.quietly("FLUSH PRIVILEGES")
        yield "sha2-full-wrong-password", "Full authentication with the wrong password", wrong, {}


def text_results(server):
    for connection in server.both("text-results", "Text result sets"):
        for sql in (
            "SELECT 1",
            "SELECT NULL, '', 'a'",
            "SELECT * FROM all_types ORDER BY id",
            "SELECT * FROM all_types WHERE id = 99",
            "SELECT word FROM few WHERE word > 'a'",
            "SELECT REPEAT('x', 250), REPEAT('y', 251)",
            "SELECT REPEAT('z', 70000)" if connection.capabilities & flags.DEPRECATE_EOF else "SELECT 'short'",
            "SELECT CAST('1x' AS SIGNED)",
            "SHOW WARNINGS",
            "SELECT n FROM numbers",
            "SELECT 1 AS a, 2 AS a, `id` AS b FROM few AS other LIMIT 1",
            "BEGIN",
            "SELECT id FROM few LIMIT 1",
            "COMMIT",
            "SET autocommit = 0",
            "SELECT id FROM few LIMIT 1",
            "SET autocommit = 1",
            "SHOW COLUMNS FROM few",
            "EXPLAIN SELECT 1",
        ):
            connection.query(sql)


def own_answers(server):
    """What the proxy answers by itself."""
    for connection in server.both("own-answers", "Answers that the proxy also gives without asking a server"):
        for sql in ("SELECT LAST_INSERT_ID()", "SELECT CONNECTION_ID()", "SELECT ROW_COUNT()", "SELECT FOUND_ROWS()"):
            connection.query(sql)
        for sql in ("SELECT LAST_INSERT_ID()", "SELECT CONNECTION_ID()"):
            connection.execute(sql, connection.prepare(sql))


def ok_and_err(server):
    for connection in server.both("ok-and-err", "OK and ERR packets as answers to statements"):
        for sql in (
            "CREATE OR REPLACE TABLE t (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL, b VARCHAR(3))"
            if server.kind == MARIADB
            else "CREATE TABLE IF NOT EXISTS t (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL, b VARCHAR(3))",
            "TRUNCATE TABLE t",
            "INSERT INTO t (a) VALUES (1)",
            "INSERT INTO t (a) VALUES (2), (3), (4)",
            "INSERT INTO t VALUES (250, 0, NULL)",
            "INSERT INTO t (a) VALUES (251)",
            "INSERT INTO t VALUES (70000, 0, NULL)",
            "INSERT INTO t (a) VALUES (0)",
            "INSERT INTO t VALUES (20000000, 0, NULL)",
            "INSERT INTO t (a) VALUES (0)",
            "INSERT INTO t VALUES (18446744073709551600, 0, NULL)",
            "INSERT INTO t (a) VALUES (0)",
            "UPDATE t SET b = 'new' WHERE id IN (1, 2, 3)",
            "UPDATE t SET b = 'new' WHERE id IN (1, 2, 3)",
            "INSERT IGNORE INTO t (a, b) VALUES (1, 'too long'), (2, 'too long')",
            "DELETE FROM t WHERE id = 9999",
            "INSERT INTO t (id, a) SELECT 1000 + n, n FROM numbers",
            "DELETE FROM t WHERE id BETWEEN 1001 AND 1300",
            "DO 1",
            "SET @x = 1",
            "BEGIN",
            "INSERT INTO t (id, a) VALUES (5, 5)",
            "SAVEPOINT s",
            "ROLLBACK",
            "START TRANSACTION READ ONLY",
            "COMMIT",
            "USE golden",
            "USE nowhere",
            "DROP TABLE IF EXISTS not_there",
            "ALTER TABLE t ADD c INT",
            "ALTER TABLE t DROP c",
            "SELECT",
            "",
            "SELECT * FROM not_there",
            "INSERT INTO t VALUES (1, 1, '')",
            "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'gr\u00fc\u00dfe', MYSQL_ERRNO = 5000",
            "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ''",
            "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES,NO_BACKSLASH_ESCAPES')",
            "DO 1",
            "SELECT 1",
        ):
            connection.query(sql)


def several_results(server):
    for connection in server.both("several-results", "Several results in one answer"):
        for sql in (
            "SELECT 1; SELECT 2",
            "SELECT 1; DO 1; SELECT word FROM few WHERE id = 99; UPDATE few SET word = word",
            "DO 1; DO 2; DO 3",
            "SELECT 1; SELECT nonsense; SELECT 2",
            "SELECT 1;",
            "CALL two_results()",
            "CALL no_result()",
            "CALL two_results(); SELECT 3",
            "CALL nowhere()",
        ):
            connection.query(sql)
        call = connection.prepare("CALL gives(?, ?, ?)")
        connection.execute("CALL gives(?, ?, ?)", call, b"7", None, b"in")
        call = connection.prepare("CALL two_results()")
        connection.execute("CALL two_results()", call)


def prepared(server):
    for connection in server.both("prepared", "Preparation and execution of statements, and what belongs to it"):
        for sql in (
            "DO 1",
            "SELECT 1",
            "DO ?, ?",
            "SELECT ?, word FROM few WHERE id = ?",
            "INSERT INTO few (word) VALUES (?)",
            "SELECT",
        ):
            connection.prepare(sql)
        everything = connection.prepare("SELECT * FROM all_types ORDER BY id")
        connection.execute("all types", everything)
        none = connection.prepare("SELECT * FROM few WHERE id = 99")
        connection.execute("no rows", none)
        one = connection.prepare("SELECT ?, ?, ?")
        connection.execute("three parameters, one NULL", one, b"one", None, b"")
        number = struct.pack("<q", -2)
        connection.execute("a number and two texts", one, number, b"a", b"b", types=[8, 0xFD, 0xFD])
        connection.command("long data", connection.on(COM_LONG_DATA, one, b"\0\0long"), answers=False)
        connection.command("long data", connection.on(COM_LONG_DATA, one, b"\0\0 data"), answers=False)
        fixed = b"\x17" + struct.pack("<IBI", one, 0, 1)
        payload = fixed + b"\0\x01" + struct.pack("<3H", 0xFC, 0xFD, 0xFD) + text("a") + text("b")
        connection.command("execute: with long data", payload)
        connection.command("reset", connection.on(COM_RESET, one))
        connection.command("reset: unknown statement", connection.on(COM_RESET, 999999))
        insert = connection.prepare("INSERT INTO few (word) VALUES (?)")
        connection.execute("insert", insert, b"prepared")
        connection.execute("insert once more", insert, b"prepared")
        connection.query("DELETE FROM few WHERE id > 3")
        connection.command("close", connection.on(COM_CLOSE, insert), answers=False)
        connection.execute("a closed statement", insert, b"prepared")


def cursors(server):
    for connection in server.both("cursors", "Rows of a cursor"):
        statement = connection.prepare("SELECT id, word FROM few ORDER BY id")
        connection.execute("with a cursor", statement, cursor=1)
        fetch = connection.on(COM_FETCH, statement)
        for count in (2, 0, 5, 1):
            connection.command(f"fetch {count}", fetch + struct.pack("<I", count))
        connection.execute("with a cursor again", statement, cursor=1)
        connection.command("reset", connection.on(COM_RESET, statement))
        connection.command("fetch without a cursor", fetch + struct.pack("<I", 1))
        empty = connection.prepare("SELECT id FROM few WHERE id = 99")
        connection.execute("a cursor without rows", empty, cursor=1)
        connection.command("fetch of no rows", connection.on(COM_FETCH, empty, struct.pack("<I", 1)))
        none = connection.prepare("DO 1")
        connection.execute("a cursor for what has no rows", none, cursor=1)
        connection.command("fetch of an unknown statement", connection.on(COM_FETCH, 999999, struct.pack("<I", 1)))


def commands(server):
    for connection in server.both("commands", "Commands without SQL"):
        connection.command("ping", bytes([COM_PING]))
        connection.command("init db", bytes([COM_INIT_DB]) + b"golden")
        connection.command("init db: unknown", bytes([COM_INIT_DB]) + b"nowhere")
        connection.command("statistics", bytes([COM_STATISTICS]))
        connection.command("field list", bytes([COM_FIELD_LIST]) + b"few\0")
        connection.command("field list: wildcard", bytes([COM_FIELD_LIST]) + b"few\0w%")
        connection.command("field list: unknown table", bytes([COM_FIELD_LIST]) + b"nowhere\0")
        connection.command("set option: off", bytes([COM_SET_OPTION]) + b"\1\0")
        connection.query("DO 1; DO 2")
        connection.command("set option: on", bytes([COM_SET_OPTION]) + b"\0\0")
        connection.command("set option: unknown", bytes([COM_SET_OPTION]) + b"\7\0")
        connection.command("kill: unknown", bytes([COM_PROCESS_KILL]) + struct.pack("<I", 999999))
        connection.command("reset connection", bytes([COM_RESET_CONNECTION]))
        connection.command("unknown command", b"\xf0")
        change_user(connection, GOLDEN, "change user")
        connection.query("SELECT CURRENT_USER()")


def change_user(connection, account, label):
    connection.recording.step(label)
    payload = account.user.encode() + b"\0\0golden\0" + struct.pack("<H", 45) + connection.server_plugin.encode() + b"\0"
    connection.send(0, bytes([COM_CHANGE_USER]) + payload + text(b""))
    assert connection.converse(account, connection.server_plugin) == 0


def failing_rows(server):
    slow = (
        "SELECT /*+ MAX_EXECUTION_TIME(400) */ n, SLEEP(0.15) FROM numbers"
        if server.kind == MYSQL
        else "SET STATEMENT max_statement_time = 0.4 FOR SELECT n, SLEEP(0.15) FROM numbers"
    )
    several = "(SELECT f.id FROM few AS f WHERE f.id >= 5 - numbers.n)"
    for connection in server.both("failing-rows", "An error behind the first rows"):
        connection.query(f"SELECT n, {several} FROM numbers WHERE n < 9 ORDER BY n")
        connection.query(slow)
        # From another connection, in the middle of it.
        kill = threading.Timer(0.4, server.quietly, [f"KILL QUERY {connection.id}"])
        kill.start()
        connection.query("SELECT n, SLEEP(0.15) FROM numbers")
        kill.join()
        failing = connection.prepare(f"SELECT n, {several} FROM numbers WHERE n < 9 ORDER BY n")
        connection.execute("subquery", failing)
        connection.query("SELECT 1")


def local_file(server):
    for connection in server.both("local-file", "The server asks for a file of the client's"):
        load = "LOAD DATA LOCAL INFILE 'golden.csv' INTO TABLE loaded FIELDS TERMINATED BY ','"
        for label, pieces in (("", (b"1,one\n2,tw", b"o\n3,three\n")), (" /* empty */", ()), (" /* bad */", (b"x,one\n",))):
            asked = connection.query(load + label)
            for place, piece in enumerate((*pieces, b"")):
                connection.send(asked[3] + 1 + place, piece)
            connection.hear()
        connection.query("SELECT COUNT(*) FROM loaded")
        connection.query("TRUNCATE TABLE loaded")


def tracking(server):
    """The same statements with session tracking and without."""
    variables = "SET session_track_system_variables = '*'"
    for name, flag in (("tracking", flags.SESSION_TRACK), ("no-tracking", 0)):
        server.quietly("DROP TABLE IF EXISTS golden.tracked", "CREATE TABLE golden.tracked (id INT PRIMARY KEY, a INT)")
        for connection in server.both(name, "What the session's state has become", capabilities=flag):
            for sql in (
                variables,
                "SET session_track_schema = ON, session_track_state_change = ON",
                "SET session_track_transaction_info = 'CHARACTERISTICS'",
                "SET session_track_gtids = 'OWN_GTID'" if server.kind == MYSQL else "SET @gtids = 'of MySQL'",
                "SET NAMES latin1",
                "SET sql_mode = ''",
                "SET character_set_results = NULL",
                "SET character_set_client = utf8mb4, wait_timeout = 100",
                "SET @x = 1",
                "USE mysql",
                "USE golden",
                "DO 1",
                "CREATE TEMPORARY TABLE temporary_table (a INT)",
                "PREPARE p FROM 'SELECT 1'",
                "DELETE FROM tracked",
                "INSERT INTO tracked VALUES (1, 1), (2, 2)",
                "UPDATE tracked SET a = a + 1",
                "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ WRITE",
                "SELECT a FROM tracked",
                "UPDATE tracked SET a = a + 1",
                "COMMIT",
                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                "SET TRANSACTION READ ONLY",
                "BEGIN",
                "SELECT @y := 1",
                "ROLLBACK",
                "SET autocommit = 0",
                "UPDATE tracked SET a = 0 WHERE id = 1",
                "ROLLBACK",
                "SET autocommit = 1",
                "SET NAMES utf8mb4; SELECT 1; USE golden; UPDATE tracked SET a = 7",
                "SET nonsense = 1",
                "SET @z = (SELECT nonsense)",
            ):
                connection.query(sql)
            if server.kind == MARIADB:
                connection.query("SET session_track_system_variables = 'last_gtid'")
                connection.query("INSERT INTO tracked VALUES (3, 3)")
            connection.command("init db", bytes([COM_INIT_DB]) + b"mysql")
            statement = connection.prepare("SET NAMES latin2")
            connection.execute("SET NAMES latin2", statement)
            connection.command("reset connection", bytes([COM_RESET_CONNECTION]))


def optional_metadata(server):
    for connection in server.both(
        "optional-metadata", "Results without their columns (CLIENT_OPTIONAL_RESULTSET_METADATA)", flags.OPTIONAL_METADATA
    ):
        for setting in ("FULL", "NONE"):
            connection.query(f"SET resultset_metadata = {setting}")
            connection.query("SELECT 1, 'a'")
            connection.query("SELECT id FROM few WHERE id = 99")
            connection.query("SELECT 1; SELECT 2")
            connection.query("SELECT * FROM not_there")
            statement = connection.prepare("SELECT ?, 'a'")
            connection.execute("SELECT ?, 'a'", statement, b"p")


def query_attributes(server):
    for connection in server.both("query-attributes", "Attributes of a statement", flags.QUERY_ATTRIBUTES):
        ask = "SELECT mysql_query_attribute_string('who'), mysql_query_attribute_string('none')"
        connection.command("no attributes", b"\x03\x00\x01" + ask.encode())
        both = struct.pack("<H", 0xFD) + text("who") + struct.pack("<H", 0xFD) + text("none")
        named = b"\x03" + lenenc(2) + lenenc(1) + b"\x02\x01" + both + text("golden")
        connection.command("two attributes, one NULL", named + ask.encode())
        statement = connection.prepare("SELECT ?, mysql_query_attribute_string('who')")
        with_count = b"\x17" + struct.pack("<IBI", statement, 8, 1)
        types = struct.pack("<H", 0xFD) + text("") + struct.pack("<H", 0xFD) + text("who")
        connection.command(
            "execute: a parameter and an attribute",
            with_count + lenenc(2) + b"\x00\x01" + types + text("parameter") + text("attribute"),
        )
        one = struct.pack("<H", 0xFD) + text("")
        no_count = b"\x17" + struct.pack("<IBI", statement, 0, 1) + b"\x00\x01" + one + text("parameter")
        connection.command("execute: a parameter and no count", no_count)
        connection.command("ping", bytes([COM_PING]))


def mariadb_extensions(server):
    numbers = struct.pack("<I", 1)
    for connection in server.both("cached-metadata", "Columns that the client has already", mariadb=flags.CACHE_METADATA):
        statement = connection.prepare("SELECT id, word FROM few WHERE id = ?")
        for count in ("first", "second", "third"):
            connection.execute(count, statement, numbers, types=[3])
        connection.execute("with a cursor", statement, numbers, types=[3], cursor=1)
        connection.query("SELECT 1")
        connection.query("SELECT id FROM few WHERE id = 99")
    for connection in server.both("extended-types", "Types that MariaDB names", mariadb=flags.EXTENDED_TYPES):
        connection.query("SELECT * FROM all_types ORDER BY id LIMIT 1")
        connection.prepare("SELECT a_json, a_uuid, ? FROM all_types")
        connection.command("field list", bytes([COM_FIELD_LIST]) + b"all_types\0a%")
    units = flags.BULK_UNIT_RESULTS if server.version >= (11, 5) else 0
    for connection in server.both("bulk", "Many sets of parameters for one statement", mariadb=flags.BULK | units):
        connection.query("CREATE TEMPORARY TABLE b (id INT PRIMARY KEY AUTO_INCREMENT, word VARCHAR(10) DEFAULT 'd')")
        statement = connection.prepare("INSERT INTO b (word) VALUES (?)")
        types = struct.pack("<H", 0xFD)
        row_set = b"\0" + text("one") + b"\1" + b"\2" + b"\0" + text("four")
        fixed = bytes([COM_BULK]) + struct.pack("<I", statement)
        connection.command("bulk: four rows", fixed + struct.pack("<H", 128) + types + row_set)
        if units:
            connection.command("bulk: a result for each row", fixed + struct.pack("<H", 128 | 64) + types + row_set)
        connection.query("SELECT * FROM b ORDER BY id")
        again = connection.prepare("INSERT INTO b VALUES (?, 'x')")
        fixed = bytes([COM_BULK]) + struct.pack("<I", again)
        twice = b"\0" + struct.pack("<I", 100) + b"\0" + struct.pack("<I", 100)
        connection.command("bulk: the second row fails", fixed + struct.pack("<HH", 128, 3) + twice)
    for connection in server.both("progress", "How far a long statement is", mariadb=flags.PROGRESS):
        connection.query("SET progress_report_time = 1")
        connection.query("CREATE TEMPORARY TABLE p ENGINE=MyISAM AS SELECT seq, REPEAT('x', 60) AS x FROM seq_1_to_3000000")
        connection.query("ALTER TABLE p ADD y INT, ALGORITHM = COPY", silence_s=10)
        connection.query("DROP TEMPORARY TABLE p")


def compressed(server):
    """The same statements as on a connection that is not compressed."""
    statements = ("SELECT 1", "SELECT REPEAT('x', 3000), word FROM few", "SELECT n FROM numbers WHERE n < 200", "nonsense")
    ways = [("plain", 0), ("zlib", flags.COMPRESS)]
    if server.kind == MYSQL:
        ways.append(("zstd", flags.ZSTD))
    for name, flag in ways:
        capabilities = flag | flags.DEPRECATE_EOF
        with server.recorded(f"compressed-{name}", f"Compression: {name}", capabilities=capabilities) as connection:
            for sql in statements:
                connection.query(sql)
            long_one = f"SELECT {len(statements)} /* {'long ' * 30}*/"
            connection.query(long_one, packs=flag == flags.COMPRESS)


BOTH = (logins, text_results, own_answers, ok_and_err, several_results, prepared, cursors, commands, failing_rows,
        local_file, tracking, compressed)  # fmt: skip
OF_KIND = {MARIADB: (mariadb_extensions,), MYSQL: (optional_metadata, query_attributes)}


def all_of(server):
    return BOTH + OF_KIND[server.kind]
