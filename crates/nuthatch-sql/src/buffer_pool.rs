//! What servers tell of InnoDB's buffer pool: how far they have loaded what was dumped of it, and how often it lacks a page.
//!
//! `Innodb_buffer_pool_load_status` is a sentence, the same on MariaDB and MySQL but for how it begins. It is never translated; what of it
//! is a time or a path is not read.

/// How far a server has loaded the pages that were dumped before it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolLoad {
    /// Nothing of a load is told: none was asked for, or it has not begun yet.
    NotBegun,
    /// There is no dump that could be read.
    NoDump,
    /// It loads.
    Loading {
        /// Pages that it has read.
        loaded: u64,
        /// Pages that were dumped; 0 where it has not said yet, as MariaDB never does.
        all: u64,
    },
    /// All that was dumped is loaded.
    Completed,
    /// Somebody has ended the load.
    Aborted,
}

impl PoolLoad {
    /// By the value of `Innodb_buffer_pool_load_status`. What is not understood tells nothing of a load.
    #[must_use]
    pub fn of_status(status: &str) -> Self {
        let has = |words: &str| status.contains(words);
        match status {
            // A dump that cannot be read, or holds nothing, is loaded in no time.
            _ if has("was empty") => Self::NoDump,
            _ if has("load completed") => Self::Completed,
            _ if has("load aborted") => Self::Aborted,
            _ if has("Cannot open") || has("Error parsing") => Self::NoDump,
            _ => match status.strip_prefix("Loaded ").and_then(pages) {
                Some((_, 0)) => Self::Completed,
                Some((loaded, all)) => Self::Loading { loaded, all },
                None if status.starts_with("Loading buffer pool") => Self::Loading { loaded: 0, all: 0 },
                None => Self::NotBegun,
            },
        }
    }

    /// Which part of the dumped pages is loaded, in percent; none where there is no load to tell of.
    #[must_use]
    pub fn pct(self) -> Option<u64> {
        match self {
            Self::Loading { all: 0, .. } => Some(0),
            Self::Loading { loaded, all } => Some(loaded.min(all).saturating_mul(100) / all),
            Self::Completed => Some(100),
            Self::NotBegun | Self::NoDump | Self::Aborted => None,
        }
    }
}

/// The numbers in `2048/8192 pages`.
fn pages(text: &str) -> Option<(u64, u64)> {
    let (loaded, all) = text.split_whitespace().next()?.split_once('/')?;
    Some((loaded.parse().ok()?, all.parse().ok()?))
}

/// A buffer pool at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolFigures {
    /// For how many seconds the server has run.
    pub uptime_s: u64,
    /// What became of its dump.
    pub load: PoolLoad,
    /// Pages that were asked for since it was started.
    pub requests: u64,
    /// Of these, those that had to be read from disk.
    pub reads: u64,
    /// Pages that it holds.
    pub pages: u64,
}

impl PoolFigures {
    /// The question whose rows they are.
    pub const QUESTION: &'static str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', \
        'Innodb_buffer_pool_load_status', 'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads', \
        'Innodb_buffer_pool_pages_data')";

    /// By names and values of status variables; none where they do not tell for how long the server has run, or have no buffer pool.
    #[must_use]
    pub fn of_status<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let (mut uptime_s, mut load, mut requests, mut reads, mut pages) = (None, None, None, None, None);
        for (name, value) in rows {
            let number = || value.parse().ok();
            match name.to_ascii_lowercase().as_str() {
                "uptime" => uptime_s = number(),
                "innodb_buffer_pool_load_status" => load = Some(PoolLoad::of_status(value)),
                "innodb_buffer_pool_read_requests" => requests = number(),
                "innodb_buffer_pool_reads" => reads = number(),
                "innodb_buffer_pool_pages_data" => pages = number(),
                _ => {}
            }
        }
        Some(Self { uptime_s: uptime_s?, load: load?, requests: requests?, reads: reads?, pages: pages? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_read_as_servers_write_it() {
        for (status, load, pct) in [
            // MariaDB 10.11 and MySQL 9.7, as they answered.
            ("", PoolLoad::NotBegun, None),
            ("Loading of buffer pool not started", PoolLoad::NotBegun, None),
            (
                "Loading buffer pool(s) from /data/ib_buffer_pool",
                PoolLoad::Loading { loaded: 0, all: 0 },
                Some(0),
            ),
            ("Loaded 2049/8192 pages", PoolLoad::Loading { loaded: 2049, all: 8192 }, Some(25)),
            ("Loaded 8191/8192 pages", PoolLoad::Loading { loaded: 8191, all: 8192 }, Some(99)),
            ("Loaded 0/0 pages", PoolLoad::Completed, Some(100)),
            ("Buffer pool(s) load completed at 261129  9:55:14", PoolLoad::Completed, Some(100)),
            (
                "Buffer pool(s) load completed at 261129 10:20:36 (/data/ib_buffer_pool was empty or had errors)",
                PoolLoad::NoDump,
                None,
            ),
            ("Buffer pool(s) load aborted on request", PoolLoad::Aborted, None),
            (
                "Cannot open '/data/ib_buffer_pool' for reading: No such file or directory",
                PoolLoad::NoDump,
                None,
            ),
            ("Loaded many pages", PoolLoad::NotBegun, None),
        ] {
            assert_eq!(PoolLoad::of_status(status), load, "{status}");
            assert_eq!(load.pct(), pct, "{status}");
        }
    }

    #[test]
    fn figures_are_had_of_rows_in_any_order_and_case_if_all_are_there() {
        let rows = [
            ("INNODB_BUFFER_POOL_READS", "7"),
            ("Innodb_buffer_pool_load_status", "Loaded 1/2 pages"),
            ("Uptime", "61"),
            ("Innodb_buffer_pool_read_requests", "900"),
            ("Innodb_buffer_pool_pages_data", "3"),
        ];
        let load = PoolLoad::Loading { loaded: 1, all: 2 };
        let expected = PoolFigures { uptime_s: 61, load, requests: 900, reads: 7, pages: 3 };
        assert_eq!(PoolFigures::of_status(rows), Some(expected));
        for missing in 0..rows.len() {
            let rest = rows.iter().enumerate().filter(|(place, _)| *place != missing).map(|(_, row)| *row);
            assert_eq!(PoolFigures::of_status(rest), None, "without row {missing}");
        }
    }
}
