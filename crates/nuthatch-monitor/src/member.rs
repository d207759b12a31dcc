//! What a server is in its group or Galera cluster: the questions, and what the answers mean.

use nuthatch_config::{ClusterKind, Member};
use nuthatch_net::AnswerTable;

use crate::check::{Absence, Outcome};
use crate::target::MemberCheck;
use crate::unanswered::Unanswered;

/// What is asked of a member. Its answer has one row of names and values.
pub(crate) fn question(kind: ClusterKind, version: &str) -> String {
    match kind {
        ClusterKind::GroupReplication => GROUP_REPLICATION.to_owned(),
        ClusterKind::Galera => {
            // MariaDB has the one, Percona's cluster the other.
            let schema =
                if version.contains("MariaDB") { "information_schema" } else { "performance_schema" };
            let status = |name: &str| {
                format!("(SELECT VARIABLE_VALUE FROM {schema}.GLOBAL_STATUS WHERE VARIABLE_NAME = '{name}')")
            };
            format!(
                "SELECT {} AS cluster_status, {} AS local_state, {} AS recv_queue, @@global.read_only AS read_only, \
                 @@global.wsrep_desync AS desync, @@global.wsrep_reject_queries AS reject_queries, \
                 @@global.wsrep_sst_donor_rejects_queries AS donor_rejects_queries",
                status("wsrep_cluster_status"),
                status("wsrep_local_state"),
                status("wsrep_local_recv_queue")
            )
        }
    }
}

/// A member that others do not hear is in the table of those that do not hear it too: it sees them as unreachable.
const GROUP_REPLICATION: &str = "SELECT own.MEMBER_STATE AS state, @@global.read_only AS read_only, \
     (SELECT COUNT(*) FROM performance_schema.replication_group_members) AS members, \
     (SELECT COUNT(*) FROM performance_schema.replication_group_members \
      WHERE MEMBER_STATE IN ('UNREACHABLE', 'ERROR', 'OFFLINE')) AS lost, \
     (SELECT COUNT_TRANSACTIONS_IN_QUEUE + COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE \
      FROM performance_schema.replication_group_member_stats WHERE MEMBER_ID = @@server_uuid) AS behind \
     FROM performance_schema.replication_group_members own WHERE own.MEMBER_ID = @@server_uuid";

/// What the answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// Why it is of no use, if it is of none.
    unusable: Option<String>,
    is_read_only: bool,
    behind: u64,
    /// For the log, in the order of the columns of its table.
    pub(crate) shown: Vec<Option<String>>,
}

/// What the answer says; none if it is none of such a question.
pub(crate) fn told(kind: ClusterKind, answer: &AnswerTable) -> Option<Told> {
    let text = |name: &str| answer.text(name);
    let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
    let is_on = |name: &str| !matches!(text(name).as_deref(), None | Some("0" | "OFF" | "NONE"));
    let yes_no = |yes: bool| Some(if yes { "YES" } else { "NO" }.to_owned());
    let is_read_only = is_on("read_only");
    match kind {
        ClusterKind::GroupReplication if answer.rows.is_empty() && !answer.names.is_empty() => Some(Told {
            unusable: Some("group replication does not run on it".to_owned()),
            is_read_only: false,
            behind: 0,
            shown: vec![yes_no(false), yes_no(false), Some("0".to_owned())],
        }),
        ClusterKind::GroupReplication => {
            let (state, members, lost) = (text("state")?, number("members")?, number("lost")?);
            let behind = number("behind").unwrap_or(0);
            let unusable = match () {
                () if state != "ONLINE" => Some(format!("its state in the group is {state}")),
                () if lost * 2 >= members => {
                    Some(format!("it does not reach the group's majority: {lost} of {members} are lost"))
                }
                () => None,
            };
            let shown = vec![yes_no(unusable.is_none()), yes_no(is_read_only), Some(behind.to_string())];
            Some(Told { unusable, is_read_only, behind, shown })
        }
        ClusterKind::Galera => {
            let (status, state) = (text("cluster_status")?, number("local_state")?);
            let behind = number("recv_queue")?;
            let unusable = why_not_galera(&status, state, is_on("donor_rejects_queries"), is_on("desync"))
                .or_else(|| is_on("reject_queries").then(|| "wsrep_reject_queries is set on it".to_owned()));
            let shown = vec![
                yes_no(status == "Primary"),
                yes_no(is_read_only),
                Some(behind.to_string()),
                Some(state.to_string()),
                yes_no(is_on("desync")),
                yes_no(is_on("reject_queries")),
                yes_no(is_on("donor_rejects_queries")),
                // Only Percona's cluster has it, where ProxySQL's scheduler scripts set it.
                Some("DISABLED".to_owned()),
            ];
            Some(Told { unusable, is_read_only, behind, shown })
        }
    }
}

