//! What a statement does to the warnings and errors of the one before it, as far as its text tells.
//!
//! Measured: MySQL 9.7 forgets them but behind what asks for them. MariaDB 10.11 forgets them where the statement names a table, be it
//! a derived one, or runs one that does: a procedure's, what an EXECUTE executes, but not the body of a function that a text calls.

use nuthatch_sql::{Kind, ServerFlavor, TextPrepared, classify, text_prepared};

use crate::session::parts::{Context, Diagnostics, Fate};
use crate::session::statement::{TextFacts, surely_names_a_table};

/// What a server does with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    Runs,
    /// It was prepared before.
    Executes,
    Prepares,
}

/// What the statement does to what the one before has left, unless it has warnings or errors of its own.
pub(crate) fn fate_of_last(
    context: &Context,
    diagnostics: &Diagnostics,
    text: &[u8],
    facts: &TextFacts,
    done: Done,
) -> Fate {
    match context.lexing.server {
        ServerFlavor::MySql(_) if facts.asks.diagnostics && facts.kind == Kind::Show => Fate::Kept,
        ServerFlavor::MySql(_) => Fate::Forgotten,
        // An execution locks the tables of functions with its own.
        ServerFlavor::MariaDb(_)
            if facts.tables.none && !(done == Done::Executes && facts.transaction.is_opaque) =>
        {
            Fate::Kept
        }
        ServerFlavor::MariaDb(_) if facts.tables.some => Fate::Forgotten,
        ServerFlavor::MariaDb(_) => fate_told_by_more(context, diagnostics, text, facts, done),
    }
}

/// The same where the facts do not tell whether a table is named.
fn fate_told_by_more(
    context: &Context,
    diagnostics: &Diagnostics,
    text: &[u8],
    facts: &TextFacts,
    done: Done,
) -> Fate {
    if facts.kind == Kind::Prepare
        && done != Done::Prepares
        && let Some(TextPrepared::Prepare { statement: Some(inner), .. }) =
            text_prepared(text, context.lexing)
    {
        let mut facts = TextFacts::of(&classify(&inner, context.lexing));
        facts.tables.some = surely_names_a_table(facts.kind, &inner);
        return fate_of_last(context, diagnostics, &inner, &facts, Done::Prepares);
    }
    match diagnostics.thread().is_none() && diagnostics.list().is_some() {
        true => Fate::Untold,
        // The server knows, if it has them; and what is not there can be kept.
        false => Fate::Kept,
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::Lexing;

    use super::*;
    use crate::session::parts::List;
    use crate::state::Charset;

    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
    const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

    fn fate(server: ServerFlavor, diagnostics: &Diagnostics, text: &str, done: Done) -> Fate {
        let (context, text) = (Context::on(server), text.as_bytes());
        let facts =
            TextFacts::of(&classify(text, Lexing::of(server))).with_settings(text, Lexing::of(server));
        fate_of_last(&context, diagnostics, text, &facts, done)
    }

    /// Of which the session has a list itself.
    fn listed(server: ServerFlavor) -> Diagnostics {
        let collation = Charset::utf8().of_results(server);
        let mut listed = Diagnostics::default();
        listed.have(List::of_one("Error", server, collation, 1054, b"Unknown"));
        listed
    }

    #[test]
    fn list_is_kept_or_forgotten_as_the_text_tells_and_else_it_is_asked_for() {
        use Done::{Executes, Prepares, Runs};
        use Fate::{Forgotten, Kept, Untold};
        for (text, done, expected) in [
            ("SELECT 1", Runs, Kept),
            ("SELECT f()", Runs, Kept),
            ("SELECT f()", Prepares, Kept),
            ("SELECT f()", Executes, Untold),
            ("SELECT v FROM t", Runs, Forgotten),
            ("SELECT f(v) FROM t", Executes, Forgotten),
            ("SELECT EXTRACT(YEAR FROM '2026-01-01')", Runs, Untold),
            ("SELECT TRIM(LEADING 'a' FROM 'ab')", Runs, Untold),
            ("TABLE t", Runs, Untold),
            ("INSERT INTO t VALUES (1)", Runs, Forgotten),
            ("CREATE TABLE t (a INT)", Runs, Forgotten),
            ("CREATE DATABASE d", Runs, Untold),
            ("DROP USER u", Runs, Untold),
            ("CALL p()", Runs, Untold),
            ("CALL p()", Prepares, Untold),
            ("EXECUTE s", Runs, Untold),
            ("EXECUTE IMMEDIATE 'SELECT 1'", Runs, Untold),
            ("PREPARE s FROM @a", Runs, Untold),
            ("PREPARE s FROM 'SELECT 1'", Runs, Kept),
            ("PREPARE s FROM 'SELECT f()'", Runs, Kept),
            ("PREPARE s FROM 'SELECT v FROM t'", Runs, Forgotten),
            ("PREPARE s FROM 'CALL p()'", Runs, Untold),
            ("SHOW WARNINGS", Runs, Kept),
            ("SHOW GRANTS", Runs, Untold),
            ("SELECT 1; DO 2", Runs, Kept),
            ("CALL p(); DO 2", Runs, Untold),
            ("XA RECOVER", Runs, Untold),
        ] {
            assert_eq!(fate(MARIADB, &listed(MARIADB), text, done), expected, "{text} {done:?}");
            let mut held = Diagnostics::default();
            held.note_left_on(7);
            let known = if expected == Untold { Kept } else { expected };
            assert_eq!(fate(MARIADB, &held, text, done), known, "the server knows: {text} {done:?}");
            let none = Diagnostics::default();
            assert_eq!(fate(MARIADB, &none, text, done), known, "there is none: {text} {done:?}");
            let is_question = text == "SHOW WARNINGS";
            let of_mysql = if is_question { Kept } else { Forgotten };
            assert_eq!(fate(MYSQL, &listed(MYSQL), text, done), of_mysql, "{text} {done:?}");
        }
    }
}
