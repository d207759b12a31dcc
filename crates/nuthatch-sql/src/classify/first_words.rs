//! What the first words of a statement tell: its kind, and what a statement of that kind does whatever stands in it.

use super::body::MAIN_WORDS;
use super::cursor::{Cursor, is_word};
use super::head::Head;
use super::set::set;
use super::shown::shown;
use super::transaction::{begin, commit, rollback, start};
use crate::statement::{Ddl, Kind, Name, PinReason, SetEffect, TransactionEnd};
use crate::token::TokenKind;

const WORD_BYTES_MAX: usize = 16;

/// The head of the statement that `cursor` stands before.
pub(super) fn head<'q>(cursor: &Cursor<'q>) -> Head<'q> {
    if cursor.peek_word(b"SELECT") {
        return Head { is_query: true, ..Head::reads(Kind::Select) }.without_table(true);
    }
    of_other_than_select(cursor.clone())
}

fn of_other_than_select<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    while cursor.take_symbol(b'(') {}
    let Some(token) = cursor.bump() else { return Head::unknown() };
    let mut buffer = [0; WORD_BYTES_MAX];
    let Some(lower) = buffer.get_mut(..token.text.len()).filter(|_| token.kind == TokenKind::Word) else {
        return Head::unknown();
    };
    lower.copy_from_slice(token.text);
    lower.make_ascii_lowercase();
    if lower == b"select" {
        return Head { is_query: true, ..Head::reads(Kind::Select) }.without_table(true);
    }
    of_word(lower, cursor)
}

fn of_word<'q>(lower: &[u8], cursor: Cursor<'q>) -> Head<'q> {
    match lower {
        b"insert" => Head::writes(Kind::Insert, TransactionEnd::No),
        b"update" => Head::writes(Kind::Update, TransactionEnd::No),
        b"delete" => Head::writes(Kind::Delete, TransactionEnd::No),
        b"replace" => Head::writes(Kind::Replace, TransactionEnd::No),
        b"set" => of_set(cursor),
        b"begin" => begin(cursor),
        b"start" => start(cursor),
        b"commit" => commit(cursor),
        b"rollback" => rollback(cursor),
        b"with" => with(cursor),
        b"show" => show(cursor),
        b"use" => of_use(cursor),
        b"savepoint" => Head::reads(Kind::Savepoint),
        b"release" if cursor.peek_word(b"SAVEPOINT") => Head::reads(Kind::Savepoint),
        b"values" => Head::reads(Kind::Select).without_table(true),
        b"table" => Head::reads(Kind::Select),
        b"explain" | b"describe" | b"desc" if runs_nothing(&cursor) => {
            Head::reads(Kind::Explain).without_table(explains_query(cursor))
        }
        b"explain" | b"describe" | b"desc" => explained(cursor),
        b"analyze" => analyze(cursor),
        b"do" => Head::reads(Kind::Do),
        b"handler" if opens_no_handler(cursor.clone()) => Head::reads(Kind::Handler),
        b"handler" => Head::reads(Kind::Handler).pinned(PinReason::Handler),
        b"create" | b"alter" | b"drop" | b"truncate" | b"rename" => ddl(lower, cursor),
        b"grant" | b"revoke" => Head::writes(Kind::Grant, TransactionEnd::Implicit),
        b"kill" => Head::writes(Kind::Kill, TransactionEnd::No),
        b"load" if cursor.peek_word(b"DATA") || cursor.peek_word(b"XML") => {
            Head::writes(Kind::LoadData, TransactionEnd::No)
        }
        _ => of_rare_word(lower, cursor),
    }
}

