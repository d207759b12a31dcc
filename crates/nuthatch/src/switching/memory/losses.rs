//! What was lost with old primaries, as far as it is known: the rows of `stats_nuthatch_lost_transactions`. And what will be, if a server
//! takes the writes that was told to: a proxy that ends just then leaves that to the next one.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_admin::rows::LostTransactionsRow;
use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::{Lacking, Promoted};
use nuthatch_sql::KnownGtids;
use serde::{Deserialize, Serialize};

use super::kept::Kept;
use super::latest::KEPT_MAX;

const FILE_NAME: &str = "nuthatch-losses.json";

/// Ids that a finding keeps; the log has all of them.
const GTIDS_BYTES_MAX: usize = 64 << 10;

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum KnownBy {
    /// Clients of this proxy were told that they are committed.
    Acknowledged,
    /// The old primary had them when it was seen last.
    Seen,
    /// The old primary had them when it came back.
    Surplus,
}

/// What is known of the transactions of who takes the writes.
#[derive(Debug)]
pub(in crate::switching) enum Witness {
    Has(KnownGtids),
    /// Somebody looks, and has not seen it yet.
    NotYet,
    /// Nobody looks.
    Nobody,
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Losses {
    kept: Kept<Line>,
    /// How many that were acknowledged, in all, since this proxy runs.
    acknowledged: AtomicU64,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Line {
    Told(Told),
    Expected(Expected),
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    hostgroup: u32,
    time: u64,
    old: String,
    new: String,
    known_by: KnownBy,
    /// None where it is not known what was lost.
    lost: Option<Lacking>,
}

/// What is lost if the new primary takes the writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Expected {
    hostgroup: u32,
    promoted: Promoted,
}

impl Losses {
    /// Those of a directory, if there is one.
    pub(super) fn open(directory: Option<&Path>) -> Self {
        let kept = Kept::open(directory, FILE_NAME, "what was lost with old primaries");
        Self { kept, acknowledged: AtomicU64::new(0) }
    }

    /// That is lost if the server takes the writes, which it is told to behind this. What is not known any more of what the old one had
    /// acknowledged may have been known when another one was to take its place.
    pub(in crate::switching) fn expect(&self, hostgroup: HostgroupId, promoted: &Promoted) {
        let mut expected = Expected { hostgroup: hostgroup.0, promoted: promoted.clone() };
        self.kept.change(|lines| {
            let mut of_old =
                lines.iter().rev().filter_map(|line| line.as_expected_of(hostgroup.0, &promoted.old));
            let known = of_old.find_map(|other| other.lost.clone());
            expected.promoted.lost = expected.promoted.lost.take().or(known);
            lines.retain(|line| {
                let of_old = line.as_expected_of(hostgroup.0, &promoted.old);
                of_old.is_none_or(|other| other.new != promoted.new)
            });
            if !expected.is_nothing() {
                lines.push(Line::Expected(expected));
            }
        });
    }

    /// It takes them: tells what is lost by that.
    pub(in crate::switching) fn tell(&self, hostgroup: HostgroupId, [old, new]: [&ServerName; 2], time: u64) {
        let hostgroup = hostgroup.0;
        let told = self.kept.find(|line| {
            let promoted = line.as_expected_of(hostgroup, old).filter(|promoted| promoted.new == *new)?;
            Some(Expected { hostgroup, promoted: promoted.clone() })
        });
        told.into_iter().for_each(|expected| self.settle(&expected, Some(&expected), time));
    }

    /// The same of all of whom it is not known whether they were told to take the writes, or did: `found` knows who does.
    pub(in crate::switching) fn tell_found(
        &self,
        found: impl Fn(HostgroupId) -> Option<(ServerName, Witness)>,
        time: u64,
    ) {
        for expected in self.kept.find(|line| line.as_expected().cloned()) {
            let Some((writer, witness)) = found(HostgroupId(expected.hostgroup)) else { continue };
            let Promoted { old, new, .. } = &expected.promoted;
            let lost = match witness {
                Witness::Has(gtids) => Some(expected.without(&gtids, writer == *old)),
                Witness::NotYet | Witness::Nobody if writer == *old => None,
                Witness::NotYet if writer != *new => continue,
                Witness::NotYet | Witness::Nobody => Some(expected.clone()),
            };
            self.settle(&expected, lost.as_ref(), time);
        }
    }

