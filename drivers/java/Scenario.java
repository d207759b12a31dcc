import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The scenario for Java's drivers: {@code Scenario mysql|mariadb}. */
public final class Scenario {
    private static final String BIG = "0123456789abcdef".repeat((20 << 20) / 16);
    private final String kind;

    private Scenario(String kind) {
        this.kind = kind;
    }

    public static void main(String[] arguments) throws Exception {
        Scenario scenario = new Scenario(arguments[0]);
        scenario.values();
        scenario.characterSets();
        scenario.bigPackets();
        scenario.severalResults();
        scenario.preparedStatements();
        scenario.transactions();
        scenario.counts();
        scenario.refusals();
        scenario.streams();
        scenario.kills();
        scenario.workers();
        scenario.sessions();
        scenario.transports();
        System.exit(0);
    }

    private Connection open(String... settings) throws SQLException {
        Properties all = new Properties();
        all.setProperty("user", Steps.env("DB_USER"));
        all.setProperty("password", Steps.env("DB_PASSWORD"));
        all.setProperty("allowMultiQueries", "true");
        all.setProperty("sslMode", kind.equals("mysql") ? "DISABLED" : "disable");
        all.setProperty("allowPublicKeyRetrieval", "true");
        if (kind.equals("mysql")) {
            all.setProperty("connectionTimeZone", "UTC");
        }
        String port = Steps.env("DB_PORT");
        String schema = Steps.env("DB_NAME");
        for (int n = 0; n < settings.length; n += 2) {
            if (settings[n].equals("port")) {
                port = settings[n + 1];
            } else if (settings[n].equals("schema")) {
                schema = settings[n + 1];
            } else {
                all.setProperty(settings[n], settings[n + 1]);
            }
        }
        return DriverManager.getConnection("jdbc:" + kind + "://" + Steps.env("DB_HOST") + ":" + port + "/" + schema, all);
    }

    private static String ask(Connection connection, String... statements) throws SQLException {
        StringBuilder text = new StringBuilder();
        for (String sql : statements) {
            try (Statement statement = connection.createStatement()) {
                text.append(Steps.results(statement, statement.execute(sql)));
            } catch (SQLException error) {
                text.append(Steps.refusal(error));
            }
            text.append(" || ");
        }
        return text.toString();
    }

    private String once(String... statements) throws SQLException {
        try (Connection connection = open()) {
            return ask(connection, statements);
        }
    }

    private void table(String name, String columns, String rows) throws SQLException {
        String made = once("DROP TABLE IF EXISTS " + name, "CREATE TABLE " + name + " (" + columns + ") ENGINE=InnoDB",
            rows == null ? "DO 1" : "INSERT INTO " + name + " VALUES " + rows);
        if (made.contains("error")) {
            throw new SQLException("table " + name + ": " + made);
        }
    }

    private void values() throws Exception {
        String select = "SELECT a, a IS NULL AS n FROM v ORDER BY v.n";
        for (String line : Steps.lines("types.tsv")) {
            String[] type = line.split("\t");
            table("v", "n INT, a " + type[0], "(1, " + type[1] + "), (2, " + type[2] + "), (3, NULL)");
            Steps.step("text " + type[0], () -> once(select));
            Steps.step("binary " + type[0], () -> {
                try (Connection connection = open("useServerPrepStmts", "true");
                    PreparedStatement statement = connection.prepareStatement("SELECT a, a IS NULL AS n FROM v WHERE v.n > ? ORDER BY v.n")) {
                    statement.setInt(1, 0);
                    return Steps.rows(statement.executeQuery());
                }
            });
        }
        Steps.step("NULLs", () -> once("SELECT NULL, 1, NULL, '', NULL", "SELECT NULL FROM DUAL WHERE 0"));
        Steps.step("1001 columns", () -> once("SELECT 'x'" + ", NULL".repeat(1000)));
    }

