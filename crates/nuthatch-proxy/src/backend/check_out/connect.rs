//! Opening a connection: TCP or Unix socket, login, what the server says of itself.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_net::{BackendLogin, BackendPassword, ClearPasswords, Framed, NetError, Stream, log_in};
use nuthatch_wire::{CapabilityFlags, ErrPacket, StatusFlags};
use tokio::time::{Instant, timeout};

use crate::backend::connection::ask_defaults::learn_defaults;
use crate::backend::connection::{Connection, Slot};
use crate::backend::server::control::Control;
use crate::backend::server::defaults::Era;
use crate::state::capability::{COMPRESSION, SHAPE, SUPPORTED};
use crate::state::{Charset, ConnectionState};
use crate::worker::Worker;

/// How often a login is begun anew because what sessions begin with was changed meanwhile.
const TRIES_IN_ONE_ERA: u32 = 3;

/// How to log in, and how long it may take.
#[derive(Debug)]
pub(in crate::backend) struct Login<'a> {
    pub(in crate::backend) user: &'a Arc<str>,
    pub(in crate::backend) password: &'a BackendPassword,
    pub(in crate::backend) schema: &'a [u8],
    pub(in crate::backend) collation: u8,
    pub(in crate::backend) shape: CapabilityFlags,
    /// The server is to tell of changes, if it can.
    pub(in crate::backend) is_tracked: bool,
    /// It is to tell of what was committed, too.
    pub(in crate::backend) tells_gtids: bool,
    pub(in crate::backend) timeout: Duration,
    pub(in crate::backend) keepalive: Option<Duration>,
    pub(in crate::backend) max_packet_bytes: u32,
    pub(in crate::backend) clear_passwords: ClearPasswords,
    /// Statements to send before the first use; empty for none.
    pub(in crate::backend) init_connect: Arc<str>,
}

/// Why a connection could not be opened.
#[derive(Debug)]
pub(in crate::backend) enum OpenError {
    /// It could not be connected or logged in.
    Net(NetError),
    /// A server refused `init_connect`.
    Init(ErrPacket),
}

impl From<NetError> for OpenError {
    fn from(error: NetError) -> Self {
        Self::Net(error)
    }
}

/// Connects and logs in with the right that `slot` gives. Counts nothing.
pub(in crate::backend) async fn open(
    slot: Slot,
    worker: &Worker,
    login: &Login<'_>,
) -> Result<Box<Connection>, OpenError> {
    let started = Instant::now();
    let number_before = slot.server.restarts.greatest(&slot.server.host, slot.server.port);
    let connected = timeout(login.timeout, connect_in_one_era(&slot, worker, login)).await;
    let (framed, logged_in, mut era) = connected.map_err(|_elapsed| timed_out())??;
    let latency_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let thread_id = logged_in.greeting.connection_id;
    let is_anew =
        slot.server.restarts.accepted(&slot.server.host, slot.server.port, number_before, thread_id);
    if is_anew {
        slot.server.known.caught_up.begin_anew();
    }
    if is_anew && !slot.server.defaults.lacks_values() {
        // It may have been configured anew.
        slot.server.begin_defaults_anew();
        era = slot.server.defaults.era_to_begin().await;
    }
    let shape = logged_in.capabilities & SHAPE;
    slot.server.connected(logged_in.greeting, logged_in.status, latency_us);
    slot.server.room.is_given(login.user);
    let control = Arc::new(Control::of(login.user));
    slot.server.remember(&control);
    // Who cuts a server off says so first, and looks then which connections there are.
    if slot.server.is_cut_off() {
        slot.server.forget(&control);
        return Err(NetError::Closed.into());
    }
    let mut connection = Box::new(Connection {
        framed,
        state: ConnectionState::new(
            login.schema,
            Charset::Collation(login.collation),
            logged_in.status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT),
        ),
        control,
        user: Arc::clone(login.user),
        shape,
        capabilities: logged_in.capabilities,
        is_told_of_changes: login.is_tracked && shape.contains(CapabilityFlags::CLIENT_SESSION_TRACK),
        tells_gtids: login.tells_gtids,
        refused: login.shape - shape,
        thread_id,
        login_collation: login.collation,
        worker: worker.id,
        opened: started,
        era,
        identity: None,
        init_connect: Arc::clone(&login.init_connect),
        pinged_ms: 0,
        idle_since_ms: 0,
        statements: 0,
        insert_id: Some(0),
        refusal: None,
        prepared: crate::backend::connection::prepared::PreparedStatements::default(),
        named: crate::backend::connection::prepared::NamedStatements::default(),
        last_session: 0,
        ahead: crate::backend::server::ahead::Ahead::default(),
        is_lent: false,
        slot,
    });
    if connection.server().defaults.last_change() > 0 {
        let learning = timeout(login.timeout, learn_defaults(&mut connection)).await;
        learning.map_err(|_elapsed| timed_out())??;
    }
    if connection.has_first_orders() {
        let initialized = timeout(login.timeout, connection.initialize()).await;
        initialized.map_err(|_elapsed| timed_out())??.map_err(OpenError::Init)?;
    }
    Ok(connection)
}

fn timed_out() -> NetError {
    NetError::Io(std::io::ErrorKind::TimedOut.into())
}

/// Connects and logs in while what sessions begin with is not changed; the last time in any case.
async fn connect_in_one_era(
    slot: &Slot,
    worker: &Worker,
    login: &Login<'_>,
) -> Result<(Framed, nuthatch_net::LoggedIn, Arc<Era>), NetError> {
    let mut tries_left = TRIES_IN_ONE_ERA;
    loop {
        let era = slot.server.defaults.era_to_begin().await;
        let (framed, logged_in) = connect_and_log_in(slot, worker, login).await?;
        tries_left -= 1;
        if tries_left == 0 || !slot.server.defaults.may_have_changed_since(&era) {
            return Ok((framed, logged_in, era));
        }
    }
}

async fn connect_and_log_in(
    slot: &Slot,
    worker: &Worker,
    login: &Login<'_>,
) -> Result<(Framed, nuthatch_net::LoggedIn), NetError> {
    let tls = slot.server.tls();
    let tls = tls.as_deref().map(|tls| tls.of(login.user).connector()).transpose()?;
    let stream = Stream::connect(&slot.server.address).await?.watched_by(worker.registrar())?;
    if let Some(idle) = login.keepalive {
        stream.keep_alive(idle)?;
    }
    let mut framed = Framed::new(stream);
    let capabilities = login.shape
        | (SUPPORTED
            & !SHAPE
            & !CapabilityFlags::CLIENT_INTERACTIVE
            & !CapabilityFlags::CLIENT_CONNECT_WITH_DB);
    let capabilities = if slot.server.compresses() { capabilities | COMPRESSION } else { capabilities };
    let login = BackendLogin {
        user: login.user,
        password: login.password,
        schema: (!login.schema.is_empty()).then_some(login.schema),
        collation: login.collation,
        capabilities,
        max_packet_bytes: login.max_packet_bytes,
        tls: tls.map(|tls| (tls, slot.server.host.as_str())),
        clear_passwords: login.clear_passwords,
    };
    let logged_in = log_in(&mut framed, &login).await?;
    Ok((framed, logged_in))
}
