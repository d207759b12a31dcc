//! What a statement is: any bytes are classified, and what is cacheable neither writes nor locks.
//!
//! That it holds no clause that locks or writes is asked twice: of its tokens, and, where it has neither quotes nor comments,
//! of its words as they stand, without the tokens.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{Kind, Lexing, SetEffect, TokenKind, Tokens, TransactionEnd, classify};

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    let statement = classify(query, lexing);
    assert!(query.get(statement.first_word.clone()).is_some());
    if statement.cache.is_err() {
        return;
    }
    assert_eq!(statement.kind, Kind::Select);
    let effects = &statement.effects;
    assert!(!effects.writes && !effects.runs_unseen_code && !effects.disconnects);
    assert_eq!((effects.pin, effects.unpin), (None, None));
    assert_eq!((&effects.set, effects.ends_transaction), (&SetEffect::None, TransactionEnd::No));
    assert!(!effects.reads_insert_id && !effects.reads_found_rows && !effects.reads_row_count);
    assert!(!effects.reads_diagnostics);
    check_words(&words_of_tokens(query, lexing));
    if let Some(words) = words_as_they_stand(query) {
        check_words(&words);
    }
});

/// Words and single symbols, without white space and comments; all other tokens are empty.
fn words_of_tokens(query: &[u8], lexing: Lexing) -> Vec<Vec<u8>> {
    Tokens::new(query, lexing)
        .filter_map(|token| match token.kind {
            TokenKind::Word | TokenKind::Symbol(_) => Some(token.text.to_ascii_uppercase()),
            TokenKind::Unclosed | TokenKind::UnclearOpen | TokenKind::UserVariable => {
                panic!("{:?} is not cacheable", token.kind)
            }
            TokenKind::Space
            | TokenKind::Comment
            | TokenKind::ExecutableOpen
            | TokenKind::ExecutableClose => None,
            _ => Some(Vec::new()),
        })
        .collect()
}

/// The same of a text in which nothing but white space, words and symbols can be.
fn words_as_they_stand(query: &[u8]) -> Option<Vec<Vec<u8>>> {
    let is_word = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_plain =
        query.iter().all(|&byte| is_word(byte) || byte.is_ascii_whitespace() || b",().=*<>".contains(&byte));
    let words = || query.chunk_by(|a, b| is_word(*a) && is_word(*b));
    is_plain.then(|| {
        words().filter(|word| !word[0].is_ascii_whitespace()).map(<[u8]>::to_ascii_uppercase).collect()
    })
}

fn check_words(words: &[Vec<u8>]) {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    for (place, word) in words.iter().enumerate() {
        let is_name = place.checked_sub(1).is_some_and(|before| words[before] == b".");
        let after = &words[place + 1..];
        let is_forbidden = match *word {
            b"FOR" => matches!(after.first(), Some(&(b"UPDATE" | b"SHARE"))),
            b"LOCK" => after.starts_with(&[b"IN", b"SHARE", b"MODE"]),
            // No server's SELECT has it before a parenthesis.
            b"INTO" => after.first() != Some(&b"(".as_slice()),
            _ => false,
        };
        assert!(is_name || !is_forbidden, "{} is cacheable", String::from_utf8_lossy(&words.join(&b' ')));
    }
}
