//! Each promise is shown to be held, and its breach to be found.

use std::time::Duration;

use super::*;
use crate::history::{FullDisk, Leaves, Left};

const fn at(ms: u64) -> Time {
    Duration::from_millis(ms)
}

fn write(number: Number, leaves: Leaves, outcome: Outcome, sent_ms: u64) -> Event {
    Event::Write(Write { writer: 1, number, leaves, outcome, sent: at(sent_ms), ended: at(sent_ms + 5) })
}

fn version(number: Number, sent_ms: u64) -> Event {
    write(number, Leaves::Version, Outcome::Acknowledged, sent_ms)
}

fn read(version: Number, sent_ms: u64) -> Event {
    Event::Read(Read { register: 1, version, sent: at(sent_ms), ended: at(sent_ms + 5) })
}

fn log(promise: Promise, events: &[Event]) -> Log {
    Log { name: format!("{promise:?}"), promise, events: events.to_vec() }
}

fn history(logs: &[Log], rows: &[(Number, u64)], version: Number) -> History {
    History {
        logs: logs.to_vec(),
        failovers: vec![],
        full_disks: vec![],
        loss: Loss::None,
        left: Left {
            rows: rows.iter().map(|(number, count)| ((1, *number), *count)).collect(),
            versions: [(1, version)].into(),
        },
        statement_max: at(1000),
        room_max: at(500),
    }
}

fn wrongs(history: &History) -> Vec<Wrong> {
    judge(history).into_iter().map(|finding| finding.wrong).collect()
}

#[test]
fn what_is_left_must_be_what_was_told() {
    use Leaves::{Both, Row, Version};
    use Outcome::{Acknowledged, Refused, Unknown};
    // What was tried, how often its row is there, at what its register is left, what is wrong.
    for (leaves, outcome, count, version, expected) in [
        (Row, Acknowledged, 1, 0, vec![]),
        (Row, Acknowledged, 0, 0, vec![Wrong::Lost]),
        (Row, Acknowledged, 2, 0, vec![Wrong::Twice]),
        (Row, Unknown, 0, 0, vec![]),
        (Row, Unknown, 1, 0, vec![]),
        (Row, Unknown, 2, 0, vec![Wrong::Twice]),
        (Row, Refused, 0, 0, vec![]),
        (Row, Refused, 1, 0, vec![Wrong::RefusedAndDone]),
        (Version, Acknowledged, 0, 7, vec![]),
        (Version, Acknowledged, 0, 0, vec![Wrong::Lost]),
        (Version, Acknowledged, 1, 7, vec![Wrong::NeverWritten]),
        (Version, Refused, 0, 7, vec![Wrong::RefusedAndDone]),
        (Version, Unknown, 0, 7, vec![]),
        (Both, Acknowledged, 1, 7, vec![]),
        (Both, Acknowledged, 1, 0, vec![Wrong::Lost]),
        (Both, Acknowledged, 0, 7, vec![Wrong::Lost]),
        (Row, Acknowledged, 1, 7, vec![Wrong::NeverWritten]),
    ] {
        let rows = if count == 0 { vec![] } else { vec![(7, count)] };
        let log = log(Promise::Current, &[write(7, leaves, outcome, 0)]);
        let told = (leaves, outcome, count, version);
        assert_eq!(wrongs(&history(&[log], &rows, version)), expected, "{told:?}");
    }
    assert_eq!(wrongs(&history(&[], &[(9, 1)], 0)), [Wrong::NeverWritten]);
}

#[test]
fn loss_that_was_told_is_none() {
    let logs = [log(Promise::Current, &[version(1, 0), write(2, Leaves::Row, Outcome::Acknowledged, 10)])];
    let (before, behind) = ((at(0), at(5)), (at(20), at(30)));
    for (loss, (begin, end), expected) in [
        (Loss::None, behind, vec![Wrong::Lost]),
        (Loss::Told(1), behind, vec![Wrong::Lost]),
        (Loss::Told(2), behind, vec![]),
        (Loss::Told(2), before, vec![Wrong::Lost]),
        (Loss::Unknown, behind, vec![]),
        (Loss::Unknown, before, vec![Wrong::Lost]),
    ] {
        let failovers = vec![Failover { begin, end }];
        let history = History { loss, failovers, ..history(&logs, &[], 0) };
        assert_eq!(wrongs(&history), expected, "{loss:?} {begin:?}");
    }
}

