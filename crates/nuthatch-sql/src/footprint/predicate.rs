//! The rows of one table that a WHERE leaves: its conditions on the primary key, and how any conditions are found in it.
//!
//! A condition counts only if it is one term of a conjunction: it stands between WHERE, an OR or an AND outside of all parentheses that is not a
//! BETWEEN's, and the next such OR or AND or the end. Conjunctions with OR between them demand what each of them does. Nothing else that
//! binds looser than AND, or holds an AND without parentheses around it (XOR, `||`, `:=`, CASE, INTERVAL, `{…}`), may stand beside it. A term in
//! parentheses is a condition of its own if all that they hold is understood; else what is in parentheses is passed over as a whole.

use super::key::Key;
use super::keyword::Keyword;
use super::value::{Value, range};
use crate::catalogue::RowKey;
use crate::classify::cursor::{Cursor, is_word};
use crate::token::{Token, TokenKind};

/// So many keys are told apart.
pub(super) const KEYS_MAX: usize = 64;

/// What a WHERE leaves of a table.
pub(super) enum Rows {
    /// At most those with these keys: ascending, without repetition.
    Keys(Vec<RowKey>),
    /// At most those from the first to the second.
    Range(RowKey, RowKey),
}

/// Takes the WHERE whose conditions come next, up to what follows it; none, with anything taken, if it does not say which rows
/// it leaves.
pub(super) fn take_rows(cursor: &mut Cursor<'_>, key: &Key<'_, '_>) -> Option<Rows> {
    take_condition_of::<Left>(cursor, key)?.rows()
}

/// What is demanded by the terms of a condition that are understood. Each alone holds for all rows that are left.
pub(super) trait Demands: Default {
    /// What one term demands.
    type Condition;
    /// By what it is understood.
    type By<'b, 'q>;

    /// Takes a condition; none, with anything taken, if another thing stands here.
    fn take_condition(cursor: &mut Cursor<'_>, by: &Self::By<'_, '_>) -> Option<Self::Condition>;

    fn add(&mut self, condition: Self::Condition);

    fn add_all(&mut self, other: Self);

    /// What is demanded where these or the others have to be met.
    fn or(self, other: Self) -> Self;

    /// Whether what comes next, outside of all parentheses, stands behind the whole condition.
    fn is_over(cursor: &Cursor<'_>) -> bool {
        Keyword::next(cursor).is_some_and(ends_where)
    }
}

/// What the condition demands that comes next, which is taken up to what follows it; none, with anything taken, if it cannot be told where a
/// term ends.
pub(super) fn take_condition_of<D: Demands>(cursor: &mut Cursor<'_>, by: &D::By<'_, '_>) -> Option<D> {
    take_conjunctions(cursor, by, 0)
}

/// So many parentheses may be around a condition.
const DEPTH_MAX: usize = 8;

/// Takes conjunctions with OR between them that are in so many parentheses, up to what follows them; none, with anything taken, if it cannot be
/// told where a term ends.
fn take_conjunctions<D: Demands>(cursor: &mut Cursor<'_>, by: &D::By<'_, '_>, depth: usize) -> Option<D> {
    let mut left: D = take_terms(cursor, by, depth)?;
    while cursor.take_word(b"OR") {
        left = left.or(take_terms(cursor, by, depth)?);
    }
    Some(left)
}

/// Takes the terms of a conjunction that is in so many parentheses, up to what follows it; none, with anything taken, if it cannot be
/// told where a term ends.
fn take_terms<D: Demands>(cursor: &mut Cursor<'_>, by: &D::By<'_, '_>, depth: usize) -> Option<D> {
    let mut left = D::default();
    loop {
        let mut ahead = cursor.clone();
        match D::take_condition(&mut ahead, by).filter(|_| ends_term::<D>(&ahead, depth)) {
            Some(condition) => {
                left.add(condition);
                *cursor = ahead;
            }
            None => match take_group(cursor, by, depth) {
                Some(group) => left.add_all(group),
                None => skip_term::<D>(cursor, depth)?,
            },
        }
        if !cursor.take_word(b"AND") {
            return Some(left);
        }
    }
}

/// Takes a term that is a condition in parentheses; else nothing.
fn take_group<D: Demands>(cursor: &mut Cursor<'_>, by: &D::By<'_, '_>, depth: usize) -> Option<D> {
    (depth < DEPTH_MAX && cursor.peek_symbol(b'(')).then_some(())?;
    let mut ahead = cursor.clone();
    ahead.advance();
    let is_query = matches!(
        Keyword::next(&ahead),
        Some(Keyword::Select | Keyword::Table | Keyword::Values | Keyword::With)
    );
    (!is_query).then_some(())?;
    let left = take_conjunctions(&mut ahead, by, depth + 1)?;
    let is_whole = ahead.take_symbol(b')') && ends_term::<D>(&ahead, depth);
    is_whole.then(|| {
        *cursor = ahead;
        left
    })
}

/// What one term of a conjunction demands of the key.
enum Condition {
    In(Vec<RowKey>),
    AtLeast(Value),
    AtMost(Value),
    Between(Value, Value),
}

/// What all terms so far demand. Each alone holds for all rows that are left, so any one of a kind will do.
#[derive(Default)]
struct Left {
    keys: Option<Vec<RowKey>>,
    least: Option<Value>,
    greatest: Option<Value>,
}

impl Demands for Left {
    type Condition = Condition;
    type By<'b, 'q> = Key<'b, 'q>;

