//! Places in which a value of type TIME stays one, or is made something else than a date.

use super::Parameter;
use super::text::Text;
use super::value::Value;
use crate::token::TokenKind;

/// What becomes of a value.
pub(super) enum Place {
    /// It is shown, or something else than a date is made of it.
    Kept,
    /// It is shown, and called elsewhere by the name that this token is.
    Called(usize),
    /// It is a part of another value of the type.
    Part(Value),
}

/// Functions that make something else than a date or a TIME of it, or a TIME that is a value of its own: none of them gave another
/// answer on another day (MariaDB 10.11, MySQL 9.7).
const HARMLESS: [&[u8]; 15] = [
    b"HOUR",
    b"MINUTE",
    b"SECOND",
    b"MICROSECOND",
    b"TIME_TO_SEC",
    b"TIME_FORMAT",
    b"COUNT",
    b"CONCAT",
    b"CONCAT_WS",
    b"LENGTH",
    b"CHAR_LENGTH",
    b"TIME",
    b"TIMEDIFF",
    b"ADDTIME",
    b"SUBTIME",
];

/// Functions that give one of their values.
const CHOOSING: [&[u8]; 2] = [b"MIN", b"MAX"];

/// Words behind which a condition begins, whatever stands before them. An AND may be a BETWEEN's.
const TERM_STARTS: [&[u8]; 15] = [
    b"WHERE",
    b"AND",
    b"OR",
    b"XOR",
    b"NOT",
    b"ON",
    b"HAVING",
    b"WHEN",
    b"THEN",
    b"ELSE",
    b"SELECT",
    b"DISTINCT",
    b"ALL",
    b"BY",
    b"IF",
];

/// Words at which a condition has ended.
const TERM_ENDS: [&[u8]; 20] = [
    b"AND",
    b"OR",
    b"XOR",
    b"GROUP",
    b"HAVING",
    b"ORDER",
    b"LIMIT",
    b"THEN",
    b"ELSE",
    b"END",
    b"WHEN",
    b"FROM",
    b"JOIN",
    b"LEFT",
    b"RIGHT",
    b"INNER",
    b"CROSS",
    b"STRAIGHT_JOIN",
    b"WHERE",
    b"AS",
];

/// Where the value stands; none if it may be made a date there.
pub(super) fn place(
    text: &Text<'_>,
    value: Value,
    values: &[Value],
    parameters: &[Parameter],
) -> Option<Place> {
    let surroundings = Surroundings { text, value, values, parameters };
    surroundings
        .in_call()
        .or_else(|| surroundings.in_list())
        .or_else(|| surroundings.is_in_condition().then_some(Place::Kept))
}

struct Surroundings<'t, 'q> {
    text: &'t Text<'q>,
    value: Value,
    /// All that were found.
    values: &'t [Value],
    parameters: &'t [Parameter],
}

impl Surroundings<'_, '_> {
    /// As an argument of a function.
    fn in_call(&self) -> Option<Place> {
        let (text, value) = (self.text, self.value);
        let function = text.function_around(value.first)?;
        let before = value.first.checked_sub(1)?;
        let behind_distinct = text.is_word(before, b"DISTINCT") && before == function + 2;
        let is_argument = (before == function + 1 || behind_distinct || text.is_symbol(before, b','))
            && (text.is_symbol(value.last + 1, b',') || text.is_symbol(value.last + 1, b')'));
        if is_argument && text.is_one_of(function, &HARMLESS) {
            return Some(Place::Kept);
        }
        let last = text.call_end(function)?;
        (is_argument && text.is_one_of(function, &CHOOSING)).then_some(Place::Part(Value {
            first: function,
            last,
            ..value
        }))
    }

    /// As one of a list, with or without a name.
    fn in_list(&self) -> Option<Place> {
        let (text, next) = (self.text, self.value.last + 1);
        let before = self.value.first.checked_sub(1)?;
        if !text.is_listed(self.value.first) || !text.starts_list(before) {
            return None;
        }
        let alias = if text.is_word(next, b"AS") { next + 1 } else { next };
        let is_name =
            matches!(text.kind(alias), Some(TokenKind::Word | TokenKind::Quoted | TokenKind::String));
        let is_called = is_name && text.ends_list(alias + 1) && (alias > next || !text.ends_list(next));
        if is_called {
            return Some(Place::Called(alias));
        }
        let is_column = matches!(text.kind(self.value.last), Some(TokenKind::Word | TokenKind::Quoted));
        (text.ends_list(next) && (is_column || !text.may_name_expression())).then_some(Place::Kept)
    }

    /// Asked whether it is NULL, or compared with what surely is no date.
    fn is_in_condition(&self) -> bool {
        let Value { first, last, .. } = self.value;
        let begins = self.begins_term(first);
        let next = last + 1;
        if begins && self.text.is_word(next, b"IS") {
            return true;
        }
        let compared = || self.behind_comparison(next).and_then(|at| self.behind_harmless(at));
        let is_left = begins
            && (compared().is_some_and(|end| self.ends_term(end))
                || self.ends_in_list(self.behind_not(next))
                || self.behind_between(self.behind_not(next)).is_some());
        is_left || self.ends_term(next) && self.is_right_of_harmless(first)
    }

