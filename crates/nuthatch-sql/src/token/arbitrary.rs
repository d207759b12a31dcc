//! Lexings for tests with arbitrary values: each flag as often set as not, the server as the test wants it.

use proptest::prelude::*;

use super::{Lexing, ServerFlavor};

pub(crate) fn lexing_of(server: impl Strategy<Value = ServerFlavor>) -> impl Strategy<Value = Lexing> {
    (any::<[bool; 3]>(), server).prop_map(|(flags, server)| Lexing {
        ansi_quotes: flags[0],
        no_backslash_escapes: flags[1],
        ascii_in_characters: flags[2],
        server,
    })
}
