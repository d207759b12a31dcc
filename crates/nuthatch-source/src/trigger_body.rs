//! What a trigger may write, from its body.
//!
//! `information_schema` does not show a body as it was written. String literals are put in anew, and not escaped: MySQL 9.7
//! shows `'it''s'` as `'it's'`, MariaDB 10.11 and 11.8 show `'it\\'` as `'it\'`. What stands behind one such literal cannot
//! be told to be in a string or not. So nothing here tells strings, comments and code apart: a table counts as named if its
//! name stands anywhere, and any word before a parenthesis counts as a call. That finds more than is there, never less.
//!
//! A name of other characters than those of words may be shown in another form (MySQL shows `` `a``b` `` as `` `aa`b` ``), so
//! it counts as named wherever something is quoted.

use std::collections::HashSet;

use nuthatch_sql::{Catalogue, Lexing, ServerFlavor, classify, fold, is_of_word};

use crate::generated_column::canonical;

/// Words that may stand before a parenthesis and are neither functions nor expressions. UNTIL is not among them: on MariaDB a stored
/// function can be called by that name.
const CONTROL: [&[u8]; 5] = [b"DO", b"ELSEIF", b"RETURN", b"SET", b"WHILE"];

/// Words after which a name before a parenthesis is that of a table, with its columns in it.
const BEFORE_TABLE: [&[u8]; 7] =
    [b"INTO", b"INSERT", b"REPLACE", b"IGNORE", b"LOW_PRIORITY", b"HIGH_PRIORITY", b"DELAYED"];

/// A body, folded, with its words.
pub(crate) struct TriggerBody {
    text: Box<[u8]>,
    words: HashSet<Box<[u8]>>,
    has_quotes: bool,
}

impl TriggerBody {
    pub(crate) fn new(body: &[u8]) -> Self {
        let text = fold(body);
        let words =
            text.split(|byte| !is_of_word(*byte)).filter(|word| !word.is_empty()).map(Box::from).collect();
        let has_quotes = text.iter().any(|byte| matches!(byte, b'`' | b'"'));
        Self { text, words, has_quotes }
    }

    /// All words, folded, each once: those of names and any others.
    pub(crate) fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.words.iter().map(AsRef::as_ref)
    }

    /// Whether it may name something that [`nuthatch_sql::is_plain`] is not true of.
    pub(crate) fn may_name_odd(&self) -> bool {
        self.has_quotes || !self.text.is_ascii()
    }

    /// Whether it may name the thing of this name, of which [`nuthatch_sql::is_plain`] is not true.
    pub(crate) fn may_show(&self, name: &[u8]) -> bool {
        let is_shown_as_it_is =
            name.is_ascii() && !name.iter().any(|byte| matches!(byte, b'`' | b'"' | b'\\'));
        let folded = fold(name);
        let mut parts = self.text.windows(folded.len().max(1));
        self.may_name_odd() && (!is_shown_as_it_is || parts.any(|part| *part == *folded))
    }

    /// Whether it may run code that does not stand in it: a procedure or a stored function, such as `catalogue` knows those that have
    /// the names of known ones.
    pub(crate) fn may_run_other_code(
        &self,
        sql_mode: &[u8],
        server: ServerFlavor,
        catalogue: &Catalogue,
    ) -> bool {
        // There a procedure is called by its name alone.
        let is_oracle = fold(sql_mode).split(|byte| *byte == b',').any(|mode| mode == b"oracle");
        let calls = |word: &[u8]| self.words.contains(word);
        is_oracle || calls(b"call") || calls(b"execute") || self.calls_unknown(canonical(server), catalogue)
    }

    fn calls_unknown(&self, lexing: Lexing, catalogue: &Catalogue) -> bool {
        let parentheses = self.text.iter().enumerate().filter(|(_, byte)| **byte == b'(');
        let mut before = parentheses.filter_map(|(at, _)| self.text.get(..at));
        before.any(|before| !opens_something_known(before, lexing, catalogue))
    }
}

/// Whether a parenthesis behind this text is certain to open no call but that of a function which is known.
fn opens_something_known(text: &[u8], lexing: Lexing, catalogue: &Catalogue) -> bool {
    let Some(before) = without_space(text) else { return false };
    match before.last() {
        None => true,
        Some(byte) if is_of_word(*byte) => {
            let (rest, word) = split_word(before);
            let is_qualified = rest.last() == Some(&b'.');
            let space = text.get(before.len()..).unwrap_or_default();
            let is_own = !is_qualified && !catalogue.is_shadowed(word) && is_known(word, space, lexing);
            is_own || is_table_of_insert(before)
        }
        Some(b'`' | b'"') => is_table_of_insert(before),
        // The end of a comment, in front of which anything may stand.
        Some(b'/') => !before.ends_with(b"*/"),
        Some(_) => true,
    }
}

/// Without the white space at the end; `None` if that may be the end of a comment.
fn without_space(text: &[u8]) -> Option<&[u8]> {
    let trimmed = text.trim_ascii_end();
    let ends_line = text.get(trimmed.len()..).is_some_and(|space| space.contains(&b'\n'));
    let line = trimmed.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let may_be_comment = line.contains(&b'#') || line.windows(2).any(|pair| pair == b"--");
    (!ends_line || !may_be_comment).then_some(trimmed)
}