    /// That is lost, or nothing is, of what was expected of this old primary, whoever was to be the new one.
    fn settle(&self, expected: &Expected, lost: Option<&Expected>, time: u64) {
        let lost = lost.filter(|lost| !lost.is_nothing());
        self.kept.change_soon(|lines| {
            lines.retain(|line| line.as_expected_of(expected.hostgroup, &expected.promoted.old).is_none());
            lost.iter().flat_map(|lost| lost.rows(time)).for_each(|row| push(lines, row));
        });
        if let Some(lost) = lost {
            let count = lost.promoted.lost.as_ref().map_or(0, |lost| lost.count);
            self.acknowledged.fetch_add(count, Ordering::Relaxed);
            lost.log();
        }
    }

    /// An old primary is back, and has what who writes now does not have.
    pub(in crate::switching) fn note_surplus(
        &self,
        hostgroup: HostgroupId,
        [old, new]: [&ServerName; 2],
        surplus: &Lacking,
        time: u64,
    ) {
        let row = Told {
            hostgroup: hostgroup.0,
            time,
            old: old.to_string(),
            new: new.to_string(),
            known_by: KnownBy::Surplus,
            lost: Some(shortened(surplus)),
        };
        self.kept.change_soon(|lines| {
            // A proxy that was started anew finds it again.
            let is_told =
                |line: &Line| matches!(line, Line::Told(told) if Told { time, ..told.clone() } == row);
            if !lines.iter().any(is_told) {
                push(lines, row);
            }
        });
    }

    /// All, the oldest first.
    pub(crate) fn rows(&self) -> Vec<LostTransactionsRow> {
        let told = self.kept.find(|line| match line {
            Line::Told(told) => Some(told.clone()),
            Line::Expected(_) => None,
        });
        told.into_iter().map(Told::into_row).collect()
    }

    /// How many transactions that were acknowledged through this proxy are lost, as far as that is known, since it runs.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }
}

/// Of more than may be kept the oldest go.
fn push(lines: &mut Vec<Line>, row: Told) {
    lines.push(Line::Told(row));
    let is_told = |line: &Line| matches!(line, Line::Told(_));
    if lines.iter().filter(|line| is_told(line)).count() > KEPT_MAX
        && let Some(oldest) = lines.iter().position(is_told)
    {
        lines.remove(oldest);
    }
}

/// As a row has it.
fn shortened(lost: &Lacking) -> Lacking {
    Lacking { count: lost.count, gtids: lost.gtids.chars().take(GTIDS_BYTES_MAX).collect() }
}

impl Line {
    const fn as_expected(&self) -> Option<&Expected> {
        match self {
            Self::Expected(expected) => Some(expected),
            Self::Told(_) => None,
        }
    }

    fn as_expected_of(&self, hostgroup: u32, old: &ServerName) -> Option<&Promoted> {
        let of_old = |one: &&Expected| one.hostgroup == hostgroup && one.promoted.old == *old;
        self.as_expected().filter(of_old).map(|one| &one.promoted)
    }
}

impl Expected {
    /// What is lost of it, as who takes the writes has these. What the old one has acknowledged it has itself.
    fn without(&self, has: &KnownGtids, is_old: bool) -> Self {
        let less = |lost: &Option<Lacking>| lost.as_ref().map(|lost| lost.without(has));
        let Promoted { lost, lost_of_seen, .. } = &self.promoted;
        let (lost, lost_of_seen) = (less(lost).or(is_old.then(Lacking::default)), less(lost_of_seen));
        Self { promoted: Promoted { lost, lost_of_seen, ..self.promoted.clone() }, ..*self }
    }

