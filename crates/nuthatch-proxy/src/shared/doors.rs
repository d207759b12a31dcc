//! Who may come in, and as whom servers are logged in to.

mod known_schemas;
mod passwords;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use arc_swap::ArcSwapOption;
use known_schemas::KnownSchemas;
use nuthatch_config::{HostgroupId, Snapshot, User};
use nuthatch_net::{BackendPassword, OldestVersion, Proof, ServerTls};
use nuthatch_wire::SHA256_LEN;
use parking_lot::Mutex;
use passwords::Passwords;

use crate::log_limit::LogLimit;

/// Refused logins that are logged in a second.
const REFUSAL_LINES_PER_SECOND_MAX: u32 = 5;

/// The numbers of sessions have this bit: neither servers, which count their connections, nor a signed integer come there. So a number of a session
/// is never taken for a server's, or the reverse.
pub(crate) const SESSION_IDS_BEGIN: u32 = 1 << 30;

/// Another one in each process, and no secret.
fn random_number() -> u32 {
    let [a, b, c, d, ..] = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Doors {
    pub(crate) refusal_log: LogLimit,
    pub(crate) known_schemas: KnownSchemas,
    /// Counts up from a random start: two proxies one behind the other do not give the same numbers.
    next_session_id: AtomicU32,
    users: Mutex<HashMap<Arc<str>, u32>>,
    passwords: Passwords,
    tls: ArcSwapOption<ServerTls>,
    are_closed: AtomicBool,
}

impl Default for Doors {
    fn default() -> Self {
        Self {
            refusal_log: LogLimit::new(REFUSAL_LINES_PER_SECOND_MAX),
            known_schemas: KnownSchemas::default(),
            next_session_id: AtomicU32::new(random_number()),
            users: Mutex::default(),
            passwords: Passwords::default(),
            tls: ArcSwapOption::empty(),
            are_closed: AtomicBool::new(false),
        }
    }
}

impl Doors {
    /// Lets nobody in any more, or does again.
    pub(crate) fn close(&self, close: bool) {
        self.are_closed.store(close, Ordering::Release);
    }

    /// Whether nobody is let in.
    pub(crate) fn are_closed(&self) -> bool {
        self.are_closed.load(Ordering::Acquire)
    }

    /// The number of the next session.
    pub(crate) fn next_session_id(&self) -> u32 {
        SESSION_IDS_BEGIN | (self.next_session_id.fetch_add(1, Ordering::Relaxed) % SESSION_IDS_BEGIN)
    }

    /// Counts a session against its user's limit; `false` when there is no room.
    pub(crate) fn enter_user(&self, name: &str, connections_max: u32) -> bool {
        let mut users = self.users.lock();
        let count = users.entry(Arc::from(name)).or_default();
        let has_room = *count < connections_max;
        *count += u32::from(has_room);
        has_room
    }

    /// The session is over, or another's.
    pub(crate) fn leave_user(&self, name: &str) {
        let mut users = self.users.lock();
        if let Some(count) = users.get_mut(name) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                users.remove(name);
            }
        }
    }

    /// Sessions of each user.
    pub(crate) fn users(&self) -> Vec<(Arc<str>, u32)> {
        self.users.lock().iter().map(|(name, count)| (Arc::clone(name), *count)).collect()
    }

    /// Remembers what a login revealed of the user's password, for logins to servers.
    pub(crate) fn learn_password(&self, user: &User, proof: Proof) {
        self.passwords.learn(user, proof);
    }

    /// `SHA256(SHA256(password))` of the user, if a login has revealed it.
    pub(crate) fn known_double(&self, user: &User) -> Option<[u8; SHA256_LEN]> {
        self.passwords.double(user)
    }

    /// How to log in to servers as `name`.
    pub(crate) fn backend_password(&self, snapshot: &Snapshot, name: &str) -> Option<Arc<BackendPassword>> {
        let user = snapshot.users.backend(name.as_bytes())?;
        self.passwords.towards_servers(user).map(Arc::new)
    }

    /// Offers clients that TLS from now on; `None` offers none.
    pub(crate) fn offer_tls(&self, tls: Option<ServerTls>) {
        self.tls.store(tls.map(Arc::new));
    }

    /// What is offered to clients under that configuration.
    pub(crate) fn tls(&self, snapshot: &Snapshot) -> Option<(Arc<ServerTls>, OldestVersion)> {
        let oldest = match snapshot.mysql.ssl_min_version.as_str() {
            "TLSv1.3" => OldestVersion::Tls13,
            _ => OldestVersion::Tls12,
        };
        let tls = if snapshot.mysql.have_ssl { self.tls.load_full() } else { None };
        tls.map(|tls| (tls, oldest))
    }
}

/// The active users whom servers know, with their default hostgroups, in order of these: as whom a server may be looked at.
pub(crate) fn scouts(snapshot: &Snapshot) -> Vec<(HostgroupId, Arc<str>)> {
    let mut scouts: Vec<_> = snapshot
        .users
        .iter()
        .filter(|user| user.backend && user.active)
        .map(|user| (user.default_hostgroup, Arc::from(user.name.as_str())))
        .collect();
    scouts.sort();
    scouts
}
