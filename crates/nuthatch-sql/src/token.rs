//! The tokens of a statement, as the server's lexer would cut them under the session's SQL mode.
//!
//! The tokens lie side by side and cover the whole statement: white space and comments are tokens too. Executable comments
//! are looked into when the server's version executes them: their marks are tokens of their own. Bytes of no known use are
//! [`TokenKind::Symbol`]; a string, name or comment that nothing closes reaches to the end and is [`TokenKind::Unclosed`].
//! Cost: about 1 ns a byte, no allocation.

pub(crate) mod extent;
pub(crate) mod literal;

use extent::{
    begins_line_comment, begins_word, comment_len, exponent_len, is_space, is_word, line_len, quoted_len, run,
};

/// What the server's lexer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexing {
    /// `sql_mode` has ANSI_QUOTES: `"x"` is a name.
    pub ansi_quotes: bool,
    /// `sql_mode` has NO_BACKSLASH_ESCAPES: a backslash in a string is a backslash.
    pub no_backslash_escapes: bool,
    /// `character_set_client` is big5, cp932, gb18030, gbk or sjis: the second byte of a character may look like a
    /// backslash or a back quote.
    pub ascii_in_characters: bool,
    /// Who executes the statement.
    pub server: ServerFlavor,
}

impl Lexing {
    /// That of a session whose SQL mode and character set change nothing of it.
    #[must_use]
    pub const fn of(server: ServerFlavor) -> Self {
        Self { ansi_quotes: false, no_backslash_escapes: false, ascii_in_characters: false, server }
    }
}

/// Which family a server is of, with its version as `major * 10000 + minor * 100 + patch` (MariaDB 10.11.6 is 101106).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFlavor {
    /// MariaDB: executes `/*M! … */`, and no `/*!50700 … */` to `/*!99999 … */`.
    MariaDb(u32),
    /// MySQL or Percona Server.
    MySql(u32),
}

impl ServerFlavor {
    /// That of a server's version as its greeting has it: `5.5.5-10.11.19-MariaDB…`, `9.7.4-2`. What has no number counts as the oldest.
    #[must_use]
    pub fn of_version(version: &[u8]) -> Self {
        let text = String::from_utf8_lossy(version);
        let is_mariadb = text.contains("MariaDB");
        let text = if is_mariadb { text.strip_prefix("5.5.5-").unwrap_or(&text) } else { &text };
        let mut parts =
            text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
        let mut part = || parts.next().unwrap_or(0).min(99);
        let version = part() * 10_000 + part() * 100 + part();
        if is_mariadb { Self::MariaDb(version) } else { Self::MySql(version) }
    }

    /// The statement that asks a server whom it follows, of all channels. MySQL has its words since 8.0.22, and since 8.4 only them; MariaDB
    /// tells of one connection without ALL.
    #[must_use]
    pub const fn replica_status(self) -> &'static str {
        match self {
            Self::MariaDb(_) => "SHOW ALL SLAVES STATUS",
            Self::MySql(80_022..) => "SHOW REPLICA STATUS",
            Self::MySql(_) => "SHOW SLAVE STATUS",
        }
    }

    /// The statement that returns when a server has applied all of these transactions, which a server of its kind has written down so, or
    /// after so many seconds: then `waited` is not 0. A writer of MariaDB never says so of its own.
    #[must_use]
    pub fn wait_for_gtids(self, gtids: &str, seconds: f64) -> String {
        let function = match self {
            Self::MariaDb(_) => "MASTER_GTID_WAIT",
            Self::MySql(_) => "WAIT_FOR_EXECUTED_GTID_SET",
        };
        // No id has a quote or a backslash.
        let gtids: String = gtids.chars().filter(|letter| !matches!(letter, '\'' | '\\')).collect();
        format!("SELECT {function}('{gtids}', {seconds}) AS waited")
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A run of white space.
    Space,
    /// A comment, whole: also an executable one that this server does not execute.
    Comment,
    /// The opening mark of an executable comment that the server executes, with its version.
    ExecutableOpen,
    /// The same where it cannot be told whether the server executes it.
    UnclearOpen,
    /// The closing mark of an executable comment.
    ExecutableClose,
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes, with them.
    Quoted,
    /// A string, with its quotes.
    String,
    /// An unsigned number.
    Number,
    /// `@name`, quoted or not.
    UserVariable,
    /// `@@name` or `@@scope.name`.
    SystemVariable,
    /// One byte of punctuation.
    Symbol(u8),
    /// A string, name or comment without its end.
    Unclosed,
}

/// A piece of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'q> {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes, as written.
    pub text: &'q [u8],
    /// Where it begins in the statement.
    pub start: usize,
}