/// `wsrep_local_state`: 1 joining, 2 donor or desynced, 3 joined, 4 synced.
fn why_not_galera(status: &str, state: u64, donor_rejects: bool, is_desynced: bool) -> Option<String> {
    match (status, state) {
        ("Primary", _) if is_desynced => Some("wsrep_desync is on: it does not keep up".to_owned()),
        ("Primary", 4) => None,
        ("Primary", 2) if !donor_rejects => None,
        ("Primary", 2) => Some("it gives its data to another node and rejects queries meanwhile".to_owned()),
        ("Primary", state) => Some(format!("its wsrep_local_state is {state}, not 4 (synced)")),
        (status, _) => Some(format!("its wsrep_cluster_status is {status}, not Primary")),
    }
}

/// The looks at one member.
#[derive(Debug, Default)]
pub(crate) struct MemberJudge {
    unanswered: Unanswered,
    looks_behind: u64,
}

/// How often a member may be found so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberPatience {
    /// Looks without an answer in a row.
    pub timeouts_max: u64,
    /// Looks in a row at which it is too far behind.
    pub behind_count: u64,
}

impl MemberJudge {
    /// Takes one more; says what is to be told, if anything.
    pub(crate) fn judge(
        &mut self,
        outcome: &Outcome,
        told: Option<Told>,
        check: MemberCheck,
        patience: MemberPatience,
    ) -> Option<Member> {
        let silent = self.unanswered.judge(outcome, patience.timeouts_max);
        match outcome {
            Outcome::Done { .. } => told.map(|told| self.judge_told(told, check, patience.behind_count)),
            Outcome::Failed { how: Absence::Gone, why } => {
                Some(Member::Unusable { why: format!("it is not there: {why}") })
            }
            _ => silent.map(|why| Member::Unusable { why }),
        }
    }

