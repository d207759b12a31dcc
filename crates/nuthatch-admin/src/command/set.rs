//! `SET …`: our variables are set, what clients set for their own session is taken with an OK and means nothing here.

use super::Command;
use super::words::{Words, unquote};

/// Parses what follows the word SET.
pub(super) fn parse(words: Words<'_>) -> Command {
    let text = words.rest();
    let Some((name, value)) = text.split_once('=') else {
        return Command::Nothing;
    };
    match own_name(name) {
        None => Command::Nothing,
        Some(name) => match literal(value) {
            Some(value) => Command::SetVariable { name, value },
            None => Command::Malformed(format!("SET {name} takes one value")),
        },
    }
}

/// The full name, if it is one of `mysql-…` or `admin-…`.
fn own_name(name: &str) -> Option<String> {
    let name = name.trim().trim_end_matches(':').trim_end();
    let name = unquote(name);
    let name = ["@@global.", "@@"].iter().find_map(|prefix| strip_prefix(&name, prefix)).unwrap_or(&name);
    let name = strip_prefix(name, "global ").map_or(name, str::trim_start).to_ascii_lowercase();
    (name.starts_with("mysql-") || name.starts_with("admin-")).then_some(name)
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The value: a quoted literal alone, or the text as it stands up to the end.
fn literal(value: &str) -> Option<String> {
    let value = value.trim();
    let mut words = Words::new(value);
    if value.starts_with(['\'', '"']) {
        let literal = words.take_literal()?;
        return words.is_end().then_some(literal);
    }
    (!value.is_empty() && !value.contains(['\'', '"'])).then(|| value.to_owned())
}