    /// Of those that are seen as lost, if any.
    fn seen(&self) -> Option<&Lacking> {
        self.promoted.lost_of_seen.as_ref().filter(|lost| !lost.is_none())
    }

    fn is_nothing(&self) -> bool {
        self.promoted.lost.as_ref().is_some_and(Lacking::is_none) && self.seen().is_none()
    }

    fn rows(&self, time: u64) -> impl Iterator<Item = Told> {
        let acknowledged = match &self.promoted.lost {
            Some(lost) if lost.is_none() => None,
            lost => Some((KnownBy::Acknowledged, lost.as_ref())),
        };
        let seen = self.seen().map(|lost| (KnownBy::Seen, Some(lost)));
        let findings = [acknowledged, seen].into_iter().flatten();
        findings.map(move |(known_by, lost)| Told {
            hostgroup: self.hostgroup,
            time,
            old: self.promoted.old.to_string(),
            new: self.promoted.new.to_string(),
            known_by,
            lost: lost.map(shortened),
        })
    }

    fn log(&self) {
        let Self { hostgroup, promoted: Promoted { old, new, lost, .. } } = self;
        match lost {
            Some(lost) if lost.is_none() => {}
            Some(lost) => tracing::error!(
                hostgroup, %old, %new,
                count = lost.count,
                gtids = lost.gtids,
                "transactions that were acknowledged are lost with the old primary"
            ),
            None => tracing::warn!(
                hostgroup, %old, %new,
                "whether transactions that were acknowledged are lost with the old primary is not known"
            ),
        }
        if let Some(lost) = self.seen() {
            tracing::error!(
                hostgroup, %old, %new,
                count = lost.count,
                gtids = lost.gtids,
                "transactions that the old primary had when it was seen last are lost with it"
            );
        }
    }
}

impl Told {
    fn into_row(self) -> LostTransactionsRow {
        let known_by = match self.known_by {
            KnownBy::Acknowledged => "acknowledged",
            KnownBy::Seen => "seen",
            KnownBy::Surplus => "surplus",
        };
        let (count, gtids) = self.lost.map(|lost| (lost.count, lost.gtids)).unzip();
        LostTransactionsRow {
            hostgroup: self.hostgroup,
            time: self.time,
            old_primary: self.old,
            new_primary: self.new,
            known_by: known_by.to_owned(),
            count,
            gtids,
        }
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::GtidPositions;

    use super::*;

    const PAIR: HostgroupId = HostgroupId(10);

    fn server(port: u16) -> ServerName {
        ServerName { host: "a".into(), port }
    }

    fn promoted(old: u16, new: u16, lost: Option<u64>) -> Promoted {
        let lost = lost.map(|count| Lacking { gtids: format!("0-1-{count}"), count });
        Promoted { old: server(old), new: server(new), lost, lost_of_seen: None, over_tls: false }
    }

    fn counts(losses: &Losses) -> Vec<Option<u64>> {
        losses.rows().iter().map(|row| row.count).collect()
    }

    /// Who takes the writes, and nobody looks at it.
    fn by_name(port: u16) -> impl Fn(HostgroupId) -> Option<(ServerName, Witness)> {
        move |_| Some((server(port), Witness::Nobody))
    }

    fn having(port: u16, state: &str) -> impl Fn(HostgroupId) -> Option<(ServerName, Witness)> {
        let has = KnownGtids::Positions(GtidPositions::parse(state).expect("positions"));
        move |_| Some((server(port), Witness::Has(has.clone())))
    }

    #[tokio::test]
    async fn what_will_be_lost_is_told_once_the_heir_takes_writes() {
        let losses = Losses::open(None);
        losses.expect(PAIR, &promoted(1, 2, Some(3)));
        losses.tell_found(|_| None, 7);
        losses.tell_found(|_| Some((server(3), Witness::NotYet)), 7);
        assert_eq!(counts(&losses), [], "nobody knows yet");
        losses.tell_found(by_name(2), 8);
        losses.tell_found(by_name(2), 9);
        assert_eq!((counts(&losses), losses.acknowledged()), (vec![Some(3)], 3), "it is told once");
        losses.expect(PAIR, &promoted(2, 3, None));
        losses.tell_found(by_name(2), 11);
        losses.tell_found(by_name(3), 12);
        assert_eq!(counts(&losses).len(), 1, "the old one still writes: nothing is lost");
        losses.expect(PAIR, &promoted(2, 3, None));
        losses.tell(PAIR, [&server(2), &server(3)], 14);
        assert_eq!(counts(&losses), [Some(3), None]);
    }

    #[tokio::test]
    async fn who_takes_the_writes_is_asked_what_it_lacks() {
        // Whoever it is: somebody else may have put it there.
        for (writer, state, told) in [
            (2, "0-1-4,0-2-9", vec![Some(3)]),
            (3, "0-1-6,0-2-9", vec![Some(1)]),
            (3, "0-1-7,0-3-8", vec![]),
            (1, "0-1-9", vec![]),
        ] {
            let losses = Losses::open(None);
            let lost = Lacking { gtids: "0-1-5..0-1-7".to_owned(), count: 3 };
            losses.expect(PAIR, &Promoted { lost: Some(lost), ..promoted(1, 2, None) });
            losses.tell_found(having(writer, state), 9);
            assert_eq!(counts(&losses), told, "{writer} {state}");
            losses.tell_found(by_name(2), 9);
            assert_eq!(counts(&losses), told, "once");
        }
    }

    #[tokio::test]
    async fn what_another_try_does_not_know_is_not_forgotten() {
        let losses = Losses::open(None);
        losses.expect(PAIR, &promoted(1, 2, Some(3)));
        losses.expect(PAIR, &promoted(1, 3, None));
        losses.tell(PAIR, [&server(1), &server(3)], 8);
        losses.tell_found(by_name(2), 9);
        assert_eq!(counts(&losses), [Some(3)], "of one old primary it is told once");
        // The heir's own failover comes before anybody has seen that it took writes.
        losses.expect(PAIR, &promoted(1, 2, Some(4)));
        losses.expect(PAIR, &promoted(2, 3, Some(5)));
        losses.tell(PAIR, [&server(2), &server(3)], 10);
        losses.tell_found(having(3, "0-3-9"), 11);
        assert_eq!(counts(&losses), [Some(3), Some(5), Some(1)], "0-1-4 is one");
    }

    #[tokio::test]
    async fn next_run_of_the_proxy_tells_what_this_one_could_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Losses::open(Some(directory.path()));
        open().expect(PAIR, &promoted(1, 2, Some(3)));
        let next = open();
        next.tell_found(by_name(2), 8);
        let surplus = Lacking { gtids: "0-1-9".to_owned(), count: 1 };
        next.note_surplus(PAIR, [&server(1), &server(2)], &surplus, 9);
        next.note_surplus(PAIR, [&server(1), &server(2)], &surplus, 10);
        let rows = next.rows();
        assert_eq!(
            rows.iter().map(|row| (row.time, row.count)).collect::<Vec<_>>(),
            [(8, Some(3)), (9, Some(1))]
        );
        // It is in the file a little later.
        let mut kept = open().rows();
        while kept != rows {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            kept = open().rows();
        }
    }

    #[tokio::test]
    async fn of_more_than_may_be_kept_the_oldest_go() {
        let losses = Losses::open(None);
        for time in 0..=KEPT_MAX as u64 {
            let surplus = Lacking { gtids: format!("0-1-{time}"), count: 1 };
            losses.note_surplus(PAIR, [&server(1), &server(2)], &surplus, time);
        }
        let rows = losses.rows();
        assert_eq!((rows.len(), rows[0].time), (KEPT_MAX, 1));
    }
}