/// The tokens of one statement text, from first to last byte.
#[derive(Clone, Debug)]
pub struct Tokens<'q> {
    query: &'q [u8],
    position: usize,
    lexing: Lexing,
    in_executable: bool,
}

impl<'q> Tokens<'q> {
    /// The tokens of `query` under `lexing`.
    #[must_use]
    pub fn new(query: &'q [u8], lexing: Lexing) -> Self {
        Self { query, position: 0, lexing, in_executable: false }
    }

    /// Beginning and end of the word that comes next, after white space; none, with the white space taken, if something else
    /// comes.
    #[inline]
    pub(crate) fn next_word(&mut self) -> Option<(usize, usize)> {
        let rest = self.query.get(self.position..).unwrap_or_default();
        let spaces = rest.iter().position(|&byte| !is_space(byte)).unwrap_or(rest.len());
        let start = self.position + spaces;
        self.position = start;
        let word = rest.get(spaces..)?;
        if !begins_word(*word.first()?) {
            return None;
        }
        self.position = start + run(word, is_word);
        Some((start, self.position))
    }

    /// Takes the byte that comes next if it is a symbol whatever stands beside it.
    #[inline]
    pub(crate) fn next_symbol(&mut self) -> Option<(u8, usize)> {
        let start = self.position;
        let byte = *self.query.get(start)?;
        let is_one = matches!(byte, b'=' | b',' | b'(' | b')' | b'+' | b'<' | b'>' | b';');
        is_one.then(|| {
            self.position = start + 1;
            (byte, start)
        })
    }

    /// Kind, beginning and end of the next token.
    pub(crate) fn next_other(&mut self) -> Option<(TokenKind, usize, usize)> {
        let start = self.position;
        let rest = self.query.get(start..)?;
        let first = *rest.first()?;
        let (kind, len) =
            if begins_word(first) { (TokenKind::Word, run(rest, is_word)) } else { self.cut(rest, first) };
        self.position = start + len;
        Some((kind, start, self.position))
    }

    /// An executable comment was opened and not closed; not said again.
    pub(crate) fn take_unclosed(&mut self) -> bool {
        std::mem::take(&mut self.in_executable)
    }

    /// Kind and length of the token that `rest` begins with.
    fn cut(&mut self, rest: &[u8], first: u8) -> (TokenKind, usize) {
        match first {
            b' ' | 0x09..=0x0d => (TokenKind::Space, run(rest, is_space)),
            b'0'..=b'9' => number_or_word(rest),
            b'`' => closed(TokenKind::Quoted, rest, quoted_len(rest, first, false)),
            b'\'' => {
                closed(TokenKind::String, rest, quoted_len(rest, first, !self.lexing.no_backslash_escapes))
            }
            b'"' if self.lexing.ansi_quotes => {
                closed(TokenKind::Quoted, rest, quoted_len(rest, first, false))
            }
            b'"' => {
                closed(TokenKind::String, rest, quoted_len(rest, first, !self.lexing.no_backslash_escapes))
            }
            b'.' if self.begins_fraction(rest) => {
                let digits = 1 + run(rest.get(1..).unwrap_or_default(), |byte| byte.is_ascii_digit());
                (TokenKind::Number, digits + exponent_len(rest.get(digits..).unwrap_or_default()))
            }
            b'@' => self.variable(rest),
            b'#' => (TokenKind::Comment, line_len(rest)),
            b'-' if begins_line_comment(rest) => (TokenKind::Comment, line_len(rest)),
            b'/' if rest.get(1) == Some(&b'*') => self.comment(rest),
            b'*' if self.in_executable && rest.get(1) == Some(&b'/') => {
                self.in_executable = false;
                (TokenKind::ExecutableClose, 2)
            }
            _ => (TokenKind::Symbol(first), 1),
        }
    }

    /// A dot before a digit begins a number, unless it follows a name.
    fn begins_fraction(&self, rest: &[u8]) -> bool {
        let before = self.position.checked_sub(1).and_then(|before| self.query.get(before));
        rest.get(1).is_some_and(u8::is_ascii_digit)
            && !before.is_some_and(|&before| is_word(before) || matches!(before, b'`' | b'"'))
    }