    fn take_condition(cursor: &mut Cursor<'_>, key: &Key<'_, '_>) -> Option<Condition> {
        take_condition(cursor, key)
    }

    fn add(&mut self, condition: Condition) {
        match condition {
            Condition::In(keys) => _ = self.keys.get_or_insert(keys),
            Condition::AtLeast(least) => _ = self.least.get_or_insert(least),
            Condition::AtMost(greatest) => _ = self.greatest.get_or_insert(greatest),
            Condition::Between(least, greatest) => {
                (self.least, self.greatest) = (Some(least), Some(greatest));
            }
        }
    }

    fn add_all(&mut self, other: Self) {
        self.keys = self.keys.take().or(other.keys);
        self.least = self.least.or(other.least);
        self.greatest = self.greatest.or(other.greatest);
    }

    /// Not looked into.
    fn or(self, _other: Self) -> Self {
        Self::default()
    }
}

impl Left {
    fn rows(self) -> Option<Rows> {
        if let Some(keys) = self.keys {
            return Some(Rows::Keys(keys));
        }
        range(self.least?, self.greatest?).map(|(from, to)| Rows::Range(from, to))
    }
}

/// Takes a condition on the key; none, with anything taken, if another thing stands here.
fn take_condition(cursor: &mut Cursor<'_>, key: &Key<'_, '_>) -> Option<Condition> {
    if key.take_column(cursor) {
        if cursor.take_word(b"IN") {
            return take_list(cursor, key).map(Condition::In);
        }
        if cursor.take_word(b"BETWEEN") {
            let least = key.take_value(cursor)?;
            cursor.take_word(b"AND").then_some(())?;
            return Some(Condition::Between(least, key.take_value(cursor)?));
        }
        let comparison = take_comparison(cursor)?;
        return comparison.of(key.take_value(cursor)?);
    }
    let value = key.take_value(cursor)?;
    let comparison = take_comparison(cursor)?.turned();
    key.take_column(cursor).then(|| comparison.of(value)).flatten()
}

/// Takes `(value, …)`.
fn take_list(cursor: &mut Cursor<'_>, key: &Key<'_, '_>) -> Option<Vec<RowKey>> {
    cursor.take_symbol(b'(').then_some(())?;
    let mut keys = vec![key.take_value(cursor)?.key()?];
    while keys.len() < KEYS_MAX && cursor.take_symbol(b',') {
        keys.push(key.take_value(cursor)?.key()?);
    }
    cursor.take_symbol(b')').then_some(())?;
    keys.sort_unstable();
    keys.dedup();
    Some(keys)
}

#[derive(Clone, Copy)]
enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// With its sides exchanged.
    fn turned(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    /// The key compared with `value`.
    fn of(self, value: Value) -> Option<Condition> {
        Some(match self {
            Self::Equal => Condition::In(vec![value.key()?]),
            Self::Less => Condition::AtMost(value.previous()),
            Self::LessOrEqual => Condition::AtMost(value),
            Self::Greater => Condition::AtLeast(value.next()),
            Self::GreaterOrEqual => Condition::AtLeast(value),
        })
    }
}

/// Takes `=`, `<`, `<=`, `>` or `>=`. Of `<=>`, `<>` and `<<` something is left, which is no value.
fn take_comparison(cursor: &mut Cursor<'_>) -> Option<Comparison> {
    if cursor.take_symbol(b'=') {
        return Some(Comparison::Equal);
    }
    if cursor.take_symbol(b'<') {
        let or_equal = cursor.take_symbol(b'=');
        return Some(if or_equal { Comparison::LessOrEqual } else { Comparison::Less });
    }
    cursor.take_symbol(b'>').then_some(())?;
    let or_equal = cursor.take_symbol(b'=');
    Some(if or_equal { Comparison::GreaterOrEqual } else { Comparison::Greater })
}

/// Whether the term before, in so many parentheses, is whole.
fn ends_term<D: Demands>(cursor: &Cursor<'_>, depth: usize) -> bool {
    ends_condition::<D>(cursor, depth) || cursor.peek_word(b"AND") || cursor.peek_word(b"OR")
}

/// Whether nothing more stands in these parentheses, or in the condition.
fn ends_condition<D: Demands>(cursor: &Cursor<'_>, depth: usize) -> bool {
    if depth == 0 { cursor.at_end() || D::is_over(cursor) } else { cursor.peek_symbol(b')') }
}

/// Whether `word` follows the WHERE, in any statement of any server.
pub(super) fn ends_where(word: Keyword) -> bool {
    matches!(word, Keyword::Group | Keyword::Having | Keyword::Order | Keyword::Limit)
}

/// Goes to the AND or OR behind this term, or to the end of the condition or of its parentheses; none if it cannot be told where the term ends.
///
/// A word behind an operand that is no operator begins a clause, which may hold an AND of its own: RETURNING, QUALIFY, and
/// whatever a newer server has.
fn skip_term<D: Demands>(cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
    let mut betweens = 0_u32;
    let mut behind_operand = false;
    while !ends_condition::<D>(cursor, depth) {
        match Keyword::next(cursor) {
            Some(Keyword::And) if betweens == 0 => return Some(()),
            Some(Keyword::Or) if betweens == 0 && cursor.peek_word(b"OR") => return Some(()),
            Some(Keyword::Or | Keyword::Case | Keyword::Interval) => return None,
            Some(word) if ends_where(word) => return None,
            Some(Keyword::And) => betweens -= 1,
            Some(Keyword::Between) => betweens += 1,
            _ => {}
        }
        behind_operand = skip_one(cursor, behind_operand)?;
    }
    (betweens == 0).then_some(())
}

/// Takes a token, or a parenthesis with all that it holds, or a dot with the name behind it, and says whether that ends an operand.
fn skip_one(cursor: &mut Cursor<'_>, behind_operand: bool) -> Option<bool> {
    let token = cursor.bump()?;
    match token.kind {
        TokenKind::Word if is_operator(token) => Some(false),
        TokenKind::Word => (!behind_operand).then_some(true),
        TokenKind::Quoted | TokenKind::String | TokenKind::Number | TokenKind::SystemVariable => Some(true),
        TokenKind::Symbol(b'(') => skip_parenthesis(cursor).map(|()| true),
        TokenKind::Symbol(b'.') => cursor.bump().map(|_| true),
        TokenKind::Symbol(b'?') => Some(true),
        TokenKind::Symbol(b'=' | b'<' | b'>' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'~') => {
            Some(false)
        }
        _ => None,
    }
}

/// Operators in words, all of them reserved, that bind tighter than AND.
fn is_operator(token: Token<'_>) -> bool {
    [
        &b"AND"[..],
        b"BETWEEN",
        b"BINARY",
        b"COLLATE",
        b"DIV",
        b"IN",
        b"IS",
        b"LIKE",
        b"MOD",
        b"NOT",
        b"REGEXP",
        b"RLIKE",
    ]
    .iter()
    .any(|operator| is_word(token, operator))
}

/// Goes behind the parenthesis that closes the one before `cursor`.
pub(super) fn skip_parenthesis(cursor: &mut Cursor<'_>) -> Option<()> {
    let mut depth = 1_u32;
    while depth > 0 {
        match cursor.bump()?.kind {
            TokenKind::Symbol(b'(') => depth += 1,
            TokenKind::Symbol(b')') => depth -= 1,
            TokenKind::Symbol(b';') => return None,
            _ => {}
        }
    }
    Some(())
}