    private void characterSets() throws Exception {
        table("c", "u VARCHAR(20) CHARACTER SET utf8mb4, l VARCHAR(20) CHARACTER SET latin1", "(_utf8mb4 X'C3A9F09D849E', _latin1 X'E9')");
        String[] questions = {"SELECT u, l, 'z', HEX(u), HEX(l) FROM c", "SELECT @@character_set_client, @@character_set_results, HEX('é')"};
        Steps.step("character set of the driver", () -> once(questions));
        if (kind.equals("mysql")) {
            for (String charset : List.of("UTF-8", "ISO-8859-1")) {
                Steps.step("character set " + charset, () -> {
                    try (Connection connection = open("characterEncoding", charset)) {
                        return ask(connection, questions);
                    }
                });
            }
        }
    }

    private void bigPackets() throws Exception {
        table("b", "a LONGTEXT", null);
        for (String prepared : List.of("false", "true")) {
            Steps.step("20 MiB both ways, useServerPrepStmts=" + prepared, () -> {
                try (Connection connection = open("useServerPrepStmts", prepared, "maxAllowedPacket", "67108864");
                    PreparedStatement insert = connection.prepareStatement("INSERT INTO b VALUES (?)");
                    Statement select = connection.createStatement()) {
                    insert.setString(1, BIG);
                    int count = insert.executeUpdate();
                    ResultSet set = select.executeQuery("SELECT a FROM b LIMIT 1");
                    set.next();
                    return count + " " + Steps.digest(set.getString(1)) + ask(connection, "SELECT LENGTH(a), SHA2(a, 256) FROM b");
                }
            });
        }
        Steps.step("20 MiB as a stream of parts", () -> {
            try (Connection connection = open("useServerPrepStmts", "true");
                PreparedStatement select = connection.prepareStatement("SELECT LENGTH(?), SHA2(?, 256)")) {
                for (int n = 1; n <= 2; n++) {
                    select.setBinaryStream(n, new java.io.ByteArrayInputStream(BIG.getBytes(StandardCharsets.US_ASCII)));
                }
                return Steps.rows(select.executeQuery());
            }
        });
    }

    private void severalResults() throws Exception {
        once("DROP PROCEDURE IF EXISTS two",
            "CREATE PROCEDURE two(IN a INT, OUT b INT) BEGIN SELECT a, 'one'; SELECT NULL AS x UNION SELECT a + 1; SET b = a * 2; END",
            "DROP PROCEDURE IF EXISTS fails", "CREATE PROCEDURE fails() BEGIN SELECT 'before'; SELECT * FROM missing; SELECT 'after'; END");
        for (String prepared : List.of("false", "true")) {
            Steps.step("CALL with two results and OUT, useServerPrepStmts=" + prepared, () -> {
                try (Connection connection = open("useServerPrepStmts", prepared); CallableStatement call = connection.prepareCall("{CALL two(?, ?)}")) {
                    call.setInt(1, 21);
                    call.registerOutParameter(2, java.sql.Types.INTEGER);
                    return Steps.results(call, call.execute()) + " out " + call.getInt(2);
                }
            });
        }
        Steps.step("CALL with an error after a result", () -> once("CALL fails()", "SELECT 'next'"));
        table("s", "n INT AUTO_INCREMENT PRIMARY KEY, a INT", null);
        Steps.step("several statements", () -> once("INSERT INTO s VALUES (NULL, 1), (NULL, 2); SELECT * FROM s; UPDATE s SET a = 3; SELECT a FROM s"));
        Steps.step("several statements, the second wrong", () -> once("SELECT 1; SELECT * FROM missing; SELECT 3", "SELECT 4"));
        for (String rewrite : List.of("false", "true")) {
            Steps.step("batch, rewriteBatchedStatements=" + rewrite, () -> {
                try (Connection connection = open("rewriteBatchedStatements", rewrite);
                    PreparedStatement insert = connection.prepareStatement("INSERT INTO s (a) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                    for (int n = 0; n < 100; n++) {
                        insert.setInt(1, n);
                        insert.addBatch();
                    }
                    int[] counts = insert.executeBatch();
                    return java.util.Arrays.toString(counts) + Steps.rows(insert.getGeneratedKeys());
                }
            });
        }
    }

