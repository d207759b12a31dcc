//! What sessions set for themselves.

use super::{Author, On};

/// As a SET would have them behind the word.
const STATES: [(On, &str); 24] = [
    (On::Both, "lc_time_names = 'de_DE'"),
    (On::Both, "lc_time_names = 'en_US'"),
    (On::Both, "time_zone = '+0{n}:00'"),
    (On::Both, "time_zone = 'SYSTEM'"),
    (On::Both, "sql_mode = ''"),
    (On::Both, "sql_mode = 'STRICT_TRANS_TABLES'"),
    (On::Both, "sql_mode = 'ANSI_QUOTES'"),
    (On::Both, "sql_mode = 'PIPES_AS_CONCAT'"),
    (On::Both, "sql_mode = 'HIGH_NOT_PRECEDENCE,NO_BACKSLASH_ESCAPES'"),
    (On::Both, "sql_mode = 'NO_UNSIGNED_SUBTRACTION'"),
    (On::Both, "sql_mode = 'ONLY_FULL_GROUP_BY'"),
    (On::Both, "group_concat_max_len = {n}"),
    (On::Both, "div_precision_increment = {n}"),
    (On::Both, "default_week_format = {i}"),
    (On::Both, "sql_select_limit = {i}"),
    (On::Both, "sql_select_limit = DEFAULT"),
    (On::Both, "sql_auto_is_null = 1"),
    (On::Both, "@u = '{n}'"),
    (On::Both, "timestamp = 177000000{n}"),
    (On::Both, "timestamp = DEFAULT"),
    (On::Both, "collation_connection = 'utf8mb4_bin'"),
    (On::Both, "character_set_results = 'latin1'"),
    (On::Both, "NAMES utf8mb4"),
    (On::MySql, "windowing_use_high_precision = 0"),
];

impl Author {
    pub(super) fn state_text(&mut self) -> String {
        self.one_of(&STATES)
    }

    /// A session says SET, or has a table of its own for a while.
    pub(super) fn state(&mut self) {
        let sql = self.any(&[
            "SET {state}",
            "SET {state}",
            "SET {state}, @v = {n}",
            "SET SESSION {state}",
            "CREATE TEMPORARY TABLE IF NOT EXISTS t LIKE model",
            "DROP TEMPORARY TABLE IF EXISTS t",
            "SELECT @u := {n}",
            "SELECT @u, @v",
        ]);
        let slot = self.random.below(crate::step::SLOTS);
        self.says(slot, &sql);
        self.ask();
    }
}
