//! Expressions and statements in which a TIME may meet a date.

use nuthatch_sql::pure_functions;

pub(super) const TABLES: [&str; 4] = [
    "CREATE TABLE t (id INT PRIMARY KEY, tm TIME(2), tm2 TIME, d DATE, dt DATETIME, ts TIMESTAMP NULL, y YEAR, i INT, \
     dc DECIMAL(20, 4), f DOUBLE, v VARCHAR(40), vd VARCHAR(40), j JSON, b VARBINARY(40))",
    "INSERT INTO t VALUES (7, '10:11:12', '11:12:13', '2020-02-03', '2020-02-03 04:05:06', '2020-02-03 04:05:06', 2020, 101112, \
     20200203040506.5, 101112.5, '10:11:12', '2020-02-03 04:05:06', '\"10:11:12\"', '10:11:12')",
    "CREATE TABLE u (id INT PRIMARY KEY, tm DATETIME)",
    "INSERT INTO u VALUES (7, '2020-02-03 10:11:12')",
];

/// A value of every type, as a column or a literal.
const VALUES: [&str; 21] = [
    "tm",
    "d",
    "dt",
    "ts",
    "y",
    "i",
    "dc",
    "f",
    "v",
    "vd",
    "j",
    "b",
    "TIME'10:11:12'",
    "{t '10:11:12'}",
    "DATE'2020-02-03'",
    "'10:11:12'",
    "20200203",
    "NULL",
    "SEC_TO_TIME(i)",
    "CAST(v AS TIME)",
    "STR_TO_DATE(v, '%H:%i:%s')",
];

/// Those of type TIME.
const TIMES: [&str; 5] =
    ["tm", "TIME'10:11:12'", "TIMEDIFF(v, '1:00')", "STR_TO_DATE(v, '%T')", "CONVERT(v, TIME(3))"];

const UNITS: [&str; 7] = ["MICROSECOND", "HOUR", "DAY", "QUARTER", "YEAR", "DAY_SECOND", "YEAR_MONTH"];

const TYPES: [&str; 8] =
    ["DATE", "DATETIME(6)", "TIME", "YEAR", "CHAR(30)", "SIGNED", "DECIMAL(30,6)", "JSON"];

/// Functions whose answers are as long as their arguments say.
const LONG: [&str; 7] = ["repeat", "lpad", "rpad", "space", "buffer", "st_buffer", "json_pretty"];

fn functions() -> impl Iterator<Item = &'static str> {
    pure_functions().filter(|name| !LONG.contains(name))
}

pub(super) fn expressions() -> impl Iterator<Item = String> {
    let of_one = functions().flat_map(|name| VALUES.map(|value| format!("{name}({value})")));
    let of_two = functions().flat_map(|name| {
        VALUES.into_iter().flat_map(move |value| {
            [
                format!("{name}(tm, {value})"),
                format!("{name}({value}, tm)"),
                format!("{name}(i, {value}, tm)"),
            ]
        })
    });
    of_one.chain(of_two).chain(TIMES.into_iter().flat_map(alone)).chain(pairs())
}

/// Of one TIME.
fn alone(time: &'static str) -> impl Iterator<Item = String> {
    let of_units = UNITS.into_iter().flat_map(move |unit| {
        [
            format!("EXTRACT({unit} FROM {time})"),
            format!("{time} + INTERVAL 1 {unit}"),
            format!("{time} - INTERVAL 1 {unit}"),
            format!("DATE_ADD({time}, INTERVAL 1 {unit})"),
            format!("TIMESTAMPADD({unit}, 1, {time})"),
            format!("TIMESTAMPDIFF({unit}, {time}, dt)"),
        ]
    });
    let of_types = TYPES.into_iter().flat_map(move |of_type| {
        [
            format!("CAST({time} AS {of_type})"),
            format!("CONVERT({time}, {of_type})"),
            format!("CAST(CAST({time} AS JSON) AS {of_type})"),
            format!("JSON_VALUE(JSON_OBJECT('a', {time}), '$.a' RETURNING {of_type})"),
            format!("TIMESTAMP(JSON_VALUE(j, '$' RETURNING {of_type}))"),
        ]
    });
    let formatted = ["DATE_FORMAT", "TIME_FORMAT"].map(|name| format!("{name}({time}, '%Y-%m-%d %H')"));
    of_units.chain(of_types).chain(formatted)
}

