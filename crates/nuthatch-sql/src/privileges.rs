//! Texts that change what accounts may do. Servers look at privileges that hold everywhere, and at roles that are active by default, when
//! a connection logs in: one that is open keeps those of its login.

use crate::classify::cursor::Cursor;
use crate::statement::Kind;
use crate::token::Lexing;

/// Words of a text that changes privileges, in whatever statement of several.
const WORDS: [&[u8]; 4] = [b"grant", b"revoke", b"role", b"privileges"];

/// Words of a SET that does.
const SET_WORDS: [&[u8]; 3] = [b"role", b"mandatory_roles", b"activate_all_roles_on_login"];

/// Whether a statement of this kind changes privileges. What it runs without saying so is not seen.
#[must_use]
pub fn changes_privileges(text: &[u8], kind: Kind, lexing: Lexing) -> bool {
    match kind {
        Kind::Grant => true,
        Kind::Ddl(_) => is_about_accounts(text, lexing),
        Kind::Set => has_one_of(text, &SET_WORDS) && !sets_own_role(text, lexing),
        Kind::Flush => has_one_of(text, &WORDS),
        Kind::Multi | Kind::Begin | Kind::Execute | Kind::Other => has_one_of(text, &WORDS),
        _ => false,
    }
}

/// `CREATE [OR REPLACE] USER`, `DROP ROLE` and the like.
fn is_about_accounts(text: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::new(text, lexing);
    while cursor.take_symbol(b';') {}
    cursor.advance();
    cursor.take_words(&[b"OR", b"REPLACE"]);
    cursor.peek_word(b"USER") || cursor.peek_word(b"ROLE")
}

/// `SET ROLE …`, which holds for the session.
fn sets_own_role(text: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::new(text, lexing);
    while cursor.take_symbol(b';') {}
    cursor.advance();
    cursor.peek_word(b"ROLE")
}

fn has_one_of(text: &[u8], known: &[&[u8]]) -> bool {
    let mut words = text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    words.any(|word| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::classify;
    use crate::token::ServerFlavor;

    #[test]
    fn statements_about_privileges_are_told_from_others() {
        let lexing = Lexing {
            ansi_quotes: false,
            no_backslash_escapes: false,
            ascii_in_characters: false,
            server: ServerFlavor::MariaDb(101_119),
        };
        for (text, expected) in [
            ("GRANT SELECT ON *.* TO u", true),
            ("REVOKE ALL ON s.* FROM u", true),
            ("create /* an */ user u", true),
            ("CREATE OR REPLACE ROLE r", true),
            ("DROP USER IF EXISTS u", true),
            ("RENAME USER a TO b", true),
            ("ALTER USER u DEFAULT ROLE r", true),
            ("SET DEFAULT ROLE r FOR u", true),
            ("SET GLOBAL mandatory_roles = 'r'", true),
            ("FLUSH PRIVILEGES", true),
            ("DO 1; GRANT SELECT ON *.* TO u", true),
            ("EXECUTE IMMEDIATE 'REVOKE r FROM u'", true),
            ("SET ROLE r", false),
            ("SET @a = 1", false),
            ("CREATE TABLE user (id INT)", false),
            ("DROP TABLE role", false),
            ("FLUSH TABLES", false),
            ("SELECT role FROM t", false),
            ("UPDATE t SET role = 1", false),
        ] {
            let kind = classify(text.as_bytes(), lexing).kind;
            assert_eq!(changes_privileges(text.as_bytes(), kind, lexing), expected, "{text}");
        }
    }
}