    private void preparedStatements() throws Exception {
        table("p", "n INT PRIMARY KEY, a VARCHAR(20), t DATETIME(6), d DECIMAL(20,5), b BLOB", null);
        Steps.step("prepared, executed often", () -> {
            StringBuilder text = new StringBuilder();
            try (Connection connection = open("useServerPrepStmts", "true");
                PreparedStatement insert = connection.prepareStatement("INSERT INTO p VALUES (?, ?, ?, ?, ?)");
                PreparedStatement select = connection.prepareStatement("SELECT * FROM p WHERE n = ?")) {
                for (int n = 0; n < 50; n++) {
                    insert.setInt(1, n);
                    insert.setString(2, n % 5 == 0 ? null : "row " + n);
                    insert.setObject(3, java.time.LocalDateTime.of(2024, 2, 29, 23, 59, n, 123456000));
                    insert.setBigDecimal(4, new java.math.BigDecimal("12345.6789").multiply(java.math.BigDecimal.valueOf(n)));
                    insert.setBytes(5, new byte[] {0, (byte) n, -1});
                    insert.executeUpdate();
                }
                for (int n : new int[] {1, 5, 49, 50}) {
                    select.setInt(1, n);
                    text.append(Steps.rows(select.executeQuery()));
                }
            }
            return text;
        });
        Steps.step("prepared, table altered between", () -> {
            StringBuilder text = new StringBuilder();
            try (Connection connection = open("useServerPrepStmts", "true");
                PreparedStatement select = connection.prepareStatement("SELECT * FROM p WHERE n = ?")) {
                for (String change : List.of("DO 1", "ALTER TABLE p DROP b", "ALTER TABLE p MODIFY a TEXT", "DROP TABLE p")) {
                    ask(connection, change);
                    select.setInt(1, 1);
                    try {
                        text.append(Steps.rows(select.executeQuery()));
                    } catch (SQLException error) {
                        text.append(Steps.refusal(error));
                    }
                }
            }
            return text;
        });
        table("q", "n INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(20) UNIQUE, j JSON", null);
        Steps.step("batch of prepared statements", () -> {
            StringBuilder text = new StringBuilder();
            try (Connection connection = open("useServerPrepStmts", "true", "useBulkStmts", "true")) {
                connection.setAutoCommit(false);
                for (String sql : List.of("INSERT INTO q (a, j) VALUES (?, ?)", "UPDATE q SET a = CONCAT(a, ?) WHERE j = ?",
                    "INSERT INTO q (a, j) VALUES (?, ?)")) {
                    try (PreparedStatement batch = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
                        for (int n = 0; n < 20; n++) {
                            batch.setString(1, n % 5 == 0 ? null : "row " + n);
                            batch.setString(2, "{\"n\": " + n + "}");
                            batch.addBatch();
                        }
                        text.append(java.util.Arrays.toString(batch.executeBatch())).append(Steps.rows(batch.getGeneratedKeys()));
                    } catch (java.sql.BatchUpdateException error) {
                        text.append(Steps.refusal(error)).append(java.util.Arrays.toString(error.getUpdateCounts()));
                    }
                    text.append(ask(connection, "SELECT LAST_INSERT_ID()", "SELECT * FROM q ORDER BY n"));
                }
                connection.rollback();
                text.append(ask(connection, "SELECT COUNT(*) FROM q"));
            }
            return text;
        });
        Steps.step("query attributes", () -> {
            if (!kind.equals("mysql")) {
                return "this driver has none";
            }
            StringBuilder text = new StringBuilder();
            for (String prepares : List.of("false", "true")) {
                String who = "SELECT mysql_query_attribute_string('who'), ?";
                try (Connection connection = open("useServerPrepStmts", prepares);
                    PreparedStatement select = connection.prepareStatement(who)) {
                    select.setString(1, "p");
                    for (String value : new String[] {"me", null, "you"}) {
                        select.unwrap(com.mysql.cj.jdbc.JdbcStatement.class).clearAttributes();
                        if (value != null) {
                            select.unwrap(com.mysql.cj.jdbc.JdbcStatement.class).setAttribute("who", value);
                        }
                        text.append(Steps.rows(select.executeQuery()));
                    }
                } catch (SQLException error) {
                    text.append(Steps.refusal(error));
                }
            }
            return text;
        });
        Steps.step("200 prepared at once", () -> {
            StringBuilder text = new StringBuilder();
            try (Connection connection = open("useServerPrepStmts", "true", "cachePrepStmts", "true")) {
                List<PreparedStatement> all = new ArrayList<>();
                for (int n = 0; n < 200; n++) {
                    all.add(connection.prepareStatement("SELECT ? + " + n));
                }
                for (int turn = 0; turn < 2; turn++) {
                    for (PreparedStatement one : all) {
                        one.setInt(1, turn * 1000);
                        ResultSet set = one.executeQuery();
                        set.next();
                        text.append(set.getString(1)).append(' ');
                    }
                }
            }
            return text;
        });
    }

