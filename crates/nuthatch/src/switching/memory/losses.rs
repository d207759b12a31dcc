//! What was lost with old primaries, as far as it is known: the rows of `stats_nuthatch_lost_transactions`. And what will be, if a server
//! takes the writes that was told to: a proxy that ends just then leaves that to the next one.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_admin::rows::LostTransactionsRow;
use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::{Lacking, Promoted};
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
    /// Of each pair the latest.
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
    lost: Option<Lost>,
}

/// What is lost if `new` takes the writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Expected {
    hostgroup: u32,
    old: (String, u16),
    new: (String, u16),
    /// None where that is not known.
    acknowledged: Option<Lost>,
    /// None where the old one was not seen.
    seen: Option<Lost>,
}

/// Transactions, which may be none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Lost {
    count: u64,
    gtids: String,
}

impl Losses {
    /// Those of a directory, if there is one.
    pub(super) fn open(directory: Option<&Path>) -> Self {
        let kept = Kept::open(directory, FILE_NAME, "what was lost with old primaries");
        Self { kept, acknowledged: AtomicU64::new(0) }
    }

    /// That is lost if the server takes the writes, which it is told to behind this. What was expected of the pair before is settled by
    /// who is replaced now.
    pub(in crate::switching) fn expect(&self, hostgroup: HostgroupId, promoted: &Promoted, time: u64) {
        self.tell_if(hostgroup, &[&promoted.old], time);
        let expected = Expected::of(hostgroup, promoted);
        if !expected.is_nothing() {
            self.kept.change(|lines| lines.push(Line::Expected(expected)));
        }
    }

    /// It has taken none, and is not told to any more.
    pub(in crate::switching) fn expect_no_more(&self, hostgroup: HostgroupId, promoted: &Promoted) {
        let line = Line::Expected(Expected::of(hostgroup, promoted));
        self.kept.change_soon(|lines| lines.retain(|other| *other != line));
    }

    /// Who takes the writes of that pair is known, and who did before, if that is: tells what is lost if it was one of them that loses
    /// it. Nothing is expected any more.
    pub(in crate::switching) fn tell_if(&self, hostgroup: HostgroupId, writers: &[&ServerName], time: u64) {
        let mut told = None;
        self.kept.change_soon(|lines| {
            let is_of_pair =
                |line: &Line| matches!(line, Line::Expected(one) if one.hostgroup == hostgroup.0);
            let Some(place) = lines.iter().position(is_of_pair) else { return };
            let Line::Expected(expected) = lines.remove(place) else { return };
            if writers.iter().any(|writer| is_named(writer, &expected.new)) {
                expected.rows(time).for_each(|row| push(lines, row));
                told = Some(expected);
            }
        });
        if let Some(told) = told {
            let count = told.acknowledged.as_ref().map_or(0, |lost| lost.count);
            self.acknowledged.fetch_add(count, Ordering::Relaxed);
            told.log();
        }
    }

