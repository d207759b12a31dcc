import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;

/**
 * How a step is run and printed: one line each, {@code name<TAB>result}. What a server refuses is part of a result;
 * anything else that is thrown makes it begin with {@code raised}, which fails the step.
 */
final class Steps {
    interface Run {
        Object get() throws Exception;
    }

    static String env(String name) {
        return System.getenv(name);
    }

    static List<String> lines(String name) throws Exception {
        return Files.readAllLines(Path.of(env("DB_SCENARIO"), name));
    }

    static void step(String name, Run run) {
        String result;
        try {
            result = String.valueOf(run.get());
        } catch (SQLException error) {
            result = refusal(error);
        } catch (Exception error) {
            result = "raised " + error + " at " + error.getStackTrace()[0];
        }
        String line = result.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t");
        System.out.writeBytes((name + "\t" + line + "\n").getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }

    /** MariaDB's driver puts the connection's number before a server's message. */
    static String refusal(SQLException error) {
        String message = String.valueOf(error.getMessage()).replaceFirst("^\\(conn=-?\\d+\\) ", "");
        // Times and the threads that were involved differ from run to run.
        return "error " + error.getErrorCode() + " (" + error.getSQLState() + ") " + error.getClass().getSimpleName() + ": "
            + message.lines().findFirst().orElse("");
    }

    static String digest(String text) throws Exception {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return bytes.length + " bytes, " + HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
    }

    /** All columns and rows of a result. */
    static String rows(ResultSet set) throws SQLException {
        ResultSetMetaData meta = set.getMetaData();
        StringBuilder text = new StringBuilder("[");
        for (int n = 1; n <= meta.getColumnCount(); n++) {
            text.append(meta.getColumnLabel(n)).append(' ').append(meta.getColumnTypeName(n)).append(' ').append(meta.getColumnType(n))
                .append(' ').append(meta.getPrecision(n)).append(',').append(meta.getScale(n)).append(' ')
                .append(meta.isNullable(n)).append(meta.isAutoIncrement(n) ? " auto" : "").append("; ");
        }
        text.append(']');
        while (set.next()) {
            text.append(" (");
            for (int n = 1; n <= meta.getColumnCount(); n++) {
                text.append(n == 1 ? "" : ", ").append(value(set, n));
            }
            text.append(')');
        }
        return text.toString();
    }

    private static String value(ResultSet set, int n) throws SQLException {
        Object value;
        try {
            value = set.getObject(n);
        } catch (SQLException error) {
            // What does not fit Java's type, as a TIME beyond a day.
            return "as text " + set.getString(n);
        }
        if (value instanceof byte[] bytes) {
            return "0x" + HexFormat.of().formatHex(bytes);
        }
        return value == null ? "NULL" : value.getClass().getSimpleName() + " " + (value.getClass().isArray() ? "?" : value);
    }

    /** All results of a statement that has been executed. */
    static String results(Statement statement, boolean isSet) throws SQLException {
        StringBuilder text = new StringBuilder();
        while (true) {
            if (isSet) {
                try (ResultSet set = statement.getResultSet()) {
                    text.append(rows(set));
                }
            } else if (statement.getLargeUpdateCount() == -1) {
                return text.toString();
            } else {
                text.append("count ").append(statement.getLargeUpdateCount());
            }
            text.append(" | ");
            isSet = statement.getMoreResults();
        }
    }
}