    private void transactions() throws Exception {
        for (String end : List.of("commit", "rollback", "savepoint", "close")) {
            Steps.step("transaction, " + end, () -> {
                table("t", "n INT PRIMARY KEY", null);
                StringBuilder text = new StringBuilder();
                try (Connection connection = open()) {
                    connection.setAutoCommit(false);
                    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                    text.append(ask(connection, "INSERT INTO t VALUES (1)", "SELECT @@autocommit, COUNT(*) FROM t"));
                    Savepoint savepoint = connection.setSavepoint("here");
                    text.append(ask(connection, "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (2)"));
                    switch (end) {
                        case "commit" -> connection.commit();
                        case "rollback" -> connection.rollback();
                        case "savepoint" -> {
                            connection.rollback(savepoint);
                            connection.commit();
                        }
                        default -> connection.close();
                    }
                }
                return text + once("SELECT n FROM t ORDER BY n");
            });
        }
        Steps.step("read only connection", () -> {
            try (Connection connection = open()) {
                connection.setReadOnly(true);
                String refused = ask(connection, "INSERT INTO t VALUES (9)", "SELECT COUNT(*) FROM t");
                connection.setReadOnly(false);
                return refused + ask(connection, "INSERT INTO t VALUES (9)") + connection.getTransactionIsolation() + connection.getCatalog();
            }
        });
    }

    private void counts() throws Exception {
        table("i", "n INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, b VARCHAR(3)", null);
        Steps.step("generated keys", () -> {
            StringBuilder text = new StringBuilder();
            try (Connection connection = open(); Statement statement = connection.createStatement()) {
                for (String sql : List.of("INSERT INTO i (a) VALUES (1)", "INSERT INTO i (a) VALUES (2), (3)", "INSERT INTO i VALUES (50, 4, NULL)",
                    "UPDATE i SET n = LAST_INSERT_ID(n + 100) WHERE a = 1")) {
                    text.append(statement.executeUpdate(sql, Statement.RETURN_GENERATED_KEYS)).append(Steps.rows(statement.getGeneratedKeys()));
                }
                return text + ask(connection, "SELECT LAST_INSERT_ID()");
            }
        });
        for (String affected : List.of("false", "true")) {
            Steps.step("counts, useAffectedRows=" + affected, () -> {
                try (Connection connection = open("useAffectedRows", affected)) {
                    return ask(connection, "UPDATE i SET a = a", "UPDATE i SET b = 'x' WHERE a < 3", "UPDATE i SET b = 'x'",
                        "INSERT INTO i (a) VALUES (2) ON DUPLICATE KEY UPDATE b = 'y'", "REPLACE INTO i (a) VALUES (3)", "SELECT ROW_COUNT()");
                }
            });
        }
        Steps.step("warnings", () -> {
            StringBuilder text = new StringBuilder();
            try (Connection connection = open(); Statement statement = connection.createStatement()) {
                for (String sql : List.of("SELECT 1/0", "DROP TABLE IF EXISTS missing", "INSERT IGNORE INTO i (a, b) VALUES (2, 'x'), (9, 'too long')")) {
                    statement.execute(sql);
                    for (SQLWarning one = statement.getWarnings(); one != null; one = one.getNextWarning()) {
                        text.append(Steps.refusal(one)).append(" | ");
                    }
                }
            }
            return text;
        });
    }

    private void refusals() throws Exception {
        table("e", "n INT NOT NULL PRIMARY KEY, a VARCHAR(10)", "(1, 'one')");
        for (String sql : Steps.lines("errors.sql")) {
            Steps.step("error of " + sql, () -> once(sql));
        }
        Steps.step("login with a wrong password", () -> open("password", "wrong"));
        Steps.step("login to an unknown schema", () -> open("schema", "missing"));
    }

