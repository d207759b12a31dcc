//! What a SET assigns: a list that is written again is read as the same, and nothing is taken for a SET that does more.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{Assignment, Assignments, Kind, SetEffect, assignments, classify, render};

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    let Some(Assignments::List(list)) = assignments(query, lexing) else { return };
    assert!(!list.is_empty());
    let statement = classify(query, lexing);
    assert_eq!(statement.kind, Kind::Set);
    assert!(!statement.effects.runs_unseen_code && !statement.effects.disconnects);
    // What is known of a SET by its class is known here as well.
    match (&statement.effects.set, list.as_slice()) {
        (SetEffect::Autocommit(_), [Assignment::Session { variable, .. }]) => {
            assert_eq!(variable.name(), "autocommit");
        }
        (SetEffect::Names { .. }, [Assignment::Names { .. }])
        | (SetEffect::CharacterSet(_), [Assignment::CharacterSet(_)])
        | (SetEffect::Unknown, _) => {}
        (SetEffect::None, list) => {
            assert!(list.iter().all(|one| matches!(one, Assignment::Server { .. })));
        }
        (effect, list) => panic!("{effect:?} and {list:?}"),
    }
    if let Some(text) = render(&list, lexing) {
        assert_eq!(assignments(&text, lexing), Some(Assignments::List(list)));
    }
});
