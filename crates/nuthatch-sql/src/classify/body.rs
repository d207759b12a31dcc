//! What stands anywhere in a statement: variables, function calls, and the clauses that a query must not have to be cached.
//!
//! One pass to the end of the statement. It needs no grammar because the words it looks for are reserved, or stand before a
//! parenthesis, or both; a word after a dot is a name.

use super::cursor::{Cursor, is_word};
use crate::function::{Function, is_stored_if_apart, lookup};
use crate::statement::{NotCacheable, PinReason};
use crate::token::{Token, TokenKind};

/// What was found.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one scan")]
pub(super) struct Body {
    pub(super) blocked: Option<NotCacheable>,
    pub(super) volatile: Option<&'static str>,
    /// A function that is the session's own, or another each time.
    pub(super) of_session: Option<&'static str>,
    pub(super) pin: Option<PinReason>,
    pub(super) unpin: Option<PinReason>,
    pub(super) reads_diagnostics: bool,
    pub(super) reads_insert_id: bool,
    pub(super) reads_found_rows: bool,
    pub(super) reads_row_count: bool,
    pub(super) reads_oracle_row_count: bool,
    pub(super) calls_unknown: bool,
    pub(super) writes: bool,
    pub(super) has_from: bool,
    /// User variables are values in it, unless they are assigned to or stand behind INTO.
    pub(super) reads_variables: bool,
    /// In the names and queries of WITH, before the main statement: how many parentheses are open.
    pub(super) with_depth: Option<u32>,
    /// A name before a parenthesis is that of a table or key, not of a function, up to one of these words.
    pub(super) names_until: &'static [&'static [u8]],
}

/// What stood before a token, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Dot,
    /// AS: what follows is an alias or a type, and a parenthesis after it opens no arguments.
    As,
    /// But for `information_schema`, of which the footprint tells more.
    SystemSchema,
    /// A closing parenthesis.
    Close,
    Other,
}

/// System variables that are the server's for good, or that a session has from its login on and changes by SET alone: what any SELECT
/// rests on. Not those that a login (`max_statement_time` of an account), a schema or a statement sets, nor those that the proxy has a hand in,
/// nor InnoDB's, which MariaDB gives a session when it first reads one.
#[rustfmt::skip]
const CACHEABLE_VARIABLES: [&str; 23] = [
    "version", "version_comment",
    "auto_increment_increment", "auto_increment_offset", "default_storage_engine", "div_precision_increment",
    "foreign_key_checks", "group_concat_max_len", "lc_messages", "lc_time_names", "lock_wait_timeout",
    "max_allowed_packet", "max_execution_time", "net_read_timeout", "net_write_timeout", "sql_mode",
    "sql_safe_updates", "sql_select_limit", "time_zone", "transaction_isolation", "tx_isolation",
    "transaction_read_only", "unique_checks",
];

/// Words that begin the main statement after WITH.
pub(super) const MAIN_WORDS: [&[u8]; 7] =
    [b"SELECT", b"UPDATE", b"DELETE", b"INSERT", b"REPLACE", b"VALUES", b"TABLE"];

impl Body {
    /// Takes all tokens up to the end of this statement or its semicolon.
    pub(super) fn scan(&mut self, cursor: &mut Cursor<'_>) {
        let mut before = Before::Other;
        while let Some(token) = cursor.peek() {
            if token.kind == TokenKind::Symbol(b';') {
                break;
            }
            cursor.advance();
            before = match token.kind {
                TokenKind::Word => self.word(token, before, cursor),
                TokenKind::Symbol(symbol) => self.symbol(symbol, before, cursor),
                TokenKind::Quoted => self.quoted(token, before, cursor),
                TokenKind::UserVariable => {
                    self.block(NotCacheable::UserVariable);
                    if !self.reads_variables || cursor.peek_symbol(b':') {
                        self.pin.get_or_insert(PinReason::UserVariable);
                    }
                    Before::Other
                }
                TokenKind::SystemVariable => self.system_variable(token, cursor),
                _ => Before::Other,
            };
        }
    }

    pub(super) fn block(&mut self, reason: NotCacheable) {
        self.blocked.get_or_insert(reason);
    }

