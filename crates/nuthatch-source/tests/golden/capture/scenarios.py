"""What is written to the servers, and how its events are asked for. Each scenario begins a binlog of its own."""

from dump import NON_BLOCKING, dump
from server import Refused, Session
from types_of_columns import COLUMNS, MARIADB_COLUMNS, MARIADB_NEW_COLUMNS, MYSQL_COLUMNS

MARIADB, MYSQL = "mariadb", "mysql"
ANNOTATE = 2
HEARTBEAT_V2 = 2
KEYED = "id INT PRIMARY KEY, a INT, b VARCHAR(300), c TEXT"


class Stage:
    """The sessions of one scenario, the lines about it and the events that came of it."""

    def __init__(self, kind, port, data):
        self.kind, self.port, self.data = kind, port, data
        self.sessions, self.lines, self.events = {}, [], []
        self.say = Session(port)
        self.version = self.say.value("SELECT VERSION()")
        self.is_mysql = kind == MYSQL
        self.say("DROP DATABASE IF EXISTS g")
        self.say("CREATE DATABASE g")
        self.say("SET GLOBAL binlog_checksum=CRC32")
        self.say("FLUSH BINARY LOGS")
        self.file = self.say.value("SHOW BINARY LOG STATUS" if self.is_mysql else "SHOW MASTER STATUS")

    def run(self, *statements, session="a"):
        """Each is a line of the file; those that a server does not know are left out by the scenario."""
        for sql in statements:
            self.lines.append(f"# {session}: {' '.join(sql.split())}")
            self.on(session)(sql)

    def quietly(self, sql, session="a"):
        """What a scenario needs, and some server refuses."""
        try:
            self.run(sql, session=session)
        except Refused as refused:
            self.lines.append(f"#   refused: {refused}")

    def on(self, session):
        if session not in self.sessions:
            self.sessions[session] = Session(self.port)
            self.sessions[session]("USE g")
        return self.sessions[session]

    def leave(self, session):
        self.sessions.pop(session).close()

    def collect(self, checksum="CRC32", flags=NON_BLOCKING, settings=(), **more):
        if not self.is_mysql:
            flags |= ANNOTATE
        first = [f"SET @master_binlog_checksum='{checksum}'", f"SET @source_binlog_checksum='{checksum}'"]
        if not self.is_mysql:
            first.append("SET @mariadb_slave_capability=4")
        self.lines.append(f"# dump from {self.file}, flags {flags}, checksum {checksum}")
        self.events += dump(self.port, self.file, [*first, *settings], flags, **more)


def all_of(kind):
    both = [
        types, types_metadata, images, several_tables, compressed, xa, ddl, statements, savepoints,
        rotation, without_checksums, heartbeats, autocommit_engines,
    ]  # fmt: skip
    return both + ([partial_json, tagged, anonymous, heartbeats_v2] if kind == MYSQL else [old_temporals])


def columns(stage):
    own = MYSQL_COLUMNS if stage.is_mysql else MARIADB_COLUMNS
    if not stage.is_mysql and not stage.version.startswith("10."):
        own = own + MARIADB_NEW_COLUMNS
    return COLUMNS + own


def fill(stage):
    """A table of all types: a row of values, one of NULLs, one of the other extremes; changed, deleted."""
    all_columns = columns(stage)
    definition = ", ".join(f"c{place} {kind}" for place, (kind, *_) in enumerate(all_columns))
    stage.run(f"CREATE TABLE every (id INT PRIMARY KEY, {definition})")
    for key, which in ((1, 1), (2, 2)):
        stage.run(f"INSERT INTO every VALUES ({key}, {', '.join(column[which] for column in all_columns)})")
    stage.run("INSERT INTO every (id) VALUES (3)", "UPDATE every SET id = id + 10 ORDER BY id", "DELETE FROM every")


def types(stage):
    fill(stage)
    stage.collect()


