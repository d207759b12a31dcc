//! The clock of both servers, by libfaketime: it stands still until it is set, and so both always say the same.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where Debian's libraries of one machine are.
const LIBRARIES: &str = "/usr/lib";
/// The one for programs of several threads: the other now and then lets one of them see the machine's time.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// A file that the servers read for each look at the clock.
#[derive(Debug)]
pub(crate) struct Clock(TempDir);

impl Clock {
    /// The machine's until it is set: a server that starts under a clock that stands waits for it for ever.
    pub(crate) fn running() -> Self {
        let clock = Self(tempfile::tempdir().expect("a directory"));
        clock.write("+0");
        clock
    }

    /// For servers that are to have it. They live in a zone that turns its clocks.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let library = library().display().to_string();
        let file = self.file().display().to_string();
        [
            ("TZ", "Europe/Berlin"),
            ("LD_PRELOAD", &library),
            ("FAKETIME_TIMESTAMP_FILE", &file),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            // Else MySQL 9.7 takes all of a processor: its waits end at once.
            ("FAKETIME_FORCE_MONOTONIC_FIX", "0"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    /// It is that time of the servers' zone from now on, as `2026-03-28 23:59:58`.
    pub(crate) fn set(&self, time: &str) {
        self.write(time);
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("clock")
    }

    /// A server never reads half of it.
    fn write(&self, text: &str) {
        let fresh = self.0.path().join("fresh");
        fs::write(&fresh, text).expect("the time is written");
        fs::rename(&fresh, self.file()).expect("the time is put in force");
    }
}

fn library() -> PathBuf {
    let entries = fs::read_dir(LIBRARIES).expect("libraries").flatten();
    let mut places = entries.map(|entry| entry.path().join(LIBRARY));
    places.find(|place: &PathBuf| Path::exists(place)).expect("libfaketime: tools/deps.sh test installs it")
}
