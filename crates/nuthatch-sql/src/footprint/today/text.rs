//! The tokens of one statement, with what stands in which parentheses.

use super::value::{Value, certain};
use crate::catalogue::is_plain;
use crate::classify::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::{Token, TokenKind};

/// Longer texts are not looked at.
const TOKENS_MAX: usize = 20_000;

/// Words between SELECT and the first column.
const LIST_STARTS: [&[u8]; 10] = [
    b"SELECT",
    b"DISTINCT",
    b"DISTINCTROW",
    b"ALL",
    b"BY",
    b"HIGH_PRIORITY",
    b"SQL_SMALL_RESULT",
    b"SQL_BIG_RESULT",
    b"SQL_BUFFER_RESULT",
    b"SQL_CALC_FOUND_ROWS",
];

/// Words behind the last column of a list, or behind one that it is ordered by.
const LIST_ENDS: [&[u8]; 10] =
    [b"FROM", b"ASC", b"DESC", b"WHERE", b"HAVING", b"ORDER", b"LIMIT", b"WITH", b"WINDOW", b"OFFSET"];

#[expect(clippy::struct_excessive_bools, reason = "independent facts of one text")]
pub(super) struct Text<'q> {
    tokens: Vec<Token<'q>>,
    /// Of each token the parenthesis that it stands in.
    openers: Vec<Option<usize>>,
    /// Of each parenthesis that opens the one that closes it.
    ends: Vec<usize>,
    /// The ANDs that belong to a BETWEEN.
    of_between: Vec<usize>,
    /// It cannot be told which AND belongs to a BETWEEN.
    has_unclear_ands: bool,
    /// There is a UNION or the like, by which columns of several queries become one.
    has_set_operation: bool,
    /// There is one query only, and so no name for a column of another.
    has_one_query: bool,
    pub(super) has_json_table: bool,
}

impl<'q> Text<'q> {
    /// None if the parentheses do not match, or there is too much of it.
    pub(super) fn new(start: &Cursor<'q>) -> Option<Self> {
        let mut text = Self {
            tokens: Vec::new(),
            openers: Vec::new(),
            ends: Vec::new(),
            of_between: Vec::new(),
            has_unclear_ands: false,
            has_set_operation: false,
            has_one_query: true,
            has_json_table: false,
        };
        let mut cursor = start.clone();
        while !cursor.at_end() && text.tokens.len() < TOKENS_MAX {
            text.tokens.push(cursor.bump()?);
        }
        text.match_parentheses()?;
        text.note_words();
        (text.tokens.len() < TOKENS_MAX).then_some(text)
    }

    fn match_parentheses(&mut self) -> Option<()> {
        let mut open: Vec<usize> = Vec::new();
        self.ends = vec![0; self.tokens.len()];
        for (at, token) in self.tokens.iter().enumerate() {
            if token.kind == TokenKind::Symbol(b')') {
                *self.ends.get_mut(open.pop()?)? = at;
            }
            self.openers.push(open.last().copied());
            if token.kind == TokenKind::Symbol(b'(') {
                open.push(at);
            }
        }
        open.is_empty().then_some(())
    }

    fn note_words(&mut self) {
        let count = |word: &[u8]| (0..self.len()).filter(|at| self.is_word(*at, word)).count();
        let has = |words: &[&[u8]]| words.iter().any(|word| count(word) > 0);
        let has_set_operation = has(&[b"UNION", b"EXCEPT", b"INTERSECT", b"MINUS"]);
        let has_unclear_ands = has(&[b"BETWEEN"]) && has(&[b"CASE", b"INTERVAL"]);
        let (has_one_query, has_json_table) = (count(b"SELECT") == 1, has(&[b"JSON_TABLE"]));
        self.of_between = self.ands_of_between();
        (self.has_set_operation, self.has_unclear_ands) = (has_set_operation, has_unclear_ands);
        (self.has_one_query, self.has_json_table) = (has_one_query, has_json_table);
    }