def types_metadata(stage):
    stage.run("SET GLOBAL binlog_row_metadata=FULL")
    fill(stage)
    stage.run(
        "CREATE TABLE signs (y YEAR, u INT UNSIGNED, b BIT(3), s INT, t TIMESTAMP NULL, bu BIGINT UNSIGNED, d DECIMAL(5,1), f FLOAT UNSIGNED)",
        "INSERT INTO signs VALUES (2020, 1, 2, 3, NULL, 5, 6, 7)",
        "CREATE TABLE charsets (a VARCHAR(3) CHARACTER SET latin1, e ENUM('x','y') CHARACTER SET latin1, b BLOB, g GEOMETRY, "
        "t TEXT CHARACTER SET utf8mb4, v VARBINARY(3), s SET('p','q') CHARACTER SET utf8mb4, n INT, c CHAR(3) CHARACTER SET ascii, "
        "PRIMARY KEY (n, a(2)))",
        "INSERT INTO charsets VALUES ('a', 'y', 'b', POINT(1,2), 't', 'v', 'p,q', 4, 'c')",
    )
    stage.run("SET GLOBAL binlog_row_metadata=MINIMAL")
    stage.collect()


def images(stage):
    stage.run(
        f"CREATE TABLE keyed ({KEYED})",
        "CREATE TABLE keyless (a INT, b VARCHAR(20), c TEXT)",
        "CREATE TABLE uniquely (a INT, u INT NOT NULL UNIQUE, c TEXT)",
    )
    for image in ("FULL", "NOBLOB", "MINIMAL"):
        stage.run(f"SET binlog_row_image={image}")
        for table, rest in (("keyed", "(1,2,'b','c'),(2,NULL,NULL,NULL)"), ("keyless", "(1,'b','c')"), ("uniquely", "(1,2,'c')")):
            stage.run(f"INSERT INTO {table} VALUES {rest}", f"UPDATE {table} SET a=5 WHERE a=1 OR a IS NULL OR a=2")
        stage.run("UPDATE keyed SET id=id+5, c='d'", "DELETE FROM keyed", "DELETE FROM keyless", "DELETE FROM uniquely")
        stage.run("INSERT INTO keyed (id) VALUES (9)", "DELETE FROM keyed")
        # MySQL has no columns in a MINIMAL image of that, and fails if there are two such rows.
        stage.run("INSERT INTO keyless VALUES ()", "DELETE FROM keyless")
    stage.collect()


def several_tables(stage):
    stage.run(
        f"CREATE TABLE one ({KEYED})", f"CREATE TABLE two ({KEYED})", "CREATE TABLE log (n INT PRIMARY KEY AUTO_INCREMENT, what INT)",
        "CREATE TABLE child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES one(id) ON DELETE CASCADE ON UPDATE SET NULL)",
        "CREATE TRIGGER t AFTER UPDATE ON two FOR EACH ROW INSERT INTO log (what) VALUES (NEW.id)",
        "INSERT INTO one VALUES (1,1,'x','y'),(2,2,'x','y'),(3,3,'x','y')", "INSERT INTO two SELECT * FROM one",
        "INSERT INTO child VALUES (1,1),(2,2),(3,3)",
        "UPDATE one, two SET one.a=10, two.a=20 WHERE one.id=two.id",
        "DELETE one, two FROM one JOIN two USING (id) WHERE id=1",
        "UPDATE one SET id=22 WHERE id=2",
        "BEGIN", "DELETE FROM one WHERE id=3", "UPDATE two SET a=0", "COMMIT",
        "REPLACE INTO two VALUES (2,0,'r','r')",
        "INSERT INTO two VALUES (3,0,'r','r') ON DUPLICATE KEY UPDATE b='dup'",
    )  # fmt: skip
    # Rows of more than one event.
    rows = ",".join(f"({key},{key},REPEAT('w',250),NULL)" for key in range(100, 150))
    stage.run(f"INSERT INTO one VALUES {rows}")
    stage.collect()


