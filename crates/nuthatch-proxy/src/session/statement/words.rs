//! Words in a statement that say what it asks of its session or connection.

use std::sync::Arc;

use memchr::memchr2_iter;
use nuthatch_sql::{Kind, Lexing, Sequences, ServerFlavor, sequences};

use crate::stats::pins::Pins;

/// Whether a statement may ask for numbers of connections that can be put into its text.
pub(crate) fn asks_for_numbers(kind: Kind, text: &[u8]) -> bool {
    let may_be_changed = matches!(
        kind,
        Kind::Select
            | Kind::Insert
            | Kind::Replace
            | Kind::Update
            | Kind::Delete
            | Kind::Do
            | Kind::Set
            | Kind::Call
    );
    may_be_changed && (names(text, b"connection_id") || names(text, b"is_used_lock"))
}

const LAST_GTID: &[u8] = b"last_gtid";

/// The sequences in a text, if the server has any.
pub(crate) fn sequences_in(text: &[u8], lexing: Lexing) -> Option<Arc<Sequences>> {
    let words = [&b"nextval"[..], b"lastval", b"currval", b"value for", b"previous"];
    let is_mariadb = matches!(lexing.server, ServerFlavor::MariaDb(_));
    (is_mariadb && words.iter().any(|word| names(text, word)))
        .then(|| sequences(text, lexing).map(Into::into))
        .flatten()
}

/// Whether it asks for the number of the connection's last change.
pub(crate) fn asks_for_gtid(text: &[u8], kind: Kind) -> bool {
    names(text, LAST_GTID)
        && matches!(kind, Kind::Select | Kind::Do | Kind::Set | Kind::Insert | Kind::Update)
}

/// Whether the word stands in the text, in any case of its letters.
pub(crate) fn names(text: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return true };
    let mut places = memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text);
    places.any(|place| {
        text.get(place..place + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    })
}

/// Whether a statement of that kind, which does not surely name no table, surely names one.
pub(crate) fn surely_names_a_table(kind: Kind, text: &[u8]) -> bool {
    // Functions with a FROM among their arguments.
    const WITH_FROM: [&[u8]; 4] = [b"extract", b"trim", b"substr", b"mid"];
    match kind {
        Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete | Kind::LoadData | Kind::Lock => true,
        Kind::Select | Kind::Set | Kind::Do => {
            names(text, b"from") && !WITH_FROM.iter().any(|function| names(text, function))
        }
        Kind::Ddl(_) => names(text, b"table"),
        _ => false,
    }
}

/// The variable that has a server tell.
pub(crate) const TRACKER: &[u8] = b"session_track_state_change";

/// Where MariaDB looks, it tells of the schema that it comes back to.
pub(crate) const INFORMATION_SCHEMA: &[u8] = b"information_schema";

/// How names of tables in a server's own schemas begin, most often. There are views among them, and where MariaDB loads a view (`mysql.user`, those of
/// `sys`) it tells of the schema that it comes back to, too. Measured on 10.11: behind FLUSH TABLES, or when nobody has used it lately.
pub(crate) const OWN_SCHEMAS: [&[u8]; 4] = [b"mysql.", b"mysql`.", b"sys.", b"sys`."];

/// Whether a statement may show the tracker: by its name, or among all variables.
pub(crate) fn reads_tracker(kind: Kind, text: &[u8]) -> bool {
    let shows_all = match kind {
        Kind::Show => names(text, b"variables"),
        Kind::Set => return false,
        _ => names(text, b"session_variables") || names(text, b"variables_by_thread"),
    };
    shows_all || names(text, TRACKER)
}

/// Whether a value, as SQL writes it, turns a variable off.
pub(crate) fn is_off(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"'").and_then(|value| value.strip_suffix(b"'")).unwrap_or(value);
    [&b"OFF"[..], b"0", b"FALSE", b"DEFAULT"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

/// Whether the statement asks for this. In either case, a semicolon at the end or not, as ProxySQL takes it.
#[inline]
pub(crate) fn asks_for_internal_session(text: &[u8]) -> bool {
    // Most statements begin with another letter.
    let begins_otherwise =
        matches!(text.first(), Some(b'A'..=b'O' | b'Q'..=b'Z' | b'a'..=b'o' | b'q'..=b'z'));
    !begins_otherwise && asks_for_internal_session_in_words(text)
}

fn asks_for_internal_session_in_words(text: &[u8]) -> bool {
    let is_space = |byte: &u8| byte.is_ascii_whitespace();
    let text = text.trim_ascii();
    let text = text.strip_suffix(b";").unwrap_or(text).trim_ascii_end();
    matches!(text.first(), Some(b'P' | b'p')) && {
        let words = text.split(is_space).filter(|word| !word.is_empty());
        let asked: [&[u8]; 3] = [b"PROXYSQL", b"INTERNAL", b"SESSION"];
        words.clone().count() == asked.len()
            && words.zip(asked).all(|(word, asked)| word.eq_ignore_ascii_case(asked))
    }
}

/// What is vouched for.
pub(crate) const VOUCHED: Pins = Pins::UNKNOWN.with(Pins::USER_VARIABLE);

/// The value of `multiplex` that vouches.
pub(crate) const VOUCHES: u8 = 2;

/// Errors of the parser: the statement did nothing, unless it runs texts of its own and one of those was meant.
pub(crate) const NEVER_RAN: [u16; 2] = [1064, 1065];

/// Errors that are found before any stored code runs, if they are not its own: there is no such routine, or it may not be executed.
pub(crate) const BEFORE_STORED_CODE: [u16; 3] = [1305, 1370, 1418];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_only_whole() {
        assert!(
            names(b"select Connection_Id()", b"connection_id") && !names(b"connection_i", b"connection_id")
        );
        assert!(asks_for_numbers(Kind::Select, b"SELECT CONNECTION_ID() + 1"));
        assert!(!asks_for_numbers(Kind::Show, b"SHOW CONNECTION_ID()"));
        assert!(
            asks_for_gtid(b"SELECT @@LAST_GTID", Kind::Select) && !asks_for_gtid(b"SELECT 1", Kind::Select)
        );
    }

    #[test]
    fn tracker_is_shown_by_name_or_among_all_variables() {
        for (kind, text, shows) in [
            (Kind::Show, "SHOW VARIABLES", true),
            (Kind::Show, "SHOW TABLES", false),
            (Kind::Select, "SELECT * FROM information_schema.session_variables", true),
            (Kind::Select, "SELECT @@session_track_state_change", true),
            (Kind::Set, "SET session_track_state_change = 1", false),
        ] {
            assert_eq!(reads_tracker(kind, text.as_bytes()), shows, "{text}");
        }
        assert!(is_off(b" 'off' ") && is_off(b"0") && !is_off(b"ON"));
    }
}
