//! What a failover has left that nobody finished: at who writes (`remnant.rs`), or at a replica (`straggler.rs`).

mod care;
mod remnant;
mod straggler;

use std::time::Duration;

use crate::order::KnownServer;
pub use care::{Care, Leftover};

/// Looks at a server of a pair whose servers are `pair`, and whose writes `writer` takes.
pub async fn look_for_leftover(
    server: &KnownServer,
    writer: &KnownServer,
    pair: &[KnownServer],
    care: Care<'_>,
    patience: Duration,
) -> Leftover {
    let found = match server.0 == writer.0 {
        true => remnant::look(writer, pair, care, patience).await,
        false => straggler::look(server, writer, pair, care, patience).await,
    };
    // Who cannot be asked is told of by the monitor.
    found.unwrap_or_else(|failure| {
        tracing::debug!(server = %server.0, %failure, "what a failover has left there is not known");
        Leftover::None
    })
}
