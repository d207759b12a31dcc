//! Whether a server takes writes: the question for each type of check, and what its answer means.

use nuthatch_config::{AccessFinding, CheckType};
use nuthatch_net::AnswerTable;

use crate::check::{Absence, Outcome};
use crate::unanswered::Unanswered;

/// What is asked for a check of that type.
pub(crate) fn question(check: CheckType) -> String {
    let value = match check {
        CheckType::ReadOnly => "@@global.read_only",
        CheckType::InnodbReadOnly => "@@global.innodb_read_only",
        CheckType::SuperReadOnly => "@@global.super_read_only",
        CheckType::ReadOnlyOrInnodb => "@@global.read_only | @@global.innodb_read_only",
        CheckType::ReadOnlyAndInnodb => "@@global.read_only & @@global.innodb_read_only",
    };
    format!("SELECT {value} AS read_only")
}

/// Whether the answer says that it is read-only; none if it is none of such a question.
pub(crate) fn is_read_only(answer: &AnswerTable) -> Option<bool> {
    match answer.value("read_only")? {
        b"0" | b"OFF" => Some(false),
        // Newer servers have more than one way of being read-only.
        _ => Some(true),
    }
}

/// The looks at one server.
#[derive(Debug, Default)]
pub(crate) struct AccessJudge {
    unanswered: Unanswered,
}

impl AccessJudge {
    /// Takes one more; says what is to be told, if anything.
    pub(crate) fn judge(
        &mut self,
        outcome: &Outcome,
        is_read_only: Option<bool>,
        timeouts_max: u64,
    ) -> Option<AccessFinding> {
        let silent = self.unanswered.judge(outcome, timeouts_max);
        match outcome {
            Outcome::Done { .. } => Some(match is_read_only? {
                true => AccessFinding::ReadOnly,
                false => AccessFinding::Writable,
            }),
            Outcome::Failed { how: Absence::Gone, why } => Some(AccessFinding::Gone { why: why.clone() }),
            _ => silent.map(|why| AccessFinding::Silent { why }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn answer_is_read_as_servers_write_it() {
        for (value, expected) in [
            (Some("0"), Some(false)),
            (Some("OFF"), Some(false)),
            (Some("1"), Some(true)),
            (Some("NO_LOCK"), Some(true)),
            (None, None),
        ] {
            let row = vec![value.map(|value| value.as_bytes().to_vec())];
            let answer = AnswerTable { names: vec!["read_only".to_owned()], rows: vec![row] };
            assert_eq!(is_read_only(&answer), expected, "{value:?}");
        }
        assert_eq!(is_read_only(&AnswerTable::default()), None);
    }

    #[test]
    fn server_counts_as_read_only_after_so_many_looks_without_an_answer() {
        let done = || Outcome::Done { took: Duration::from_millis(1) };
        let failed = |how| Outcome::Failed { how, why: "it rains".to_owned() };
        let silent =
            Some(AccessFinding::Silent { why: "2 looks in a row had no answer (it rains)".to_owned() });
        let mut judge = AccessJudge::default();
        for (outcome, is_read_only, told) in [
            (failed(Absence::NoAnswer), None, None),
            (done(), Some(false), Some(AccessFinding::Writable)),
            (failed(Absence::NoAnswer), None, None),
            (failed(Absence::NoAnswer), None, silent.clone()),
            (failed(Absence::NoAnswer), None, silent),
            (failed(Absence::Gone), None, Some(AccessFinding::Gone { why: "it rains".to_owned() })),
            (failed(Absence::NoAnswer), None, None),
            (Outcome::Refused { why: "no".to_owned() }, None, None),
            (failed(Absence::NoAnswer), None, None),
            (done(), Some(true), Some(AccessFinding::ReadOnly)),
        ] {
            assert_eq!(judge.judge(&outcome, is_read_only, 2), told, "{outcome:?}");
        }
    }
}
