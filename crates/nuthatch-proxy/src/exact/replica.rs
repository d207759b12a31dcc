//! Replicas whose answers may be stored, and the proof of what each has applied.
//!
//! What a replica answers is as old as what it has applied. So an answer of its is stored as one of an earlier moment: that of which it is
//! proven that all that was acknowledged before it had been applied when the read began. If anything that the answer depends on has moved
//! since that moment, or is pending, it is not stored; else it is what the primary would have answered, and from then on it is judged as any
//! other entry. What the replica knows beyond that moment does no harm: it is pending here, or has moved.
//!
//! Somebody else proves it ([`Evidence::prove`]), in this order: the moment is noted ([`Moment`]); the primary is asked for its position, which
//! so has all that was acknowledged before; the replica is found to have applied it. A read that begins on the replica after that sees it. No
//! statement waits for that and none is sent more than before: a write tells nothing, a read looks at the last proof.
//!
//! # Which replica
//!
//! A name may lead to several servers. So the proof holds for connections of which is known that they lead to the server that was proven
//! (each is asked once, [`Evidence::question`]), and that were opened before the server was last asked: then they and the proof are of one
//! process, which does not lose what it has applied. A replica that was started anew, perhaps from a backup, is proven anew.
//!
//! # What it rests on
//!
//! Everything that the primary acknowledges is in its binlog, under a GTID, and the replica applies all of it: nuthatch-source looks whether
//! that is so (no filters, no errors skipped, read only, …). A session that says otherwise for itself (`sql_log_bin`) ends it for all
//! replicas ([`Binlogs`]).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use nuthatch_cache::Sequence;
use nuthatch_sql::{ReadFootprint, TableId};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::backend::{Connection, Server};

/// Why nothing that a hostgroup answers is cached as exact: a sentence for an operator.
pub type NoDomain = Arc<str>;

/// A server of a hostgroup that follows another.
#[derive(Debug, Clone)]
pub struct Replica {
    /// As configured.
    pub host: String,
    /// As configured; 0 for a socket.
    pub port: u16,
    /// Whether its answers may be stored, or why not: a clause for an operator.
    pub standing: Result<Vouched, NoDomain>,
}

/// What it takes to store answers of a replica.
#[derive(Debug, Clone)]
pub struct Vouched {
    /// What it has applied.
    pub evidence: Arc<Evidence>,
    /// Tables that are defined there otherwise than on the primary.
    pub differing: Arc<HashSet<TableId>>,
}

/// A moment in the order of writes, noted before a proof is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub(super) Sequence);

/// All that was acknowledged before the moment was applied on the replica when it was asked, and so by the process of each
/// connection that was open then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proof {
    pub(crate) since: Sequence,
    pub(crate) asked: Instant,
}

/// What is known of one replica of one primary. See the module's doc.
#[derive(Debug)]
pub struct Evidence {
    question: Arc<str>,
    proof: ArcSwapOption<Proof>,
    /// Why there is none.
    trouble: ArcSwapOption<String>,
    wanted: Notify,
    /// The replica's tables were looked at when it may have been behind this.
    looked_behind: ArcSwapOption<Moment>,
}

/// Whether what sessions write may be missing in the binlog.
#[derive(Debug, Default)]
pub(crate) struct Binlogs {
    are_left: AtomicBool,
    are_doubted: AtomicBool,
}

impl Evidence {
    /// Of a replica that is known by having a row for that SELECT; nothing is proven yet.
    #[must_use]
    pub fn new(question: &str) -> Self {
        Self {
            question: question.into(),
            proof: ArcSwapOption::empty(),
            trouble: ArcSwapOption::empty(),
            wanted: Notify::new(),
            looked_behind: ArcSwapOption::empty(),
        }
    }

    /// A SELECT that has a row on this server and on no other.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// All that was acknowledged before `moment` had been applied when the replica answered to what it was asked at `asked`, or later.
    /// Says whether its tables are to be looked at again, as they were seen in an older state.
    #[must_use]
    pub fn prove(&self, moment: Moment, asked: Instant) -> bool {
        self.trouble.store(None);
        self.proof.store(Some(Arc::new(Proof { since: moment.0, asked })));
        let is_due = self.looked_behind.load().as_ref().is_some_and(|seen| **seen <= moment);
        if is_due {
            self.looked_behind.store(None);
        }
        is_due
    }

    /// Nothing is proven any more: a clause says why. It says whether that is news.
    #[must_use]
    pub fn withdraw(&self, why: String) -> bool {
        self.proof.store(None);
        let before = self.trouble.swap(Some(Arc::new(why.clone())));
        before.is_none_or(|before| *before != why)
    }

    /// Completes when somebody has wanted a newer proof since this completed last.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Whether it is not known to have applied all that was acknowledged before that moment.
    #[must_use]
    pub fn is_behind(&self, moment: Moment) -> bool {
        self.proof.load().as_ref().is_none_or(|proof| proof.since < moment.0)
    }

    /// Whether nothing can be proven, for a reason that was given.
    #[must_use]
    pub fn is_in_trouble(&self) -> bool {
        self.trouble.load().is_some()
    }