    /// Whether a condition begins with the token at `at`.
    fn begins_term(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        let is_word = self.text.is_one_of(before, &TERM_STARTS) && !self.text.may_be_of_between(before);
        is_word || self.text.is_symbol(before, b'(') || self.text.is_symbol(before, b',')
    }

    fn ends_term(&self, at: usize) -> bool {
        let is_symbol = self.text.is_symbol(at, b')') || self.text.is_symbol(at, b',');
        at >= self.text.len() || is_symbol || self.text.is_one_of(at, &TERM_ENDS)
    }

    fn behind_not(&self, at: usize) -> usize {
        at + usize::from(self.text.is_word(at, b"NOT"))
    }

    /// Behind a comparison at `at`.
    fn behind_comparison(&self, at: usize) -> Option<usize> {
        let is_sign = |at| matches!(self.text.kind(at), Some(TokenKind::Symbol(b'=' | b'<' | b'>' | b'!')));
        let signs = (at..at + 3).take_while(|at| is_sign(*at)).count();
        let is_shift = signs >= 2 && self.text.kind(at) == self.text.kind(at + 1);
        (signs > 0 && !is_shift).then_some(at + signs)
    }

    /// Behind the literal, parameter or value of type TIME at `at`, of which no comparison makes a date of ours.
    fn behind_harmless(&self, at: usize) -> Option<usize> {
        let is_literal = match self.text.kind(at)? {
            TokenKind::String | TokenKind::Number => true,
            TokenKind::Symbol(b'?') => self.is_no_date(at),
            _ => false,
        };
        if is_literal {
            return Some(at + 1);
        }
        let other = self.values.iter().find(|value| value.first == at)?;
        (other.is_certain && self.value.is_certain).then_some(other.last + 1)
    }

    /// Whether the parameter at `at` is bound to something else than a date; a TIME is a value of its own.
    fn is_no_date(&self, at: usize) -> bool {
        let is_marker = |at: &usize| self.text.is_symbol(*at, b'?') || self.text.is_symbol(*at, b':');
        let before = (0..at).filter(is_marker).count();
        let is_certain = self.value.is_certain;
        self.parameters.get(before).is_some_and(|parameter| match parameter {
            Parameter::Date => false,
            Parameter::Time => is_certain,
            Parameter::Unsigned(_) | Parameter::Negative(_) | Parameter::Text { .. } | Parameter::Other => {
                true
            }
        })
    }

    /// `IN (…)` at `at`, of harmless values.
    fn ends_in_list(&self, at: usize) -> bool {
        if !self.text.is_word(at, b"IN") || !self.text.is_symbol(at + 1, b'(') {
            return false;
        }
        let mut next = at + 2;
        while let Some(behind) = self.behind_harmless(next) {
            if self.text.is_symbol(behind, b')') {
                return true;
            }
            if !self.text.is_symbol(behind, b',') {
                return false;
            }
            next = behind + 1;
        }
        false
    }

    /// Behind `BETWEEN … AND …` at `at`, of harmless values.
    fn behind_between(&self, at: usize) -> Option<usize> {
        self.text.is_word(at, b"BETWEEN").then_some(())?;
        let and = self.behind_harmless(at + 1)?;
        self.text.is_word(and, b"AND").then_some(())?;
        self.behind_harmless(and + 1).filter(|end| self.ends_term(*end))
    }

    /// Whether a harmless value with which a condition begins is compared with what begins at `at`, or the value is the last of a
    /// BETWEEN or an IN of one that is certain.
    fn is_right_of_harmless(&self, at: usize) -> bool {
        let left = |first: usize| {
            let behind = self.behind_harmless(first)?;
            (self.begins_term(first) && self.behind_comparison(behind)? == at).then_some(())
        };
        let is_compared = (1..=3).any(|signs| {
            let Some(last) = at.checked_sub(signs + 1) else { return false };
            let value = self.values.iter().find(|value| value.last == last);
            left(value.map_or(last, |value| value.first)).is_some()
        });
        is_compared || self.is_bound_of_certain(at)
    }

    /// Whether the value at `at` stands in the list or the bounds of another that is kept with all of them.
    fn is_bound_of_certain(&self, at: usize) -> bool {
        self.values.iter().filter(|value| value.is_certain && value.last < at).any(|value| {
            let other = Surroundings { value: *value, ..*self };
            let next = other.behind_not(value.last + 1);
            let encloses = match self.text.opener(at) {
                Some(opener) if opener == next + 1 => other.ends_in_list(next),
                _ => other.behind_between(next).is_some_and(|end| at < end),
            };
            other.begins_term(value.first) && encloses
        })
    }
}