/// Of a TIME and another value.
fn pairs() -> impl Iterator<Item = String> {
    TIMES
        .into_iter()
        .flat_map(|time| VALUES.into_iter().flat_map(move |other| [(time, other), (other, time)]))
        .flat_map(|(a, b)| {
            let signs =
                ["=", "<", ">=", "<>", "<=>", "+", "-", "*", "/", "%", "AND", "OR", "LIKE", "REGEXP", "||"];
            let operators = signs.into_iter().map(move |sign| format!("{a} {sign} {b}"));
            operators.chain([
                format!("{a} BETWEEN {b} AND NULL"),
                format!("{a} BETWEEN {b} AND '12:00'"),
                format!("NULL BETWEEN {a} AND {b}"),
                format!("{a} NOT BETWEEN '00:00' AND {b}"),
                format!("{a} IN ({b})"),
                format!("{a} IN ('10:11:12', {b})"),
                format!("{a} = ANY (SELECT {b})"),
                format!("{a} > ALL (SELECT {b})"),
                format!("({a}, 1) < ({b}, 1)"),
                format!("IF(i, {a}, {b})"),
                format!("CASE WHEN i THEN {a} ELSE {b} END"),
                format!("CASE {a} WHEN {b} THEN 1 ELSE 2 END"),
                format!("COALESCE(NULL, {a}, {b})"),
                format!("LEAD({a}, 1, {b}) OVER ()"),
                format!("MIN({a}) < MAX({b})"),
                format!("TIMESTAMPDIFF(SECOND, {a}, {b})"),
                format!("(SELECT {a} UNION SELECT {b} LIMIT 1)"),
                format!("(SELECT GROUP_CONCAT(q ORDER BY q) FROM (SELECT {a} q UNION ALL SELECT {b}) w)"),
                format!("(SELECT COUNT(*) FROM t x WHERE x.tm < {b})"),
                format!("EXISTS (SELECT {a} z HAVING z < {b})"),
            ])
        })
}

/// Whole statements.
pub(super) fn statements() -> impl Iterator<Item = String> {
    [
        "SELECT tm FROM t UNION SELECT dt FROM t",
        "SELECT id, tm FROM t UNION SELECT * FROM u",
        "(SELECT tm FROM t) UNION ALL (SELECT d FROM t)",
        "SELECT * FROM u WHERE tm < ANY (SELECT tm FROM t)",
        "SELECT * FROM (SELECT tm AS x, dt FROM t) q WHERE x < dt",
        "SELECT x < y FROM (SELECT tm AS x, dt AS y FROM t) q",
        "WITH q (x, y) AS (SELECT tm, dt FROM t) SELECT x < y FROM q",
        "WITH q AS (SELECT tm x, dt y FROM t) SELECT x < y FROM q",
        "SELECT tm AS x, dt FROM t HAVING x < dt",
        "SELECT tm x, dt FROM t HAVING x > dt",
        "SELECT COUNT(*) FROM t JOIN u ON t.tm < u.tm",
        "SELECT COUNT(*) FROM t, u WHERE u.tm BETWEEN t.tm AND t.tm",
        "SELECT id FROM t WHERE dt BETWEEN '2020-01-01' AND tm = 1",
        "SELECT id FROM t WHERE dt BETWEEN CASE WHEN 1 AND 1 THEN '2020-01-01' END AND tm = 1",
        "SELECT id FROM t WHERE dt < tm IS NOT TRUE",
        "SELECT id FROM t GROUP BY tm < dt HAVING COUNT(*) AND tm < MAX(dt)",
        "SELECT MAX(tm) AS m FROM t HAVING m < MAX(dt)",
        "SELECT SEC_TO_TIME(i) AS x, dt FROM t HAVING x < dt",
    ]
    .into_iter()
    .map(str::to_owned)
}

/// What stays cached although a TIME is in it.
pub(super) const STEADY: [&str; 8] = [
    "SELECT * FROM t WHERE id = 7",
    "SELECT id, tm FROM t WHERE id = 7 ORDER BY tm",
    "SELECT id FROM t WHERE tm > '10:00:00' AND tm2 < '12:00:00'",
    "SELECT id FROM t WHERE tm < tm2",
    "SELECT HOUR(tm), COUNT(*) FROM t GROUP BY HOUR(tm)",
    "SELECT MIN(tm), MAX(tm) FROM t WHERE d = '2020-02-03'",
    "SELECT SUM(TIME_TO_SEC(TIMEDIFF(tm2, tm))) FROM t",
    "SELECT t.* FROM t JOIN u ON t.id = u.id WHERE u.tm > '2020-01-01'",
];