def compressed(stage):
    setting = "SET SESSION binlog_transaction_compression=ON" if stage.is_mysql else "SET GLOBAL log_bin_compress=ON"
    # In MariaDB a compressed event has no more than 1,024 and no fewer than 10 bytes of that.
    small = [] if stage.is_mysql else ["SET GLOBAL log_bin_compress_min_len=10"]
    stage.run(f"CREATE TABLE keyed ({KEYED})", setting, *small)
    stage.run(
        "INSERT INTO keyed VALUES (1,1,REPEAT('b',300),REPEAT('c',1000)),(2,2,'b','c')",
        "UPDATE keyed SET a=a+1, c=REPEAT('d',500)",
        "BEGIN", "DELETE FROM keyed WHERE id=2", f"INSERT INTO keyed VALUES (7,7,'{'q' * 100}','c')", "COMMIT",
        f"CREATE TABLE other ({KEYED}) COMMENT='{'long ' * 50}'",
        "DELETE FROM keyed",
        "INSERT INTO keyed SELECT seq, seq, REPEAT('w',250), NULL FROM seq_1_to_50" if not stage.is_mysql else
        "INSERT INTO keyed WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<50) SELECT i,i,REPEAT('w',250),NULL FROM n",
    )  # fmt: skip
    if not stage.is_mysql:
        stage.run("SET GLOBAL log_bin_compress=OFF")
    stage.collect()


def xa(stage):
    stage.run(f"CREATE TABLE keyed ({KEYED})")
    stage.run("XA START 'one','branch',3", "INSERT INTO keyed VALUES (1,1,'b','c')", "XA END 'one','branch',3", "XA PREPARE 'one','branch',3")
    stage.run("XA COMMIT 'one','branch',3")
    stage.run("XA START 'two'", "INSERT INTO keyed VALUES (2,2,'b','c')", "XA END 'two'", "XA PREPARE 'two'", session="b")
    stage.leave("b")
    stage.run("DO SLEEP(0.5)", "XA ROLLBACK 'two'")
    stage.run("XA START X'0001ff27'", "DELETE FROM keyed", "XA END X'0001ff27'", "XA COMMIT X'0001ff27' ONE PHASE")
    stage.collect()


def ddl(stage):
    stage.run(
        f"CREATE TABLE keyed ({KEYED})", "ALTER TABLE keyed ADD COLUMN d INT", "CREATE INDEX i ON keyed (a)", "INSERT INTO keyed (id) VALUES (1)",
        "TRUNCATE TABLE keyed", "RENAME TABLE keyed TO renamed", "CREATE TABLE copied SELECT id, a FROM renamed",
        "CREATE VIEW v AS SELECT id FROM renamed", "DROP VIEW v", "DROP TABLE IF EXISTS renamed, copied, nothing",
        "CREATE DATABASE `gé`", "CREATE TABLE `gé`.`tä` (`iü` INT PRIMARY KEY)", "INSERT INTO `gé`.`tä` VALUES (1)", "DROP DATABASE `gé`",
        "CREATE FUNCTION f () RETURNS INT DETERMINISTIC RETURN 1", "DROP FUNCTION f",
        "SET sql_mode='ANSI_QUOTES'", 'CREATE TABLE "quoted" ("x" INT)', "CREATE TEMPORARY TABLE t (a INT)", "ANALYZE TABLE quoted", "FLUSH TABLES",
    )  # fmt: skip
    stage.quietly("ALTER TABLE quoted ADD COLUMN y INT, ALGORITHM=COPY")
    if not stage.is_mysql:
        stage.run("SET SESSION binlog_alter_two_phase=ON", 'ALTER TABLE "quoted" ADD COLUMN z INT', "CREATE SEQUENCE s", "DO NEXTVAL(s)")
    stage.collect()


