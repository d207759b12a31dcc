//! What a run stands on: a server of its own, the proxy before it with limits that a load reaches, the schema.

use nuthatch_lab::{Kind, Options, ScratchLab};

use crate::client::{Address, Client, Login};
use crate::deadline::{await_that, eventually};
use crate::operator::CACHE_MIB;
use crate::proxy::{Proxy, Setup};
use crate::sample::{CLIENTS_MAX, Process, SERVER_CONNECTIONS_MAX, figures};
use crate::verdict::Rest;
use crate::{chance, schema, servers, stage};

const SCHEMA: &str = "soak";

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    // Before its server.
    proxy: Proxy,
    login: Login,
    _lab: ScratchLab,
}

impl Ground {
    pub(crate) fn new(kind: Kind) -> Self {
        let options = Options {
            installation: servers::installation(kind),
            replicas: 0,
            buffer_pool_mib: 64,
            connections_max: 200,
            extra: ["lock_wait_timeout=5", "innodb_lock_wait_timeout=2"].map(str::to_owned).to_vec(),
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).expect("a server comes up");
        let mut server = servers::primary(&lab);
        server.ok(format!("CREATE DATABASE {SCHEMA}"));
        server.ok(format!("USE {SCHEMA}"));
        for statement in schema::statements() {
            server.ok(statement);
        }
        let login = servers::account(&lab);
        let proxy = Proxy::start(&setup(&lab).user(stage::user_row(&login, "")));
        let ground = Self { proxy, login: login.schema(SCHEMA), _lab: lab };
        ground.await_tables();
        ground
    }

    fn await_tables(&self) {
        let mut client = Client::connect(&self.address(), &self.login).expect("the login is taken");
        let mut operator = self.operator();
        await_that("the proxy knows the server's tables", || {
            client.ok("SELECT 1 FROM item LIMIT 1");
            stage::figure(&mut operator, "Query_Cache_Tables") > 0
        });
        client.quit();
    }

    pub(crate) fn address(&self) -> Address {
        Address::Tcp(self.proxy.mysql)
    }

    pub(crate) fn login(&self) -> Login {
        self.login.clone()
    }

    pub(crate) fn operator(&self) -> Client {
        self.proxy.operator()
    }

    pub(crate) fn process(&self) -> Process {
        Process::look(self.proxy.pid())
    }

    pub(crate) fn log(&self) -> String {
        self.proxy.log()
    }

    /// What is there while nobody is but this operator, as soon as that is so.
    pub(crate) fn rest(&self, operator: &mut Client) -> Rest {
        eventually("all sessions are gone, and what was done for them", || {
            let figures = figures(operator);
            let busy = ["Client_Connections_connected", "Query_Cache_Refreshes_under_way", "Sessions_Pinned"];
            let is_idle = busy.iter().all(|name| figures[*name] == 0);
            is_idle.then(|| Rest { process: self.process(), pooled: figures["Server_Connections_connected"] })
        })
    }
}

/// Limits that a load of some dozen sessions reaches.
fn setup(lab: &ScratchLab) -> Setup {
    let port = lab.primary().port();
    Setup::default()
        .server(format!(
            "hostgroup_id=0, hostname='127.0.0.1', port={port}, max_connections={SERVER_CONNECTIONS_MAX}"
        ))
        .variable("mysql-query_cache_type", 1)
        .variable("mysql-query_cache_size_MB", CACHE_MIB)
        .variable("mysql-query_cache_soft_ttl_pct", 50)
        .variable("mysql-threshold_resultset_size", chance::ENTRY_BYTES_MAX)
        .variable("mysql-query_digests_max_entries", 300)
        .variable("mysql-shapes_max_entries", 100)
        .variable("mysql-max_connections", CLIENTS_MAX)
        .variable("mysql-line_max_statements", CLIENTS_MAX / 4)
        .variable("mysql-line_max_bytes", 1 << 20)
        .rule("rule_id=1, match_digest='^SELECT id, ?version FROM told', cache_ttl=1000, apply=1")
        .rule("rule_id=2, match_digest='FROM altered_', cache_ttl=5000, attributes='{\"cache\":\"both\"}', apply=1")
}
