//! The tokens of a statement, as the server's lexer would cut them under the session's SQL mode.
//!
//! The tokens lie side by side and cover the whole statement: white space and comments are tokens too. Executable comments
//! are looked into when the server's version executes them: their marks are tokens of their own. Bytes of no known use are
//! [`TokenKind::Symbol`]; a string, name or comment that nothing closes reaches to the end and is [`TokenKind::Unclosed`].
//! Cost: about 1 ns a byte, no allocation.

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

/// Which family a server is of, with its version as `major * 10000 + minor * 100 + patch` (MariaDB 10.11.6 is 101106).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFlavor {
    /// MariaDB: executes `/*M! … */`, and no `/*!50700 … */` to `/*!99999 … */`.
    MariaDb(u32),
    /// MySQL or Percona Server.
    MySql(u32),
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
    rest: &'q [u8],
    start: usize,
    lexing: Lexing,
    in_executable: bool,
}

impl<'q> Tokens<'q> {
    /// The tokens of `query` under `lexing`.
    #[must_use]
    pub fn new(query: &'q [u8], lexing: Lexing) -> Self {
        Self { rest: query, start: 0, lexing, in_executable: false }
    }

    /// Kind and length of the token that `rest` begins with.
    fn cut(&mut self, first: u8) -> (TokenKind, usize) {
        let rest = self.rest;
        match first {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => (TokenKind::Space, run(rest, is_space)),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => (TokenKind::Word, run(rest, is_word)),
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
            b'@' => self.variable(),
            b'#' => (TokenKind::Comment, line_len(rest)),
            b'-' if begins_line_comment(rest) => (TokenKind::Comment, line_len(rest)),
            b'/' if rest.get(1) == Some(&b'*') => self.comment(),
            b'*' if self.in_executable && rest.get(1) == Some(&b'/') => {
                self.in_executable = false;
                (TokenKind::ExecutableClose, 2)
            }
            _ => (TokenKind::Symbol(first), 1),
        }
    }

    fn variable(&self) -> (TokenKind, usize) {
        match self.rest {
            [b'@', b'@', name @ ..] => match name.first() {
                Some(&quote @ b'`') => closed(
                    TokenKind::SystemVariable,
                    self.rest,
                    quoted_len(name, quote, false).map(|len| len + 2),
                ),
                _ => (TokenKind::SystemVariable, 2 + run(name, |byte| is_word(byte) || byte == b'.')),
            },
            [b'@', name @ ..] => match name.first() {
                Some(&quote @ (b'`' | b'\'' | b'"')) => {
                    let escapes = quote != b'`' && !self.lexing.no_backslash_escapes;
                    closed(
                        TokenKind::UserVariable,
                        self.rest,
                        quoted_len(name, quote, escapes).map(|len| len + 1),
                    )
                }
                _ => (TokenKind::UserVariable, 1 + run(name, |byte| is_word(byte) || byte == b'.')),
            },
            _ => (TokenKind::Symbol(b'@'), 1),
        }
    }

    fn comment(&mut self) -> (TokenKind, usize) {
        let (mark, text) = match self.rest {
            [b'/', b'*', b'!', text @ ..] => (3, text),
            [b'/', b'*', b'M', b'!', text @ ..] if matches!(self.lexing.server, ServerFlavor::MariaDb(_)) => {
                (4, text)
            }
            _ => return closed(TokenKind::Comment, self.rest, comment_len(self.rest, 0)),
        };
        let digits = run(text, |byte| byte.is_ascii_digit());
        let executes = match digits {
            0..=4 => Executes::Yes(0),
            5 | 6 => executes(self.lexing.server, text.get(..digits).unwrap_or_default(), mark == 4),
            _ => Executes::Unclear,
        };
        match executes {
            _ if self.in_executable => (TokenKind::UnclearOpen, mark),
            Executes::No => closed(TokenKind::Comment, self.rest, comment_len(self.rest, 1)),
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

    #[inline]
    fn next(&mut self) -> Option<Token<'q>> {
        let Some(&first) = self.rest.first() else {
            // An executable comment without its end: said once, by a token of no bytes.
            return std::mem::take(&mut self.in_executable).then_some(Token {
                kind: TokenKind::Unclosed,
                text: &[],
                start: self.start,
            });
        };
        let (kind, len) = self.cut(first);
        let (text, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, &[]));
        let token = Token { kind, text, start: self.start };
        self.start += text.len();
        self.rest = rest;
        Some(token)
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

#[inline]
fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !belongs(byte)).unwrap_or(bytes.len())
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// The byte may stand in a keyword or a name without quotes.
#[inline]
pub(crate) fn is_word(byte: u8) -> bool {
    WORD_BYTES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// By byte: a look-up is cheaper than five comparisons, and most bytes of a statement are asked.
const WORD_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut left: &mut [bool] = &mut table;
    let mut byte = 0_u8;
    while let [entry, rest @ ..] = left {
        *entry = matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..);
        left = rest;
        byte = byte.wrapping_add(1);
    }
    table
};

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
        _ => match exponent_len(rest.get(digits..).unwrap_or_default()) {
            exponent if exponent > 0 && digits + exponent >= len => (TokenKind::Number, digits + exponent),
            _ => (TokenKind::Word, len),
        },
    }
}

/// The length of the exponent that `rest` begins with, or 0.
fn exponent_len(rest: &[u8]) -> usize {
    let (mark, digits) = match rest {
        [b'e' | b'E', b'+' | b'-', digits @ ..] => (2, digits),
        [b'e' | b'E', digits @ ..] => (1, digits),
        _ => return 0,
    };
    match run(digits, |byte| byte.is_ascii_digit()) {
        0 => 0,
        len => mark + len,
    }
}

/// The length of the quoted text that `rest` begins with, quotes included.
fn quoted_len(rest: &[u8], quote: u8, has_escapes: bool) -> Option<usize> {
    let mut len = 1;
    loop {
        let inner = rest.get(len..)?;
        len += inner.iter().position(|&byte| byte == quote || (has_escapes && byte == b'\\'))?;
        match rest.get(len..)? {
            [b'\\', _, ..] if has_escapes && quote != b'\\' => len += 2,
            [first, second, ..] if *first == quote && first == second => len += 2,
            [first, ..] if *first == quote => return Some(len + 1),
            _ => return None,
        }
    }
}

/// `--` begins a comment only before white space, a control byte or the end.
fn begins_line_comment(rest: &[u8]) -> bool {
    matches!(rest, [b'-', b'-', after @ ..] if after.first().is_none_or(|byte| *byte <= b' ' || *byte == 0x7f))
}

fn line_len(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1)
}

/// The length of the comment that `rest` begins with; comments in it are skipped `nesting` levels deep.
fn comment_len(rest: &[u8], nesting: u32) -> Option<usize> {
    let mut len = 2;
    loop {
        match rest.get(len..)? {
            [b'*', b'/', ..] => return Some(len + 2),
            inner @ [b'/', b'*', ..] if nesting > 0 => len += comment_len(inner, nesting - 1)?,
            [] => return None,
            _ => len += 1,
        }
    }
}

#[cfg(test)]
mod tests;