    /// The first AND behind a BETWEEN, in the same parentheses.
    fn ands_of_between(&self) -> Vec<usize> {
        let mut betweens: Vec<Option<usize>> = Vec::new();
        let mut ands = Vec::new();
        for at in 0..self.len() {
            let opener = self.opener(at);
            if self.is_word(at, b"BETWEEN") {
                betweens.push(opener);
            } else if self.is_word(at, b"AND")
                && let Some(place) = betweens.iter().rposition(|between| *between == opener)
            {
                betweens.remove(place);
                ands.push(at);
            }
        }
        ands
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn token(&self, at: usize) -> Option<Token<'q>> {
        self.tokens.get(at).copied()
    }

    pub(super) fn kind(&self, at: usize) -> Option<TokenKind> {
        self.token(at).map(|token| token.kind)
    }

    pub(super) fn bytes(&self, at: usize) -> Option<&'q [u8]> {
        self.token(at).map(|token| token.text)
    }

    pub(super) fn is_word(&self, at: usize, word: &[u8]) -> bool {
        self.token(at).is_some_and(|token| is_word(token, word))
    }

    pub(super) fn is_one_of(&self, at: usize, words: &[&[u8]]) -> bool {
        words.iter().any(|word| self.is_word(at, word))
    }

    pub(super) fn is_symbol(&self, at: usize, symbol: u8) -> bool {
        self.kind(at) == Some(TokenKind::Symbol(symbol))
    }

    pub(super) fn is_behind_dot(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is_symbol(before, b'.'))
    }

    pub(super) fn opener(&self, at: usize) -> Option<usize> {
        self.openers.get(at).copied().flatten()
    }

    /// The parenthesis that closes the one at `opener`.
    pub(super) fn end(&self, opener: usize) -> Option<usize> {
        self.ends.get(opener).copied()
    }

    /// Whether the AND at `at` may be a BETWEEN's.
    pub(super) fn may_be_of_between(&self, at: usize) -> bool {
        self.has_unclear_ands || self.of_between.contains(&at)
    }

    /// The last token of the call that the word at `at` begins.
    pub(super) fn call_end(&self, at: usize) -> Option<usize> {
        self.is_symbol(at + 1, b'(').then(|| self.end(at + 1))?
    }

    /// The function in whose arguments the token stands, if it is none of a query in them.
    pub(super) fn function_around(&self, at: usize) -> Option<usize> {
        let name = self.opener(at)?.checked_sub(1)?;
        (self.kind(name) == Some(TokenKind::Word) && !self.is_behind_dot(name)).then_some(name)
    }

    /// The cast to TIME that the type at `at` belongs to.
    pub(super) fn cast_to(&self, at: usize) -> Option<Value> {
        let function = self.function_around(at)?;
        let before = at.checked_sub(1)?;
        let is_cast = self.is_word(before, b"AS") && self.is_word(function, b"CAST")
            || self.is_symbol(before, b',') && self.is_word(function, b"CONVERT")
            || self.is_word(before, b"RETURNING");
        is_cast.then(|| Some(certain(function, self.call_end(function)?)))?
    }

    /// The last token of `{t '…'}`.
    pub(super) fn braced_time(&self, at: usize) -> Option<usize> {
        let is_one = self.is_word(at + 1, b"t") || self.is_word(at + 1, b"time");
        (is_one && self.is_symbol(at + 3, b'}')).then_some(at + 3)
    }

    /// Whether the last argument of the call that ends at `last` is a format in which a part of a date stands.
    pub(super) fn gives_date(&self, last: usize) -> bool {
        let Some(format) = last.checked_sub(1).and_then(|at| self.token(at)) else { return false };
        let is_alone = last.checked_sub(2).is_some_and(|before| self.is_symbol(before, b','));
        let names_date = |pair: &[u8]| matches!(pair, [b'%', part] if b"YyMmbcdejD".contains(part));
        is_alone && format.kind == TokenKind::String && format.text.windows(2).any(names_date)
    }

    /// The first token of the name that ends at `at`, with the names before its dots.
    pub(super) fn begin_of_name(&self, at: usize) -> usize {
        let mut begin = at;
        while self.is_behind_dot(begin) && begin >= 2 {
            begin -= 2;
        }
        begin
    }

    /// Whether the name is surely that of a table: what FROM of a query or a JOIN begins with.
    pub(super) fn is_table_name(&self, at: usize) -> bool {
        let begin = self.begin_of_name(at);
        let before = begin.checked_sub(1);
        before.is_some_and(|before| {
            self.is_one_of(before, &[b"FROM", b"JOIN"]) && self.is_shown(self.opener(at))
        })
    }

    /// Whether a name at `at` is none that the statement has given to something.
    pub(super) fn names_are_columns_at(&self, at: usize) -> bool {
        self.has_one_query
            && !self.has_json_table
            && !(0..at).any(|before| self.is_one_of(before, &[b"HAVING", b"GROUP", b"ORDER"]))
    }

    /// Whether a name in quotes may be that of an expression, which is its text: `` `MAX(begins)` ``.
    pub(super) fn may_name_expression(&self) -> bool {
        self.tokens.iter().any(|token| token.kind == TokenKind::Quoted && !is_plain(&Name(token.text).text()))
    }

    /// Whether the `*` at `at` stands for columns, and is not that of a multiplication or of `COUNT(*)`.
    pub(super) fn is_star(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        self.is_symbol(before, b'.') || self.starts_list(before) && self.ends_list(at + 1)
    }

    /// Whether the `*` at `at` is that of a query whose columns do not count.
    pub(super) fn is_in_exists(&self, at: usize) -> bool {
        let opener = at.checked_sub(1).and_then(|before| self.opener(before));
        opener.is_some_and(|opener| {
            opener > 0 && self.is_word(opener - 1, b"EXISTS") && self.is_word(opener + 1, b"SELECT")
        })
    }

    /// Whether what begins at `at` is one of a list of columns that are only shown, or ordered or grouped by.
    pub(super) fn is_listed(&self, at: usize) -> bool {
        !self.has_set_operation && self.is_shown(self.opener(at))
    }

    pub(super) fn starts_list(&self, at: usize) -> bool {
        self.is_symbol(at, b',') || self.is_one_of(at, &LIST_STARTS)
    }

    pub(super) fn ends_list(&self, at: usize) -> bool {
        at >= self.len()
            || self.is_symbol(at, b',')
            || self.is_symbol(at, b')')
            || self.is_one_of(at, &LIST_ENDS)
    }

    /// Whether what stands in the parenthesis, or outside of all, is a query whose columns keep their types and names: the main one,
    /// or one in the place of a table.
    fn is_shown(&self, opener: Option<usize>) -> bool {
        let Some(opener) = opener else { return true };
        let Some(before) = opener.checked_sub(1) else { return false };
        let is_query = self.is_word(opener + 1, b"SELECT");
        let keeps_names = if self.is_word(before, b"AS") {
            self.is_word(0, b"WITH") && before.checked_sub(1).is_some_and(|name| !self.is_symbol(name, b')'))
        } else {
            self.is_one_of(before, &[b"FROM", b"JOIN"]) && self.has_plain_alias(opener)
        };
        is_query && keeps_names && self.is_shown(self.opener(opener))
    }

    /// Whether no names of columns stand behind the query in the parenthesis.
    fn has_plain_alias(&self, opener: usize) -> bool {
        let Some(end) = self.end(opener) else { return false };
        let alias = end + 1 + usize::from(self.is_word(end + 1, b"AS"));
        !self.is_symbol(alias + 1, b'(')
    }
}
