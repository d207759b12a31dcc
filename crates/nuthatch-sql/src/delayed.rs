//! Texts by which a row may be seen later than its statement was acknowledged, both MariaDB's: INSERT DELAYED, and LOCK TABLES … WRITE
//! CONCURRENT, behind which others see what was inserted when the lock goes. (MySQL takes the first word and inserts at once, as MariaDB
//! does in functions and triggers.)

use crate::classify::cursor::Cursor;
use crate::statement::Kind;
use crate::token::Lexing;
use crate::words::is_one_of;

/// Words of a text that may have a row inserted so, also by what it executes or calls.
const WORDS: [&[u8]; 4] = [b"delayed", b"concurrent", b"execute", b"call"];

/// Whether a statement of this kind may insert so. What a CALL runs does not stand in its text.
#[must_use]
pub fn may_insert_delayed(text: &[u8], kind: Kind, lexing: Lexing) -> bool {
    match kind {
        Kind::Insert | Kind::Replace => begins_delayed(text, lexing),
        Kind::Execute | Kind::Call => true,
        Kind::Multi | Kind::Begin | Kind::Explain | Kind::Lock | Kind::Other => has_word(text),
        Kind::Set => is_for_a_statement(text, lexing) && has_word(text),
        _ => false,
    }
}

/// `SET STATEMENT variable = value FOR …`.
fn is_for_a_statement(text: &[u8], lexing: Lexing) -> bool {
    Cursor::behind_first_word(text, lexing).peek_word(b"STATEMENT")
}

fn begins_delayed(text: &[u8], lexing: Lexing) -> bool {
    let cursor = Cursor::behind_first_word(text, lexing);
    cursor.peek_word(b"DELAYED") || cursor.has_executable && has_word(text)
}

/// Wherever it stands: in a string, too, which may be executed.
fn has_word(text: &[u8]) -> bool {
    let mut words = text.split(|byte| !byte.is_ascii_alphabetic());
    words.any(|word| is_one_of(word, &WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::classify;
    use crate::token::ServerFlavor;

    #[test]
    fn what_may_insert_later_is_found_in_all_its_forms() {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        for (text, expected) in [
            ("INSERT DELAYED INTO t VALUES (1)", true),
            (";replace /* soon */ delayed t VALUES (1)", true),
            ("INSERT /*!DELAYED*/ INTO t VALUES (1)", true),
            ("INSERT /*M!100000 DELAYED */ INTO t VALUES (1)", true),
            ("DO 1; INSERT DELAYED INTO t VALUES (1)", true),
            ("EXECUTE IMMEDIATE @a", true),
            ("CALL p()", true),
            ("BEGIN NOT ATOMIC EXECUTE IMMEDIATE @a; END", true),
            ("ANALYZE INSERT DELAYED INTO t VALUES (1)", true),
            ("SET STATEMENT max_statement_time=50 FOR INSERT DELAYED INTO t VALUES (1)", true),
            ("LOCK TABLES t WRITE CONCURRENT", true),
            ("LOCK TABLES t WRITE", false),
            ("SET @a = 'call'", false),
            ("INSERT INTO t VALUES ('delayed')", false),
            ("INSERT INTO delayed VALUES (1)", false),
            ("UPDATE t SET delayed = 1", false),
            ("BEGIN", false),
            ("DO 1; UPDATE t SET a = 1", false),
            ("ANALYZE TABLE t", false),
        ] {
            let kind = classify(text.as_bytes(), lexing).kind;
            assert_eq!(may_insert_delayed(text.as_bytes(), kind, lexing), expected, "{text}");
        }
    }
}
