//! Statements that begin, end and mark transactions. Only forms that are understood whole are named.

use super::cursor::Cursor;
use super::head::Head;
use crate::statement::{Kind, TransactionEnd};

pub(super) fn begin<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    cursor.take_word(b"WORK");
    // MariaDB has compound statements that begin with this word.
    if cursor.at_end() { Head::ends(Kind::Begin, TransactionEnd::Implicit) } else { Head::block() }
}

pub(super) fn start<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    if !cursor.take_word(b"TRANSACTION") {
        return Head::unknown();
    }
    loop {
        let known =
            [&[&b"WITH"[..], b"CONSISTENT", b"SNAPSHOT"][..], &[b"READ", b"ONLY"], &[b"READ", b"WRITE"]]
                .iter()
                .any(|words| cursor.take_words(words));
        if cursor.at_end() {
            return Head::ends(Kind::Begin, TransactionEnd::Implicit);
        }
        if !known || !cursor.take_symbol(b',') {
            return Head::unknown();
        }
    }
}

/// What may follow COMMIT and ROLLBACK: whether a chain, whether a release; none if something else.
fn completion(cursor: &mut Cursor<'_>) -> Option<(bool, bool)> {
    cursor.take_word(b"WORK");
    let no_chain = cursor.take_words(&[b"AND", b"NO", b"CHAIN"]);
    let chain = !no_chain && cursor.take_words(&[b"AND", b"CHAIN"]);
    let release = !cursor.take_words(&[b"NO", b"RELEASE"]) && cursor.take_word(b"RELEASE");
    cursor.at_end().then_some((chain, release))
}

pub(super) fn commit<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    let Some((chain, release)) = completion(&mut cursor) else { return Head::unknown() };
    let end = if chain { TransactionEnd::CommitAndChain } else { TransactionEnd::Commit };
    let mut head = Head::ends(Kind::Commit, end);
    head.effects.disconnects = release;
    head
}

pub(super) fn rollback<'q>(mut cursor: Cursor<'q>) -> Head<'q> {
    let mut ahead = cursor.clone();
    ahead.take_word(b"WORK");
    if ahead.take_word(b"TO") {
        return Head::reads(Kind::Savepoint);
    }
    let Some((chain, release)) = completion(&mut cursor) else { return Head::unknown() };
    let end = if chain { TransactionEnd::RollbackAndChain } else { TransactionEnd::Rollback };
    let mut head = Head::ends(Kind::Rollback, end);
    head.effects.disconnects = release;
    head
}
