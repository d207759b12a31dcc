//! Questions that a session answers by itself: no statement is one that does anything, or that is not understood.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{DiagnosticsQuestion, Kind, classify, diagnostics_question, session_questions};

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    if let Some(question) = diagnostics_question(query, lexing) {
        let statement = classify(query, lexing);
        match question {
            DiagnosticsQuestion::List { .. } => assert_eq!(statement.kind, Kind::Show),
            DiagnosticsQuestion::Counts(counts) => {
                assert!(matches!(statement.kind, Kind::Show | Kind::Select));
                assert!(!counts.is_empty() && counts.len() <= query.len());
            }
        }
        assert!(statement.effects.reads_diagnostics && statement.cache.is_err());
        assert!(!statement.effects.writes && !statement.effects.runs_unseen_code);
    }
    let Some(questions) = session_questions(query, lexing) else { return };
    assert!(!questions.is_empty());
    for question in questions {
        let name = question.column.as_written();
        assert!(!name.is_empty() && query.windows(name.len()).any(|part| part == name));
        assert!(question.column.text().len() <= name.len());
    }
    let statement = classify(query, lexing);
    assert_eq!(statement.kind, Kind::Select);
    assert!(statement.cache.is_err());
    assert!(!statement.effects.writes && !statement.effects.runs_unseen_code);
});
