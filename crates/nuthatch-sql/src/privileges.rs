//! Texts that change what accounts may do. Servers look at privileges that hold everywhere, and at roles that are active by default, when
//! a connection logs in: one that is open keeps those of its login.

use crate::classify::cursor::Cursor;
use crate::statement::Kind;
use crate::token::Lexing;
use crate::words::{is_one_of, words};

/// Words of a text that changes privileges, in whatever statement of several.
const WORDS: [&[u8]; 3] = [b"grant", b"revoke", b"privileges"];

/// Pairs of words of such a text.
const PAIRS: [[&[u8]; 2]; 8] = [
    [b"default", b"role"],
    [b"create", b"role"],
    [b"drop", b"role"],
    [b"create", b"user"],
    [b"alter", b"user"],
    [b"drop", b"user"],
    [b"rename", b"user"],
    [b"replace", b"user"],
];

/// Variables by which other roles are active from the login on; in lower case.
pub const ROLE_VARIABLES: [&[u8]; 2] = [b"mandatory_roles", b"activate_all_roles_on_login"];

/// Whether a statement of this kind changes privileges. What it runs without saying so is not seen.
#[must_use]
pub fn changes_privileges(text: &[u8], kind: Kind, lexing: Lexing) -> bool {
    match kind {
        Kind::Grant => true,
        Kind::Ddl(_) => is_about_accounts(text, lexing),
        Kind::Set => is_set_for_all(text, lexing),
        Kind::Multi | Kind::Begin | Kind::Execute | Kind::Flush | Kind::Other => says_so(text),
        _ => false,
    }
}

/// `CREATE [OR REPLACE] USER`, `DROP ROLE` and the like.
fn is_about_accounts(text: &[u8], lexing: Lexing) -> bool {
    let mut cursor = Cursor::behind_first_word(text, lexing);
    cursor.take_words(&[b"OR", b"REPLACE"]);
    cursor.peek_word(b"USER") || cursor.peek_word(b"ROLE")
}

/// `SET DEFAULT ROLE …`, `SET GLOBAL mandatory_roles = …`, `SET STATEMENT … FOR GRANT …`.
fn is_set_for_all(text: &[u8], lexing: Lexing) -> bool {
    let cursor = Cursor::behind_first_word(text, lexing);
    cursor.peek_word(b"DEFAULT")
        || words(text).any(|word| is_one_of(word, &ROLE_VARIABLES))
        || cursor.peek_word(b"STATEMENT") && says_so(text)
}

fn says_so(text: &[u8]) -> bool {
    let mut before: &[u8] = b"";
    words(text).any(|word| {
        let before = std::mem::replace(&mut before, word);
        let is_pair = |[first, second]: &[&[u8]; 2]| {
            before.eq_ignore_ascii_case(first) && word.eq_ignore_ascii_case(second)
        };
        is_one_of(word, &WORDS) || PAIRS.iter().any(is_pair)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::classify;
    use crate::token::ServerFlavor;

    #[test]
    fn statements_about_privileges_are_told_from_others() {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
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
            ("SET STATEMENT lock_wait_timeout=5 FOR GRANT r TO u", true),
            ("DO 1; ALTER USER u DEFAULT ROLE r", true),
            ("DO 1; UPDATE user SET role = 1", false),
            ("SET ROLE r", false),
            ("SET @role = 'r', @a = 'GRANT'", false),
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
