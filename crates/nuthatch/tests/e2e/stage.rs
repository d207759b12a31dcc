//! What most tests begin with: a proxy before the shared servers, a schema of the test's own, a few rows in it.
//!
//! Hostgroup 0 is the primary, hostgroup 1 the replica, and the lab's account may log in through the proxy.

use std::sync::Arc;

use nuthatch_lab::{Kind, Options, Role, ScratchLab};
use rustix::process::{Pid, Signal, kill_process};

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::servers;

/// A rule that has every statement cached for a minute, if it may be.
pub(crate) const CACHE_ALL: &str = "rule_id=1, match_pattern='.', cache_ttl=60000, apply=1";

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) proxy: Proxy,
    /// The test's own schema, with the table `t (id INT PRIMARY KEY, v VARCHAR(100))` and the rows 1 to 3: `one` …
    pub(crate) schema: String,
    login: Login,
    /// If it is the test's own.
    lab: Option<Arc<ScratchLab>>,
}

impl Stage {
    /// With nothing configured but servers and user.
    pub(crate) fn plain() -> Self {
        Self::with(Setup::default())
    }

    /// With every SELECT cached for a minute.
    pub(crate) fn caching() -> Self {
        Self::with(Setup::default().rule(CACHE_ALL))
    }

    /// With servers, user and what `setup` adds.
    pub(crate) fn with(setup: Setup) -> Self {
        Self::with_user(setup, "")
    }

    /// The same, with further columns for the user's row, as `, max_connections=1`.
    pub(crate) fn with_user(setup: Setup, columns: &str) -> Self {
        Self::before(None, setup, columns)
    }

    /// One whose primary takes at most this many connections of the proxy.
    pub(crate) fn narrow(connections: u32, setup: Setup) -> Self {
        let stage = Self::with(setup);
        stage.administer([
            &format!("UPDATE mysql_servers SET max_connections = {connections} WHERE hostgroup_id = 0"),
            "LOAD MYSQL SERVERS TO RUNTIME",
        ]);
        stage
    }

    /// Before a server of that kind: the shared one, or a MySQL of its own.
    pub(crate) fn before_kind(kind: Kind, setup: Setup) -> Self {
        let own = (kind == Kind::MySql).then(|| {
            let installation = servers::installation(kind);
            let options = Options { installation, replicas: 0, buffer_pool_mib: 64, ..Options::default() };
            ScratchLab::up(&options).expect("a lab comes up")
        });
        Self::before(own, setup, "")
    }

    /// Before a server that no other test has tables on.
    pub(crate) fn alone(setup: Setup) -> Self {
        Self::before(Some(servers::own(0)), setup, "")
    }

    /// Before a MySQL of the test's own.
    pub(crate) fn of_mysql(setup: Setup) -> Self {
        let installation = servers::installation(Kind::MySql);
        let options = Options { installation, replicas: 0, buffer_pool_mib: 64, ..Options::default() };
        Self::before_lab(ScratchLab::up(&options).expect("a server comes up"), setup)
    }

    /// Before a server of the test's own.
    pub(crate) fn before_lab(lab: ScratchLab, setup: Setup) -> Self {
        Self::before(Some(lab), setup, "")
    }

    /// Before a server of this kind that no other test has tables on.
    pub(crate) fn of(kind: Kind, setup: Setup) -> Self {
        Self::before(Some(servers::of_kind(kind)), setup, "")
    }

    fn before(own: Option<ScratchLab>, setup: Setup, columns: &str) -> Self {
        let lab = own.as_ref().unwrap_or_else(|| servers::shared());
        let schema = make_schema(lab);
        let login = servers::account(lab);
        let setup = before(setup, lab).user(user_row(&login, columns));
        Self { proxy: Proxy::start(&setup), login: login.schema(&schema), schema, lab: own.map(Arc::new) }
    }

    /// With another proxy before the same server and schema.
    pub(crate) fn beside(&self, setup: Setup) -> Self {
        let setup = before(setup, self.lab()).user(user_row(&self.login, ""));
        let (login, schema) = (self.login.clone(), self.schema.clone());
        Self { proxy: Proxy::start(&setup), login, schema, lab: self.lab.clone() }
    }

    /// Kills the server, which must be the test's own, and starts it again.
    pub(crate) fn crash(&mut self) {
        self.stop_server();
        self.start_server();
    }

    /// Stops the server, which must be the test's own.
    pub(crate) fn stop_server(&mut self) {
        self.own_lab().kill(Role::Primary).expect("it runs");
    }

