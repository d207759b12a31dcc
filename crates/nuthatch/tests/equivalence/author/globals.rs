//! Changes of what new sessions begin with.

use nuthatch_lab::Kind;

use super::{Author, On};
use crate::step::Step;

/// A variable that sessions take over when they begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Global {
    on: On,
    pub(crate) name: &'static str,
    /// As every round finds it.
    pub(crate) usual: &'static str,
    others: &'static [&'static str],
}

const fn global(on: On, name: &'static str, usual: &'static str, others: &'static [&'static str]) -> Global {
    Global { on, name, usual, others }
}

const GLOBALS: [Global; 24] = [
    global(On::Both, "group_concat_max_len", "1024", &["4", "5", "9"]),
    global(
        On::Both,
        "sql_mode",
        "''",
        &[
            "'ANSI_QUOTES'",
            "'PIPES_AS_CONCAT'",
            "'NO_BACKSLASH_ESCAPES'",
            "'HIGH_NOT_PRECEDENCE'",
            "'ONLY_FULL_GROUP_BY'",
        ],
    ),
    global(On::Both, "lc_time_names", "'en_US'", &["'de_DE'", "'fr_FR'"]),
    global(On::Both, "div_precision_increment", "4", &["0", "1", "9"]),
    global(On::Both, "sql_select_limit", "18446744073709551615", &["1", "2"]),
    global(On::Both, "default_week_format", "0", &["1", "3"]),
    global(On::Both, "time_zone", "'SYSTEM'", &["'+05:00'", "'-03:30'"]),
    global(On::Both, "sql_auto_is_null", "0", &["1"]),
    global(On::Both, "sql_safe_updates", "0", &["1"]),
    global(On::Both, "sql_big_selects", "1", &["0"]),
    global(On::Both, "max_join_size", "18446744073709551615", &["1"]),
    global(On::Both, "foreign_key_checks", "1", &["0"]),
    global(On::Both, "auto_increment_increment", "1", &["10"]),
    global(On::Both, "max_sort_length", "1024", &["64"]),
    global(On::Both, "sql_quote_show_create", "1", &["0"]),
    global(On::Both, "max_error_count", "64", &["0"]),
    global(On::MySql, "block_encryption_mode", "'aes-128-ecb'", &["'aes-256-ecb'"]),
    global(On::MySql, "windowing_use_high_precision", "1", &["0"]),
    global(On::MySql, "cte_max_recursion_depth", "1000", &["3"]),
    global(On::MariaDb, "default_regex_flags", "''", &["'DOTALL'", "'EXTENDED'"]),
    global(
        On::MariaDb,
        "old_mode",
        "'UTF8_IS_UTF8MB3'",
        &["''", "'ZERO_DATE_TIME_CAST'", "'NO_DUP_KEY_WARNINGS_WITH_IGNORE'"],
    ),
    global(On::MariaDb, "max_recursive_iterations", "1000", &["3"]),
    global(On::Both, "max_length_for_sort_data", "4096", &["8"]),
    global(On::Both, "eq_range_index_dive_limit", "200", &["1"]),
];

/// Those of a server.
pub(crate) fn of(kind: Kind) -> impl Iterator<Item = &'static Global> {
    let is_known = move |global: &&Global| match global.on {
        On::Both => true,
        On::MariaDb => kind == Kind::MariaDb,
        On::MySql => kind == Kind::MySql,
    };
    GLOBALS.iter().filter(is_known)
}

impl Author {
    /// A session changes one, and others come and ask.
    pub(super) fn global(&mut self) {
        let sql = self.change_of_global();
        self.someone(&sql);
        self.ask();
        self.come_and_go();
    }

    /// Somebody whom the proxy does not see changes one.
    pub(super) fn global_past(&mut self) {
        if self.random.below(3) == 0 {
            // With these no server is a source of exact answers, and it cannot be told when it has been looked at.
            let sql = self.change_of_global();
            let is_ansi = self.knows(On::MySql) && sql.contains("ANSI_QUOTES");
            if !is_ansi && !sql.contains("sql_auto_is_null") {
                self.steps.push(Step::Past(sql));
            }
        }
        self.come_and_go();
        self.ask();
    }

    fn change_of_global(&mut self) -> String {
        let all: Vec<&Global> = of(self.kind).collect();
        // Those that many questions tell of stand first.
        let among = if self.random.below(3) == 0 { all.len() } else { 8 };
        let global = all[self.random.below(among)];
        let value = if self.random.below(3) == 0 { global.usual } else { *self.random.pick(global.others) };
        let name = global.name;
        match self.random.below(6) {
            0 => format!("SET @@global.{name} = {value}"),
            1 => format!("SET @v = 1, GLOBAL {name} = {value}"),
            2 if self.knows(On::MySql) => format!("SET PERSIST {name} = {value}"),
            3 => format!("SET SESSION {name} = DEFAULT, GLOBAL {name} = {value}"),
            4 => format!("SELECT 1; SET GLOBAL {name} = {value}"),
            _ => format!("SET GLOBAL {name} = {value}"),
        }
    }
}
