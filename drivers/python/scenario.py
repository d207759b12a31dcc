"""The scenario for Python's drivers: scenario.py DRIVER. See steps.py for what it prints, adapters.py for the drivers."""

import os
import sys
import threading

from adapters import ADAPTERS, SCHEMA, refuses
from steps import BIG_BYTES, SCENARIO, digest, erring_statements, step, types, wait_until


def everything(cursor):
    """All results of what the cursor has executed, with their columns and counts."""
    seen = []
    while True:
        rows = cursor.fetchall() if cursor.description else None
        seen.append((cursor.description, rows, cursor.rowcount, cursor.lastrowid))
        if not cursor.nextset():
            return seen


class Scenario:
    """One driver's steps; each has connections of its own."""

    def __init__(self, driver):
        self.driver = driver
        self.opened = []

    def open(self, **settings):
        """A connection that lives until the step ends."""
        self.opened.append(self.driver.open(**settings))
        return self.opened[-1]

    def step(self, name, run):
        """Prints what `run()` returns; its connections are closed then."""
        step(name, run, self.driver.own_faults)
        while self.opened:
            refuses(self.opened.pop().close, (Exception,))

    def ask(self, connection, *statements):
        """What each gives; a refusal is part of it."""
        seen = []
        for sql in statements:
            cursor = connection.cursor()
            try:
                cursor.execute(sql)
                seen.append(everything(cursor))
            except self.driver.errors as error:
                seen.append(self.driver.error(error))
            finally:
                cursor.close()
        return seen

    def once(self, *statements, **settings):
        """The same on a connection of its own."""
        connection = self.open(**settings)
        try:
            return self.ask(connection, *statements)
        finally:
            connection.close()

    def table(self, name, columns, *rows):
        """The table is there, with these rows."""
        values = [f"INSERT INTO {name} VALUES {', '.join(rows)}"] if rows else []
        self.once(f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} ({columns}) ENGINE=InnoDB", *values)

    def run(self):
        """All steps, in the order in which they are printed."""
        self.values()
        self.character_sets()
        self.big_packets()
        self.prepared_statements()
        self.several_results()
        self.transactions()
        self.counts()
        self.refusals()
        self.streams()
        self.kills()
        self.pool()
        self.sessions()
        self.transports()

    def values(self):
        for kind, low, high in types():
            self.table("v", f"n INT, a {kind}", f"(1, {low})", f"(2, {high})", "(3, NULL)")
            self.step(f"text {kind}", lambda: self.once("SELECT a, a IS NULL AS n FROM v ORDER BY v.n"))
            if self.driver.prepares:
                self.step(f"binary {kind}", self.read_prepared)
        self.step("NULLs", lambda: self.once("SELECT NULL, 1, NULL, '', NULL", "SELECT NULL FROM DUAL WHERE 0"))
        wide = "SELECT " + ", ".join(["NULL"] * 1000 + ["'x'"])
        self.step("1001 columns", lambda: self.once(wide))

    def read_prepared(self):
        connection = self.open()
        cursor = self.driver.prepared(connection)
        cursor.execute("SELECT a, a IS NULL AS n FROM v WHERE v.n > %s ORDER BY v.n", (0,))
        seen = cursor.description, cursor.fetchall()
        cursor.close()
        connection.close()
        return seen

    def character_sets(self):
        questions = [
            "SELECT u, l, 'z', HEX(u), HEX(l) FROM c",
            "SELECT @@character_set_client, @@character_set_results, @@collation_connection",
            "SELECT HEX('é')",
        ]
        self.table(
            "c",
            "u VARCHAR(20) CHARACTER SET utf8mb4, l VARCHAR(20) CHARACTER SET latin1",
            "(_utf8mb4 X'C3A9F09D849E', _latin1 X'E9')",
        )
        for charset in ("utf8mb4", "latin1"):
            self.step(f"character set {charset}", lambda: self.once(*questions, charset=charset))
        self.step("SET NAMES latin1", lambda: self.once("SET NAMES latin1", "SELECT HEX(u), @@collation_connection FROM c"))

    def big_packets(self):
        big = "0123456789abcdef" * (BIG_BYTES // 16)

        def write():
            self.table("b", "a LONGTEXT")
            connection = self.open()
            cursor = connection.cursor()
            cursor.execute("INSERT INTO b VALUES (%s)", (big,))
            return cursor.rowcount, self.ask(connection, "SELECT LENGTH(a), SHA2(a, 256) FROM b")

        def read():
            cursor = self.open().cursor()
            cursor.execute("SELECT a FROM b")
            return digest(cursor.fetchone()[0])

        def prepared():
            cursor = self.driver.prepared(self.open())
            cursor.execute("SELECT CONCAT(%s, a) FROM b", (big,))
            return digest(cursor.fetchall()[0][0])

        self.step("20 MiB written", write)
        self.step("20 MiB read", read)
        if self.driver.prepares:
            self.step("20 MiB both ways, prepared", prepared)

    def prepared_statements(self):
        if not self.driver.prepares:
            return
        self.table("p", "n INT PRIMARY KEY, a VARCHAR(20)")

        def reuse():
            connection = self.open()
            cursor = self.driver.prepared(connection)
            for n in range(50):
                cursor.execute("INSERT INTO p VALUES (%s, %s)", (n, None if n % 5 == 0 else f"row {n}"))
            cursor = self.driver.prepared(connection)
            seen = []
            for n in (1, 5, 49, 50):
                cursor.execute("SELECT n, a FROM p WHERE n = %s", (n,))
                seen.append(cursor.fetchall())
            return seen

        def after_alter():
            connection = self.open()
            cursor = self.driver.prepared(connection)
            seen = []
            for change in (None, "ALTER TABLE p ADD b DOUBLE DEFAULT 1.5", "ALTER TABLE p MODIFY a TEXT"):
                if change:
                    self.ask(connection, change)
                cursor.execute("SELECT * FROM p WHERE n = %s", (1,))
                seen.append((cursor.description, cursor.fetchall()))
            return seen

        def attributes():
            seen = []
            connection = self.open()
            for cursor in (connection.cursor(), self.driver.prepared(connection)):
                for value in ("me", None, "you"):
                    cursor.clear_attributes()
                    if value:
                        cursor.add_attribute("who", value)
                    try:
                        cursor.execute("SELECT mysql_query_attribute_string('who'), %s", ("p",))
                        seen.append(cursor.fetchall())
                    except self.driver.errors as error:
                        seen.append(self.driver.error(error))
            return seen

        def many():
            connection = self.open()
            cursors = [self.driver.prepared(connection) for _ in range(200)]
            seen = []
            for turn in range(2):
                for n, cursor in enumerate(cursors):
                    cursor.execute(f"SELECT %s + {n}", (turn * 1000,))
                    seen.append(cursor.fetchall()[0][0])
            return seen

        self.step("prepared, executed often", reuse)
        self.step("prepared, table altered between", after_alter)
        self.step("query attributes", attributes)
        self.step("200 prepared at once", many)

    def several_results(self):
        self.once(
            "DROP PROCEDURE IF EXISTS two",
            "CREATE PROCEDURE two(IN a INT) BEGIN SELECT a, 'one'; SELECT NULL UNION SELECT a + 1; DO 1; END",
            "DROP PROCEDURE IF EXISTS fails",
            "CREATE PROCEDURE fails() BEGIN SELECT 'before'; SELECT * FROM missing; SELECT 'after'; END",
        )
        self.step("CALL with two results", lambda: self.once("CALL two(7)", "SELECT 'next'"))
        self.step("CALL with an error after a result", lambda: self.once("CALL fails()", "SELECT 'next'"))
        self.table("s", "n INT AUTO_INCREMENT PRIMARY KEY, a INT")
        self.step(
            "several statements",
            lambda: self.once("INSERT INTO s VALUES (NULL, 1), (NULL, 2); SELECT * FROM s; UPDATE s SET a = 3; SELECT a FROM s"),
        )
        self.step("several statements, the second wrong", lambda: self.once("SELECT 1; SELECT * FROM missing; SELECT 3", "SELECT 4"))

    def transactions(self):
        def transaction(*statements, end):
            self.table("t", "n INT PRIMARY KEY")
            connection = self.open(autocommit=False)
            seen = self.ask(connection, *statements)
            getattr(connection, end)()
            if end != "close":
                connection.close()
            return seen, self.once("SELECT n FROM t ORDER BY n")

        insert = "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "SELECT COUNT(*), @@autocommit FROM t"
        self.step("commit", lambda: transaction(*insert, end="commit"))
        self.step("rollback", lambda: transaction(*insert, end="rollback"))
        self.step("closed without commit", lambda: transaction(*insert, end="close"))
        saved = "SAVEPOINT a", "INSERT INTO t VALUES (3)", "ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a", "ROLLBACK TO a"
        self.step("savepoint", lambda: transaction(insert[0], *saved, end="commit"))
        self.step("error inside of a transaction", lambda: transaction(insert[0], insert[0], insert[1], end="commit"))
        self.step(
            "START TRANSACTION READ ONLY",
            lambda: transaction("START TRANSACTION READ ONLY", insert[0], "SELECT COUNT(*) FROM t", end="commit"),
        )

        def switched():
            self.table("t", "n INT PRIMARY KEY")
            connection = self.open()
            seen = []
            for autocommit in (False, True, False):
                self.driver.set_autocommit(connection, autocommit)
                seen += self.ask(connection, "SELECT @@autocommit", "INSERT INTO t SELECT COUNT(*) FROM t")
                if not autocommit:
                    connection.rollback()
            return seen, self.once("SELECT n FROM t ORDER BY n")

        self.step("autocommit off and on", switched)

    def counts(self):
        self.table("i", "n INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, b VARCHAR(3)")
        self.step(
            "last insert id",
            lambda: self.once(
                "INSERT INTO i (a) VALUES (1)",
                "SELECT LAST_INSERT_ID()",
                "INSERT INTO i (a) VALUES (2), (3)",
                "INSERT INTO i VALUES (50, 4, NULL)",
                "SELECT LAST_INSERT_ID()",
                "UPDATE i SET n = LAST_INSERT_ID(n + 100) WHERE a = 1",
                "SELECT LAST_INSERT_ID()",
            ),
        )
        changes = "UPDATE i SET a = a", "UPDATE i SET b = 'x' WHERE a < 3", "UPDATE i SET b = 'x'", "DELETE FROM i WHERE a = 4"
        more = "INSERT INTO i (a) VALUES (2) ON DUPLICATE KEY UPDATE b = 'y'", "REPLACE INTO i (a) VALUES (3)", "SELECT ROW_COUNT()"
        self.step("affected rows", lambda: self.once(*changes, *more))
        self.step("affected rows as found rows", lambda: self.once(*changes, *more, **self.driver.found_rows))

        def warned():
            seen = []
            connection = self.open()
            cursor = connection.cursor()
            for sql in ("SELECT 1/0", "SELECT CAST('abc' AS SIGNED)", "DROP TABLE IF EXISTS missing", "SELECT 1"):
                cursor.execute(sql)
                seen.append(everything(cursor))
                seen.append(self.driver.warnings(connection, cursor))
            return seen

        self.step("warnings", warned)

    def refusals(self):
        self.table("e", "n INT NOT NULL PRIMARY KEY, a VARCHAR(10)", "(1, 'one')")
        for sql in erring_statements():
            self.step(f"error of {sql}", lambda: self.once(sql))

        def refused_login(**settings):
            if os.environ["DB_SERVER"] == "mysql":
                # It wants the whole password, which not every driver sends in the clear or encrypts by RSA.
                settings["ca"] = os.environ["DB_CA"]
            try:
                self.open(**settings)
            except self.driver.errors as error:
                return self.driver.error(error)
            return "let in"

        self.step("login with a wrong password", lambda: refused_login(password="wrong"))
        self.step("login to an unknown schema", lambda: refused_login(database="missing"))
        self.step("login of an unknown user", lambda: refused_login(user="nobody"))

    def streams(self):
        sql = "SELECT a.n * 100 + b.n, REPEAT('x', a.n), NULL FROM d AS a, d AS b ORDER BY 1"
        self.table("d", "n INT", *[f"({n})" for n in range(200)])

        def all_of_it():
            cursor = self.driver.streaming(self.open())
            cursor.execute(sql)
            count, text = 0, []
            while rows := cursor.fetchmany(777):
                count += len(rows)
                text += map(repr, rows)
            return count, digest("".join(text))

        def half():
            connection = self.open()
            cursor = self.driver.streaming(connection)
            cursor.execute(sql)
            first = cursor.fetchmany(10)
            if hasattr(connection, "consume_results"):
                connection.consume_results()
            cursor.close()
            return first, self.ask(connection, "SELECT 'next'")

        self.step("streamed, 40,000 rows", all_of_it)
        self.step("streamed, read in part", half)

    def kills(self):
        def victim(number, what):
            connection, other = self.open(), self.open()
            seen, sleep = [], f"SELECT SLEEP(2), {number}"
            running = f"SELECT COUNT(*) FROM information_schema.processlist WHERE info = '{sleep}'"
            thread = threading.Thread(target=lambda: seen.extend(self.ask(connection, sleep)))
            thread.start()
            wait_until(lambda: self.ask(other, running)[0][0][1][0][0] == 1)
            killed = self.ask(other, f"KILL {what} {self.driver.thread_id(connection)}")
            thread.join()
            return killed, seen, refuses(lambda: connection.cursor().execute("SELECT 1"), self.driver.errors)

        self.step("KILL QUERY", lambda: victim(1, "QUERY"))
        self.step("KILL CONNECTION", lambda: victim(2, "CONNECTION"))

    def pool(self):
        self.table("w", "worker INT, n INT, PRIMARY KEY (worker, n)")
        failures = []

        def work(worker):
            try:
                connection = self.open(autocommit=False)
                cursor = connection.cursor()
                cursor.execute("SET @worker = %s", (worker,))
                for n in range(30):
                    cursor.execute("INSERT INTO w VALUES (@worker, %s)", (n,))
                    cursor.execute("SELECT @worker, COUNT(*) FROM w WHERE worker = %s", (worker,))
                    if tuple(cursor.fetchall()) != ((worker, n % 10 + 1 + n // 10 * 5),):
                        failures.append((worker, n))
                    if n % 10 == 9:
                        cursor.execute("DELETE FROM w WHERE worker = %s AND MOD(n, 10) > 4", (worker,))
                        connection.commit()
                connection.close()
            except Exception as error:  # told by the step
                failures.append((worker, repr(error)))

        def all_workers():
            threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return sorted(failures), self.once("SELECT worker, COUNT(*), SUM(n) FROM w GROUP BY worker ORDER BY worker")

        self.step("8 workers at once", all_workers)

    def sessions(self):
        state = "SELECT DATABASE(), SUBSTRING_INDEX(USER(), '@', 1), @a, @@sql_mode = '', @@autocommit"
        soil = "SET @a = 1", "SET sql_mode = ''", "SET autocommit = 0"
        other = os.environ["DB_OTHER_USER"], os.environ["DB_OTHER_PASSWORD"], "information_schema"

        def after(call):
            connection = self.open()
            before = self.ask(connection, *soil, state)
            try:
                done = call(connection)
            except self.driver.errors as error:
                done = self.driver.error(error)
                if self.driver.has_ended(connection):
                    return before, done, "ended"
            return before, done, self.ask(connection, state)

        if self.driver.resets:
            self.step("reset connection", lambda: after(self.driver.reset))
        if self.driver.changes_user:
            self.step("change user", lambda: after(lambda one: self.driver.change_user(one, *other)))
        self.step("ping", self.ping)
        self.step("another schema", lambda: self.once("USE information_schema", state, f"USE {SCHEMA}", state))
        self.step("server version", self.server_version)

    def ping(self):
        connection = self.open()
        return connection.ping(), self.ask(connection, "SELECT 1")

    def server_version(self):
        connection = self.open()
        return getattr(connection, "server_version", None) or connection.get_server_info()

    def transports(self):
        self.table("f", "n INT, a VARCHAR(20)")
        load = f"LOAD DATA LOCAL INFILE '{SCENARIO}/infile.csv' INTO TABLE f FIELDS TERMINATED BY ','"
        self.step("LOAD DATA LOCAL INFILE", lambda: self.once(load, "SELECT * FROM f", local_infile=True))
        self.step("LOAD DATA LOCAL INFILE, not allowed", lambda: self.once(load))

        def encrypted():
            connection = self.open(ca=os.environ["DB_CA"], port=int(os.environ["DB_TLS_PORT"]))
            return self.driver.is_encrypted(connection), digest(str(self.ask(connection, "SELECT REPEAT('t', 1000000)")))

        self.step("TLS", encrypted)
        if self.driver.compressed:
            port = int(os.environ["DB_COMPRESSION_PORT"])
            sql = "SELECT REPEAT('c', 4000000)"
            self.step("compression", lambda: digest(str(self.once(sql, port=port, **self.driver.compressed))))


Scenario(ADAPTERS[sys.argv[1]]()).run()