    #[inline]
    fn word(&mut self, token: Token<'_>, before: Before, cursor: &Cursor<'_>) -> Before {
        if self.names_until.iter().any(|word| is_word(token, word)) {
            self.names_until = &[];
        }
        let opens_arguments = self.names_until.is_empty() && cursor.peek_symbol(b'(');
        if before == Before::Dot {
            if opens_arguments {
                self.call_unknown();
            } else if is_of_sequence(token.text) {
                self.sequence();
            }
            return Before::Other;
        }
        if self.with_depth == Some(0) {
            if MAIN_WORDS.iter().any(|word| is_word(token, word)) {
                self.with_depth = None;
            }
        } else if opens_arguments && before != Before::As && !self.keyword(token, cursor) {
            let is_apart = cursor.peek().is_some_and(|next| next.start != token.start + token.text.len());
            if is_apart && is_stored_if_apart(token.text) {
                self.call_unknown();
            } else {
                self.call(token.text, cursor);
            }
            return Before::Other;
        }
        if !opens_arguments {
            self.keyword(token, cursor);
        }
        match token.text {
            [b'a' | b'A', b's' | b'S'] => Before::As,
            name if name.len() >= 3 && cursor.peek_symbol(b'.') && is_system_schema(name) => {
                Before::SystemSchema
            }
            _ => Before::Other,
        }
    }

    /// Looks at a word that is not a call; true if it is one of the keywords looked for.
    #[inline]
    fn keyword(&mut self, token: Token<'_>, cursor: &Cursor<'_>) -> bool {
        let Some(first) = token.text.first() else { return false };
        match (first | 0x20, token.text.len()) {
            (b'f', 3) if is_word(token, b"FOR") => self.keyword_for(cursor),
            (b'f', 4) if is_word(token, b"FROM") => self.has_from |= !cursor.peek_word(b"DUAL"),
            (b'l', 4) if is_word(token, b"LOCK") => self.block(NotCacheable::Locking),
            (b'i', 4) if is_word(token, b"INTO") => self.keyword_into(cursor),
            // `SQL%ROWCOUNT`, in Oracle mode. The word is reserved, so nothing else can be.
            (b's', 3) if is_word(token, b"SQL") && cursor.peek_symbol(b'%') => {
                self.row_count();
                self.reads_oracle_row_count = true;
            }
            (b'v', 5) if is_word(token, b"VALUE") && cursor.peek_word(b"FOR") => self.sequence(),
            (b'p', 9) if is_word(token, b"PROCEDURE") => self.block(NotCacheable::Procedure),
            (b'c', 12) if is_word(token, b"CURRENT_ROLE") => {
                self.block(NotCacheable::Function("current_role"));
            }
            // Without parentheses in Oracle mode.
            (b's', 7) if is_word(token, b"SYSDATE") => {
                self.volatile.get_or_insert("the clock");
            }
            (b's', 12) if is_word(token, b"SQL_NO_CACHE") => self.block(NotCacheable::SqlNoCache),
            (b's', 19) if is_word(token, b"SQL_CALC_FOUND_ROWS") => {
                self.pin.get_or_insert(PinReason::FoundRows);
            }
            (b'c' | b'l' | b'u', 8..=17) if is_clock(token.text) => {
                self.volatile.get_or_insert("the clock");
            }
            _ => return false,
        }
        true
    }

    /// FOR also stands in index hints and in SUBSTRING, where it does no harm.
    fn keyword_for(&mut self, cursor: &Cursor<'_>) {
        if cursor.peek_word(b"UPDATE") || cursor.peek_word(b"SHARE") {
            self.block(NotCacheable::Locking);
        } else if cursor.peek_word(b"SYSTEM_TIME") {
            self.block(NotCacheable::SystemTime);
        }
    }

    fn keyword_into(&mut self, cursor: &Cursor<'_>) {
        self.block(NotCacheable::Into);
        if cursor.peek().is_some_and(|token| token.kind == TokenKind::UserVariable) {
            self.pin.get_or_insert(PinReason::UserVariable);
        } else {
            self.writes = true;
        }
    }

    fn sequence(&mut self) {
        self.block(NotCacheable::Locking);
        self.writes = true;
    }

    fn quoted(&mut self, token: Token<'_>, before: Before, cursor: &Cursor<'_>) -> Before {
        let name = token.text.get(1..token.text.len().saturating_sub(1)).unwrap_or_default();
        let may_call = before != Before::As && self.with_depth != Some(0) && self.names_until.is_empty();
        if may_call && cursor.peek_symbol(b'(') {
            // The server takes some names for its own functions even in quotes, others not.
            match lookup(name) {
                Function::Pure | Function::OfTimeZone(_) | Function::Volatile(_) => self.call_unknown(),
                _ if before == Before::Dot => self.call_unknown(),
                _ => self.call(name, cursor),
            }
        }
        if before == Before::Dot && is_of_sequence(name) {
            self.sequence();
        }
        if before != Before::Dot && is_system_schema(name) { Before::SystemSchema } else { Before::Other }
    }

