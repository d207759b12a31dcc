//! The SQL admin listener: accepts operators' connections and gives each a session.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_http::accept;
use nuthatch_net::{Framed, Stream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;

use crate::admin::Admin;
use crate::session::{self, Ended};

/// How long telling a client that there is no room may take.
const REFUSAL_MAX: Duration = Duration::from_secs(1);

/// Serves operators on this listener until [`Admin::stop`], then waits for the sessions to end.
///
/// It may be called for several listeners of one [`Admin`].
pub async fn serve(listener: TcpListener, admin: Arc<Admin>) {
    while let Some((stream, peer)) = accept(&listener, admin.stopping()).await {
        let session = Arc::clone(&admin);
        match admin.place() {
            Some(place) => admin.sessions().spawn(run(stream, peer, session, place)),
            None => admin.sessions().spawn(refuse(stream)),
        };
    }
    admin.sessions().close();
    admin.sessions().wait().await;
}

async fn run(stream: TcpStream, peer: SocketAddr, admin: Arc<Admin>, place: OwnedSemaphorePermit) {
    // Without it answers are late, not wrong.
    drop(stream.set_nodelay(true));
    match session::run(Framed::new(Stream::Tcp(stream)), peer, admin).await {
        Ok(Ended::Left | Ended::Refused | Ended::Stopped) => {}
        Err(error) => tracing::debug!(%peer, %error, "an admin session broke"),
    }
    drop(place);
}

/// Error 1040 in place of a greeting; before the greeting an error has no SQLSTATE.
async fn refuse(stream: TcpStream) {
    let mut payload = vec![0xFF, 0x10, 0x04];
    payload.extend_from_slice(b"Too many connections");
    let mut bytes = Vec::new();
    nuthatch_wire::append_packet(&mut bytes, &mut 0, &payload);
    let mut framed = Framed::new(Stream::Tcp(stream));
    // The client is sent away in any case.
    drop(tokio::time::timeout(REFUSAL_MAX, framed.write(&bytes)).await);
}