    /// Sends the server's process that signal.
    pub(crate) fn signal_server(&self, signal: Signal) {
        let pid = self
            .lab()
            .servers()
            .find(|server| server.role() == Role::Primary)
            .and_then(|server| server.pid());
        let pid = pid.expect("it runs");
        kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("it is the test's own");
        if signal == Signal::STOP {
            await_that("it stands still", || nuthatch_lab::stands_still(pid));
        }
    }

    /// Starts it again.
    pub(crate) fn start_server(&mut self) {
        self.own_lab().start(Role::Primary).expect("it comes up again");
    }

    fn own_lab(&mut self) -> &mut ScratchLab {
        self.lab.as_mut().and_then(Arc::get_mut).expect("the server is the test's own")
    }

    fn lab(&self) -> &ScratchLab {
        self.lab.as_deref().unwrap_or_else(|| servers::shared())
    }

    /// The login of the lab's account, with the test's schema.
    pub(crate) fn login(&self) -> Login {
        self.login.clone()
    }

    /// A client through the proxy, in the test's schema.
    #[track_caller]
    pub(crate) fn client(&self) -> Client {
        self.proxy.client(&self.login)
    }

    /// A client of the primary past the proxy, in the test's schema.
    pub(crate) fn primary(&self) -> Client {
        let mut client = servers::primary(self.lab());
        client.init_db(&self.schema).expect("the schema is there");
        client
    }

    /// The same with a login of its own.
    pub(crate) fn primary_as(&self, login: &Login) -> Client {
        Client::connect(&self.lab().primary().address().into(), login).expect("the server takes the login")
    }

    /// A client of the replica past the proxy, in the test's schema.
    pub(crate) fn replica(&self) -> Client {
        servers::await_replicas(self.lab());
        let mut client = servers::replica(self.lab());
        client.init_db(&self.schema).expect("the schema is there");
        client
    }

    /// Runs statements of an operator.
    #[track_caller]
    pub(crate) fn administer<const N: usize>(&self, statements: [&str; N]) {
        let mut operator = self.proxy.operator();
        for statement in statements {
            operator.ok(statement);
        }
    }

    /// A figure of `stats_mysql_global`.
    #[track_caller]
    pub(crate) fn figure(&self, name: &str) -> u64 {
        figure(&mut self.proxy.operator(), name)
    }

    /// Statements that went to servers.
    #[track_caller]
    pub(crate) fn backend_queries(&self) -> u64 {
        let sum = self.proxy.operator().value("SELECT SUM(Queries) FROM stats_mysql_connection_pool");
        sum.parse().expect("a number")
    }

    /// A column of the pool's row of a hostgroup.
    #[track_caller]
    pub(crate) fn pool(&self, column: &str, hostgroup: u32) -> u64 {
        let sql = format!("SELECT {column} FROM stats_mysql_connection_pool WHERE hostgroup = {hostgroup}");
        self.proxy.operator().value(sql).parse().expect("a number")
    }

    /// Returns when no connection of hostgroup 0 is in use.
    #[track_caller]
    pub(crate) fn await_unpinned(&self) {
        await_that("no connection is in use", || self.pool("ConnUsed", 0) == 0);
    }
}

/// The metrics, as the admin interface shows them.
#[track_caller]
pub(crate) fn metrics(operator: &mut Client) -> String {
    String::from_utf8_lossy(&operator.ok("SHOW PROMETHEUS METRICS").raw).into_owned()
}

/// A figure of `stats_mysql_global`.
#[track_caller]
pub(crate) fn figure(operator: &mut Client, name: &str) -> u64 {
    let sql = format!("SELECT Variable_Value FROM stats_mysql_global WHERE Variable_Name = '{name}'");
    operator.value(sql).parse().expect("a number")
}

/// The setup with the lab's servers.
pub(crate) fn before(setup: Setup, lab: &ScratchLab) -> Setup {
    let setup = setup.server(format!("hostgroup_id=0, hostname='127.0.0.1', port={}", lab.primary().port()));
    match lab.server(Role::Replica(1)) {
        Ok(replica) => setup.server(format!("hostgroup_id=1, hostname='127.0.0.1', port={}", replica.port())),
        Err(_) => setup,
    }
}

/// A row of `mysql_users`.
pub(crate) fn user_row(login: &Login, columns: &str) -> String {
    format!("username='{}', password='{}'{columns}", login.user, login.password)
}

fn make_schema(lab: &ScratchLab) -> String {
    let schema = servers::fresh_name("s");
    let mut primary = servers::primary(lab);
    for statement in [
        format!("CREATE DATABASE {schema}"),
        format!("CREATE TABLE {schema}.t (id INT PRIMARY KEY, v VARCHAR(100))"),
        format!("INSERT INTO {schema}.t VALUES (1, 'one'), (2, 'two'), (3, 'three')"),
    ] {
        primary.ok(statement);
    }
    schema
}
