//! How the servers greet, and so how the proxy greets, and reads statements.

use nuthatch_config::Snapshot;
use nuthatch_sql::{Lexing, ServerFlavor};
use nuthatch_wire::{CapabilityFlags, Greeting, Nonce, StatusFlags};
use parking_lot::RwLock;

use crate::backend::Hostgroups;
use crate::state::capability::{COMPRESSION, OWN, SUPPORTED, UNTIL_LEARNED};

/// What ProxySQL says it is; only until a server has been seen.
const VERSION_UNTIL_LEARNED: &str = "8.0.11";

/// How statements are read before any server has been seen.
const UNSEEN_SERVER: Lexing = Lexing::of(ServerFlavor::MySql(80_011));

/// What has been learned of the servers.
#[derive(Debug)]
pub(crate) struct Greetings(RwLock<Learned>);

#[derive(Debug)]
struct Learned {
    greeting: Option<Greeting>,
    lexing: Lexing,
}

impl Default for Greetings {
    fn default() -> Self {
        Self(RwLock::new(Learned { greeting: None, lexing: UNSEEN_SERVER }))
    }
}

impl Greetings {
    /// The collation that a server gives a client which asks for that number: its own default where it does not know it.
    pub(crate) fn collation_for(&self, asked: u8) -> u8 {
        /// `utf8mb4_0900_ai_ci`, which clients of MySQL 8 ask for.
        const OF_MYSQL_8: u8 = 255;
        /// From then on MariaDB has it under another name.
        const MARIADB_WITH_IT: u32 = 110_405;
        match self.lexing().server {
            ServerFlavor::MariaDb(version) if asked == OF_MYSQL_8 && version < MARIADB_WITH_IT => {
                self.default_collation().unwrap_or(asked)
            }
            _ => asked,
        }
    }

    /// The collation that the servers give a connection which names none.
    pub(crate) fn default_collation(&self) -> Option<u8> {
        self.0.read().greeting.as_ref().map(|greeting| greeting.collation)
    }

    /// How they read the statements of a session that has set nothing.
    pub(crate) fn lexing(&self) -> Lexing {
        self.0.read().lexing
    }

    /// Looks at how the servers greet now.
    pub(crate) fn learn(&self, hostgroups: &Hostgroups) {
        let Some((greeting, status)) = hostgroups.greeting() else { return };
        let mut learned = self.0.write();
        if learned.greeting.as_ref().is_none_or(|known| known.version != greeting.version) {
            let version = String::from_utf8_lossy(&greeting.version).into_owned();
            tracing::info!(version, "learned how the servers greet");
        }
        learned.lexing = lexing_after(learned.lexing, status);
        learned.lexing.server = ServerFlavor::of_version(&greeting.version);
        learned.greeting = Some(greeting);
    }

    /// The greeting for a new client: the servers' own, as far as the proxy can keep its promises.
    pub(crate) fn for_client(
        &self,
        snapshot: &Snapshot,
        id: u32,
        nonce: Nonce,
        offers_tls: bool,
    ) -> Greeting {
        let learned = self.0.read().greeting.clone();
        let configured = &snapshot.mysql.server_version;
        let learned_version = learned.as_ref().map(|greeting| greeting.version.clone());
        let version = match configured.is_empty() {
            true => learned_version.unwrap_or_else(|| VERSION_UNTIL_LEARNED.into()),
            false => configured.clone().into_bytes(),
        };
        let offered = learned.as_ref().map_or(UNTIL_LEARNED, |greeting| greeting.capabilities);
        let mut supported = SUPPORTED;
        if !snapshot.mysql.enable_load_data_local_infile {
            supported.remove(CapabilityFlags::CLIENT_LOCAL_FILES);
        }
        let mut own = OWN;
        own.set(COMPRESSION, snapshot.mysql.have_compress);
        own.set(CapabilityFlags::CLIENT_SSL, offers_tls);
        Greeting {
            version,
            connection_id: id,
            nonce,
            capabilities: offered & supported | own,
            collation: learned.as_ref().map_or(45, |greeting| greeting.collation),
            status: StatusFlags::SERVER_STATUS_AUTOCOMMIT,
            auth_plugin: snapshot.mysql.default_authentication_plugin.as_bytes().to_vec(),
        }
    }
}

/// How a server with these status flags reads statements. MariaDB tells of both modes, MySQL of one.
pub(crate) fn lexing_after(before: Lexing, status: StatusFlags) -> Lexing {
    Lexing {
        ansi_quotes: status.contains(StatusFlags::SERVER_STATUS_ANSI_QUOTES),
        no_backslash_escapes: status.contains(StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES),
        ..before
    }
}
