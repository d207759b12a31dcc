//! Two servers in step, a clock for both, and a proxy before one of them.

use nuthatch_lab::{Kind, Options, ScratchLab};

use crate::author::globals;
use crate::client::{Address, Client, Login};
use crate::clock::Clock;
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::schema::{SCHEMA, TABLES, VIEWS, refill};
use crate::side::Place;
use crate::step::SLOTS;
use crate::{servers, stage};

/// When every round begins.
pub(crate) const BEGINNING: &str = "2026-03-28 12:00:00";

/// How many tables a proxy knows.
const TABLES_KNOWN: &str = "SELECT COUNT(*) FROM information_schema.TABLES \
    WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')";

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) kind: Kind,
    pub(crate) clock: Clock,
    behind: Server,
    beside: Server,
}

#[derive(Debug)]
struct Server {
    lab: ScratchLab,
    login: Login,
}

impl Ground {
    pub(crate) fn new(kind: Kind) -> Self {
        let clock = Clock::running();
        let [behind, beside] = [(); 2].map(|()| Server::up(kind, &clock));
        let ground = Self { kind, clock, behind, beside };
        ground.on_both(|client| {
            client.ok(format!("CREATE DATABASE {SCHEMA}"));
            client.init_db(SCHEMA).expect("it was just made");
            TABLES.iter().chain(&VIEWS).for_each(|sql| drop(client.ok(sql)));
        });
        ground
    }

    /// All is as every round finds it, but for its own code, which is defined now: what a server refuses is left out.
    pub(crate) fn begin(&self, definitions: &[String]) -> Stage {
        self.clock.set(BEGINNING);
        self.on_both(|client| {
            for global in globals::of(self.kind) {
                client.ok(format!("SET GLOBAL {} = {}", global.name, global.usual));
            }
        });
        // Connections that were opened before have the globals of before.
        self.on_both(|client| self.restore(client, definitions));
        Stage::new(self)
    }

    fn restore(&self, client: &mut Client, definitions: &[String]) {
        client.ok("SET SESSION lock_wait_timeout = 20");
        client.init_db(SCHEMA).expect("it is there");
        for statement in leftovers(client) {
            client.ok(statement);
        }
        for statement in refill(self.kind) {
            client.ok(statement);
        }
        for definition in definitions {
            drop(client.query(definition));
        }
    }

    pub(crate) fn on_both(&self, mut act: impl FnMut(&mut Client)) {
        for server in [&self.behind, &self.beside] {
            act(&mut server.client());
        }
    }
}

/// What a round before has defined.
fn leftovers(client: &mut Client) -> Vec<String> {
    let asked = [
        ("TRIGGER", "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'fresh'"),
        ("EVENT", "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'fresh'"),
        (
            "VIEW",
            "SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'fresh' AND TABLE_NAME LIKE 'vf%'",
        ),
        (
            "FUNCTION",
            "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'fresh' AND ROUTINE_TYPE = 'FUNCTION'",
        ),
        (
            "PROCEDURE",
            "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'fresh' AND ROUTINE_TYPE = 'PROCEDURE'",
        ),
        (
            "TABLE",
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'fresh' AND TABLE_NAME LIKE 'extra%'",
        ),
    ];
    let mut statements = Vec::new();
    for (kind, sql) in asked {
        statements.extend(client.ok(sql).column().iter().map(|name| format!("DROP {kind} {SCHEMA}.{name}")));
    }
    statements
}

impl Server {
    fn up(kind: Kind, clock: &Clock) -> Self {
        let mut extra: Vec<String> = [
            "innodb_flush_log_at_trx_commit=0",
            "log_bin_trust_function_creators=1",
            "innodb_lock_wait_timeout=1",
            "lock_wait_timeout=2",
        ]
        .map(str::to_owned)
        .into();
        extra.extend(match kind {
            Kind::MariaDb => vec!["sync_frm=OFF".to_owned()],
            // Functions may make temporary tables then.
            Kind::MySql => ["innodb_doublewrite=OFF", "gtid_mode=OFF", "enforce_gtid_consistency=OFF"]
                .map(str::to_owned)
                .into(),
        });
        let options = Options {
            installation: servers::installation(kind),
            replicas: 0,
            buffer_pool_mib: 64,
            extra,
            environment: clock.environment(),
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).expect("a server comes up");
        let login = servers::account(&lab);
        Self { lab, login }
    }

    /// Over its Unix socket MySQL takes a password that it does not know yet.
    fn place(&self) -> Place {
        Place { address: Address::Unix(self.lab.primary().socket().to_owned()), login: self.login.clone() }
    }

    fn client(&self) -> Client {
        let Place { address, login } = self.place();
        Client::connect(&address, &login).expect("the login is taken")
    }
}

/// With these defaults no server is a source of exact answers: of the second MySQL never tells.
const IS_SOURCE: &str = "SELECT @@global.sql_auto_is_null = 0 AND (@@version LIKE '%MariaDB%' OR @@global.sql_mode NOT LIKE '%ANSI_QUOTES%')";

/// A round's own proxy: what it learnt and pooled in another round is gone, so that a script repeats.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Through the proxy.
    pub(crate) proxied: Place,
    /// At the other server.
    pub(crate) direct: Place,
    operator: Client,
    /// At the proxy's server, past it.
    behind: Client,
    _proxy: Proxy,
}

impl Stage {
    fn new(ground: &Ground) -> Self {
        let setup = Setup::default()
            .server(format!(
                "hostgroup_id=0, hostname='127.0.0.1', port={}, max_connections={}",
                ground.behind.lab.primary().port(),
                SLOTS + 1
            ))
            .user(stage::user_row(&ground.behind.login, ""))
            .variable("mysql-query_cache_type", 1);
        let proxy = Proxy::start(&setup.flags(["--workers", "1"]));
        let proxied = Place { address: Address::Tcp(proxy.mysql), login: ground.behind.login.clone() };
        let mut stage = Self {
            proxied,
            direct: ground.beside.place(),
            operator: proxy.operator(),
            behind: ground.behind.client(),
            _proxy: proxy,
        };
        stage.await_look();
        stage
    }

    /// Returns when the proxy knows the server's tables, or that it is none whose answers are cached.
    pub(crate) fn await_look(&mut self) {
        let is_source = self.behind.value(IS_SOURCE) == "1";
        let known = if is_source { TABLES_KNOWN } else { "SELECT 0" };
        let tables: u64 = self.behind.value(known).parse().expect("a count");
        let operator = &mut self.operator;
        await_that("all tables are known", || stage::figure(operator, "Query_Cache_Tables") == tables);
    }

    pub(crate) fn hits(&mut self) -> u64 {
        stage::figure(&mut self.operator, "Query_Cache_count_GET_OK")
    }
}
