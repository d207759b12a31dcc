//! Who writes in each cluster, kept in a file: a proxy that is started anew while an old primary takes writes too knows which one counts.
//!
//! A file that is not understood is told of and made anew.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_proxy::Proxy;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::kept;

const FILE_NAME: &str = "nuthatch-writers.json";

/// Not every change of who writes makes a configuration: it is looked this often.
const TICK: Duration = Duration::from_secs(1);

type Writers = BTreeMap<HostgroupId, ServerName>;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct WritersFile {
    path: PathBuf,
    /// What stands in it.
    saved: Writers,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    writer_hostgroup: u32,
    hostname: String,
    port: u16,
}

impl WritersFile {
    /// That of a directory, read.
    pub(crate) fn open(directory: &Path) -> Self {
        let path = directory.join(FILE_NAME);
        let saved = read(&path).unwrap_or_else(|error| {
            let file = path.display();
            tracing::warn!(%file, %error, "who wrote before the proxy was stopped is not known: cannot read the file");
            Writers::new()
        });
        Self { path, saved }
    }

    /// Who wrote last, by the file.
    pub(crate) fn writers(&self) -> Writers {
        self.saved.clone()
    }

    /// Keeps what changes, until `stop`.
    pub(crate) async fn keep(mut self, proxy: Arc<Proxy>, stop: CancellationToken) {
        let mut configurations = proxy.configurations();
        let mut is_told = false;
        loop {
            // A cluster that has no row any more has one again as long as the file knows it.
            let mut now = self.saved.clone();
            now.extend(proxy.sole_writers());
            if now != self.saved {
                let (path, writers) = (self.path.clone(), now.clone());
                let saved = tokio::task::spawn_blocking(move || save(&path, &writers)).await;
                match saved.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
                    Ok(()) => (self.saved, is_told) = (now, false),
                    Err(error) if !is_told => {
                        let file = self.path.display();
                        tracing::error!(%file, %error, "who writes is not kept over a restart: cannot write the file");
                        is_told = true;
                    }
                    Err(_) => {}
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                changed = configurations.changed() => if changed.is_err() { return },
                () = sleep(TICK) => {}
            }
        }
    }
}

fn read(path: &Path) -> io::Result<Writers> {
    let writer = |line: Line| {
        (HostgroupId(line.writer_hostgroup), ServerName { host: line.hostname, port: line.port })
    };
    Ok(kept::read(path)?.into_iter().map(writer).collect())
}

fn save(path: &Path, writers: &Writers) -> io::Result<()> {
    let line = |(hostgroup, server): (&HostgroupId, &ServerName)| Line {
        writer_hostgroup: hostgroup.0,
        hostname: server.host.clone(),
        port: server.port,
    };
    kept::save(path, &writers.iter().map(line).collect::<Vec<_>>())
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
        save(&path, &writers).expect("it can be written");
        save(&path, &writers).expect("it can be written again");
        assert_eq!(WritersFile::open(directory.path()).writers(), writers);
        std::fs::write(&path, "[{").expect("it can be written");
        assert_eq!(WritersFile::open(directory.path()).writers(), Writers::new());
    }
}