    fn judge_told(&mut self, told: Told, check: MemberCheck, behind_count: u64) -> Member {
        let is_behind = check.behind_max > 0 && told.behind > check.behind_max;
        self.looks_behind = if is_behind { self.looks_behind + 1 } else { 0 };
        if let Some(why) = told.unusable {
            return Member::Unusable { why };
        }
        let counts = is_behind && self.looks_behind >= behind_count;
        let behind = counts.then(|| {
            format!("it is more than {} transactions behind (max_transactions_behind)", check.behind_max)
        });
        Member::Usable { is_read_only: told.is_read_only, behind }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn answer(pairs: &[(&str, &str)]) -> AnswerTable {
        AnswerTable {
            names: pairs.iter().map(|(name, _)| (*name).to_owned()).collect(),
            rows: vec![pairs.iter().map(|(_, value)| Some(value.as_bytes().to_vec())).collect()],
        }
    }

    fn group(state: &str, read_only: &str, members: &str, lost: &str, behind: &str) -> Told {
        let answer = answer(&[
            ("state", state),
            ("read_only", read_only),
            ("members", members),
            ("lost", lost),
            ("behind", behind),
        ]);
        told(ClusterKind::GroupReplication, &answer).expect("an answer")
    }

    fn galera(status: &str, state: &str, desync: &str, reject: &str, donor_rejects: &str) -> Told {
        let answer = answer(&[
            ("cluster_status", status),
            ("local_state", state),
            ("recv_queue", "3"),
            ("read_only", "0"),
            ("desync", desync),
            ("reject_queries", reject),
            ("donor_rejects_queries", donor_rejects),
        ]);
        told(ClusterKind::Galera, &answer).expect("an answer")
    }

    #[test]
    fn member_of_a_group_is_of_use_when_it_is_online_in_the_majority() {
        for (told, is_usable) in [
            (group("ONLINE", "0", "3", "0", "0"), true),
            (group("ONLINE", "1", "3", "1", "0"), true),
            (group("ONLINE", "0", "3", "2", "0"), false),
            (group("ONLINE", "0", "2", "1", "0"), false),
            (group("RECOVERING", "1", "3", "0", "0"), false),
            (group("ERROR", "1", "1", "1", "0"), false),
        ] {
            assert_eq!(told.unusable.is_none(), is_usable, "{told:?}");
        }
        let outside = AnswerTable { names: vec!["state".to_owned()], rows: Vec::new() };
        assert!(told(ClusterKind::GroupReplication, &outside).expect("an answer").unusable.is_some());
        let shown = group("ONLINE", "1", "3", "0", "7").shown;
        assert_eq!(shown, ["YES", "YES", "7"].map(|value| Some(value.to_owned())));
    }

    #[test]
    fn node_of_galera_is_of_use_when_it_is_synced_in_the_primary_part() {
        for (told, is_usable) in [
            (galera("Primary", "4", "0", "NONE", "0"), true),
            (galera("Primary", "4", "OFF", "NONE", "OFF"), true),
            (galera("Primary", "2", "0", "NONE", "0"), true),
            (galera("Primary", "2", "0", "NONE", "1"), false),
            (galera("Primary", "4", "1", "NONE", "0"), false),
            (galera("Primary", "4", "0", "ALL", "0"), false),
            (galera("Primary", "3", "0", "NONE", "0"), false),
            (galera("non-Primary", "4", "0", "NONE", "0"), false),
        ] {
            assert_eq!(told.unusable.is_none(), is_usable, "{told:?}");
        }
    }

    #[test]
    fn member_is_behind_or_gone_after_so_many_looks_in_a_row() {
        let check = MemberCheck { kind: ClusterKind::GroupReplication, behind_max: 5 };
        let patience = MemberPatience { timeouts_max: 2, behind_count: 2 };
        let done = Outcome::Done { took: Duration::from_millis(1) };
        let failed = |how| Outcome::Failed { how, why: "it rains".to_owned() };
        let online = |behind: &str| Some(group("ONLINE", "1", "3", "0", behind));
        let usable = |behind: Option<&str>| {
            Some(Member::Usable { is_read_only: true, behind: behind.map(str::to_owned) })
        };
        let far = usable(Some("it is more than 5 transactions behind (max_transactions_behind)"));
        let unusable = |why: &str| Some(Member::Unusable { why: why.to_owned() });
        let mut judge = MemberJudge::default();
        for (outcome, told, expected) in [
            (done.clone(), online("6"), usable(None)),
            (done.clone(), online("6"), far),
            (done.clone(), online("5"), usable(None)),
            (failed(Absence::NoAnswer), None, None),
            (failed(Absence::NoAnswer), None, unusable("2 looks in a row had no answer (it rains)")),
            (failed(Absence::Gone), None, unusable("it is not there: it rains")),
            (Outcome::Refused { why: "no".to_owned() }, None, None),
            (done, online("0"), usable(None)),
        ] {
            assert_eq!(judge.judge(&outcome, told, check, patience), expected, "{outcome:?}");
        }
    }
}
