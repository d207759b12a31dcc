//! Which remedy there is for what a replica says. Pure.

use std::fmt;

use crate::replication::link::Via;
use crate::replication::status::{Following, Status};

/// What is done, and loses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// It is started again.
    GoOn,
    /// What it has fetched is thrown away and fetched again, from what it has applied.
    FetchAgain,
    /// Its account gets another password, and it learns the authority of its source anew.
    RenewLogin,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GoOn => "start it again",
            Self::FetchAgain => "throw away what it has fetched, and fetch it again from what it has applied",
            Self::RenewLogin => "give its account a new password, and start it with that",
        })
    }
}

/// What is wrong, in words, and the remedy where there is one; `None` while it replicates.
pub(crate) fn judge(status: &Status, via: Option<&Via>) -> Option<(String, Option<Remedy>)> {
    let (what, remedy) = judge_as_ours(status, via)?;
    // What is safe for those that are made here may lose or repeat something of others.
    let other = match (status.by_gtid, status.channel.is_empty()) {
        (true, true) => return Some((what, remedy)),
        (false, true) => "it replicates by file and position, not by GTID".to_owned(),
        (_, false) => format!("it replicates over a connection of its own name, {}", status.channel),
    };
    Some((
        format!(
            "{what}; {other}, which is not of this program's making: mend it by the server's own statements"
        ),
        None,
    ))
}

/// The same of one that is made here.
fn judge_as_ours(status: &Status, via: Option<&Via>) -> Option<(String, Option<Remedy>)> {
    let following = status.following();
    if following == Following::Running {
        return None;
    }
    let source = status.source();
    let why = status.why().unwrap_or_default();
    let told =
        |what: &str, remedy| Some((format!("it does not replicate from {source}: {what}{why}"), remedy));
    if status.applying == "No"
        && let Some((number, _)) = &status.apply_error
    {
        let (what, remedy) = of_applying(*number);
        return told(what, remedy);
    }
    let Some((_, error)) = &status.fetch_error else {
        return match following {
            Following::Stopped => told("it was stopped", Some(Remedy::GoOn)),
            _ => told("it is just connecting", None),
        };
    };
    if status.login_fails() {
        return match via {
            Some(Via::Here(_) | Via::There(..)) => told("its login is refused: ", Some(Remedy::RenewLogin)),
            Some(Via::Peer(_)) => told(
                "its login is refused; `nuthatch instance pair`, on the host where it was said, renews it: ",
                None,
            ),
            Some(Via::Origin(name)) => told(
                &format!(
                    "its login is refused; `nuthatch instance replicate` with `--from {name} --ssh HOST`, here, renews it, HOST being the one that it \
                     was cloned from: "
                ),
                None,
            ),
            Some(Via::Foreign) | None => {
                told("its login is refused; whose the source is has to give it another: ", None)
            }
        };
    }
    let (what, remedy) = of_fetching(error, following);
    told(what, remedy)
}

/// By the number of what kept it from applying.
fn of_applying(number: u32) -> (&'static str, Option<Remedy>) {
    match number {
        // ER_SLAVE_RELAY_LOG_READ_FAILURE, and as MySQL 8 has it in its log.
        1594 | 13_121 => ("what it has fetched is damaged: ", Some(Remedy::FetchAgain)),
        // ER_DUP_ENTRY
        1062 => (
            "a row that the source has added is here already, so somebody has written here; select it on both sides (the error names table and \
             key), make it here as it is there, and say replicate --go-on; nothing is skipped: ",
            None,
        ),
        // ER_KEY_NOT_FOUND
        1032 => (
            "a row that the source has changed or deleted is missing here, so somebody has written here; look for it on both sides (the error \
             names the table, mysqlbinlog or mariadb-binlog -v the row), put it here, and say replicate --go-on; nothing is skipped: ",
            None,
        ),
        // ER_GTID_STRICT_OUT_OF_ORDER
        1950 => (
            "it has transactions of its own in a domain of the source's; look at them (mariadb-binlog), write to the source what is of worth, \
             and clone it anew (nuthatch instance clone): ",
            None,
        ),
        _ => ("the cause has to be removed first, then say replicate --go-on; nothing is skipped: ", None),
    }
}

