//! PREPARE, EXECUTE and DEALLOCATE as text: only such statements are ones; and a statement's shape is that of its like.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{Kind, TextPrepared, classify, shape, text_prepared};

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    let mut out = Vec::new();
    if shape(query, lexing, &mut out) {
        assert!(out.len() <= query.len());
        check_likes(query, lexing);
    }
    let Some(asked) = text_prepared(query, lexing) else { return };
    let expected = match asked {
        TextPrepared::Prepare { name, statement } => {
            assert!(name.len() < query.len());
            assert!(statement.is_none_or(|statement| statement.len() < query.len()));
            Kind::Prepare
        }
        TextPrepared::Execute { name } => {
            assert!(name.len() < query.len());
            Kind::Execute
        }
        TextPrepared::Deallocate { name } => {
            assert!(name.len() < query.len());
            Kind::Deallocate
        }
    };
    assert_eq!(classify(query, lexing).kind, expected);
});

/// A statement with other digits is of the same class, if it only reads or writes rows.
fn check_likes(query: &[u8], lexing: nuthatch_sql::Lexing) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let other: Vec<u8> =
        query.iter().map(|byte| if byte.is_ascii_digit() { b'9' - (byte - b'0') } else { *byte }).collect();
    if !shape(query, lexing, &mut first) || !shape(&other, lexing, &mut second) || first != second {
        return;
    }
    let (one, two) = (classify(query, lexing), classify(&other, lexing));
    let moves_rows =
        matches!(one.kind, Kind::Select | Kind::Insert | Kind::Update | Kind::Delete | Kind::Replace);
    if moves_rows {
        assert_eq!((one.kind, one.cache, one.effects), (two.kind, two.cache, two.effects));
    }
}
