//! Stored functions that may be taken for the server's own, and routines that may change definitions or insert later.

use nuthatch_sql::{Catalogue, is_one_of, is_own_schema, leaves_binlog, words};

use crate::definitions::RoutineDefinition;

/// Functions of the `sys` schema that come with the server, write nothing, and have the names of known ones.
const HARMLESS: [&[u8]; 2] = [b"format_bytes", b"ps_thread_id"];

/// Words without which a body changes no definition, and inserts nothing DELAYED. Some stand in others that do not.
const DEFINING: [&[u8]; 11] = [
    b"create",
    b"alter",
    b"drop",
    b"rename",
    b"truncate",
    b"execute",
    b"prepare",
    b"import",
    b"optimize",
    b"delayed",
    b"concurrent",
];

/// A catalogue without tables that knows the routines.
pub(crate) fn catalogue_with(routines: &[RoutineDefinition]) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let functions = routines.iter().filter(|routine| routine.kind == b"FUNCTION" && !is_harmless(routine));
    functions.for_each(|function| catalogue.add_stored_function(&function.name));
    if !routines.iter().any(may_define) {
        catalogue.trust_routines();
    }
    if routines.iter().any(|routine| may_leave_binlog(routine) || runs_others(routine)) {
        catalogue.note_leaving_routine();
    }
    catalogue
}

fn is_harmless(routine: &RoutineDefinition) -> bool {
    routine.schema == b"sys" && HARMLESS.contains(&routine.name.as_slice())
}

/// Whether its body changes definitions, inserts later than it is told to, runs what it is told to, or calls one of the server's own that may.
fn may_define(routine: &RoutineDefinition) -> bool {
    let defines = |word| is_own_schema(word) || is_one_of(plain(word), &DEFINING);
    // Those of the server are not looked into: whoever calls one is known by the schema's name.
    !is_own_schema(&routine.schema) && (routine.body.is_empty() || words(&routine.body).any(defines))
}

/// Whether a routine's body says one of the words by which a write leaves the binlog, or is not shown. What the server's own write is nothing
/// that is cached.
pub(crate) fn may_leave_binlog(routine: &RoutineDefinition) -> bool {
    !is_own_schema(&routine.schema) && (routine.body.is_empty() || leaves_binlog(&routine.body))
}

/// Whether its body runs what it is told to, which may say such a word.
fn runs_others(routine: &RoutineDefinition) -> bool {
    let runs = |word| is_one_of(plain(word), &[b"execute", b"prepare"]);
    !is_own_schema(&routine.schema) && words(&routine.body).any(runs)
}

/// A word without the number of an executable comment before it.
fn plain(word: &[u8]) -> &[u8] {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    word.get(digits..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_define_in(schema: &str, body: &str) -> bool {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let (schema, name, kind, body) = (bytes(schema), bytes("p"), bytes("PROCEDURE"), bytes(body));
        catalogue_with(&[RoutineDefinition { schema, name, kind, body }]).routines_may_define(b"CALL p", b"s")
    }

    #[test]
    fn only_bodies_without_any_of_the_words_define_nothing() {
        for (body, expected) in [
            ("BEGIN INSERT INTO t VALUES (1); CALL q(); END", false),
            ("SELECT created, drop_off, `alter_ego` FROM t", false),
            ("SELECT sysdate()", false),
            ("BEGIN Create TABLE t (a INT); END", true),
            ("BEGIN IF a THEN TRUNCATE t; END IF; END", true),
            ("/*!50000ALTER*/TABLE t ENGINE=InnoDB", true),
            ("BEGIN PREPARE s FROM a; END", true),
            ("EXECUTE IMMEDIATE a", true),
            ("INSERT DELAYED INTO t VALUES (1)", true),
            ("CALL `sys`.execute_prepared_stmt(a)", true),
            ("SELECT 'it's drop'", true),
            ("", true),
        ] {
            assert_eq!(may_define_in("s", body), expected, "{body}");
        }
        assert!(!may_define_in("sys", "DROP TABLE t") && !may_define_in("mysql", ""));
    }

    #[test]
    fn routines_by_which_a_session_may_leave_the_binlog_are_known() {
        let leaves = |schema: &str, body: &str| {
            let bytes = |text: &str| text.as_bytes().to_vec();
            let (schema, name, kind, body) = (bytes(schema), bytes("p"), bytes("PROCEDURE"), bytes(body));
            catalogue_with(&[RoutineDefinition { schema, name, kind, body }]).routines_leave_binlog()
        };
        for (schema, body, expected) in [
            ("s", "BEGIN UPDATE t SET a = 1; END", false),
            ("s", "BEGIN SET SQL_LOG_BIN = 0; END", true),
            ("s", "BEGIN PREPARE s FROM @a; EXECUTE s; END", true),
            ("s", "EXECUTE IMMEDIATE a", true),
            ("s", "", true),
            ("sys", "", false),
        ] {
            assert_eq!(leaves(schema, body), expected, "{body}");
        }
    }
}
