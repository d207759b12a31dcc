//! The settings of SQL's tokens, from the first byte.

use nuthatch_sql::{Lexing, ServerFlavor};

/// Versions on both sides of what the lexer distinguishes.
const VERSIONS: [u32; 4] = [101_106, 80_036, 50_700, 120_300];

/// Takes the settings off the input: `@` stands for MariaDB 10.11.6 with the default SQL mode, `X` for MySQL 8.0.36.
#[must_use]
pub fn split_lexing(input: &[u8]) -> Option<(Lexing, &[u8])> {
    let (&settings, query) = input.split_first()?;
    let has = |bit: u8| settings & 1 << bit != 0;
    let version = VERSIONS.get(usize::from(settings >> 4 & 3)).copied()?;
    let lexing = Lexing {
        ansi_quotes: has(0),
        no_backslash_escapes: has(1),
        ascii_in_characters: has(2),
        server: if has(3) { ServerFlavor::MySql(version) } else { ServerFlavor::MariaDb(version) },
    };
    Some((lexing, query))
}
