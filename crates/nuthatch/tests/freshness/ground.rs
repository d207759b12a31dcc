//! What a run stands on: a server of its own, a proxy before it, the schema.

mod harmed;
mod pair;

use nuthatch_lab::{Duty, Kind, Options, Relays, Role, ScratchLab, SemiSync};

use std::time::Duration;

use crate::client::{Address, Client};
use crate::deadline::await_that;
use crate::history::Reads;
use crate::proxy::{Proxy, Setup};
use crate::report::{self, Report};
use crate::run::{DENSE, End, Past, Place, Primary, Run};
use crate::{schema, servers, stage};

pub(crate) use harmed::Harmed;
pub(crate) use pair::{Changes, Pair};

const SCHEMA: &str = "freshness";

/// What is promised of writes past the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    Bounded(Duration),
    Exact,
}

impl Follow {
    const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Bounded(_) => "bounded",
        }
    }
}

const WAITS_MARIADB: [&str; 3] = [
    "rpl_semi_sync_master_enabled=1",
    "rpl_semi_sync_master_wait_point=AFTER_SYNC",
    "rpl_semi_sync_master_timeout=1000",
];

/// The lab makes its accounts while nobody is there to be waited for.
const WAITS_MYSQL: [&str; 3] = [
    "plugin_load_add=semisync_source.so",
    "loose_rpl_semi_sync_source_enabled=1",
    "loose_rpl_semi_sync_source_timeout=1000",
];

/// The account that follows, with what it needs.
fn prepare(lab: &ScratchLab, kind: Kind, mode: Follow) {
    let mut server = servers::primary(lab);
    let grants = match kind {
        Kind::MariaDb => "REPLICATION SLAVE, BINLOG MONITOR",
        Kind::MySql => "REPLICATION SLAVE, REPLICATION CLIENT",
    };
    server.ok("CREATE USER follow@'%' IDENTIFIED BY 'pw'");
    server.ok(format!("GRANT {grants} ON *.* TO follow@'%'"));
    if mode == Follow::Exact {
        server.ok("CREATE DATABASE nuthatch");
        server.ok("CREATE TABLE nuthatch.marker (id INT UNSIGNED PRIMARY KEY, at BIGINT UNSIGNED NOT NULL)");
        server.ok("GRANT INSERT, UPDATE ON nuthatch.marker TO follow@'%'");
    }
}

/// It has all that was made so far, takes no writes, and the proxy can see that.
fn look_at_replica(setup: Setup, lab: &ScratchLab) -> Setup {
    servers::await_replicas(lab);
    servers::client_of(lab, Role::Replica(1)).ok("SET GLOBAL read_only = 1");
    let login = lab.login_for(Duty::Monitor).expect("an account");
    setup.account("monitor", &login.user, login.password.reveal())
}

/// A run while the primary changes again and again, and what was done to it.
pub(crate) fn run_while_the_primary_changes(
    kind: Kind,
    setup: Setup,
    reads: Reads,
    time: Duration,
) -> (Report, Changes) {
    let mut pair = Pair::new(kind, setup, SemiSync::AfterSync, &schema::statements());
    let report = Run::go_while(pair.place(reads), End::WhenTold, |run| pair.change_for(time, run));
    let answered = report::answered(&mut pair.proxy.operator());
    (Report { answered, ..report }, pair.changes)
}

/// A run in which a failover loses what was acknowledged.
pub(crate) fn run_while_writes_are_lost(kind: Kind, setup: Setup, end: End) -> Report {
    let mut pair = Pair::new(kind, setup, SemiSync::Off, &schema::statements());
    Run::go_while(pair.place(Reads::Current), end, |run| pair.lose_writes(run))
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    lab: ScratchLab,
    proxy: Proxy,
    past: Option<Past>,
    reads: Reads,
}

impl Ground {
    /// `setup` says what is cached.
    pub(crate) fn new(kind: Kind, setup: Setup) -> Self {
        Self::of(kind, setup, (0, Relays::Off, Vec::new()), |_| {}).0
    }

    /// The proxy follows the binlog in that mode, and these writers go past it.
    pub(crate) fn followed(kind: Kind, mode: Follow, past: Past, setup: Setup) -> Self {
        Self::followed_over((0, Relays::Off), kind, mode, past, setup).0
    }

    /// The same in mode exact, where reads go to a replica as well, whose answers are stored. A session is shown what it has seen and written.
    pub(crate) fn followed_with_a_replica(kind: Kind, past: Past, setup: Setup) -> Self {
        let setup = setup
            .variable("mysql-read_write_split", 1)
            .variable("mysql-monitor_enabled", true)
            .variable("mysql-monitor_read_only_interval", 200);
        let (ground, _) = Self::followed_over((1, Relays::Off), kind, Follow::Exact, past, setup);
        let mut operator = ground.proxy.operator();
        operator.ok(
            "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (0, 1)",
        );
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
        let known = "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role IN ('writer', 'reader')";
        await_that("both were looked at", || operator.value(known) == "2");
        ground.await_mode(Follow::Exact);
        Self { reads: Reads::OfSession, ..ground }
    }

