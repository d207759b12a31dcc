//! Real MariaDB servers: one primary with a replica for all tests of this binary, and labs for tests that stop servers.
//!
//! Nothing is left behind: when this process ends, however it ends, a small shell notices by its closed pipe and takes
//! the shared lab down.

#[path = "../../../nuthatch-lab/tests/fetched/servers.rs"]
mod fetched;

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nuthatch_lab::{Installation, Kind, Options, Role, ScratchLab, Server};

use crate::client::{Address, Client, Login};

/// How long a replica may take to have what its primary has.
const REPLICATION_WAIT: Duration = Duration::from_secs(20);

static SHARED: OnceLock<Shared> = OnceLock::new();
static NEXT_NAME: AtomicU32 = AtomicU32::new(0);

struct Shared {
    lab: ScratchLab,
    _keeper: Child,
}

/// The lab that all tests share: nobody stops its servers or changes what is global there.
pub(crate) fn shared() -> &'static ScratchLab {
    let shared = SHARED.get_or_init(|| {
        let lab = own(1);
        let _keeper = keep(&lab);
        Shared { lab, _keeper }
    });
    &shared.lab
}

/// A lab for one test, gone at its end.
pub(crate) fn own(replicas: u16) -> ScratchLab {
    let options = Options { replicas, buffer_pool_mib: 64, connections_max: 2000, ..Options::default() };
    ScratchLab::up(&options).expect("a lab comes up")
}

/// One server of that kind for one test, which lets in so many.
pub(crate) fn own_of(kind: Kind, connections_max: u16) -> ScratchLab {
    let installation = installation(kind);
    let options = Options { installation, replicas: 0, buffer_pool_mib: 64, ..Options::default() };
    ScratchLab::up(&Options { connections_max: connections_max.into(), ..options }).expect("a lab comes up")
}

/// This system's MariaDB or the one in the directory that NUTHATCH_MARIADB_ROOT names, or a MySQL that is fetched beside it.
pub(crate) fn installation(kind: Kind) -> Installation {
    match kind {
        Kind::MariaDb => match std::env::var_os("NUTHATCH_MARIADB_ROOT") {
            Some(root) => Installation { kind, root: root.into() },
            None => Installation::debian_mariadb(),
        },
        Kind::MySql => fetched::mysql(),
    }
}

/// The kind that an argument names; MariaDB without one.
pub(crate) fn kind_named(name: Option<&str>) -> Kind {
    match name {
        None | Some("mariadb") => Kind::MariaDb,
        Some("mysql") => Kind::MySql,
        Some(other) => panic!("SERVER is mariadb or mysql, not {other}"),
    }
}

/// A lab for one test, of one server of that kind.
pub(crate) fn of_kind(kind: Kind) -> ScratchLab {
    let installation = installation(kind);
    ScratchLab::up(&Options { installation, replicas: 0, buffer_pool_mib: 64, ..Options::default() })
        .expect("a lab comes up")
}

/// A lab of servers that are not this system's; the variable of the environment says where they were unpacked.
pub(crate) fn beside(kind: Kind, variable: &str) -> ScratchLab {
    beside_with(kind, variable, 0)
}

/// The same, with replicas.
#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
pub(crate) fn beside_with(kind: Kind, variable: &str, replicas: u16) -> ScratchLab {
    let root = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names the servers' directory"));
    let installation = Installation { kind, root: root.into() };
    ScratchLab::up(&Options { installation, replicas, ..Options::default() }).expect("a lab comes up")
}

/// A lab's servers are no children of this process, so somebody must outlive it to stop them.
fn keep(lab: &ScratchLab) -> Child {
    let script = "read -r _; \"$0\" lab down \"$1\" && rm -rf \"$1\"";
    Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_nuthatch")])
        .arg(lab.dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("a shell")
}

/// A name that no other test uses, for schemas and accounts.
pub(crate) fn fresh_name(what: &str) -> String {
    format!("{what}_{}", NEXT_NAME.fetch_add(1, Ordering::Relaxed))
}

/// The lab's account with all privileges.
pub(crate) fn account(lab: &ScratchLab) -> Login {
    Login::new(lab.user(), lab.password().expect("its password").reveal())
}

/// The lab's primary, past any proxy.
pub(crate) fn primary(lab: &ScratchLab) -> Client {
    direct(lab.primary(), &account(lab))
}

/// That server of the lab, past any proxy.
pub(crate) fn client_of(lab: &ScratchLab, role: Role) -> Client {
    direct(lab.server(role).expect("it is there"), &account(lab))
}

/// The lab's first replica, past any proxy.
pub(crate) fn replica(lab: &ScratchLab) -> Client {
    direct(lab.server(Role::Replica(1)).expect("a replica"), &account(lab))
}

/// What a server calls a replica.
pub(crate) fn replica_word(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "SLAVE",
        Kind::MySql => "REPLICA",
    }
}

/// Returns when every replica has what the primary has.
pub(crate) fn await_replicas(lab: &ScratchLab) {
    lab.await_replicas(REPLICATION_WAIT).expect("the replicas catch up");
}

/// Where clients of a lab's primary connect, past any proxy.
pub(crate) fn direct_address(lab: &ScratchLab) -> Address {
    address_of(lab.primary())
}

/// MySQL by its socket, where it takes a password in clear.
fn address_of(server: Server<'_>) -> Address {
    match server.version().contains("MariaDB") {
        true => server.address().into(),
        false => Address::Unix(server.socket().to_owned()),
    }
}

fn direct(server: Server<'_>, login: &Login) -> Client {
    Client::connect(&address_of(server), login).expect("the server takes the login")
}