fn of_rare_word<'q>(lower: &[u8], mut cursor: Cursor<'q>) -> Head<'q> {
    match lower {
        b"call" | b"execute" => {
            let kind = if lower == b"call" { Kind::Call } else { Kind::Execute };
            let mut head = Head::writes(kind, TransactionEnd::Maybe);
            head.effects.runs_unseen_code = true;
            let is_prepared = kind == Kind::Execute && !cursor.peek_word(b"IMMEDIATE");
            if is_prepared { head.pinned(PinReason::PreparedStatement) } else { head }
        }
        b"prepare" => Head::reads(Kind::Prepare).pinned(PinReason::PreparedStatement),
        b"deallocate" => Head::reads(Kind::Deallocate),
        b"lock" => lock(cursor),
        b"unlock" => unlock(cursor),
        b"flush" => flush(cursor),
        b"backup" => Head::writes(Kind::Other, TransactionEnd::Implicit).pinned(PinReason::Backup),
        b"xa" if cursor.peek_word(b"RECOVER") => Head::reads(Kind::Xa),
        b"xa" if cursor.peek_word(b"COMMIT") || cursor.peek_word(b"ROLLBACK") => {
            let mut head = Head::writes(Kind::Xa, TransactionEnd::Maybe);
            head.effects.unpin = Some(PinReason::Xa);
            head
        }
        b"xa" => Head::writes(Kind::Xa, TransactionEnd::Maybe).pinned(PinReason::Xa),
        b"get" => {
            cursor.take_word(b"CURRENT");
            // It runs what its expressions call, and no more.
            let mut head = match cursor.peek_word(b"DIAGNOSTICS") {
                true => Head::writes(Kind::Other, TransactionEnd::Maybe),
                false => Head::unknown(),
            };
            head.effects.reads_diagnostics = true;
            head
        }
        b"shutdown" | b"restart" => {
            let mut head = Head::unknown();
            head.effects.disconnects = true;
            head
        }
        b"optimize" | b"check" | b"repair" | b"install" | b"uninstall" | b"cache" | b"reset" | b"purge"
        | b"change" | b"stop" | b"checksum" | b"clone" | b"import" => {
            Head::writes(Kind::Other, TransactionEnd::Maybe)
        }
        b"help" => Head::reads(Kind::Other),
        b"if" | b"case" | b"loop" | b"repeat" | b"while" | b"for" | b"declare" => Head::block(),
        _ => Head::unknown(),
    }
}

fn of_set<'q>(cursor: Cursor<'q>) -> Head<'q> {
    let set = set(cursor);
    let mut head = Head::reads(Kind::Set);
    head.effects.writes = set.writes;
    head.effects.ends_transaction = set.ends_transaction;
    head.effects.set = set.effect;
    head
}

fn of_use<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    let mut head = Head::reads(Kind::Use);
    let name = cursor.bump().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted));
    head.effects.set = match name {
        Some(name) if cursor.at_end() => SetEffect::Schema(Name(name.text)),
        _ => SetEffect::Unknown,
    };
    head
}

/// WITH: the main statement is the first that no parenthesis holds.
fn with<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    let mut depth = 0_u32;
    let mut after_query = false;
    while !cursor.at_end() {
        let Some(token) = cursor.bump() else { break };
        let is_query_end = depth == 1 && token.kind == TokenKind::Symbol(b')');
        match token.kind {
            TokenKind::Symbol(b'(') if depth == 0 && after_query => return with_main(b"SELECT"),
            TokenKind::Symbol(b'(') => depth += 1,
            TokenKind::Symbol(b')') => depth = depth.saturating_sub(1),
            TokenKind::Word if depth == 0 => {
                if let Some(main) = MAIN_WORDS.iter().find(|word| is_word(token, word)) {
                    return with_main(main);
                }
            }
            _ => {}
        }
        after_query = is_query_end;
    }
    Head::unknown()
}

/// The main statement of a WITH begins with `word`.
fn with_main<'q>(word: &[u8]) -> Head<'q> {
    let head = match word {
        b"UPDATE" => Head::writes(Kind::Update, TransactionEnd::No),
        b"DELETE" => Head::writes(Kind::Delete, TransactionEnd::No),
        b"INSERT" => Head::writes(Kind::Insert, TransactionEnd::No),
        b"REPLACE" => Head::writes(Kind::Replace, TransactionEnd::No),
        _ => {
            let is_select = word == b"SELECT";
            Head { is_query: is_select, ..Head::reads(Kind::Select) }.without_table(is_select)
        }
    };
    Head { is_with: true, ..head }
}

fn show<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    let mut head = Head { is_query: shown(cursor.clone()).is_some(), ..Head::reads(Kind::Show) };
    head.effects.reads_diagnostics =
        cursor.peek_word(b"WARNINGS") || cursor.peek_word(b"ERRORS") || cursor.take_word(b"COUNT");
    head
}

/// `ANALYZE TABLE` is maintenance; `ANALYZE [FORMAT=JSON] statement` (MariaDB) runs the statement.
fn analyze<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    cursor.take_word(b"NO_WRITE_TO_BINLOG");
    cursor.take_word(b"LOCAL");
    if cursor.peek_word(b"TABLE") || cursor.peek_word(b"TABLES") {
        return Head::writes(Kind::Other, TransactionEnd::Implicit);
    }
    explained(cursor)
}

/// EXPLAIN without ANALYZE looks at the plan only.
fn runs_nothing(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    while !ahead.at_end() {
        if ahead.take_word(b"ANALYZE") {
            return false;
        }
        ahead.bump();
    }
    true
}