/// By the words of what kept it from fetching: MySQL has put other numbers before them.
fn of_fetching(error: &str, following: Following) -> (&'static str, Option<Remedy>) {
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if has(&["purged", "Could not find GTID state"]) {
        return (
            "the source does not have any more what it lacks; clone it from there (nuthatch instance clone): ",
            None,
        );
    }
    if has(&["not in the master's binlog", "more GTIDs", "diverged"]) {
        return (
            "it has transactions of its own that the source has not; look at them (mariadb-binlog or mysqlbinlog), write to the source what is \
             of worth, and clone it anew (nuthatch instance clone): ",
            None,
        );
    }
    match following {
        Following::Connecting => ("it tries to reach it every 5 s, and goes on by itself: ", None),
        // By GTID it begins where it has ended.
        _ => ("it has given up: ", Some(Remedy::GoOn)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(
        fetching: &str,
        applying: &str,
        fetch: Option<(u32, &str)>,
        apply: Option<(u32, &str)>,
    ) -> Status {
        let owned = |error: Option<(u32, &str)>| error.map(|(number, text)| (number, text.to_owned()));
        Status {
            host: "10.0.0.2".into(),
            port: 3307,
            fetching: fetching.into(),
            applying: applying.into(),
            behind_s: None,
            unapplied: None,
            over_tls: true,
            by_gtid: true,
            channel: String::new(),
            fetch_error: owned(fetch),
            apply_error: owned(apply),
        }
    }

    #[test]
    fn only_what_loses_nothing_is_offered() {
        let here = Via::Here("source".parse().unwrap());
        let denied = Some((1045, "Access denied"));
        for (status, via, word, remedy) in [
            (status("No", "No", None, None), &here, "it was stopped", Some(Remedy::GoOn)),
            (status("Connecting", "Yes", denied, None), &here, "login is refused", Some(Remedy::RenewLogin)),
            (status("Connecting", "Yes", denied, None), &Via::Foreign, "has to give it another", None),
            (status("Connecting", "Yes", Some((2003, "no route")), None), &here, "goes on by itself", None),
            (status("No", "Yes", Some((2013, "lost")), None), &here, "given up", Some(Remedy::GoOn)),
            (
                status("Yes", "No", None, Some((1594, "relay log"))),
                &here,
                "is damaged",
                Some(Remedy::FetchAgain),
            ),
            (status("Yes", "No", None, Some((1062, "d.t"))), &here, "is here already", None),
            (status("Yes", "No", None, Some((1032, "d.t"))), &here, "is missing here", None),
            (status("Yes", "No", None, Some((1146, "no table"))), &here, "nothing is skipped", None),
            (
                status("No", "Yes", Some((13_114, "error 1236: the source purged required")), None),
                &here,
                "nuthatch instance clone",
                None,
            ),
            (
                status("No", "Yes", Some((1236, "which is not in the master's binlog")), None),
                &here,
                "of its own",
                None,
            ),
        ] {
            let (what, found) = judge(&status, Some(via)).expect("something is wrong");
            assert!(what.contains(word) && what.contains("10.0.0.2:3307"), "{what}");
            assert_eq!(found, remedy, "{what}");
        }
        assert_eq!(judge(&status("Yes", "Yes", None, None), None), None);
        let cloned = Via::Origin("source".parse().unwrap());
        let (what, _) = judge(&status("Connecting", "Yes", denied, None), Some(&cloned)).expect("wrong");
        assert!(what.contains("--from source --ssh HOST"), "{what}");
    }

    #[test]
    fn replication_that_is_not_of_our_making_is_explained_only() {
        for (by_gtid, channel, word) in
            [(false, "", "by file and position"), (true, "other", "a connection of its own name, other")]
        {
            let here = Via::Here("source".parse().unwrap());
            for one in [
                status("No", "No", None, None),
                status("Yes", "No", None, Some((1594, "relay log"))),
                status("Connecting", "Yes", Some((1045, "Access denied")), None),
            ] {
                let (what, remedy) =
                    judge(&Status { by_gtid, channel: channel.into(), ..one }, Some(&here)).expect("wrong");
                assert!(what.contains(word) && remedy.is_none(), "{what}");
            }
        }
    }
}