def statements(stage):
    rows = stage.data / "g" / "rows.txt"
    rows.write_text("5\t5\tloaded\t\\N\n6\t6\tloaded\t\\N\n")
    stage.run(
        f"CREATE TABLE keyed ({KEYED})", "CREATE TABLE counted (n INT PRIMARY KEY AUTO_INCREMENT, r DOUBLE)", "SET binlog_format=STATEMENT",
        "SET @text='user', @number=7, @none=NULL, @real=1.5e0, @exact=2.50",
        "INSERT INTO keyed VALUES (@number, @number, @text, @none)", "UPDATE keyed SET b=CONCAT(@real, @exact)",
        "INSERT INTO counted (r) VALUES (RAND())", "SET time_zone='+03:00'", "UPDATE keyed SET b=NOW()",
        "LOAD DATA INFILE 'rows.txt' INTO TABLE keyed",
        "SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES', NAMES latin1", 'DELETE FROM "keyed" WHERE b=\'\\\'',
        "BEGIN", "DELETE FROM keyed", "INSERT INTO counted (r) VALUES (1)", "COMMIT",
        "SET binlog_format=MIXED", "INSERT INTO keyed VALUES (1,2,'x','y')", "UPDATE keyed SET b=UUID()", "SET binlog_format=ROW",
    )  # fmt: skip
    stage.run("TRUNCATE TABLE keyed", "LOAD DATA INFILE 'rows.txt' INTO TABLE keyed")
    rows.unlink()
    stage.collect()


def savepoints(stage):
    stage.run(f"CREATE TABLE keyed ({KEYED})", f"CREATE TABLE plain ({KEYED}) ENGINE=MyISAM")
    stage.run(
        "BEGIN", "INSERT INTO keyed (id) VALUES (1)", "SAVEPOINT s", "INSERT INTO keyed (id) VALUES (2)", "ROLLBACK TO s",
        "INSERT INTO keyed (id) VALUES (3)", "RELEASE SAVEPOINT s", "COMMIT",
    )  # fmt: skip
    if not stage.is_mysql:
        # MySQL has no number for a transaction that writes to both kinds.
        stage.run(
            "BEGIN", "INSERT INTO keyed (id) VALUES (4)", "SAVEPOINT s", "INSERT INTO plain (id) VALUES (5)", "ROLLBACK TO s", "COMMIT",
            "BEGIN", "INSERT INTO keyed (id) VALUES (6)", "INSERT INTO plain (id) VALUES (7)", "ROLLBACK",
        )  # fmt: skip
    stage.collect()


def rotation(stage):
    stage.run(f"CREATE TABLE keyed ({KEYED})", "INSERT INTO keyed (id) VALUES (1)", "FLUSH BINARY LOGS", "INSERT INTO keyed (id) VALUES (2)")
    stage.run("SET GLOBAL binlog_checksum=NONE", "INSERT INTO keyed (id) VALUES (3)", "SET GLOBAL binlog_checksum=CRC32")
    stage.run("INSERT INTO keyed (id) VALUES (4)")
    stage.collect()


def without_checksums(stage):
    stage.run("SET GLOBAL binlog_checksum=NONE", f"CREATE TABLE keyed ({KEYED})", "INSERT INTO keyed (id) VALUES (1)")
    stage.file = stage.say.value("SHOW BINARY LOG STATUS" if stage.is_mysql else "SHOW MASTER STATUS")
    stage.collect("NONE")
    stage.run("SET GLOBAL binlog_checksum=CRC32")
    if not stage.is_mysql:
        # MySQL refuses one that cannot have what its binlog has; MariaDB takes the checksums off.
        stage.run("INSERT INTO keyed (id) VALUES (2)")
        stage.file = stage.say.value("SHOW MASTER STATUS")
        stage.collect("NONE")


