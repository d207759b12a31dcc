//! The oracle: whether a history can be explained by what the proxy promises. Pure.
//!
//! - A write that was acknowledged is there in the end, or counted among those that were told as lost; none is there twice; none that
//!   was told as not done.
//! - A read shows what somebody tried to write, and nothing that was told as not done. A session never sees less than it has seen or written.
//!   Where reads are not split, nobody sees less than what was acknowledged, or shown to others, before the read began.
//! - Where commits do not wait for replicas, a failover takes back what only the old primary had: across one nothing is compared.
//! - No statement takes longer than the limits allow. One that a server has got and cannot write down, its disk being full, is the server's
//!   to answer.
//!
//! Times are taken before a statement is sent and after its answer has come, so whatever is called a violation is one.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use crate::history::{
    Event, Failover, History, Log, Loss, Number, Outcome, Promise, Read, Time, Write, Writer,
};

/// What kind of promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It was acknowledged, is not there, and nobody told of it.
    Lost,
    /// It was done more than once.
    Twice,
    /// It was told as not done, and is there or was shown.
    RefusedAndDone,
    /// Nobody wrote it before it was shown.
    NeverWritten,
    /// The session had seen or written more before.
    WentBack,
    /// More was acknowledged or shown before the read began.
    Stale,
    TooLong,
}

/// One violation.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) wrong: Wrong,
    pub(crate) account: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.wrong, self.account)
    }
}

/// All violations.
pub(crate) fn judge(history: &History) -> Vec<Finding> {
    let tried: HashMap<(Writer, Number), &Write> =
        history.writes().map(|write| ((write.writer, write.number), write)).collect();
    let mut findings = of_what_is_left(history, &tried);
    findings.extend(lost(history));
    findings.extend(history.reads().filter_map(|(log, read)| unexplained(log, read, &tried)));
    // What a failover may take back, it may only where commits do not wait.
    let forgiven: &[Failover] = if history.loss == Loss::None { &[] } else { &history.failovers };
    findings.extend(history.logs.iter().flat_map(|log| went_back(log, forgiven)));
    findings.extend(stale(history, forgiven));
    findings.extend(history.events().filter_map(|(log, event)| {
        let (sent, ended) = event.times()?;
        let took = ended.saturating_sub(sent);
        (took > longest(history, sent, ended)).then(|| Finding {
            wrong: Wrong::TooLong,
            account: format!("{}: {event:?} took {took:?}", log.name),
        })
    }));
    findings
}

/// How long a statement of that time may take.
fn longest(history: &History, sent: Time, ended: Time) -> Duration {
    let has_waited = history.full_disks.iter().any(|full| sent <= full.end && full.begin <= ended);
    if has_waited { history.statement_max + history.room_max } else { history.statement_max }
}

/// Rows that nobody can have written, or that were written more than once.
fn of_what_is_left(history: &History, tried: &HashMap<(Writer, Number), &Write>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&(writer, number), &count) in &history.left.rows {
        let wrong = match tried.get(&(writer, number)) {
            None => Wrong::NeverWritten,
            Some(write) if !write.leaves_row() => Wrong::NeverWritten,
            Some(write) if write.outcome == Outcome::Refused => Wrong::RefusedAndDone,
            Some(_) if count > 1 => Wrong::Twice,
            Some(_) => continue,
        };
        findings.push(Finding {
            wrong,
            account: format!("row {number} of writer {writer} is there {count} times"),
        });
    }
    for (&writer, &version) in &history.left.versions {
        if let Some(wrong) = unexplained_version(writer, version, None, tried) {
            findings.push(Finding { wrong, account: format!("register {writer} is left at {version}") });
        }
    }
    findings
}

/// Writes that were acknowledged and are not there, if they are more than were told; or if no failover followed that could have lost them.
fn lost(history: &History) -> Option<Finding> {
    let left = &history.left;
    let is_there = |write: &Write| {
        let row = left.rows.contains_key(&(write.writer, write.number));
        let version = left.versions.get(&write.writer).is_some_and(|version| *version >= write.number);
        (row || !write.leaves_row()) && (version || !write.leaves_version())
    };
    let acknowledged = history.writes().filter(|write| write.outcome == Outcome::Acknowledged);
    let missing: Vec<&Write> = acknowledged.filter(|write| !is_there(write)).collect();
    let allowed = match history.loss {
        Loss::None => 0,
        Loss::Told(count) => count,
        Loss::Unknown => u64::MAX,
    };
    let is_lost_by_none =
        |write: &&&Write| history.failovers.iter().all(|failover| failover.end < write.ended);
    let unexplained: Vec<_> = missing.iter().filter(is_lost_by_none).collect();
    let count = missing.len() as u64;
    (count > allowed || !unexplained.is_empty()).then(|| {
        let shown: Vec<_> = unexplained.into_iter().chain(&missing).take(5).collect();
        Finding {
            wrong: Wrong::Lost,
            account: format!("{count} acknowledged writes are gone, {:?}: {shown:?}", history.loss),
        }
    })
}

