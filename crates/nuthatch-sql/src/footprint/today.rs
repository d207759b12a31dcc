//! The clock that hides in TIME: where a server needs a date and has a time of day, it takes today's.
//!
//! Measured on MariaDB 10.11 and MySQL 9.7, with all known functions and operators over all types of columns under two dates: an
//! answer follows the date only if a value of type TIME is in it, which is made a DATE, DATETIME, TIMESTAMP or (MySQL) YEAR: by a
//! function that needs one, or because it meets one in a comparison, an IF, a UNION. Strings and numbers never are taken for one.
//! MariaDB's `old_mode` ZERO_DATE_TIME_CAST takes another date, and is no reason to look less closely.
//!
//! So each TIME value in a text is looked for: columns by the catalogue, literals, functions that give one, parameters. A text is
//! steady if every one of them stands in a place that surely keeps it a TIME (`place.rs`). A place that is not on that list
//! counts as a conversion, whatever it is.
//!
//! Cost: nothing but a comparison of each name where no table has such a column and no word makes such a value; else a few
//! passes over the tokens.

mod place;
mod text;
mod value;

use std::borrow::Cow;

use self::place::{Place, place};
use self::text::Text;
use self::value::{Value, certain};
use super::Parameter;
use crate::catalogue::fold;
use crate::classify::cursor::Cursor;
use crate::statement::Name;
use crate::token::{Lexing, TokenKind};

/// So many values are looked at; columns that get another name make more of them.
const VALUES_MAX: usize = 1000;

/// Words without which a text makes no value of type TIME; INTERVAL is one in MariaDB's casts. `{t '…'}` is another way.
const MAKERS: [&[u8]; 8] =
    [b"time", b"timediff", b"sec_to_time", b"maketime", b"addtime", b"subtime", b"str_to_date", b"interval"];

/// Whether the name, without quotes, may make a value of type TIME.
pub(super) fn is_maker(name: &[u8]) -> bool {
    (4..=11).contains(&name.len()) && MAKERS.iter().any(|maker| name.eq_ignore_ascii_case(maker))
}

/// Whether `text`, as the server has written it anew, may give another answer on another day. `columns` are the names, folded, of
/// all columns of type TIME that the tables it reads have.
#[must_use]
pub fn may_rest_on_today(text: &[u8], lexing: Lexing, columns: &[&[u8]]) -> bool {
    let names = columns.iter().copied().map(Cow::Borrowed).collect();
    rests_on_today(&Cursor::at_statement(text, lexing), names, Tables::Several, &[])
}

/// How many tables a text is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tables {
    /// One, so that a name is that of one column.
    One,
    /// Several, or it is not known.
    Several,
}

/// See [`may_rest_on_today`]; `names` are those of the columns.
pub(super) fn rests_on_today(
    start: &Cursor<'_>,
    names: Vec<Cow<'_, [u8]>>,
    tables: Tables,
    parameters: &[Parameter],
) -> bool {
    let Some(text) = Text::new(start) else { return true };
    let mut search = Search { values: Vec::new(), aliases: Vec::new(), names, tables, parameters, text };
    !search.is_steady()
}

struct Search<'s, 'q> {
    text: Text<'q>,
    /// What such values are called, folded.
    names: Vec<Cow<'s, [u8]>>,
    tables: Tables,
    parameters: &'s [Parameter],
    /// Where names are given to them.
    aliases: Vec<usize>,
    values: Vec<Value>,
}

impl Search<'_, '_> {
    /// Whether all values stay what they are.
    fn is_steady(&mut self) -> bool {
        loop {
            let names = self.names.len();
            self.values.clear();
            self.find_values();
            if !self.stay() {
                return false;
            }
            if self.names.len() == names {
                return names == 0 || self.has_plain_stars();
            }
        }
    }

