//! Assignments as one SET statement again.

use super::{Assignment, Assignments, Reads, ServerScope, UserVariable, Value, assignments};
use crate::token::Lexing;
use crate::token::literal::write_string;

/// A SET statement that assigns `list` in its order when it is cut under `lexing`, which need not be the one under which the
/// list came. Each variable is named with its scope.
///
/// None if the list is empty, or holds what cannot be written so that it means the same there: an expression that is not
/// repeatable, or a string that a character set of two bytes may cut otherwise.
#[must_use]
pub fn render(list: &[Assignment], lexing: Lexing) -> Option<Vec<u8>> {
    let mut out = b"SET ".to_vec();
    for (place, assignment) in list.iter().enumerate() {
        if place > 0 {
            out.extend(b", ");
        }
        write(assignment, lexing, &mut out)?;
    }
    // One look at what was written holds for every way in which it could be cut otherwise.
    let is_same = matches!(assignments(&out, lexing), Some(Assignments::List(again)) if again == list);
    is_same.then_some(out)
}

fn write(assignment: &Assignment, lexing: Lexing, out: &mut Vec<u8>) -> Option<()> {
    let (scope, name, value) = match assignment {
        Assignment::Names { charset, collation } => {
            write_charset("NAMES ", charset.as_deref(), lexing, out);
            if let Some(collation) = collation {
                write_charset(" COLLATE ", Some(collation), lexing, out);
            }
            return Some(());
        }
        Assignment::CharacterSet(charset) => {
            write_charset("CHARACTER SET ", charset.as_deref(), lexing, out);
            return Some(());
        }
        Assignment::User { variable, value } => {
            write_user_variable(variable, out);
            out.extend(b" = ");
            return write_value(value, lexing, out);
        }
        Assignment::Session { variable, value } => ("session.", variable.name_on(lexing.server), value),
        Assignment::NextTransaction { variable, value } => ("", variable.name_on(lexing.server), value),
        Assignment::Server { scope, variable, value } => {
            let scope = match scope {
                ServerScope::Global => "global.",
                ServerScope::Persist => "persist.",
                ServerScope::PersistOnly => "persist_only.",
            };
            (scope, variable.name_on(lexing.server), value)
        }
    };
    out.extend(["@@", scope, name, " = "].concat().bytes());
    write_value(value, lexing, out)
}

/// In quotes: a name may begin with a digit, and DEFAULT is a name in quotes only.
fn write_charset(before: &str, name: Option<&str>, lexing: Lexing, out: &mut Vec<u8>) {
    out.extend(before.bytes());
    match name {
        Some(name) => write_string(name.as_bytes(), lexing, out),
        None => out.extend(b"DEFAULT"),
    }
}

fn write_user_variable(variable: &UserVariable, out: &mut Vec<u8>) {
    out.extend(b"@`");
    for byte in variable.name().bytes() {
        out.extend(std::iter::repeat_n(byte, 1 + usize::from(byte == b'`')));
    }
    out.push(b'`');
}

fn write_value(value: &Value, lexing: Lexing, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Number(text) | Value::Word(text) => out.extend(text.bytes()),
        Value::Text(text) => write_string(text.bytes(), lexing, out),
        Value::Default => out.extend(b"DEFAULT"),
        Value::User(variable) => write_user_variable(variable, out),
        Value::System { reads, variable } => {
            let scope = match reads {
                Reads::Either => "",
                Reads::Session => "session.",
                Reads::Global => "global.",
            };
            out.extend(["@@", scope, variable.name_on(lexing.server)].concat().bytes());
        }
        Value::Expression { source, is_repeatable: true } => out.extend(&**source),
        Value::Expression { is_repeatable: false, .. } => return None,
    }
    Some(())
}
