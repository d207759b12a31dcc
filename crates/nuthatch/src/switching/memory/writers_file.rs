//! Who writes in each cluster, kept in a file: a proxy that is started anew while an old primary takes writes too knows which one counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_proxy::Proxy;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::kept::Kept;

const FILE_NAME: &str = "nuthatch-writers.json";

/// Not every change of who writes makes a configuration: it is looked this often.
const TICK: Duration = Duration::from_secs(1);

type Writers = BTreeMap<HostgroupId, ServerName>;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct WritersFile(Kept<Line>);

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    writer_hostgroup: u32,
    hostname: String,
    port: u16,
}

impl WritersFile {
    /// That of a directory, read.
    pub(crate) fn open(directory: &Path) -> Self {
        Self(Kept::open(Some(directory), FILE_NAME, "who writes"))
    }

    /// Who wrote last, by the file.
    pub(crate) fn writers(&self) -> Writers {
        let writer = |line: Line| {
            (HostgroupId(line.writer_hostgroup), ServerName { host: line.hostname, port: line.port })
        };
        self.0.all().into_iter().map(writer).collect()
    }

    /// Keeps what changes, until `stop`.
    pub(crate) async fn keep(self, proxy: Arc<Proxy>, stop: CancellationToken) {
        let mut configurations = proxy.configurations();
        loop {
            // A cluster that has no row any more has one again as long as the file knows it.
            let mut now = self.writers();
            now.extend(proxy.sole_writers());
            self.0.change_soon(|lines| *lines = lines_of(&now));
            tokio::select! {
                () = stop.cancelled() => return,
                changed = configurations.changed() => if changed.is_err() { return },
                () = sleep(TICK) => {}
            }
        }
    }
}

fn lines_of(writers: &Writers) -> Vec<Line> {
    let line = |(hostgroup, server): (&HostgroupId, &ServerName)| Line {
        writer_hostgroup: hostgroup.0,
        hostname: server.host.clone(),
        port: server.port,
    };
    writers.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read_and_what_is_broken_is_nobody() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(WritersFile::open(directory.path()).writers(), Writers::new());
        let writers = Writers::from([
            (HostgroupId(10), ServerName { host: "db2".to_owned(), port: 3306 }),
            (HostgroupId(20), ServerName { host: "/run/mysqld/mysqld.sock".to_owned(), port: 0 }),
        ]);
        let path = directory.path().join(FILE_NAME);
        for _twice in 0..2 {
            WritersFile::open(directory.path()).0.change(|lines| *lines = lines_of(&writers));
        }
        assert_eq!(WritersFile::open(directory.path()).writers(), writers);
        std::fs::write(&path, "[{").expect("it can be written");
        assert_eq!(WritersFile::open(directory.path()).writers(), Writers::new());
    }
}
