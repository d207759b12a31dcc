//! Calls that look like those of known functions, and may be of stored ones that have their names.

use super::names::is_name;
use crate::catalogue::Catalogue;
use crate::classify::cursor::Cursor;
use crate::statement::Name;
use crate::token::Lexing;

/// Whether `text` may call a stored function of `catalogue` that has the name of a known one.
#[must_use]
pub fn calls_stored_function(text: &[u8], lexing: Lexing, catalogue: &Catalogue) -> bool {
    stored_function(&Cursor::new(text, lexing), catalogue).is_some()
}

/// The name of such a function that stands before a parenthesis, be it that of a function there or of something else. Cost: one
/// pass over the tokens if there are such functions, else nothing.
pub(super) fn stored_function<'q>(start: &Cursor<'q>, catalogue: &Catalogue) -> Option<Name<'q>> {
    if !catalogue.has_shadowing_functions() {
        return None;
    }
    let mut cursor = start.clone();
    loop {
        let token = cursor.bump()?;
        let name = Name(token.text);
        if is_name(token) && cursor.peek_symbol(b'(') && catalogue.is_shadowed(&name.text()) {
            return Some(name);
        }
    }
}
