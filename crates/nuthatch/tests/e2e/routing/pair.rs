//! A replication pair before which a proxy stands that knows the accounts to change its primary.

use nuthatch_lab::{Kind, Options, Role, ScratchLab};

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::servers;

/// One primary in hostgroup 10, two replicas in 20, and a proxy that knows the accounts.
pub(super) struct Stage {
    pub(super) lab: ScratchLab,
    pub(super) proxy: Proxy,
}

impl Stage {
    pub(super) fn of(kind: Kind, setup: Setup) -> Self {
        Self::with(kind, Options::default(), setup)
    }

    /// With servers that are made so.
    pub(super) fn with(kind: Kind, options: Options, setup: Setup) -> Self {
        let installation = servers::installation(kind);
        let options = Options { installation, replicas: 2, buffer_pool_mib: 64, ..options };
        let lab = ScratchLab::up(&options).expect("a lab comes up");
        for number in [1, 2] {
            let mut replica = servers::client_of(&lab, Role::Replica(number));
            replica.ok("SET GLOBAL read_only = 1");
        }
        let proxy = start(&lab, setup);
        Self { lab, proxy }
    }

    /// Another proxy before the same servers.
    pub(super) fn another(&self, setup: Setup) -> Proxy {
        start(&self.lab, setup)
    }

    pub(super) fn login(&self) -> Login {
        servers::account(&self.lab)
    }

    pub(super) fn client(&self) -> Client {
        self.proxy.client(&self.login())
    }

    pub(super) fn port(&self, role: Role) -> u16 {
        self.lab.server(role).expect("it is there").port()
    }

    pub(super) fn name(&self, role: Role) -> String {
        format!("127.0.0.1:{}", self.port(role))
    }

    pub(super) fn order(&self, role: Role, check: &str) -> String {
        format!("NUTHATCH SWITCHOVER HOSTGROUP 10 TO '{}'{check}", self.name(role))
    }

    pub(super) fn direct(&self, role: Role) -> Client {
        servers::client_of(&self.lab, role)
    }
}

fn start(lab: &ScratchLab, setup: Setup) -> Proxy {
    let account = servers::account(lab);
    let setup = setup
        .variable("mysql-monitor_enabled", true)
        .variable("mysql-monitor_read_only_interval", 200)
        .before_pair(lab)
        .user(format!("username='{}', password='{}', default_hostgroup=10", account.user, account.password));
    let proxy = Proxy::start(&setup);
    let mut operator = proxy.operator();
    operator
        .ok("INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (10, 20)");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    let known = "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role IN ('writer', 'reader')";
    await_that("all were looked at", || operator.value(known) == "3");
    proxy
}