    /// Whether each value that was found stays what it is, as far as it goes by these names. What is called otherwise gets a new name.
    fn stay(&mut self) -> bool {
        let mut at = 0;
        while let Some(value) = self.values.get(at).copied() {
            match place(&self.text, value, &self.values, self.parameters) {
                Some(Place::Kept) => {}
                Some(Place::Called(alias)) => self.add_name(alias),
                Some(Place::Part(whole)) if !self.values.contains(&whole) => self.values.push(whole),
                Some(Place::Part(_)) => {}
                None => return false,
            }
            at += 1;
            if at > VALUES_MAX {
                return false;
            }
        }
        true
    }

    fn add_name(&mut self, at: usize) {
        let name = fold(&Name(self.text.bytes(at).unwrap_or_default()).text());
        self.aliases.push(at);
        if !self.names.iter().any(|known| **known == *name) {
            self.names.push(Cow::Owned(name.into()));
        }
    }

    /// Whether the columns that no name tells of are only shown: those of `*`, of NATURAL and of TABLE.
    fn has_plain_stars(&self) -> bool {
        let text = &self.text;
        (0..text.len()).all(|at| match text.kind(at) {
            Some(TokenKind::Symbol(b'*')) if text.is_star(at) => text.is_listed(at) || text.is_in_exists(at),
            Some(TokenKind::Word) => {
                text.is_behind_dot(at) || !(text.is_word(at, b"NATURAL") || text.is_word(at, b"TABLE"))
            }
            _ => true,
        })
    }

    fn find_values(&mut self) {
        // `:name` is one in MariaDB's ORACLE mode.
        let mut markers = 0;
        for at in 0..self.text.len() {
            let value = match self.text.kind(at) {
                Some(TokenKind::Word | TokenKind::Quoted) => self.made(at).or_else(|| self.column(at)),
                Some(TokenKind::Symbol(b'{')) => self.text.braced_time(at).map(|last| certain(at, last)),
                Some(TokenKind::Symbol(marker @ (b'?' | b':'))) => {
                    markers += 1;
                    let is_time = self.parameters.get(markers - 1) == Some(&Parameter::Time);
                    is_time.then_some(certain(at, at + usize::from(marker == b':')))
                }
                _ => None,
            };
            self.values.extend(value);
        }
    }

    /// What the word makes, if it makes a value.
    fn made(&self, at: usize) -> Option<Value> {
        let text = &self.text;
        if text.is_behind_dot(at) || !is_maker(text.bytes(at)?) {
            return None;
        }
        if text.is_word(at, b"TIME") && text.kind(at + 1) == Some(TokenKind::String) {
            return Some(certain(at, at + 1));
        }
        if let Some(cast) = text.cast_to(at) {
            return Some(cast);
        }
        if text.is_word(at, b"TIME") && text.has_json_table {
            return Some(Value { first: at, last: at, is_certain: false });
        }
        let last = text.call_end(at)?;
        let is_one_of = |names: &[&[u8]]| names.iter().any(|name| text.is_word(at, name));
        if is_one_of(&[b"ADDTIME", b"SUBTIME"]) || text.is_word(at, b"STR_TO_DATE") && !text.gives_date(last)
        {
            return Some(Value { first: at, last, is_certain: false });
        }
        is_one_of(&[b"TIME", b"TIMEDIFF", b"SEC_TO_TIME", b"MAKETIME"]).then(|| certain(at, last))
    }

    /// The column that the name is, with what stands before its dots.
    fn column(&self, at: usize) -> Option<Value> {
        let text = &self.text;
        let is_other = [b'.', b'('].iter().any(|symbol| text.is_symbol(at + 1, *symbol))
            || at.checked_sub(1).is_some_and(|before| text.is_word(before, b"AS"))
            || text.is_table_name(at)
            || self.aliases.contains(&at);
        if is_other {
            return None;
        }
        let name = fold(&Name(text.bytes(at)?).text());
        self.names.iter().any(|known| **known == *name).then(|| {
            let is_certain = self.tables == Tables::One && text.names_are_columns_at(at);
            Value { first: text.begin_of_name(at), last: at, is_certain }
        })
    }
}