    /// The same, and with what the proxy can be started again.
    fn followed_over(
        (replicas, relays): (u16, Relays),
        kind: Kind,
        mode: Follow,
        past: Past,
        setup: Setup,
    ) -> (Self, Setup) {
        let waits: &[&str] = match (kind, mode) {
            (_, Follow::Bounded(_)) => &[],
            (Kind::MariaDb, Follow::Exact) => &WAITS_MARIADB,
            (Kind::MySql, Follow::Exact) => &WAITS_MYSQL,
        };
        // Files that begin while transactions wait.
        let extra = waits.iter().chain(&["max_binlog_size=65536"]).map(ToString::to_string).collect();
        let word = mode.word();
        let reads = match mode {
            Follow::Exact => Reads::Current,
            Follow::Bounded(bound) => Reads::Within(bound),
        };
        let mut setup = setup
            .variable("mysql-query_cache_follow", format!("'{word}'"))
            .variable("mysql-query_cache_follow_username", "'follow'")
            .variable("mysql-query_cache_follow_password", "'pw'");
        if let Follow::Bounded(bound) = mode {
            setup = setup.variable("mysql-query_cache_max_staleness_ms", bound.as_millis());
        }
        let (ground, setup) =
            Self::of(kind, setup, (replicas, relays, extra), |lab| prepare(lab, kind, mode));
        ground.await_mode(mode);
        (Self { past: Some(past), reads, ..ground }, setup)
    }

    fn await_mode(&self, mode: Follow) {
        await_that("it is followed", || {
            let rows = self.proxy.operator().table("SELECT mode FROM stats_query_cache_follow");
            rows.first().is_some_and(|row| row[0] == mode.word())
        });
    }

    /// How many statements the replica has answered.
    pub(crate) fn by_replica(&self) -> u64 {
        let asked = "SELECT SUM(Queries) FROM stats_mysql_connection_pool WHERE hostgroup = 1";
        self.proxy.operator().value(asked).parse().expect("a number")
    }

    /// What the follower says of itself.
    pub(crate) fn told(&self) -> String {
        let columns = "mode, falls, begun_anew, transactions, delay_p50_us, delay_p99_us, delay_max_us, why";
        let rows = self.proxy.operator().table(format!("SELECT {columns} FROM stats_query_cache_follow"));
        format!("{columns}\n{}\n{}", rows.concat().join(", "), self.most_asked())
    }

    /// What became of the statements that the cache was asked for most, and for what connections were kept: why hits fail to come.
    fn most_asked(&self) -> String {
        let columns = "look_ups, hits, fills, invalidated, repeated, last_not_cached, digest_text";
        let asked = format!("SELECT {columns} FROM stats_query_cache ORDER BY look_ups DESC LIMIT 8");
        let rows = self.proxy.operator().table(asked);
        let pins =
            "SELECT * FROM stats_mysql_global WHERE Variable_Name LIKE 'Pins%' AND Variable_Value <> '0'";
        let pins = self.proxy.operator().table(pins);
        let lines: Vec<String> = rows.iter().chain(&pins).map(|row| row.join(", ")).collect();
        format!("{columns}\n{}", lines.join("\n"))
    }

    fn of(
        kind: Kind,
        setup: Setup,
        (replicas, relays, extra): (u16, Relays, Vec<String>),
        prepare: impl FnOnce(&ScratchLab),
    ) -> (Self, Setup) {
        let options = Options {
            installation: servers::installation(kind),
            replicas,
            relays,
            buffer_pool_mib: 64,
            connections_max: 300,
            extra,
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).expect("a server comes up");
        prepare(&lab);
        let setup = if replicas > 0 { look_at_replica(setup, &lab) } else { setup };
        let login = servers::account(&lab);
        let setup = stage::before(setup, &lab).user(stage::user_row(&login, ""));
        let proxy = Proxy::start(&setup);
        let ground = Self { lab, proxy, past: None, reads: Reads::Current };
        ground.fill();
        (ground, setup)
    }

    fn fill(&self) {
        let mut client = Client::connect(&self.server(), &servers::account(&self.lab))
            .expect("the server takes the login");
        client.ok(format!("CREATE DATABASE {SCHEMA}"));
        client.ok(format!("USE {SCHEMA}"));
        for statement in schema::statements() {
            client.ok(statement);
        }
    }

    /// A run through the proxy. Once for each ground: the schema must be as it was made.
    pub(crate) fn run_through_the_proxy(&self, end: End) -> Report {
        let report = Run::go(self.place(Address::Tcp(self.proxy.mysql)), end);
        Report { answered: report::answered(&mut self.proxy.operator()), ..report }
    }

    /// The same straight at the server.
    pub(crate) fn run_at_the_server(self, end: End) -> Report {
        Run::go(self.place(self.server()), end)
    }

    /// The same with every session at this level, whatever the checker takes it for.
    pub(crate) fn run_at_level(self, level: &'static str, end: End) -> Report {
        Run::go(Place { level: Some(level), ..self.place(self.server()) }, end)
    }

    fn place(&self, address: Address) -> Place {
        Place {
            address,
            server: self.server(),
            past: self.past,
            login: servers::account(&self.lab).schema(SCHEMA),
            level: None,
            primary: Primary::Stays,
            reads: self.reads,
            crowd: DENSE,
            bound_at_times: None,
        }
    }

    /// Over its Unix socket MySQL takes a password that it does not know yet.
    fn server(&self) -> Address {
        Address::Unix(self.lab.primary().socket().to_owned())
    }
}
