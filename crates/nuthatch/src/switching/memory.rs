//! What is remembered of who has changed roles: also by the next run of the proxy, where there is a `--datadir`.

mod fenced;
mod history;
mod kept;
mod latest;
mod ledger;
mod losses;
mod seen;
mod writers_file;

use std::path::Path;

pub(super) use fenced::{Fenced, Old};
pub(crate) use history::Ended;
pub(super) use history::{Attempt, By, Came, History, Kind};
pub(super) use ledger::Ledger;
pub(super) use losses::{Losses, Witness};
pub(super) use seen::Seen;
pub(crate) use writers_file::WritersFile;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) history: History,
    pub(crate) losses: Losses,
    pub(super) fenced: Fenced,
    pub(super) seen: Seen,
    pub(super) ledger: Ledger,
}

impl Memory {
    /// What former runs have left in `directory`, if there is one, is known.
    pub(super) fn open(directory: Option<&Path>) -> Self {
        Self {
            history: History::default(),
            losses: Losses::open(directory),
            fenced: Fenced::open(directory),
            seen: Seen::default(),
            ledger: Ledger::open(directory),
        }
    }
}
