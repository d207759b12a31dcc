//! What is asked: reads whose answers tell of the session's settings, the clock, or types that are converted.

use super::{Author, On, Theme};

/// Whose answers depend on one setting or another.
const OF_SETTINGS: [(On, &str); 30] = [
    (On::Both, "SELECT id, dayname(d), monthname(dt) FROM t ORDER BY id"),
    (On::Both, "SELECT date_format(d, '%W %a %b %M') FROM t WHERE id = {id}"),
    (On::Both, "SELECT id, ts FROM t ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE ts > '2026-03-28 11:00:00' ORDER BY id"),
    (On::Both, "SELECT id, unix_timestamp(dt), from_unixtime(n * 100000) FROM t ORDER BY id"),
    (On::Both, "SELECT group_concat(s ORDER BY id) FROM t"),
    (On::Both, "SELECT id, group_concat(n) FROM t GROUP BY id ORDER BY id"),
    (On::Both, "SELECT id, n / 7, x / 3 FROM t ORDER BY id"),
    (On::Both, "SELECT id, week(d), week(dt) FROM t ORDER BY id"),
    (On::Both, "SELECT id, s || n FROM t ORDER BY id"),
    (On::Both, "SELECT id, \"s\" FROM t ORDER BY id"),
    (On::Both, "SELECT id, s FROM t ORDER BY id"),
    (On::Both, "SELECT id, n FROM kept ORDER BY id"),
    (On::Both, "SELECT id, s FROM t WHERE s LIKE '%\\_%' OR s = 'word' ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE NOT n = 7 IS NULL ORDER BY id"),
    (On::Both, "SELECT id, u - 2 FROM t WHERE id = 2 ORDER BY id"),
    (On::Both, "SELECT n, count(*) FROM t GROUP BY n ORDER BY n"),
    (On::Both, "SELECT id, n FROM t GROUP BY n ORDER BY id"),
    (On::Both, "SELECT id FROM w{i} WHERE id IS NULL"),
    (On::Both, "SELECT id, cast(n AS char), concat(n, s) FROM t ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE s = 'WORD'"),
    (On::Both, "SELECT * FROM t ORDER BY id"),
    (On::Both, "SELECT * FROM v WHERE id < 3 ORDER BY id"),
    (On::Both, "SELECT format(f, 2), format(n, 2) FROM t ORDER BY id"),
    (On::MariaDb, "SELECT id, format(n * 1000, 2, 'de_DE') FROM t ORDER BY id"),
    (On::MariaDb, "SELECT id FROM t WHERE s REGEXP 'W.RD' ORDER BY id"),
    (On::Both, "SELECT id, hex(aes_encrypt(s, '0123456789abcdef')) FROM t ORDER BY id"),
    (
        On::MySql,
        "WITH RECURSIVE c AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM c WHERE a < 20) SELECT max(a) FROM c, t",
    ),
    (On::MySql, "SELECT id, avg(n) OVER (ORDER BY id) FROM t ORDER BY id"),
    (
        On::Both,
        "SELECT @@sql_mode, @@lc_time_names, @@time_zone, @@group_concat_max_len, @@div_precision_increment, @@sql_select_limit",
    ),
];

const OF_TYPES: [(On, &str); 46] = [
    (On::Both, "SELECT id, {f}({any}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, {f}({tm}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, {f}({tm}) FROM t ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {any} {cmp} {any} ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {tm} {cmp} {day} ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {day} {cmp} {tm} ORDER BY id"),
    (On::Both, "SELECT id, {day} {cmp} {tm} AS c FROM t ORDER BY id"),
    (On::Both, "SELECT id, if(id > 2, {tm}, {day}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, if(id > 2, {any}, {any}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, ifnull({any}, {any}), coalesce({day}, {tm}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, nullif({day}, {tm}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, nullif({tm}, {day}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, CASE WHEN id > 1 THEN {any} ELSE {any} END FROM t ORDER BY id"),
    (On::Both, "SELECT id, CASE {day} WHEN {tm} THEN 1 ELSE 2 END FROM t ORDER BY id"),
    (On::Both, "SELECT id, greatest({any}, {any}), least({day}, {tm}) FROM t ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {any} BETWEEN {any} AND {any} ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {day} BETWEEN {tm} AND {day} ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {any} IN ({any}, {any}) ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {day} IN (SELECT tm FROM t) ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE {tm} IN (SELECT dt FROM t) ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE dt > ANY (SELECT tm FROM t) ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE ({tm}, 1) = ({day}, 1) ORDER BY id"),
    (On::Both, "SELECT id FROM t WHERE (id, dt) > (id, tm) ORDER BY id"),
    (On::Both, "SELECT {any} AS c FROM t UNION SELECT {any} FROM t ORDER BY 1"),
    (On::Both, "SELECT tm AS c FROM t UNION ALL SELECT {day} FROM t ORDER BY 1"),
    (On::Both, "SELECT {day} AS c FROM t UNION ALL SELECT {tm} FROM t ORDER BY 1"),
    (On::Both, "SELECT dt AS c FROM t EXCEPT SELECT tm FROM t ORDER BY 1"),
    (On::Both, "SELECT id, cast({any} AS {type}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, convert({tm}, {type}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, datediff({any}, {any}), timestampdiff(HOUR, {any}, {any}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, timediff({any}, {any}), addtime({any}, {tm}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, {any} + INTERVAL 1 DAY, date_sub({tm}, INTERVAL {n} HOUR) FROM t ORDER BY id"),
    (On::Both, "SELECT id, {tm} + INTERVAL '1 1' DAY_HOUR FROM t ORDER BY id"),
    (On::Both, "SELECT id, date_format({any}, '%Y-%m-%d'), time_format({any}, '%H') FROM t ORDER BY id"),
    (On::Both, "SELECT id, extract(DAY FROM {any}), extract(YEAR_MONTH FROM {tm}) FROM t ORDER BY id"),
    (On::Both, "SELECT id, timestamp({any}, {tm}), str_to_date(s, '%H:%i:%s') FROM t ORDER BY id"),
    (On::Both, "SELECT id, convert_tz({any}, '+00:00', '+05:00') FROM t ORDER BY id"),
    (On::Both, "SELECT a.id, b.id FROM t AS a JOIN t AS b ON a.tm {cmp} b.dt ORDER BY 1, 2"),
    (On::Both, "SELECT a.id, b.id FROM t AS a JOIN v_time AS b ON a.dt {cmp} b.c ORDER BY 1, 2"),
    (On::Both, "SELECT id, {f}(c), c {cmp} b AS e FROM v_time ORDER BY id"),
    (On::Both, "SELECT * FROM v_{view} ORDER BY id"),
    (On::Both, "SELECT id, {f}(later), later {cmp} dt AS e FROM made ORDER BY id"),
    (On::Both, "SELECT max({f}(tm)), min(tm {cmp} dt) FROM t"),
    (On::Both, "SELECT id, {f}(m) FROM (SELECT id, max(tm) AS m FROM t GROUP BY id) AS g ORDER BY id"),
    (
        On::Both,
        "WITH c AS (SELECT id, tm AS m FROM t) SELECT id, {f}(m), m {cmp} date'2026-03-29' AS e FROM c ORDER BY id",
    ),
    (On::Both, "SELECT id, lag(dt, 1, tm) OVER (ORDER BY id) FROM t ORDER BY id"),
];