fn unexplained(log: &Log, read: &Read, tried: &HashMap<(Writer, Number), &Write>) -> Option<Finding> {
    let wrong = unexplained_version(read.register, read.version, Some(read.ended), tried)?;
    Some(Finding { wrong, account: format!("{} was shown {read:?}", log.name) })
}

/// What is wrong with a version that was there before that time.
fn unexplained_version(
    writer: Writer,
    version: Number,
    before: Option<Time>,
    tried: &HashMap<(Writer, Number), &Write>,
) -> Option<Wrong> {
    if version == 0 {
        return None;
    }
    match tried.get(&(writer, version)) {
        None => Some(Wrong::NeverWritten),
        Some(write) if !write.leaves_version() => Some(Wrong::NeverWritten),
        Some(write) if before.is_some_and(|before| before < write.sent) => Some(Wrong::NeverWritten),
        Some(write) if write.outcome == Outcome::Refused => Some(Wrong::RefusedAndDone),
        Some(_) => None,
    }
}

/// Whether a failover may have taken back, by the end of a read, what was so at that time.
fn may_be_gone(since: Time, read: &Read, forgiven: &[Failover]) -> bool {
    forgiven.iter().any(|failover| since <= failover.end && failover.begin <= read.ended)
}

fn went_back(log: &Log, forgiven: &[Failover]) -> Vec<Finding> {
    let mut seen: HashMap<Writer, (Number, Time)> = HashMap::new();
    let mut findings = Vec::new();
    for event in &log.events {
        let (register, version, since) = match event {
            Event::Anew => {
                seen.clear();
                continue;
            }
            Event::Write(write) if write.outcome == Outcome::Acknowledged && write.leaves_version() => {
                (write.writer, write.number, write.sent)
            }
            Event::Write(_) | Event::Failed { .. } => continue,
            Event::Read(read) => {
                if let Some(&(before, since)) = seen.get(&read.register)
                    && read.version < before
                    && !may_be_gone(since, read, forgiven)
                {
                    findings.push(Finding {
                        wrong: Wrong::WentBack,
                        account: format!(
                            "{} knew version {before} since {since:?}, and was shown {read:?}",
                            log.name
                        ),
                    });
                }
                (read.register, read.version, read.sent)
            }
        };
        seen.insert(register, (version, since));
    }
    findings
}

/// Reads of sessions that are to be current, and are not.
fn stale(history: &History, forgiven: &[Failover]) -> Vec<Finding> {
    let mut known: HashMap<Writer, Vec<(Time, Number)>> = HashMap::new();
    for (log, event) in history.events() {
        let (register, version, sent, ended) = match event {
            Event::Write(write) if write.outcome == Outcome::Acknowledged && write.leaves_version() => {
                (write.writer, write.number, write.sent, write.ended)
            }
            Event::Read(read) if log.promise == Promise::Current => {
                (read.register, read.version, read.sent, read.ended)
            }
            _ => continue,
        };
        if forgiven.iter().any(|failover| sent <= failover.end && failover.begin <= ended) {
            continue;
        }
        known.entry(register).or_default().push((ended, version));
    }
    known.values_mut().for_each(|known| raise(known, forgiven));
    let current = history.reads().filter(|(log, _)| log.promise == Promise::Current);
    current
        .filter_map(|(log, read)| {
            let known = known.get(&read.register)?;
            let before = known.partition_point(|(ended, _)| *ended < read.sent);
            let &(since, least) = known.get(before.checked_sub(1)?)?;
            let is_stale = read.version < least && !may_be_gone(since, read, forgiven);
            is_stale.then(|| Finding {
                wrong: Wrong::Stale,
                account: format!("{} was shown {read:?} when {least} was known since {since:?}", log.name),
            })
        })
        .collect()
}

/// Sorts what was known by time, and has each tell of the most that was known by then, since the last failover.
fn raise(known: &mut [(Time, Number)], forgiven: &[Failover]) {
    known.sort_unstable();
    let mut most = (Time::ZERO, 0);
    for one in known {
        let (ended, version) = *one;
        if forgiven.iter().any(|failover| (most.0..ended).contains(&failover.end) || failover.end == ended) {
            most = (ended, 0);
        }
        most = (ended, most.1.max(version));
        *one = most;
    }
}

#[cfg(test)]
mod tests;