/// Whether a SELECT or VALUES stands behind EXPLAIN and its options.
fn explains_query(mut cursor: Cursor<'_>) -> bool {
    for option in [&b"EXTENDED"[..], b"PARTITIONS", b"ANALYZE"] {
        cursor.take_word(option);
    }
    if cursor.take_word(b"FORMAT") && cursor.take_symbol(b'=') {
        cursor.bump();
    }
    while cursor.take_symbol(b'(') {}
    cursor.peek_word(b"SELECT") || cursor.peek_word(b"VALUES")
}

/// A statement that is run to be explained: only a query is known to read.
fn explained<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    cursor.take_word(b"ANALYZE");
    if cursor.take_word(b"FORMAT") && cursor.take_symbol(b'=') {
        cursor.bump();
    }
    while cursor.take_symbol(b'(') {}
    let mut head = Head::reads(Kind::Explain).without_table(explains_query(cursor.clone()));
    head.effects.writes = !cursor.peek_word(b"SELECT");
    head
}

fn ddl<'q>(lower: &[u8], mut cursor: Cursor<'q>) -> Head<'q> {
    let kind = match lower {
        b"create" => Ddl::Create,
        b"alter" => Ddl::Alter,
        b"drop" => Ddl::Drop,
        b"truncate" => Ddl::Truncate,
        _ => Ddl::Rename,
    };
    cursor.take_words(&[b"OR", b"REPLACE"]);
    if kind == Ddl::Drop && cursor.peek_word(b"PREPARE") {
        return Head::reads(Kind::Deallocate);
    }
    if matches!(kind, Ddl::Create | Ddl::Drop) && cursor.take_word(b"TEMPORARY") {
        let head = Head::writes(Kind::Ddl(kind), TransactionEnd::No);
        return if kind == Ddl::Create { head.pinned(PinReason::TemporaryTable) } else { head };
    }
    let head = Head::writes(Kind::Ddl(kind), TransactionEnd::Implicit);
    if matches!(kind, Ddl::Create | Ddl::Alter) && !makes_no_routine(&cursor) {
        return Head { has_routine: true, ..head };
    }
    head
}

/// What is created or altered is surely nothing with a body of statements.
fn makes_no_routine(cursor: &Cursor<'_>) -> bool {
    [
        &b"TABLE"[..],
        b"INDEX",
        b"UNIQUE",
        b"FULLTEXT",
        b"SPATIAL",
        b"DATABASE",
        b"SCHEMA",
        b"VIEW",
        b"USER",
        b"ROLE",
        b"SEQUENCE",
        b"SERVER",
        b"TABLESPACE",
    ]
    .iter()
    .any(|word| cursor.peek_word(word))
}

fn lock<'q>(cursor: Cursor<'q>) -> Head<'q> {
    if cursor.peek_word(b"INSTANCE") {
        return Head::writes(Kind::Lock, TransactionEnd::Maybe).pinned(PinReason::Backup);
    }
    Head::writes(Kind::Lock, TransactionEnd::Implicit).pinned(PinReason::LockTables)
}

fn unlock<'q>(cursor: Cursor<'q>) -> Head<'q> {
    let mut head = Head::writes(Kind::Unlock, TransactionEnd::Maybe);
    head.effects.unpin = if cursor.peek_word(b"TABLE") || cursor.peek_word(b"TABLES") {
        Some(PinReason::LockTables)
    } else if cursor.peek_word(b"INSTANCE") {
        Some(PinReason::Backup)
    } else {
        None
    };
    head
}

/// FLUSH TABLES may hold a lock until UNLOCK TABLES: with READ LOCK or FOR EXPORT anywhere in it.
fn flush<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    let head = Head::writes(Kind::Flush, TransactionEnd::Implicit);
    cursor.take_word(b"NO_WRITE_TO_BINLOG");
    cursor.take_word(b"LOCAL");
    if !(cursor.take_word(b"TABLES") || cursor.take_word(b"TABLE")) {
        return head;
    }
    while !cursor.at_end() {
        if cursor.take_words(&[b"READ", b"LOCK"]) || cursor.take_words(&[b"FOR", b"EXPORT"]) {
            return head.pinned(PinReason::FlushTablesWithReadLock);
        }
        cursor.bump();
    }
    head
}

/// Whether the HANDLER statement whose first word is behind `cursor` surely opens none: it reads or closes one.
fn opens_no_handler(mut cursor: Cursor<'_>) -> bool {
    let is_named =
        cursor.take_name().is_some() && (!cursor.take_symbol(b'.') || cursor.take_name().is_some());
    is_named && (cursor.take_word(b"READ") || cursor.take_word(b"CLOSE")) && !cursor.has_executable
}
