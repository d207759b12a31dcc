//! Questions that a session answers by itself: no statement is one that does anything, or that is not understood.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{Kind, classify, session_question};

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    let Some(question) = session_question(query, lexing) else { return };
    let name = question.column.as_written();
    assert!(!name.is_empty() && query.windows(name.len()).any(|part| part == name));
    assert!(question.column.text().len() <= name.len());
    let statement = classify(query, lexing);
    assert_eq!(statement.kind, Kind::Select);
    assert!(statement.cache.is_err());
    assert!(!statement.effects.writes && !statement.effects.runs_unseen_code);
});