#[test]
fn session_that_goes_back_is_found() {
    use Promise::Session;
    // In order: what the session does, and what is wrong with it.
    for (events, expected) in [
        (vec![read(1, 20), read(2, 30), read(2, 40)], vec![]),
        (vec![read(2, 20), read(1, 30)], vec![Wrong::WentBack]),
        (vec![read(2, 20), Event::Anew, read(1, 30)], vec![]),
    ] {
        let writer = log(Session, &[version(1, 0), version(2, 10)]);
        let reader = log(Session, &events);
        assert_eq!(wrongs(&history(&[writer, reader], &[], 2)), expected, "{events:?}");
    }
    let writer = log(Session, &[version(1, 0), version(2, 10), read(1, 20)]);
    assert_eq!(wrongs(&history(&[writer], &[], 2)), [Wrong::WentBack], "its own write");
}

#[test]
fn read_that_is_stale_is_found() {
    use Promise::{Current, Session};
    let writer = || log(Session, &[version(1, 0), version(2, 20)]);
    for (promise, version, sent_ms, expected) in [
        (Current, 1, 10, vec![]),
        // It was under way when the write was acknowledged.
        (Current, 1, 22, vec![]),
        (Current, 1, 30, vec![Wrong::Stale]),
        (Session, 1, 30, vec![]),
        (Current, 2, 30, vec![]),
        (Current, 2, 10, vec![Wrong::NeverWritten]),
        (Current, 3, 30, vec![Wrong::NeverWritten]),
    ] {
        let reader = log(promise, &[read(version, sent_ms)]);
        let told = (promise, version, sent_ms);
        assert_eq!(wrongs(&history(&[writer(), reader], &[], 2)), expected, "{told:?}");
    }
    // What another one was shown is current for all.
    let writer = log(Session, &[version(1, 0), write(2, Leaves::Version, Outcome::Unknown, 20)]);
    let readers = [log(Current, &[read(2, 30)]), log(Current, &[read(1, 40)])];
    let logs = [&[writer][..], &readers].concat();
    assert_eq!(wrongs(&history(&logs, &[], 2)), [Wrong::Stale]);
}

#[test]
fn failover_takes_back_only_where_commits_do_not_wait() {
    let writer = log(Promise::Session, &[version(1, 0), version(2, 20), version(3, 200)]);
    let reader = log(Promise::Current, &[read(1, 10), read(2, 40), read(1, 120), read(1, 130), read(3, 220)]);
    let across = |loss, reader: Log| {
        let failovers = vec![Failover { begin: at(100), end: at(110) }];
        History { loss, failovers, ..history(&[writer.clone(), reader], &[], 3) }
    };
    assert_eq!(wrongs(&across(Loss::Told(1), reader.clone())), []);
    assert!(wrongs(&across(Loss::None, reader)).contains(&Wrong::Stale));
    let late = log(Promise::Current, &[read(3, 220), read(1, 300)]);
    assert_eq!(wrongs(&across(Loss::Told(1), late)), [Wrong::WentBack, Wrong::Stale], "behind it again");
}

#[test]
fn statement_beyond_its_limit_is_found() {
    // How long it takes, when a disk was full, and what is wrong.
    for (ended_ms, full, expected) in [
        (1000, None, vec![]),
        (1001, None, vec![Wrong::TooLong]),
        (1001, Some((900, 1100)), vec![]),
        (1501, Some((900, 1100)), vec![Wrong::TooLong]),
        (1001, Some((1100, 1200)), vec![Wrong::TooLong]),
    ] {
        let slow = Event::Failed { sent: at(0), ended: at(ended_ms) };
        let full_disks = full.map(|(begin, end)| FullDisk { begin: at(begin), end: at(end) });
        let history = history(&[log(Promise::Session, &[slow])], &[], 0);
        let history = History { full_disks: full_disks.into_iter().collect(), ..history };
        assert_eq!(wrongs(&history), expected, "{ended_ms} ms, {full:?}");
    }
}
