"""What PyMySQL sees of values: types, NULLs, character sets, sizes; in the text protocol."""

import hashlib

from pymysql.cursors import SSCursor

from wire import answer, answers

# Column, and values at its limits. A NULL is added to each.
TYPES = [
    ("TINYINT", "-128", "127"),
    ("TINYINT UNSIGNED", "0", "255"),
    ("SMALLINT", "-32768", "32767"),
    ("MEDIUMINT", "-8388608", "8388607"),
    ("INT", "-2147483648", "2147483647"),
    ("INT UNSIGNED ZEROFILL", "0", "4294967295"),
    ("BIGINT", "-9223372036854775808", "9223372036854775807"),
    ("BIGINT UNSIGNED", "0", "18446744073709551615"),
    ("DECIMAL(65,30)", "-99999999999999999999999999999999999.999999999999999999999999999999", "0"),
    ("FLOAT", "-3.40282e38", "1.17549e-38"),
    ("DOUBLE", "-1.7976931348623157e308", "2.2250738585072014e-308"),
    ("BIT(64)", "b'0'", "b'1111111111111111111111111111111111111111111111111111111111111111'"),
    ("BOOLEAN", "FALSE", "TRUE"),
    ("DATE", "'1000-01-01'", "'9999-12-31'"),
    ("DATETIME(6)", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'"),
    ("TIMESTAMP(6) NULL", "'1970-01-02 00:00:01'", "'2038-01-18 03:14:07.999999'"),
    ("TIME(6)", "'-838:59:59'", "'838:59:59.999999'"),
    ("YEAR", "1901", "2155"),
    ("CHAR(255)", "''", "REPEAT('é', 255)"),
    ("VARCHAR(16000)", "''", "REPEAT('𝄞', 16000)"),
    ("BINARY(16)", "X'00'", "X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'"),
    ("VARBINARY(65000)", "''", "REPEAT(X'00FF', 32500)"),
    ("TINYTEXT", "''", "REPEAT('x', 255)"),
    ("MEDIUMTEXT", "''", "REPEAT('ab', 100000)"),
    ("LONGBLOB", "''", "REPEAT(X'00', 70000)"),
    ("ENUM('', 'a', 'ü')", "''", "'ü'"),
    ("SET('a', 'b', 'c')", "''", "'a,b,c'"),
    ("JSON", "'{}'", """'{"a": [1, null, "ü"]}'"""),
    ("GEOMETRY", "ST_GeomFromText('POINT(0 0)')", "ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')"),
    ("UUID", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    ("INET6", "'::'", "'ffff::ffff'"),
]

# Lengths of a packet's payload around the boundaries of integers and packets: 2^24-1 is the longest packet.
READ_SIZES = [0, 1, 250, 251, 252, 65535, 65536, 1 << 20]
PACKET_SIZES = [(1 << 24) - 2, (1 << 24) - 1, 1 << 24]
ROW_BYTES = 20 << 20

CHARSETS = ["utf8mb4", "utf8", "latin1", "latin2", "cp1251", "greek", "sjis", "gbk", "koi8r", "ascii", "binary"]


def types_at_their_limits(way):
    """Every type, its metadata included."""
    seen = []
    with way.connect(database="t") as connection:
        for kind, low, high in TYPES:
            answers(connection, f"CREATE OR REPLACE TABLE v (a {kind})")
            answers(connection, f"INSERT INTO v VALUES ({low}), ({high}), (NULL)")
            seen.append((kind, answers(connection, "SELECT a, a IS NULL AS n FROM v")))
    return seen


def expressions(way):
    """Results without a table, and NULL in each place of a row."""
    with way.connect(database="t") as connection:
        return answers(
            connection,
            "SELECT NULL, 1, NULL, 'a', NULL, 1.5, 1e0, NOW() IS NULL, X'41', _latin1'\xe9', NULL, ''",
            "SELECT NULL",
            "SELECT ''",
            "SELECT 1 AS ``",
            "SELECT 1 AS `a\"b'c é 𝄞`",
            "SELECT NULL FROM DUAL WHERE 0",
            "SELECT " + ", ".join(["NULL"] * 2000),
            "SELECT " + ", ".join(f"{n} AS c{n}" for n in range(2000)),
        )


def charset_of_the_login(way):
    """The same table read and written in each character set that a login may name."""
    seen = []
    for charset in CHARSETS:
        try:
            with way.connect(database="t", charset=charset) as connection:
                seen.append((charset, charset_answers(connection)))
        except (UnicodeError, LookupError) as error:
            seen.append((charset, type(error).__name__))
    return seen


def charset_of_set_names(way):
    """The character set changed in the session, by each statement that can."""
    seen = []
    with way.connect(database="t", use_unicode=False) as connection:
        for charset in CHARSETS:
            for sql in (
                f"SET NAMES {charset}",
                f"SET CHARACTER SET {charset}",
                f"SET character_set_results = {charset}",
            ):
                seen.append((sql, answers(connection, sql), charset_answers(connection)))
        seen.append(
            answers(
                connection,
                "SET NAMES utf8mb4 COLLATE utf8mb4_spanish_ci",
                "SELECT @@collation_connection, 'n' = 'ñ'",
                "SET NAMES nonsense",
                "SELECT @@character_set_client",
                "SET NAMES DEFAULT",
                "SELECT @@character_set_client, @@character_set_results, @@collation_connection",
            )
        )
    return seen


def charset_answers(connection):
    return answers(
        connection,
        "CREATE OR REPLACE TABLE c (u VARCHAR(20) CHARSET utf8mb4, l VARCHAR(20) CHARSET latin1)",
        "INSERT INTO c VALUES (_utf8mb4 X'C3A9F09D849E', X'E9'), ('x', 'y')",
        "SELECT u, l, 'z', HEX('z') FROM c",
        "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection",
        "SELECT collation(u), collation(l), collation('x'), coercibility('x'), collation(CONCAT(l, 'x')) FROM c",
    )


def values_of_all_sizes(way):
    """Rows and statements around the protocol's boundaries; `REPEAT` is all of a row but the 4 bytes of its length."""
    seen = []
    with way.connect(max_allowed_packet=64 << 20) as connection, connection.cursor() as cursor:
        for size in READ_SIZES + [size - 4 for size in PACKET_SIZES]:
            cursor.execute(f"SELECT REPEAT('r', {size})")
            assert cursor.fetchone() == ("r" * size,), size
            seen.append(answer(connection, "SELECT 'between'"))
        for size in PACKET_SIZES:
            head, tail = "SELECT MD5('", "')"
            filler = "w" * (size - 1 - len(head) - len(tail))
            cursor.execute(head + filler + tail)
            assert cursor.fetchone() == (md5(filler.encode()),), size
    return seen


def rows_of_20_mb(way):
    """Written, read back, and two of them in one result."""
    value = bytes(range(48, 58)) * (ROW_BYTES // 10)
    with way.connect(database="t", max_allowed_packet=64 << 20) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE b (n INT PRIMARY KEY, a LONGBLOB)")
        cursor.execute("INSERT INTO b VALUES (1, %s), (2, 'small')", (value.decode(),))
        cursor.execute("UPDATE b SET a = (SELECT a FROM b WHERE n = 1) WHERE n = 2")
        cursor.execute("SELECT a, n, MD5(a) FROM b ORDER BY n")
        rows = cursor.fetchall()
        assert all(row[0] == value and row[2] == md5(value) for row in rows), [row[1:] for row in rows]
        return [len(rows), answer(connection, "SELECT n, LENGTH(a) FROM b")]


def md5(value):
    return hashlib.md5(value).hexdigest()


def statement_beyond_the_servers_limit(way):
    """Refused by the server or by the proxy, and the next connection works."""
    outcome = "taken"
    connection = way.connect(max_allowed_packet=200 << 20)
    try:
        answer(connection, "SELECT LENGTH('" + "x" * (65 << 20) + "')")
    except Exception as error:  # which one is not the same: a server that hangs up is seen while writing or reading
        outcome = (
            "refused" if type(error).__module__.startswith("pymysql") or isinstance(error, OSError) else repr(error)
        )
    finally:
        connection._force_close()
    return [outcome, way.rows("SELECT 1")]


def many_rows(way):
    """Many rows, whole and one by one, and a result that is not read to its end."""
    sql = "SELECT seq, REPEAT('x', seq % 300), NULL FROM seq_1_to_100000"
    with way.connect(database="t") as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        whole = md5(repr(cursor.fetchall()).encode())
    return [whole, *half_read(way, sql)]


def half_read(way, sql):
    with way.connect(database="t", cursorclass=SSCursor) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        first = cursor.fetchmany(1000)
        cursor.close()
        rest = answers(connection, "SELECT 'next'")
    gone = way.connect(database="t", cursorclass=SSCursor)
    gone.cursor().execute(sql)
    gone._force_close()
    return [md5(repr(first).encode()), rest, way.rows("SELECT 'after one who left'")]


CHECKS = [
    ("types at their limits are the same, metadata too", types_at_their_limits),
    ("expressions, names and NULLs are the same", expressions),
    ("each character set of the login gives the same bytes", charset_of_the_login),
    ("each way to change the character set gives the same bytes", charset_of_set_names),
    ("rows and statements at the boundaries of packets arrive whole", values_of_all_sizes),
    ("rows of 20 MB arrive whole", rows_of_20_mb),
    ("a statement beyond the limit harms nobody else", statement_beyond_the_servers_limit),
    ("100,000 rows arrive; half a result harms nobody", many_rows),
]