    /// The same of all pairs of which `writer_of` knows who takes the writes.
    pub(in crate::switching) fn tell_found(
        &self,
        writer_of: impl Fn(HostgroupId) -> Option<ServerName>,
        time: u64,
    ) {
        for line in self.kept.all() {
            let Line::Expected(expected) = line else { continue };
            let hostgroup = HostgroupId(expected.hostgroup);
            if let Some(writer) = writer_of(hostgroup) {
                self.tell_if(hostgroup, &[&writer], time);
            }
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
            lost: Some(Lost::of(surplus)),
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
        let told = self.kept.all().into_iter().filter_map(|line| match line {
            Line::Told(told) => Some(told),
            Line::Expected(_) => None,
        });
        told.map(Told::into_row).collect()
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

fn is_named(server: &ServerName, (host, port): &(String, u16)) -> bool {
    server.host == *host && server.port == *port
}

impl Lost {
    fn of(lacking: &Lacking) -> Self {
        Self { count: lacking.count, gtids: lacking.gtids.chars().take(GTIDS_BYTES_MAX).collect() }
    }
}

impl Expected {
    fn of(hostgroup: HostgroupId, promoted: &Promoted) -> Self {
        let name = |server: &ServerName| (server.host.clone(), server.port);
        Self {
            hostgroup: hostgroup.0,
            old: name(&promoted.old),
            new: name(&promoted.new),
            acknowledged: promoted.lost.as_ref().map(Lost::of),
            seen: promoted.lost_of_seen.as_ref().map(Lost::of),
        }
    }

    /// Of those that are seen as lost, if any.
    fn seen(&self) -> Option<&Lost> {
        self.seen.as_ref().filter(|lost| lost.count > 0)
    }

    fn is_nothing(&self) -> bool {
        self.acknowledged.as_ref().is_some_and(|lost| lost.count == 0) && self.seen().is_none()
    }

    fn names(&self) -> [String; 2] {
        [&self.old, &self.new].map(|(host, port)| ServerName { host: host.clone(), port: *port }.to_string())
    }

    fn rows(&self, time: u64) -> impl Iterator<Item = Told> {
        let [old, new] = self.names();
        let acknowledged = match &self.acknowledged {
            Some(lost) if lost.count == 0 => None,
            lost => Some((KnownBy::Acknowledged, lost.clone())),
        };
        let seen = self.seen().map(|lost| (KnownBy::Seen, Some(lost.clone())));
        let hostgroup = self.hostgroup;
        let findings = [acknowledged, seen].into_iter().flatten();
        findings.map(move |(known_by, lost)| Told {
            hostgroup,
            time,
            old: old.clone(),
            new: new.clone(),
            known_by,
            lost,
        })
    }

    fn log(&self) {
        let (hostgroup, [old, new]) = (self.hostgroup, self.names());
        match &self.acknowledged {
            Some(lost) if lost.count == 0 => {}
            Some(lost) => tracing::error!(
                hostgroup,
                old,
                new,
                count = lost.count,
                gtids = lost.gtids,
                "transactions that were acknowledged are lost with the old primary"
            ),
            None => tracing::warn!(
                hostgroup,
                old,
                new,
                "whether transactions that were acknowledged are lost with the old primary is not known"
            ),
        }
        if let Some(lost) = self.seen() {
            tracing::error!(
                hostgroup,
                old,
                new,
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

    #[tokio::test]
    async fn what_will_be_lost_is_told_once_the_heir_takes_writes() {
        let losses = Losses::open(None);
        losses.expect(PAIR, &promoted(1, 2, Some(3)), 7);
        losses.tell_found(|_| None, 7);
        assert_eq!(counts(&losses), [], "nobody knows yet");
        losses.tell_found(|_| Some(server(2)), 8);
        losses.tell_found(|_| Some(server(2)), 9);
        assert_eq!((counts(&losses), losses.acknowledged()), (vec![Some(3)], 3), "it is told once");
        losses.expect(PAIR, &promoted(2, 3, None), 10);
        losses.tell_found(|_| Some(server(2)), 11);
        losses.tell_found(|_| Some(server(3)), 12);
        assert_eq!(counts(&losses).len(), 1, "the old one still writes: nothing is lost");
        losses.expect(PAIR, &promoted(2, 3, None), 13);
        losses.tell_if(PAIR, &[&server(2), &server(3)], 14);
        assert_eq!(counts(&losses), [Some(3), None]);
    }

    #[tokio::test]
    async fn who_is_replaced_next_has_taken_the_writes() {
        let losses = Losses::open(None);
        losses.expect(PAIR, &promoted(1, 2, Some(3)), 7);
        let next = promoted(2, 3, Some(4));
        losses.expect(PAIR, &next, 8);
        assert_eq!(counts(&losses), [Some(3)]);
        losses.expect_no_more(PAIR, &promoted(2, 3, Some(5)));
        losses.tell_found(|_| Some(server(3)), 9);
        assert_eq!(counts(&losses), [Some(3), Some(4)]);
        losses.expect(PAIR, &promoted(3, 1, Some(0)), 10);
        losses.expect(PAIR, &next, 10);
        losses.expect_no_more(PAIR, &next);
        losses.tell_found(|_| Some(server(3)), 11);
        assert_eq!(counts(&losses), [Some(3), Some(4)], "that one was taken back");
    }

    #[tokio::test]
    async fn next_run_of_the_proxy_tells_what_this_one_could_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Losses::open(Some(directory.path()));
        open().expect(PAIR, &promoted(1, 2, Some(3)), 7);
        let next = open();
        next.tell_found(|_| Some(server(2)), 8);
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
