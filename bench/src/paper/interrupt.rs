//! Ctrl-C and SIGTERM end a run at the next slice; what was measured until then is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};

/// Whether somebody wants the run to end.
#[derive(Debug, Clone, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Signals no longer kill this process from here on.
    pub(super) fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let asked = Arc::clone(&interrupt.asked);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let (mut interrupted, mut ended) = {
            let _inside = runtime.enter();
            let listen = |kind| signal(kind).context("cannot listen to signals");
            (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?)
        };
        thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = interrupted.recv() => {}
                        _ = ended.recv() => {}
                    }
                    asked.store(true, Ordering::Relaxed);
                }
            });
        });
        Ok(interrupt)
    }

    /// True once a signal came.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