    /// The replica's tables were seen to be others than those of its primary, when it may have been behind `moment`: they are to be looked
    /// at again when it is not.
    pub fn look_again_past(&self, moment: Moment) {
        self.looked_behind.store(Some(Arc::new(moment)));
    }

    /// Since when a read that begins now over the connection sees everything.
    fn since(&self, connection: &Connection) -> Option<Sequence> {
        let proof = self.proof.load();
        let proof = proof.as_ref()?;
        let is_of_it = connection.opened < proof.asked && connection.identified_by(&self.question);
        is_of_it.then_some(proof.since)
    }

    /// In words, since when nothing is missing there.
    fn told(&self) -> String {
        match (&*self.proof.load(), &*self.trouble.load()) {
            (Some(proof), _) => {
                let ago_ms = proof.asked.elapsed().as_millis();
                format!("has applied all that was written {}.{:03} s ago", ago_ms / 1000, ago_ms % 1000)
            }
            (None, Some(why)) => format!("its answers are not stored: {why}"),
            (None, None) => "its answers are not stored: it is not known yet what it has applied".to_owned(),
        }
    }
}

impl Vouched {
    /// Since when an answer over the connection would be stored; if that is not known, or is not now, a newer proof is on its way
    /// afterwards.
    pub(crate) fn since(&self, connection: &Connection, now: Sequence) -> Option<Sequence> {
        let since = self.evidence.since(connection);
        if since.is_none_or(|since| since < now) {
            self.evidence.wanted.notify_one();
        }
        since
    }

    /// Whether all that is read is defined there as on the primary. Of definitions it is not known: there may be other tables.
    pub(crate) fn has_all_of(&self, footprint: &ReadFootprint) -> bool {
        let differs = |table| self.differing.contains(table);
        footprint.definitions.is_none() && !footprint.tables.iter().any(|read| differs(&read.table))
    }
}

impl Replica {
    pub(super) fn is(&self, server: &Server) -> bool {
        (self.host.as_str(), self.port) == (server.host.as_str(), server.port)
    }

    /// In a sentence for an operator.
    pub(crate) fn told(&self) -> String {
        let standing = match &self.standing {
            Ok(vouched) => {
                let differing = match vouched.differing.len() {
                    0 => String::new(),
                    count => format!("; {count} tables are defined otherwise there, and not cached"),
                };
                vouched.evidence.told() + &differing
            }
            Err(why) => format!("its answers are not stored: {why}"),
        };
        format!("{}:{} {standing}", self.host, self.port)
    }
}

impl Binlogs {
    /// A statement is sent that may have its session write past the binlog.
    pub(crate) fn leave(&self) {
        if !self.are_left.swap(true, Ordering::SeqCst) {
            tracing::warn!(
                "a session says how its writes are logged (sql_log_bin, gtid_next, gtid_seq_no or binlog_format): until the \
                 next start no answers of replicas are stored, and no write waits for its event to tell which rows it has changed: where that is \
                 not known all of a table is forgotten"
            );
        }
    }

    /// Something runs of which it is not seen whether its session writes past the binlog from then on.
    pub(crate) fn doubt(&self, what: &str) {
        if !self.are_doubted.swap(true, Ordering::SeqCst) {
            tracing::info!(
                "{what} may have its session write past the binlog (sql_log_bin): until the next start no write waits for its \
                 event to tell which rows it has changed; where that is not known all of a table is forgotten"
            );
        }
    }

    /// Whether all that sessions write stands in the binlog, as far as is known.
    pub(crate) fn have_all(&self) -> bool {
        !self.are_left() && !self.are_doubted.load(Ordering::SeqCst)
    }

    pub(crate) fn are_left(&self) -> bool {
        self.are_left.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::{ClockOptions, Clocks};

    use super::*;

    #[test]
    fn tables_that_were_seen_behind_are_looked_at_again_when_the_replica_is_there() {
        let clocks = Arc::new(Clocks::new(ClockOptions::default()));
        let (evidence, before) = (Evidence::new("SELECT 1"), Moment(clocks.now()));
        clocks.raise(vec![clocks.everything()]).settle();
        let now = Moment(clocks.now());
        assert!(evidence.is_behind(before));
        evidence.look_again_past(now);
        assert!(!evidence.prove(before, Instant::now()) && evidence.is_behind(now));
        assert!(evidence.prove(now, Instant::now()) && !evidence.is_behind(now));
        assert!(!evidence.prove(now, Instant::now()), "once");
    }

    #[test]
    fn proof_is_withdrawn_and_its_reason_is_news_once() {
        let evidence = Evidence::new("SELECT 1");
        let clocks = Clocks::new(ClockOptions::default());
        assert!(!evidence.prove(Moment(clocks.now()), Instant::now()));
        assert!(evidence.told().starts_with("has applied"));
        assert!(evidence.withdraw("it is gone".to_owned()) && !evidence.withdraw("it is gone".to_owned()));
        assert_eq!(evidence.told(), "its answers are not stored: it is gone");
    }
}
