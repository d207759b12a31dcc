//! Switchovers that were begun, kept in a file while they are under way, for the next run of the proxy.

use std::path::Path;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::Begun;
use serde::{Deserialize, Serialize};

use super::kept::Kept;

const FILE_NAME: &str = "nuthatch-switchovers.json";

/// Those that have begun, and of which nobody knows how they ended.
#[derive(Debug)]
pub(crate) struct Ledger(Kept<Line>);

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    writer_hostgroup: u32,
    old: (String, u16),
    new: (String, u16),
    ran_events: bool,
    /// When it was begun, in seconds since 1970.
    time: u64,
}

impl Ledger {
    /// That of a directory, if there is one.
    pub(crate) fn open(directory: Option<&Path>) -> Self {
        Self(Kept::open(directory, FILE_NAME, "whether a switchover was begun"))
    }

    /// It begins now: nothing is touched before this returns.
    pub(in crate::switching) fn begin(&self, begun: &Begun, time: u64) {
        let line = line_of(begun, time);
        self.0.change(|all| {
            all.retain(|known| known.writer_hostgroup != line.writer_hostgroup);
            all.push(line);
        });
    }

    /// There is nothing to be taken back of it.
    pub(in crate::switching) fn end(&self, hostgroup: HostgroupId) {
        self.0.change(|all| all.retain(|line| line.writer_hostgroup != hostgroup.0));
    }

    /// The same of that one alone: another may have begun meanwhile.
    pub(in crate::switching) fn end_of(&self, begun: &Begun, time: u64) {
        let line = line_of(begun, time);
        self.0.change(|all| all.retain(|known| *known != line));
    }

    /// Each with when it was begun, in seconds since 1970.
    pub(in crate::switching) fn all(&self) -> Vec<(Begun, u64)> {
        let name = |(host, port): (String, u16)| ServerName { host, port };
        let begun = |line: Line| {
            let begun = Begun {
                hostgroup: HostgroupId(line.writer_hostgroup),
                old: name(line.old),
                new: name(line.new),
                ran_events: line.ran_events,
            };
            (begun, line.time)
        };
        self.0.all().into_iter().map(begun).collect()
    }
}

fn line_of(begun: &Begun, time: u64) -> Line {
    let name = |server: &ServerName| (server.host.clone(), server.port);
    Line {
        writer_hostgroup: begun.hostgroup.0,
        old: name(&begun.old),
        new: name(&begun.new),
        ran_events: begun.ran_events,
        time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_is_known_again_until_it_has_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Ledger::open(Some(directory.path()));
        let name = |host: &str| ServerName { host: host.to_owned(), port: 3306 };
        let begun =
            Begun { hostgroup: HostgroupId(10), old: name("db1"), new: name("db2"), ran_events: true };
        open().begin(&begun, 7);
        assert_eq!(open().all(), [(begun.clone(), 7)]);
        open().end_of(&begun, 6);
        assert_eq!(open().all(), [(begun, 7)], "that is another one");
        open().end(HostgroupId(10));
        assert_eq!(open().all(), []);
    }
}
