//! Accepting connections until told to stop.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// How long to wait after a failed accept: it fails when descriptors run out, and would at once fail again.
const PAUSE: Duration = Duration::from_millis(100);

/// The next connection, or `None` once `stop` is cancelled.
pub async fn accept(listener: &TcpListener, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return None,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(connection) => return Some(connection),
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