/// Of rows that are written, for transactions.
const OF_ROWS: [(On, &str); 7] = [
    (On::Both, "SELECT id, n FROM kept ORDER BY id"),
    (On::Both, "SELECT n FROM kept WHERE id = {id}"),
    (On::Both, "SELECT count(*), sum(n) FROM kept"),
    (On::Both, "SELECT id, n FROM old ORDER BY id"),
    (On::Both, "SELECT id, n FROM t ORDER BY id"),
    (On::Both, "SELECT kept.id, t.n FROM kept JOIN t ON t.id = kept.id ORDER BY 1"),
    (On::Both, "SELECT id, n FROM v ORDER BY id"),
];

/// Of the type TIME.
const TIMES: [&str; 14] = [
    "tm",
    "tm",
    "tm",
    "time'10:11:12'",
    "cast('25:00:00' AS time)",
    "cast(s AS time)",
    "sec_to_time(n * 1000)",
    "maketime(n, 1, 2)",
    "timediff(dt, d)",
    "time(dt)",
    "(SELECT max(tm) FROM t)",
    "addtime(tm, '01:00:00')",
    "ifnull(tm, '10:00:00')",
    "max(tm) OVER ()",
];

/// Of a type with a date.
const DAYS: [&str; 7] =
    ["d", "dt", "ts", "date'2026-03-29'", "timestamp'2026-03-30 00:00:00'", "date(dt)", "{day_as_text}"];

/// The same, by functions.
const DAYS_BY_FUNCTION: [&str; 4] =
    ["cast('2026-03-29' AS date)", "cast(s AS datetime)", "from_unixtime(n)", "last_day(d)"];

/// Of any type.
const VALUES: [&str; 13] = [
    "{tm}",
    "{tm}",
    "{day}",
    "{day}",
    "y",
    "s",
    "n",
    "x",
    "f",
    "'10:00:00'",
    "'2026-03-29'",
    "20260329",
    "NULL",
];

const COMPARISONS: [&str; 7] = ["=", "<", ">", "<=", ">=", "<>", "<=>"];

const TYPES: [&str; 8] =
    ["date", "datetime", "time", "datetime(3)", "char", "signed", "decimal(20,4)", "year"];

/// Behind `v_`.
const VIEWS: [&str; 3] = ["at", "union", "time"];

/// Of one argument.
const FUNCTIONS: [&str; 28] = [
    "date",
    "timestamp",
    "dayname",
    "monthname",
    "year",
    "to_days",
    "last_day",
    "dayofmonth",
    "unix_timestamp",
    "weekday",
    "quarter",
    "to_seconds",
    "yearweek",
    "week",
    "weekofyear",
    "month",
    "dayofyear",
    "dayofweek",
    "time",
    "hour",
    "time_to_sec",
    "microsecond",
    "hex",
    "length",
    "json_quote",
    "max",
    "any_value",
    "md5",
];

/// What stands for a blank of a question.
pub(super) fn of_blank(blank: &str) -> &'static [&'static str] {
    match blank {
        "tm" => &TIMES,
        "day" => &DAYS,
        "day_as_text" => &DAYS_BY_FUNCTION,
        "any" => &VALUES,
        "cmp" => &COMPARISONS,
        "type" => &TYPES,
        "view" => &VIEWS,
        "f" => &FUNCTIONS,
        other => panic!("{other} is no blank"),
    }
}

impl Author {
    /// One that tells most where the theme's state is wrong.
    pub(super) fn question(&mut self) -> String {
        let is_of_theme = self.random.below(4) > 0;
        match self.theme {
            Theme::Types if is_of_theme => self.one_of(&OF_TYPES),
            Theme::Snapshots if is_of_theme => self.one_of(&OF_ROWS),
            Theme::Globals | Theme::Past | Theme::Code | Theme::Modes | Theme::Hints if is_of_theme => {
                self.one_of(&OF_SETTINGS)
            }
            _ => match self.random.below(3) {
                0 => self.one_of(&OF_TYPES),
                1 => self.one_of(&OF_ROWS),
                _ => self.one_of(&OF_SETTINGS),
            },
        }
    }
}