def heartbeats(stage, flags=0):
    """From a position inside the file, where the server goes on waiting."""
    stage.run(f"CREATE TABLE keyed ({KEYED})")
    period = [f"SET @{word}_heartbeat_period=50000000" for word in ("master", "source")]
    # The fake rotation, the format (and what else comes at once), then heartbeats.
    stage.collect(flags=flags, settings=period, events_max=9)


def heartbeats_v2(stage):
    heartbeats(stage, HEARTBEAT_V2)


def autocommit_engines(stage):
    stage.run(f"CREATE TABLE plain ({KEYED}) ENGINE=MyISAM", "INSERT INTO plain (id) VALUES (1)", "UPDATE plain SET a=1", "DELETE FROM plain")
    if not stage.is_mysql:
        stage.run(f"CREATE TABLE aria ({KEYED}) ENGINE=Aria", "INSERT INTO aria (id) VALUES (1)")
    stage.collect()


def partial_json(stage):
    stage.run(
        "SET binlog_row_value_options=PARTIAL_JSON", "CREATE TABLE documents (id INT PRIMARY KEY, j JSON, k JSON, t TEXT, n JSON)",
        "CREATE TABLE keyed (id INT PRIMARY KEY, a INT)", "INSERT INTO keyed VALUES (1,1)",
        """INSERT INTO documents VALUES (1, '{"a":1,"b":[1,2,3],"s":"long enough to be worth a difference of its own"}', '[1,2,3]', 't', NULL)""",
    )  # fmt: skip
    for image in ("FULL", "MINIMAL", "NOBLOB"):
        stage.run(
            f"SET binlog_row_image={image}",
            "UPDATE documents SET j=JSON_SET(j, '$.a', 2), t='u'", "UPDATE documents SET k=JSON_REPLACE(k, '$[0]', 9), j=JSON_REMOVE(j, '$.b[0]')",
            "UPDATE documents SET k='[1,2,3]'", "UPDATE documents SET n='{}', t='t'", "UPDATE documents SET n=NULL, t=NULL", "UPDATE keyed SET a=a+1",
        )  # fmt: skip
    stage.run("DELETE FROM documents")
    stage.collect()


def tagged(stage):
    stage.run(f"CREATE TABLE keyed ({KEYED})", "SET gtid_next='AUTOMATIC:blue'", "INSERT INTO keyed (id) VALUES (1)", "DELETE FROM keyed")
    stage.run("SET gtid_next='aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeff:a_tag_of_exactly_thirty_two_char:1234567890123'", "BEGIN", "COMMIT")
    stage.run("SET gtid_next='AUTOMATIC'", "INSERT INTO keyed (id) VALUES (2)")
    stage.collect()


def anonymous(stage):
    stage.run("SET GLOBAL gtid_mode=ON_PERMISSIVE", f"CREATE TABLE keyed ({KEYED})", "SET gtid_next='ANONYMOUS'", "INSERT INTO keyed (id) VALUES (1)")
    stage.collect()
    stage.run("SET gtid_next='AUTOMATIC'", "SET GLOBAL gtid_mode=ON")


def old_temporals(stage):
    stage.run(
        "SET GLOBAL mysql56_temporal_format=OFF", "CREATE TABLE old (id INT PRIMARY KEY, a TIME, b DATETIME, c TIMESTAMP NULL)",
        "CREATE TABLE precise (id INT PRIMARY KEY, a TIME(3), b DATETIME(6), c TIMESTAMP(1) NULL, d INT)",
        "INSERT INTO old VALUES (1, '10:11:12', '2020-01-02 03:04:05', '2021-01-02 03:04:05'), (2, NULL, NULL, NULL)",
        "INSERT INTO precise VALUES (1, '10:11:12.5', '2020-01-02 03:04:05.25', '2021-01-02 03:04:05.5', 77), (2, NULL, NULL, NULL, 78)",
        "SET GLOBAL mysql56_temporal_format=ON",
    )
    stage.collect()
