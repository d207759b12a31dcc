//! Having a server dump its buffer pool now and then: by itself it does so when it stops, and not when it crashes.

use std::time::Duration;

use nuthatch_sql::PoolLoad;

use crate::ask::{SOON, Session};
use crate::error::InstanceError;
use crate::root::Place;

/// When a server is asked for a dump.
pub(crate) struct Dumps {
    every: Option<tokio::time::Interval>,
}

impl Dumps {
    /// So often, the first a whole interval from now; never for 0.
    pub(crate) fn every(seconds: u64) -> Self {
        let period = Duration::from_secs(seconds);
        let every = (seconds > 0).then(|| {
            let mut every = tokio::time::interval_at(tokio::time::Instant::now() + period, period);
            every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            every
        });
        Self { every }
    }

    /// Resolves when one is due.
    pub(crate) async fn due(&mut self) {
        match &mut self.every {
            Some(every) => {
                every.tick().await;
            }
            None => std::future::pending().await,
        }
    }
}

/// The server dumps its pool, unless it is still loading what was dumped before: a dump of a cold pool must not take the place of a good one.
pub(crate) async fn dump(place: &Place) -> Result<(), InstanceError> {
    let mut session = Session::open(place).await?;
    let status = session.ask("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_load_status'", SOON).await?;
    let status = status.texts().next().map(|[_, status]: [String; 2]| status).unwrap_or_default();
    if matches!(PoolLoad::of_status(&status), PoolLoad::Loading { .. }) {
        return Ok(());
    }
    session.ask("SET GLOBAL innodb_buffer_pool_dump_now = ON", SOON).await.map(drop)
}