/// A text that ends with a word, cut before it.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let len = text.iter().rev().take_while(|byte| is_of_word(**byte)).count();
    text.split_at(text.len() - len)
}

/// Whether the word with a parenthesis behind it, and so much space between, is a function that is known to be free of effects on
/// tables, or none at all.
fn is_known(word: &[u8], space: &[u8], lexing: Lexing) -> bool {
    let call = [b"SELECT ", word, space, b"()"].concat();
    CONTROL.iter().any(|control| word.eq_ignore_ascii_case(control))
        || !classify(&call, lexing).effects.runs_unseen_code
}

/// Whether the text ends with INSERT, REPLACE or the like and the name of a table.
fn is_table_of_insert(text: &[u8]) -> bool {
    let before_name = without_name(text);
    let before_table = match before_name.and_then(|rest| rest.strip_suffix(b".")) {
        Some(schema) => without_name(schema),
        None => before_name,
    };
    let Some(before) = before_table.and_then(without_space) else { return false };
    let (_, word) = split_word(before);
    BEFORE_TABLE.iter().any(|expected| word.eq_ignore_ascii_case(expected))
}

/// A text that ends with a plain name, quoted or not, without it.
fn without_name(text: &[u8]) -> Option<&[u8]> {
    let quote = text.last().copied().filter(|last| matches!(last, b'`' | b'"'));
    let inner = if quote.is_some() { text.split_last()?.1 } else { text };
    let (rest, word) = split_word(inner);
    let rest = match quote {
        Some(quote) => rest.strip_suffix(&[quote])?,
        None => rest,
    };
    (!word.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::is_plain;

    use super::*;

    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);

    fn may_run_other_code(body: &str) -> bool {
        let mut catalogue = Catalogue::default();
        catalogue.add_stored_function(b"uuid_to_bin");
        TriggerBody::new(body.as_bytes()).may_run_other_code(b"STRICT_TRANS_TABLES", MARIADB, &catalogue)
    }

    #[test]
    fn bodies_of_known_functions_run_no_other_code() {
        for body in [
            "INSERT INTO log (a, b) VALUES (NEW.a, CONCAT('x', NOW()))",
            "insert ignore into `s`.`log` (`a`) values (1)",
            "INSERT INTO`log`(a) VALUES(1)",
            "REPLACE s.t (a) VALUES (1)",
            "REPLACE s.t\n(a) VALUES (1)",
            "BEGIN IF (NEW.a > 1) THEN UPDATE t SET a = (a + 1) WHERE b IN (1, 2); END IF; END",
            "BEGIN DECLARE n DECIMAL(10,2); WHILE (n < 1) DO SET n = (n + 1); END WHILE; END",
            "SET NEW.a = -- a note\n COALESCE(OLD.a, (SELECT MAX(id) FROM t))",
            "SET NEW.a = 1 /* f */ + 2",
            "INSERT INTO uuid_to_bin (a) VALUES (BIN_TO_UUID(1))",
            "INSERT INTO t SELECT * FROM u ON DUPLICATE KEY UPDATE a = VALUES(a)",
        ] {
            assert!(!may_run_other_code(body), "{body}");
        }
    }

    #[test]
    fn what_may_be_a_call_runs_other_code() {
        for body in [
            "CALL p(1)",
            "BEGIN call p; END",
            "SET NEW.a = f(1)",
            "SET NEW.a = f (1)",
            "SET NEW.a = `f`(1)",
            "SET NEW.a = \"f\"(1)",
            "SET NEW.a = UUID_TO_BIN (1)",
            "REPEAT SET NEW.a = 1; UNTIL (1) END REPEAT",
            "SET NEW.a = s.abs(1)",
            "SET NEW.a = f/**/(1)",
            "SET NEW.a = f -- abs\n(1)",
            "SET NEW.a = f # into abs\n(1)",
            "INSERT INTO t SELECT f(1)",
            "INSERT INTO t VALUES ('into' f(1))",
            "SET NEW.a = 'it's' + f(1) + ''",
            "BEGIN -- into\n f(1); END",
        ] {
            assert!(may_run_other_code(body), "{body}");
        }
        let plain = TriggerBody::new(b"BEGIN p; END");
        let may_run = |mode: &[u8]| plain.may_run_other_code(mode, MARIADB, &Catalogue::default());
        assert!(may_run(b"PIPES_AS_CONCAT,ORACLE,NO_FIELD_OPTIONS") && !may_run(b""));
    }

    #[test]
    fn words_are_those_of_code_strings_and_comments() {
        let body = TriggerBody::new(b"INSERT INTO Log$1 -- t2\nVALUES ('it's t3', `t4`, x.t5)");
        let mut words: Vec<_> = body.words().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        words.sort();
        assert_eq!(words, ["insert", "into", "it", "log$1", "s", "t2", "t3", "t4", "t5", "values", "x"]);
        assert!(body.may_name_odd() && !TriggerBody::new(b"SET NEW.a = 'x'").may_name_odd());
        assert!(
            is_plain(b"a_1$") && !is_plain(b"a-b") && !is_plain(b"a`b") && !is_plain("\u{e9}".as_bytes())
        );
    }
}
