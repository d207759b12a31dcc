//! Tokens lie side by side and cover the whole statement, under every SQL mode and for every server.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{TokenKind, Tokens};

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    let (mut end, mut is_over) = (0, false);
    for token in Tokens::new(query, lexing) {
        assert!(!is_over, "nothing follows the token of no bytes");
        assert_eq!(token.start, end);
        end += token.text.len();
        assert_eq!(query.get(token.start..end), Some(token.text));
        if token.kind == TokenKind::Unclosed {
            assert_eq!(end, query.len());
        }
        is_over = token.text.is_empty();
        assert!(!is_over || token.kind == TokenKind::Unclosed);
        if let TokenKind::Symbol(symbol) = token.kind {
            assert_eq!(token.text, [symbol]);
        }
    }
    assert_eq!(end, query.len());
});