    private void streams() throws Exception {
        StringBuilder rows = new StringBuilder("(0)");
        for (int n = 1; n < 200; n++) {
            rows.append(", (").append(n).append(')');
        }
        table("d", "n INT", rows.toString());
        String sql = "SELECT a.n * 100 + b.n, REPEAT('x', a.n), NULL FROM d AS a, d AS b ORDER BY 1";
        Steps.step("streamed, 40,000 rows", () -> streamed(sql, Integer.MIN_VALUE, Integer.MAX_VALUE, "useCursorFetch", "false"));
        Steps.step("streamed, read in part", () -> streamed(sql, Integer.MIN_VALUE, 10, "useCursorFetch", "false"));
        Steps.step("cursor of 1,000 rows, 40,000 rows", () -> streamed(sql, 1000, Integer.MAX_VALUE, "useCursorFetch", "true"));
        Steps.step("cursor of 1,000 rows, read in part", () -> streamed(sql, 1000, 1500, "useCursorFetch", "true"));
    }

    private String streamed(String sql, int fetchSize, int rowsMax, String... settings) throws Exception {
        try (Connection connection = open(settings);
            PreparedStatement statement = connection.prepareStatement(sql, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            statement.setFetchSize(fetchSize < 0 && kind.equals("mariadb") ? 1 : fetchSize);
            StringBuilder text = new StringBuilder();
            int count = 0;
            ResultSet set = statement.executeQuery();
            while (count < rowsMax && set.next()) {
                count++;
                text.append(set.getString(1)).append(set.getString(2)).append(set.getString(3));
            }
            set.close();
            return count + " rows, " + Steps.digest(text.toString()) + ask(connection, "SELECT 'next'");
        }
    }

    private void kills() throws Exception {
        Steps.step("query timeout", () -> {
            try (Connection connection = open(); Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                try {
                    return Steps.results(statement, statement.execute("SELECT SLEEP(3)"));
                } catch (SQLException error) {
                    return Steps.refusal(error) + ask(connection, "SELECT 'next'");
                }
            }
        });
        Steps.step("cancel", () -> {
            try (Connection connection = open(); Connection other = open(); Statement statement = connection.createStatement()) {
                Thread canceller = new Thread(() -> cancelWhenItRuns(other, statement));
                canceller.start();
                String seen;
                try {
                    seen = Steps.results(statement, statement.execute("SELECT SLEEP(3), 'victim'"));
                } catch (SQLException error) {
                    seen = Steps.refusal(error);
                }
                canceller.join();
                return seen + ask(connection, "SELECT 'next'");
            }
        });
    }

    private static void cancelWhenItRuns(Connection other, Statement statement) {
        try {
            String running = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(3), ''victim'''";
            for (int turn = 0; turn < 200; turn++) {
                try (ResultSet set = other.createStatement().executeQuery(running)) {
                    set.next();
                    if (set.getInt(1) == 1) {
                        break;
                    }
                }
                Thread.sleep(10);
            }
            statement.cancel();
        } catch (SQLException | InterruptedException error) {
            // What the victim gets is what is told.
        }
    }

    private void workers() throws Exception {
        table("w", "worker INT, n INT, PRIMARY KEY (worker, n)", null);
        Steps.step("8 workers at once", () -> {
            ExecutorService pool = Executors.newFixedThreadPool(8);
            List<Future<String>> results = new ArrayList<>();
            for (int worker = 0; worker < 8; worker++) {
                int number = worker;
                Callable<String> work = () -> work(number);
                results.add(pool.submit(work));
            }
            StringBuilder text = new StringBuilder();
            for (Future<String> result : results) {
                text.append(result.get());
            }
            pool.shutdown();
            return text + once("SELECT worker, COUNT(*), SUM(n) FROM w GROUP BY worker ORDER BY worker");
        });
    }

    private String work(int worker) throws SQLException {
        try (Connection connection = open("useServerPrepStmts", worker % 2 == 0 ? "true" : "false");
            PreparedStatement insert = connection.prepareStatement("INSERT INTO w VALUES (?, ?)");
            PreparedStatement count = connection.prepareStatement("SELECT COUNT(*) FROM w WHERE worker = ?")) {
            connection.setAutoCommit(false);
            for (int n = 0; n < 30; n++) {
                insert.setInt(1, worker);
                insert.setInt(2, n);
                insert.executeUpdate();
                count.setInt(1, worker);
                ResultSet set = count.executeQuery();
                set.next();
                if (set.getInt(1) != n / 2 + 1) {
                    return "worker " + worker + " saw " + set.getInt(1) + " rows in turn " + n + "; ";
                }
                if (n % 2 == 0) {
                    connection.commit();
                } else {
                    connection.rollback();
                }
            }
        }
        return "";
    }

    private void sessions() throws Exception {
        String state = "SELECT DATABASE(), SUBSTRING_INDEX(USER(), '@', 1), @a, @@sql_mode = '', @@autocommit";
        if (kind.equals("mysql")) {
            Steps.step("reset connection", () -> after(state, connection ->
                connection.unwrap(com.mysql.cj.jdbc.JdbcConnection.class).resetServerState()));
            Steps.step("change user", () -> after(state, connection -> connection.unwrap(com.mysql.cj.jdbc.JdbcConnection.class)
                .changeUser(Steps.env("DB_OTHER_USER"), Steps.env("DB_OTHER_PASSWORD"))));
        } else {
            Steps.step("reset connection", () -> after(state, connection ->
                connection.unwrap(org.mariadb.jdbc.Connection.class).reset()));
        }
        Steps.step("ping", () -> {
            try (Connection connection = open()) {
                return connection.isValid(5);
            }
        });
        Steps.step("another schema", () -> {
            try (Connection connection = open()) {
                connection.setCatalog("information_schema");
                return ask(connection, state) + connection.getCatalog() + ask(connection, "USE " + Steps.env("DB_NAME"), state);
            }
        });
        Steps.step("metadata", () -> {
            try (Connection connection = open()) {
                var meta = connection.getMetaData();
                return meta.getDatabaseProductName() + meta.getDatabaseProductVersion()
                    + Steps.rows(meta.getColumns(Steps.env("DB_NAME"), null, "e", null)) + Steps.rows(meta.getPrimaryKeys(Steps.env("DB_NAME"), null, "e"));
            }
        });
    }

    private interface Change {
        void make(Connection connection) throws SQLException;
    }

    private String after(String state, Change change) throws SQLException {
        try (Connection connection = open()) {
            String before = ask(connection, "SET @a = 1", "SET sql_mode = ''", "SET autocommit = 0", state);
            try {
                change.make(connection);
            } catch (SQLException error) {
                return before + Steps.refusal(error);
            }
            return before + ask(connection, state);
        }
    }

    private void transports() throws Exception {
        table("f", "n INT, a VARCHAR(20)", null);
        String load = "LOAD DATA LOCAL INFILE '" + Path.of(Steps.env("DB_SCENARIO"), "infile.csv") + "' INTO TABLE f FIELDS TERMINATED BY ','";
        for (String allowed : List.of("true", "false")) {
            Steps.step(allowed.equals("true") ? "LOAD DATA LOCAL INFILE" : "LOAD DATA LOCAL INFILE, not allowed", () -> {
                try (Connection connection = open("allowLoadLocalInfile", allowed, "allowLocalInfile", allowed)) {
                    return allowed.equals("true") ? ask(connection, load, "SELECT * FROM f") : ask(connection, load);
                }
            });
        }
        String mode = kind.equals("mysql") ? "REQUIRED" : "trust";
        Steps.step("TLS", () -> {
            try (Connection connection = open("sslMode", mode, "port", Steps.env("DB_TLS_PORT"))) {
                return Steps.digest(ask(connection, "SELECT REPEAT('t', 1000000)"));
            }
        });
        Steps.step("compression", () -> {
            try (Connection connection = open("useCompression", "true", "port", Steps.env("DB_COMPRESSION_PORT"))) {
                return Steps.digest(ask(connection, "SELECT REPEAT('c', 4000000)"));
            }
        });
    }
}
