//! A key's value in all its spellings, of which few are surely that key.

use crate::schema::{TYPED, spelled};
use crate::statement::{VALUE_BEGINS, VALUE_ENDS};

use super::Author;

/// Of a number: `#` is its decimal digits, `^` those in hexadecimal.
const SPELLINGS: [&str; 34] = [
    "'#'",
    "' #'",
    "'#x'",
    "\"#\"",
    "#.0",
    "#.",
    "#.4",
    "#e0",
    "'#.6'",
    "0#",
    "+#",
    "(#)",
    "- -#",
    "#/**/",
    "/*! # */",
    "/*!50600 # */",
    "# + 0",
    "# - 1",
    "# DIV 1",
    "0x^",
    "0x0^ + 0",
    "CAST('#' AS SIGNED)",
    "(SELECT #)",
    "N'#'",
    "_utf8mb4'#'",
    "ABS(#)",
    "COALESCE(NULL, #)",
    "('#')",
    "((#))",
    "-#",
    "'-#'",
    "'+#'",
    "'0#'",
    "'#' '#'",
];

/// Of no number in particular.
const ODD: [&str; 29] = [
    "NULL",
    "TRUE",
    "FALSE",
    "-0",
    "0",
    "0.0",
    "''",
    "'x'",
    "300",
    "-300",
    "128",
    "-129",
    "7e0",
    "70e-1",
    "b'111'",
    "0b111",
    "x'07'",
    "2147483648",
    "4294967303",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551623",
    "NOT 0",
    "~0",
    "'0'",
    "'-0'",
    "'300'",
    "'9223372036854775808'",
    "'18446744073709551615'",
];

/// Ids with and without a row, of one block of keys and the next.
const KEYS: [i64; 27] =
    [1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 7, 8, 9, 10, 10, 11, 12, 13, 63, 64, 65, 66, 127, 0, -1, -7];

impl Author {
    pub(super) fn any_key(&mut self) -> i64 {
        if self.is_about_arrivals() && self.random.below(3) == 0 {
            return self.given_next;
        }
        *self.random.pick(&KEYS)
    }

    /// Mostly the pair's key.
    fn some_key(&mut self) -> i64 {
        if self.random.below(4) == 0 { self.any_key() } else { self.key }
    }

    /// A value that may be written for a key.
    pub(super) fn value(&mut self) -> String {
        let key = self.some_key();
        if let Some(typed) = self.typed_value(key) {
            return typed;
        }
        match self.random.below(16) {
            0..4 => key.to_string(),
            4..6 => format!("'{key}'"),
            6..11 => format!("{VALUE_BEGINS}{key}{VALUE_ENDS}"),
            11 => format!("{VALUE_BEGINS}'{key}{VALUE_ENDS}"),
            12..15 => {
                let spelling = *self.random.pick(&SPELLINGS);
                spelling.replace('#', &key.to_string()).replace('^', &format!("{:x}", key.unsigned_abs()))
            }
            _ => match self.random.below(ODD.len() + 1) {
                place if place < ODD.len() => ODD[place].to_owned(),
                _ => format!("{VALUE_BEGINS}{VALUE_ENDS}"),
            },
        }
    }

    /// The same where the pair's table has keys of another type.
    fn typed_value(&mut self, key: i64) -> Option<String> {
        let (_, spellings) = TYPED.iter().find(|(table, _)| *table == self.table)?;
        let spelling: &&str = self.random.pick(spellings);
        let text = spelled(spelling, key);
        let inside = text
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''))
            .filter(|text| !text.contains('\''));
        let binds = self.random.below(3) == 0;
        Some(match inside.filter(|_| binds) {
            Some(inside) => format!("{VALUE_BEGINS}'{inside}{VALUE_ENDS}"),
            None => text,
        })
    }
}