    /// A call by this name, whose parenthesis comes next.
    fn call(&mut self, name: &[u8], cursor: &Cursor<'_>) {
        match lookup(name) {
            Function::Pure => {}
            Function::OfTimeZone(name) => {
                let mut ahead = cursor.clone();
                ahead.advance();
                if ahead.peek_symbol(b')') {
                    self.volatile.get_or_insert(name);
                }
            }
            Function::Volatile(name) => {
                self.volatile.get_or_insert(name);
            }
            Function::Session(name) => {
                self.block(NotCacheable::Function(name));
                self.of_session.get_or_insert(name);
            }
            Function::InsertId => {
                self.block(NotCacheable::Function("last_insert_id"));
                self.reads_insert_id = true;
            }
            Function::FoundRows => {
                self.block(NotCacheable::Function("found_rows"));
                self.reads_found_rows = true;
            }
            Function::RowCount => self.row_count(),
            Function::GetLock => {
                self.block(NotCacheable::Function("get_lock"));
                self.pin.get_or_insert(PinReason::GetLock);
            }
            Function::ReleaseAllLocks => {
                self.block(NotCacheable::Function("release_all_locks"));
                self.unpin = Some(PinReason::GetLock);
            }
            Function::Sequence => self.sequence(),
            Function::Unknown => self.call_unknown(),
        }
    }

    fn row_count(&mut self) {
        self.block(NotCacheable::Function("row_count"));
        self.reads_row_count = true;
    }

    fn call_unknown(&mut self) {
        self.block(NotCacheable::UnknownFunction);
        self.calls_unknown = true;
    }

    fn symbol(&mut self, symbol: u8, before: Before, cursor: &Cursor<'_>) -> Before {
        match symbol {
            b'.' => {
                if before == Before::SystemSchema {
                    self.volatile.get_or_insert("a system schema");
                }
                return Before::Dot;
            }
            // After a query of WITH, a parenthesis begins the main statement.
            b'(' if before == Before::Close && self.with_depth == Some(0) => self.with_depth = None,
            b'(' => self.with_depth = self.with_depth.map(|depth| depth + 1),
            b')' => {
                self.with_depth = self.with_depth.map(|depth| depth.saturating_sub(1));
                return Before::Close;
            }
            b',' | b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'!' | b'&' | b'|' | b'^'
            | b'~' | b':' | b'?' | b'{' | b'}' => {}
            // \N is NULL.
            b'\\' if cursor.peek().is_some_and(|token| token.text == b"N") => {}
            _ => self.block(NotCacheable::NotUnderstood),
        }
        Before::Other
    }

    fn system_variable(&mut self, token: Token<'_>, cursor: &Cursor<'_>) -> Before {
        let name = token.text.get(2..).unwrap_or_default();
        let scoped = ["session.", "local."].iter().find_map(|scope| {
            let (head, name) = name.split_at_checked(scope.len())?;
            head.eq_ignore_ascii_case(scope.as_bytes()).then_some(name)
        });
        let is_one_of = |names: &[&str]| {
            names.iter().any(|known| scoped.unwrap_or(name).eq_ignore_ascii_case(known.as_bytes()))
        };
        // Spaces around the dot, or quotes: the name is not looked for, everything is possible.
        let is_split = cursor.peek_symbol(b'.') || token.text.contains(&b'`') || name.ends_with(b".");
        if is_split || !is_one_of(&CACHEABLE_VARIABLES) {
            self.block(NotCacheable::SystemVariable);
        }
        self.reads_insert_id |= is_split || is_one_of(&["last_insert_id", "identity"]);
        self.reads_diagnostics |= is_split || is_one_of(&["warning_count", "error_count"]);
        Before::Other
    }
}

/// A schema of the server's own, but for `information_schema`.
pub(crate) fn is_system_schema(name: &[u8]) -> bool {
    [&b"performance_schema"[..], b"mysql", b"sys"].iter().any(|schema| name.eq_ignore_ascii_case(schema))
}

/// What stands behind the name of a sequence in Oracle mode, also in quotes (MariaDB 10.11).
fn is_of_sequence(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"NEXTVAL") || name.eq_ignore_ascii_case(b"CURRVAL")
}

/// The functions of the clock that need no parentheses.
fn is_clock(word: &[u8]) -> bool {
    [
        &b"CURRENT_DATE"[..],
        b"CURRENT_TIME",
        b"CURRENT_TIMESTAMP",
        b"LOCALTIME",
        b"LOCALTIMESTAMP",
        b"UTC_DATE",
        b"UTC_TIME",
        b"UTC_TIMESTAMP",
    ]
    .iter()
    .any(|clock| word.eq_ignore_ascii_case(clock))
}
