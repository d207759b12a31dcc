//! `SET [scope] TRANSACTION …`: characteristics of transactions, as the variables that they are.

use super::{Assignment, ServerScope, Text, Value};
use crate::classify::cursor::Cursor;
use crate::variable::SystemVariable;

/// For which transactions.
#[derive(Clone, Copy)]
enum Which {
    Next,
    Session,
    Server,
}

/// The characteristics; none, with nothing taken, if something else comes or anything is not understood.
pub(super) fn characteristics(cursor: &mut Cursor<'_>) -> Option<Vec<Assignment>> {
    let mut ahead = cursor.clone();
    let which = if ahead.take_word(b"SESSION") || ahead.take_word(b"LOCAL") {
        Which::Session
    } else if ahead.take_word(b"GLOBAL") {
        Which::Server
    } else {
        Which::Next
    };
    if !ahead.take_word(b"TRANSACTION") {
        return None;
    }
    let (first, value) = characteristic(&mut ahead)?;
    let mut list = vec![which.assignment(first, value)];
    if ahead.take_symbol(b',') {
        let (second, value) = characteristic(&mut ahead).filter(|(second, _)| *second != first)?;
        list.push(which.assignment(second, value));
    }
    *cursor = ahead;
    Some(list)
}

fn characteristic(cursor: &mut Cursor<'_>) -> Option<(&'static str, Value)> {
    if cursor.take_words(&[b"ISOLATION", b"LEVEL"]) {
        let level = LEVELS.iter().find(|(words, _)| cursor.take_words(words))?.1;
        return Some(("transaction_isolation", Value::Text(Text::new(level.as_bytes()))));
    }
    let is_read_only = if cursor.take_words(&[b"READ", b"ONLY"]) {
        "1"
    } else if cursor.take_words(&[b"READ", b"WRITE"]) {
        "0"
    } else {
        return None;
    };
    Some(("transaction_read_only", Value::Number(is_read_only.into())))
}

const LEVELS: [(&[&[u8]], &str); 4] = [
    (&[b"READ", b"UNCOMMITTED"], "READ-UNCOMMITTED"),
    (&[b"READ", b"COMMITTED"], "READ-COMMITTED"),
    (&[b"REPEATABLE", b"READ"], "REPEATABLE-READ"),
    (&[b"SERIALIZABLE"], "SERIALIZABLE"),
];

impl Which {
    fn assignment(self, name: &'static str, value: Value) -> Assignment {
        let variable = SystemVariable::known(name);
        match self {
            Self::Next => Assignment::NextTransaction { variable, value },
            Self::Session => Assignment::Session { variable, value },
            Self::Server => Assignment::Server { scope: ServerScope::Global, variable, value },
        }
    }
}