    fn variable(&self, rest: &[u8]) -> (TokenKind, usize) {
        match rest {
            [b'@', b'@', name @ ..] => match name.first() {
                Some(&quote @ b'`') => {
                    closed(TokenKind::SystemVariable, rest, quoted_len(name, quote, false).map(|len| len + 2))
                }
                _ => (TokenKind::SystemVariable, 2 + run(name, |byte| is_word(byte) || byte == b'.')),
            },
            [b'@', name @ ..] => match name.first() {
                Some(&quote @ (b'`' | b'\'' | b'"')) => {
                    let escapes = quote != b'`' && !self.lexing.no_backslash_escapes;
                    closed(TokenKind::UserVariable, rest, quoted_len(name, quote, escapes).map(|len| len + 1))
                }
                _ => (TokenKind::UserVariable, 1 + run(name, |byte| is_word(byte) || byte == b'.')),
            },
            _ => (TokenKind::Symbol(b'@'), 1),
        }
    }

    fn comment(&mut self, rest: &[u8]) -> (TokenKind, usize) {
        let (mark, text) = match rest {
            [b'/', b'*', b'!', text @ ..] => (3, text),
            [b'/', b'*', b'M', b'!', text @ ..] if matches!(self.lexing.server, ServerFlavor::MariaDb(_)) => {
                (4, text)
            }
            _ => return closed(TokenKind::Comment, rest, comment_len(rest, 0)),
        };
        let digits = run(text, |byte| byte.is_ascii_digit());
        let executes = match digits {
            0..=4 => Executes::Yes(0),
            5 | 6 => executes(self.lexing.server, text.get(..digits).unwrap_or_default(), mark == 4),
            _ => Executes::Unclear,
        };
        match executes {
            _ if self.in_executable => (TokenKind::UnclearOpen, mark),
            Executes::No => closed(TokenKind::Comment, rest, comment_len(rest, 1)),
            Executes::Unclear => {
                self.in_executable = true;
                (TokenKind::UnclearOpen, mark + digits)
            }
            Executes::Yes(version_len) => {
                self.in_executable = true;
                (TokenKind::ExecutableOpen, mark + version_len)
            }
        }
    }
}

impl<'q> Iterator for Tokens<'q> {
    type Item = Token<'q>;

    fn next(&mut self) -> Option<Token<'q>> {
        match self.next_other() {
            Some((kind, start, end)) => Some(Token { kind, text: self.query.get(start..end)?, start }),
            // An executable comment without its end: said once, by a token of no bytes.
            None if self.take_unclosed() => {
                Some(Token { kind: TokenKind::Unclosed, text: &[], start: self.position })
            }
            None => None,
        }
    }
}

enum Executes {
    /// With so many digits of version before the text.
    Yes(usize),
    No,
    Unclear,
}

/// Whether `server` executes a comment of this version (five or six digits).
fn executes(server: ServerFlavor, digits: &[u8], is_mariadb_mark: bool) -> Executes {
    let asked = digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    let yes = match server {
        // The sixth digit belongs to the version in newer servers, to the text in older ones.
        ServerFlavor::MySql(_) if digits.len() == 6 => return Executes::Unclear,
        ServerFlavor::MySql(version) => asked <= version,
        ServerFlavor::MariaDb(version) => {
            asked <= version && (is_mariadb_mark || !(50_700..=99_999).contains(&asked))
        }
    };
    if yes { Executes::Yes(digits.len()) } else { Executes::No }
}

/// The token of `len` bytes, or one that nothing closes.
fn closed(kind: TokenKind, rest: &[u8], len: Option<usize>) -> (TokenKind, usize) {
    len.map_or((TokenKind::Unclosed, rest.len()), |len| (kind, len))
}

/// A name may begin with a digit; digits alone, with a fraction or with an exponent are a number.
fn number_or_word(rest: &[u8]) -> (TokenKind, usize) {
    let len = run(rest, is_word);
    let word = rest.get(..len).unwrap_or_default();
    let digits = run(word, |byte| byte.is_ascii_digit());
    let after_dot = rest.get(len + 1..).unwrap_or_default();
    if digits == len {
        if rest.get(len) != Some(&b'.') {
            return (TokenKind::Number, len);
        }
        let fraction = run(after_dot, |byte| byte.is_ascii_digit());
        let exponent = exponent_len(after_dot.get(fraction..).unwrap_or_default());
        return (TokenKind::Number, len + 1 + fraction + exponent);
    }
    match word {
        [b'0', b'x' | b'X', hex @ ..] if !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit) => {
            (TokenKind::Number, len)
        }
        [b'0', b'b', bits @ ..] if !bits.is_empty() && bits.iter().all(|bit| matches!(bit, b'0' | b'1')) => {
            (TokenKind::Number, len)
        }
        // The server takes `1e5x` for a number and a name.
        _ => match exponent_len(rest.get(digits..).unwrap_or_default()) {
            0 => (TokenKind::Word, len),
            exponent => (TokenKind::Number, digits + exponent),
        },
    }
}

#[cfg(test)]
pub(crate) mod arbitrary;
#[cfg(test)]
mod tests;
