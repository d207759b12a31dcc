//! How many connections the server has, by its own count, while a slice runs.
//!
//! `Max_used_connections` misses none, however short; `Threads_connected` is sampled beside it. The census's own
//! connection and the one that counts rows are taken off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::dialogue::Dialogue;
use crate::address::Address;
use crate::client::Client;
use crate::clock::monotonic;
use crate::database;

const SAMPLE_EVERY: Duration = Duration::from_millis(50);

/// The census's and the counter's.
const OWN_CONNECTIONS: u64 = 2;

/// How long connections of a slice before may take to go.
const QUIET_WAIT: Duration = Duration::from_secs(20);

pub(super) struct Census {
    stop: Arc<AtomicBool>,
    sampler: JoinHandle<Result<(u64, u64)>>,
}

impl Census {
    /// Begins when nobody else is connected.
    pub(super) fn begin(server: &Address) -> Result<Self> {
        let mut dialogue = Dialogue::connect(server, &database::login())?;
        let deadline = monotonic() + QUIET_WAIT;
        while connected(&mut dialogue)? > OWN_CONNECTIONS {
            if monotonic() > deadline {
                bail!("connections of the slice before are still there");
            }
            std::thread::sleep(SAMPLE_EVERY);
        }
        // Sets the most that were used to those that are now.
        let mut resetter = Client::connect(server, &database::login())?;
        resetter.query("FLUSH STATUS")?;
        drop(resetter);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let sampler = std::thread::spawn(move || sample(&mut dialogue, &told));
        Ok(Self { stop, sampler })
    }

    /// The peak by the server's own count, and the highest sample.
    pub(super) fn end(self) -> Result<(u64, u64)> {
        self.stop.store(true, Ordering::Relaxed);
        self.sampler.join().ok().context("the census failed")?
    }
}

fn sample(dialogue: &mut Dialogue, stop: &AtomicBool) -> Result<(u64, u64)> {
    let mut highest = 0;
    while !stop.load(Ordering::Relaxed) {
        highest = highest.max(connected(dialogue)?);
        std::thread::sleep(SAMPLE_EVERY);
    }
    let peak = dialogue.number("SHOW GLOBAL STATUS LIKE 'Max_used_connections'")?;
    Ok((peak.saturating_sub(OWN_CONNECTIONS), highest.saturating_sub(OWN_CONNECTIONS)))
}

fn connected(dialogue: &mut Dialogue) -> Result<u64> {
    dialogue.number("SHOW GLOBAL STATUS LIKE 'Threads_connected'")
}
