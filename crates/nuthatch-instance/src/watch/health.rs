//! Whether instances are well, and if not, which and why.

use serde::Serialize;

use crate::life::state::Doing;
use crate::name::InstanceName;
use crate::watch::figures::{Figures, Live};

/// Less than this left on its disk, in bytes, and an instance is not well: a server whose disk is full hangs.
const DISK_BYTES_MIN: u64 = 256 << 20;

/// How an instance is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Which.
    pub name: InstanceName,
    /// Whether nothing is wrong with it.
    pub well: bool,
    /// What is wrong.
    pub why: Vec<String>,
}

impl Health {
    /// Of one instance. One that is stopped and does not start with the host is as it should be.
    #[must_use]
    pub fn of(figures: &Figures) -> Self {
        let summary = &figures.summary;
        let mut why = Vec::new();
        match &figures.live {
            Ok(live) => why.extend(of_server(live)),
            Err(_) if summary.state == Doing::Stopped && !summary.enabled => {}
            Err(error) if summary.state == Doing::Running => why.push(format!("it does not answer: {error}")),
            Err(error) => why.push(format!("it is {}: {error}", summary.state)),
        }
        if summary.state == Doing::Unsupervised {
            why.push("nobody would bring it back: its supervisor is gone".into());
        }
        if let Some(bytes) = figures.disk_left_bytes.filter(|bytes| *bytes < DISK_BYTES_MIN) {
            why.push(format!("its disk has {} MiB left", bytes >> 20));
        }
        Self { name: summary.name.clone(), well: why.is_empty(), why }
    }
}

fn of_server(live: &Live) -> Vec<String> {
    let mut why = Vec::new();
    if live.connections >= live.connections_max {
        why.push(format!("all {} connections are used", live.connections_max));
    }
    for source in live.sources.iter().filter(|source| !source.is_running) {
        let error = if source.error.is_empty() { "it was stopped" } else { &source.error };
        why.push(format!("it does not replicate from {}: {error}", source.address));
    }
    why
}
