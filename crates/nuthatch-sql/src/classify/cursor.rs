//! The tokens that mean something, with one of look-ahead: white space, comments and the marks of executable comments are
//! passed over, and what they tell of the whole text is kept.

use super::hint::Hints;
use crate::statement::Name;
use crate::token::{Lexing, Token, TokenKind, Tokens};

/// A place in the tokens of a statement. Cheap to clone: the head of a statement is read on a clone.
#[derive(Clone)]
pub(crate) struct Cursor<'q> {
    query: &'q [u8],
    tokens: Tokens<'q>,
    next: Option<TokenKind>,
    start: usize,
    end: usize,
    /// How many `?` and `:name` were seen, one that comes next among them.
    pub(crate) markers: usize,
    /// A string, name or comment without its end was seen.
    pub(crate) is_unclosed: bool,
    /// A comment was seen of which it cannot be told whether the server executes it.
    pub(crate) is_unclear: bool,
    /// An executable comment was seen, executed or not.
    pub(crate) has_executable: bool,
    /// What the hints set that were seen.
    pub(crate) hints: Hints,
}

impl<'q> Cursor<'q> {
    pub(crate) fn new(query: &'q [u8], lexing: Lexing) -> Self {
        let mut cursor = Self {
            query,
            tokens: Tokens::new(query, lexing),
            next: None,
            start: 0,
            end: 0,
            markers: 0,
            is_unclosed: false,
            is_unclear: false,
            has_executable: false,
            hints: Hints::default(),
        };
        cursor.advance();
        cursor
    }

    /// Past the semicolons before the first statement.
    pub(crate) fn at_statement(query: &'q [u8], lexing: Lexing) -> Self {
        let mut cursor = Self::new(query, lexing);
        while cursor.take_symbol(b';') {}
        cursor
    }

    /// Past the first word of the first statement.
    pub(crate) fn behind_first_word(query: &'q [u8], lexing: Lexing) -> Self {
        let mut cursor = Self::at_statement(query, lexing);
        cursor.advance();
        cursor
    }

    /// The next token, not yet taken.
    #[inline]
    pub(crate) fn peek(&self) -> Option<Token<'q>> {
        let kind = self.next?;
        Some(Token { kind, text: self.query.get(self.start..self.end)?, start: self.start })
    }

    /// Takes the next token.
    pub(crate) fn bump(&mut self) -> Option<Token<'q>> {
        let taken = self.peek();
        self.advance();
        taken
    }

    /// Goes past the next token. Words, the most frequent, are cut where this is called.
    #[inline]
    pub(crate) fn advance(&mut self) {
        match self.tokens.next_word() {
            Some((start, end)) => (self.next, self.start, self.end) = (Some(TokenKind::Word), start, end),
            None => self.advance_to_other(),
        }
    }

    fn advance_to_other(&mut self) {
        if let Some((symbol, start)) = self.tokens.next_symbol() {
            (self.next, self.start, self.end) = (Some(TokenKind::Symbol(symbol)), start, start + 1);
            return;
        }
        loop {
            let Some((kind, start, end)) = self.tokens.next_other() else {
                self.is_unclosed |= self.tokens.take_unclosed();
                self.next = None;
                return;
            };
            match kind {
                TokenKind::Space => {}
                TokenKind::Comment => self.note_comment(start, end),
                TokenKind::ExecutableOpen | TokenKind::ExecutableClose => self.has_executable = true,
                TokenKind::UnclearOpen => (self.is_unclear, self.has_executable) = (true, true),
                TokenKind::Unclosed => self.is_unclosed = true,
                _ => {
                    self.markers += usize::from(self.is_marker(kind, end));
                    (self.next, self.start, self.end) = (Some(kind), start, end);
                    return;
                }
            }
        }
    }

    /// MariaDB takes `:name` for one in its ORACLE mode, and nothing else may begin so.
    fn is_marker(&self, kind: TokenKind, end: usize) -> bool {
        match kind {
            TokenKind::Symbol(b'?') => true,
            TokenKind::Symbol(b':') => self.query.get(end) != Some(&b'='),
            _ => false,
        }
    }

    fn note_comment(&mut self, start: usize, end: usize) {
        let text = self.query.get(start..end).unwrap_or_default();
        self.has_executable |= text.starts_with(b"/*!") || text.starts_with(b"/*M!");
        if text.starts_with(b"/*+") {
            self.hints = self.hints.and(Hints::of(text));
        }
    }

    #[inline]
    pub(crate) fn peek_symbol(&self, symbol: u8) -> bool {
        self.next == Some(TokenKind::Symbol(symbol))
    }

    pub(crate) fn peek_word(&self, word: &[u8]) -> bool {
        self.peek().is_some_and(|token| is_word(token, word))
    }

    /// Whether the whole text is ASCII, without a dot anywhere.
    pub(crate) fn is_ascii_without_dots(&self) -> bool {
        self.query.iter().fold(true, |is_so, byte| is_so & byte.is_ascii() & (*byte != b'.'))
    }

    /// Takes a name, without its quotes.
    pub(crate) fn take_name(&mut self) -> Option<Vec<u8>> {
        let token = self.bump().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted))?;
        Some(Name(token.text).text().into_owned())
    }

    /// Takes the next token if it is `symbol`.
    #[inline]
    pub(crate) fn take_symbol(&mut self, symbol: u8) -> bool {
        let found = self.peek_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    /// Takes the next token if it is `word`, in any case.
    pub(crate) fn take_word(&mut self, word: &[u8]) -> bool {
        let found = self.peek_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes `words` if all of them come next, else nothing.
    pub(crate) fn take_words(&mut self, words: &[&[u8]]) -> bool {
        let mut ahead = self.clone();
        let found = words.iter().all(|word| ahead.take_word(word));
        if found {
            *self = ahead;
        }
        found
    }

    /// Takes semicolons; whether nothing else is left, and what was read is what the server reads.
    pub(crate) fn ends_statement(&mut self) -> bool {
        while self.take_symbol(b';') {}
        self.peek().is_none() && !self.is_unclosed && !self.has_executable
    }

    /// Nothing is left of this statement: the end, or a semicolon.
    #[inline]
    pub(crate) fn at_end(&self) -> bool {
        self.next.is_none_or(|kind| kind == TokenKind::Symbol(b';'))
    }
}

/// The token is the keyword `word` (any case).
pub(crate) fn is_word(token: Token<'_>, word: &[u8]) -> bool {
    token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(word)
}
