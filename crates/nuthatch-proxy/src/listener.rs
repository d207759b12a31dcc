//! Where clients arrive: TCP and Unix sockets, and the way of a connection to its worker.

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nuthatch_net::{IdleStream, ListenAddress, Stream};
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::Proxy;
use crate::floor::lobby::{Guest, Place};
use crate::roster::{ClientAddress, SessionHandle};
use crate::session::{self, PanicCounter};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// The pause after an accept failed for want of file descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound socket. Dropping it removes a Unix socket's file.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    address: ListenAddress,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Binds `address` on the current runtime; `unix_mode` are the permission bits of a Unix socket's file.
    ///
    /// A file left behind by a process that is gone is replaced; one that somebody listens on is not.
    ///
    /// # Errors
    /// As the operating system says: address in use, permission denied, no such directory.
    pub async fn bind(address: &ListenAddress, unix_mode: u32) -> io::Result<Self> {
        match address {
            ListenAddress::Tcp(wanted) => {
                let socket = if wanted.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
                socket.set_reuseaddr(true)?;
                socket.bind(*wanted)?;
                let listener = socket.listen(BACKLOG)?;
                let address = ListenAddress::Tcp(listener.local_addr()?);
                Ok(Self { socket: Socket::Tcp(listener), address })
            }
            ListenAddress::Unix(path) => {
                remove_if_abandoned(path)?;
                let listener = UnixListener::bind(path)?;
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(unix_mode))?;
                Ok(Self { socket: Socket::Unix(listener, path.clone()), address: address.clone() })
            }
        }
    }

    /// Where it listens; the port is the one in use when 0 was asked for.
    #[must_use]
    pub const fn address(&self) -> &ListenAddress {
        &self.address
    }

    async fn accept(&self) -> io::Result<(IdleStream, ClientAddress)> {
        match &self.socket {
            Socket::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let address = ClientAddress::tcp(peer, stream.local_addr()?);
                Ok((Stream::Tcp(stream).into_idle()?, address))
            }
            Socket::Unix(listener, path) => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream).into_idle()?, ClientAddress::unix(path)))
            }
        }
    }

    /// Accepts clients until `stop`, each for the worker with the fewest sessions.
    pub async fn serve(self, proxy: Arc<Proxy>, stop: CancellationToken) {
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => return,
                accepted = self.accept(), if !proxy.shared.doors.are_closed() => accepted,
                () = sleep(ACCEPT_PAUSE), if proxy.shared.doors.are_closed() => continue,
            };
            match accepted {
                Ok((stream, address)) => {
                    // It may have come while the listener waited, and the proxy was paused meanwhile.
                    while proxy.shared.doors.are_closed() && !stop.is_cancelled() {
                        sleep(ACCEPT_PAUSE).await;
                    }
                    place(&proxy, stream, address);
                }
                Err(error) => {
                    tracing::warn!(listener = %self.address, %error, "could not accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Socket::Unix(_, path) = &self.socket {
            drop(std::fs::remove_file(path));
        }
    }
}

fn remove_if_abandoned(path: &Path) -> io::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file that is no socket is there"));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
        Err(_) => std::fs::remove_file(path),
    }
}

/// Gives a connection to a worker, where it becomes a session.
fn place(proxy: &Arc<Proxy>, stream: IdleStream, address: ClientAddress) {
    let clients_max = proxy.shared.configuration.snapshot().mysql.max_connections;
    let Some(place) = proxy.floor.least(clients_max) else { return };
    let worker = Arc::clone(&place.lobby.worker);
    drop(worker.spawn(welcome(Arc::clone(proxy), place, stream, address)));
}

/// Logs a client in; its session then waits in the worker's lobby. A panic ends this session only.
async fn welcome(proxy: Arc<Proxy>, mut place: Place, stream: IdleStream, address: ClientAddress) {
    let (shared, lobby) = (&proxy.shared, Arc::clone(&place.lobby));
    let worker = &lobby.worker;
    let Ok(stream) = place.admit(stream) else { return };
    if !place.is_taken() {
        drop(session::refuse_for_room(worker, stream).await);
        return;
    }
    let handle = SessionHandle::new(shared.doors.next_session_id(), address, shared.clock.now_ms());
    let handle = Arc::new(handle);
    place.register(&shared.roster, &handle);
    handle.runs().await;
    let patience = Duration::from_millis(shared.configuration.snapshot().mysql.connect_timeout_client);
    let counted = PanicCounter::new(shared, worker.id);
    let login = handle.unless_ended(session::log_in(shared, worker, &lobby.memo, &handle, stream));
    match Box::pin(timeout(patience, login)).await {
        Ok(Ok(Ok(Some(session)))) => {
            drop(counted);
            lobby.run(Box::new(Guest { session: *session, place }));
        }
        Ok(Ok(Ok(None))) => {}
        Ok(Ok(Err(error))) => {
            worker.counters.clients_aborted.bump();
            tracing::debug!(client = %handle.address().host, %error, "a client left during its login");
        }
        Ok(Err(_)) | Err(_) => worker.counters.clients_aborted.bump(),
    }
}
