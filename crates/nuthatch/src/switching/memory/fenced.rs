//! Old primaries that were replaced, and that nothing is sent to: also by the next run of the proxy.

use std::path::Path;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::{KeptOut, Lacking, Replaced};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::kept::Kept;

const FILE_NAME: &str = "nuthatch-replaced.json";

/// The old primaries that nothing is sent to.
#[derive(Debug)]
pub(crate) struct Fenced {
    all: Mutex<Vec<Old>>,
    kept: Kept<Line>,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    writer_hostgroup: u32,
    hostname: String,
    port: u16,
    over_tls: bool,
}

/// An old primary, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Old {
    pub(in crate::switching) hostgroup: HostgroupId,
    pub(in crate::switching) name: ServerName,
    pub(in crate::switching) over_tls: bool,
    /// What was told of it last.
    pub(in crate::switching) surplus: Option<Lacking>,
    /// How often it was looked for.
    pub(in crate::switching) rounds: u32,
    /// When it was seen to be read-only last. If the same process takes writes now, somebody wants that.
    pub(in crate::switching) read_only_at: Option<Instant>,
    /// In how many looks in a row it took writes while who replaced it was not there.
    pub(in crate::switching) alone: u32,
    /// In how many looks in a row it was there and could not be made to follow.
    pub(in crate::switching) failures: u32,
}

impl Old {
    /// Nothing is known of it yet.
    const fn new(hostgroup: HostgroupId, name: ServerName, over_tls: bool) -> Self {
        Self {
            hostgroup,
            name,
            over_tls,
            surplus: None,
            rounds: 0,
            read_only_at: None,
            alone: 0,
            failures: 0,
        }
    }
}

impl Fenced {
    /// Those of a directory, if there is one.
    pub(crate) fn open(directory: Option<&Path>) -> Self {
        let kept = Kept::<Line>::open(directory, FILE_NAME, "who was replaced as primary");
        let old = |line: Line| {
            let name = ServerName { host: line.hostname, port: line.port };
            Old::new(HostgroupId(line.writer_hostgroup), name, line.over_tls)
        };
        Self { all: Mutex::new(kept.all().into_iter().map(old).collect()), kept }
    }

    /// The old one is, and the new one no longer: also for the next run of the proxy when this returns.
    pub(in crate::switching) fn note(&self, hostgroup: HostgroupId, replaced: &Replaced<'_>) {
        let is_one = |name: &ServerName| name == replaced.old || Some(name) == replaced.new;
        let mut all = self.all.lock();
        all.retain(|old| old.hostgroup != hostgroup || !is_one(&old.name));
        all.push(Old::new(hostgroup, replaced.old.clone(), replaced.over_tls));
        self.kept.change(|kept| *kept = lines_of(&all));
    }

    /// Those of that pair.
    pub(in crate::switching) fn kept_out(&self, hostgroup: HostgroupId) -> Vec<KeptOut> {
        let all = self.all.lock();
        let of_pair = all.iter().filter(|old| old.hostgroup == hostgroup);
        of_pair.map(|old| KeptOut { name: old.name.clone(), is_given_up: old.surplus.is_some() }).collect()
    }

    /// Whether nothing is sent to it.
    pub(in crate::switching) fn has(&self, hostgroup: HostgroupId, server: &ServerName) -> bool {
        self.all.lock().iter().any(|old| old.hostgroup == hostgroup && old.name == *server)
    }

    pub(crate) fn all(&self) -> Vec<Old> {
        self.all.lock().clone()
    }

    /// What is known of it now; none if it is not fenced any more.
    pub(in crate::switching) fn put(&self, known: &Old, now: Option<Old>) {
        let mut all = self.all.lock();
        let Some(place) = all.iter().position(|old| old == known) else { return };
        match now {
            Some(now) => all.splice(place..=place, [now]).for_each(drop),
            None => drop(all.remove(place)),
        }
        self.kept.change_soon(|kept| *kept = lines_of(&all));
    }
}

fn lines_of(all: &[Old]) -> Vec<Line> {
    let line = |old: &Old| Line {
        writer_hostgroup: old.hostgroup.0,
        hostname: old.name.host.clone(),
        port: old.name.port,
        over_tls: old.over_tls,
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_run_knows_who_was_replaced_as_soon_as_it_is_noted() {
        let directory = tempfile::tempdir().expect("a directory");
        let name = |host: &str| ServerName { host: host.to_owned(), port: 3306 };
        let (first, second, hostgroup) = (name("db1"), name("db2"), HostgroupId(10));
        let replaced_by_next_run = || {
            let all = Fenced::open(Some(directory.path())).all();
            all.into_iter().map(|old| old.name).collect::<Vec<_>>()
        };
        let fenced = Fenced::open(Some(directory.path()));
        fenced.note(hostgroup, &Replaced { old: &first, new: Some(&second), over_tls: false });
        assert_eq!(replaced_by_next_run(), std::slice::from_ref(&first));
        fenced.note(hostgroup, &Replaced { old: &second, new: Some(&first), over_tls: false });
        assert_eq!(replaced_by_next_run(), [second], "who takes the writes again is replaced no more");
    }
}
