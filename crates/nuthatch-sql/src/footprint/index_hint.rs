//! Hints behind a table that say which indexes to use: they decide how rows are found, not which.

use super::predicate::skip_parenthesis;
use crate::classify::cursor::Cursor;

/// Words that begin one, all of them reserved.
const BEGINNINGS: [&[u8]; 3] = [b"USE", b"FORCE", b"IGNORE"];

/// Takes `{USE | FORCE | IGNORE} {INDEX | KEY} [FOR …] ([index, …])`, as many as there are; none, with anything taken, if one is
/// written otherwise.
pub(super) fn take_index_hints(cursor: &mut Cursor<'_>) -> Option<()> {
    while BEGINNINGS.iter().any(|word| cursor.take_word(word)) {
        (cursor.take_word(b"INDEX") || cursor.take_word(b"KEY")).then_some(())?;
        if cursor.take_word(b"FOR") {
            let uses: [&[&[u8]]; 3] = [&[b"JOIN"], &[b"ORDER", b"BY"], &[b"GROUP", b"BY"]];
            uses.iter().any(|words| cursor.take_words(words)).then_some(())?;
        }
        cursor.take_symbol(b'(').then_some(())?;
        skip_parenthesis(cursor)?;
    }
    Some(())
}
