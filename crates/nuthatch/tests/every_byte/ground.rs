//! A server, a relay that can cut, a proxy with the exact cache, and the cases that are played there.

use nuthatch_lab::{Kind, ScratchLab};

use crate::client::{Client, Login};
use crate::deadline::{await_that, eventually};
use crate::player::{Expected, Fault, Player, find_wrong, marks_of};
use crate::proxy::{Proxy, Setup};
use crate::relay::{Direction, Relay, Trap};
use crate::scripts::Script;
use crate::servers;
use crate::stage::{figure, user_row};

const SCHEMA: &str = "every_byte";
const USER: &str = "every_byte";
const PASSWORD: &str = "pw";

/// Of one case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) script: Script,
    /// Nothing is cut without one.
    pub(crate) trap: Option<Trap>,
    /// All connections of the proxy's are ended before, so that logins are cut too.
    pub(crate) is_cold: bool,
    pub(crate) fault: Fault,
}

/// What came of a case.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) was_cut: bool,
    /// Errors that the client was told.
    pub(crate) errors: u32,
    pub(crate) was_ended: bool,
    /// Bytes to the server, and to the proxy.
    pub(crate) passed: (usize, usize),
    pub(crate) violations: Vec<String>,
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    // Before its servers.
    proxy: Proxy,
    relay: Relay,
    direct: Client,
    reader: Client,
    cases: u32,
    _lab: ScratchLab,
}

impl Ground {
    pub(crate) fn new(kind: Kind, setup: Setup) -> Self {
        let lab = servers::of_kind(kind);
        let mut direct = servers::primary(&lab);
        prepare(&mut direct);
        let relay = Relay::start(([127, 0, 0, 1], lab.primary().port()).into());
        let login = login();
        let setup = setup
            .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={}", relay.address.port()))
            .user(user_row(&login, ""))
            .variable("mysql-query_cache_type", 1)
            .variable("mysql-enable_load_data_local_infile", true)
            // Some looks at its tables are cut off at their login.
            .variable("mysql-query_cache_catalogue_interval_ms", 1000)
            // A server that cuts a connection in each case is no reason to leave it alone.
            .variable("mysql-shun_on_failures", 1_000_000);
        let proxy = Proxy::start(&setup);
        let mut reader = proxy.client(&login);
        let mut operator = proxy.operator();
        await_that("the proxy knows the server's tables", || {
            drop(reader.query("SELECT 1 FROM fixed"));
            figure(&mut operator, "Query_Cache_Tables") > 0
        });
        Self { proxy, relay, direct, reader, cases: 0, _lab: lab }
    }

    /// Plays a case, and looks at what it left.
    pub(crate) fn play(&mut self, case: &Case) -> Outcome {
        self.cases += 1;
        if case.is_cold {
            self.relay.end_all();
        }
        let login = login();
        let client = self.proxy.client(&login);
        let mut player = Player::new(client, login, self.cases, case.fault);
        self.relay.set(case.trap);
        let (_, script) = case.script;
        let _is_over = script(&mut player);
        let passed = (self.relay.passed(Direction::ToServer), self.relay.passed(Direction::ToProxy));
        let was_cut = case.trap.is_some() && self.relay.unset();
        let mut violations = std::mem::take(&mut player.violations);
        violations.extend(self.look(&player.expected));
        Outcome { was_cut, errors: player.errors, was_ended: player.was_ended, passed, violations }
    }

    /// Transactions that were lost, and how many of them were done again.
    pub(crate) fn replays(&self) -> (u64, u64) {
        let mut operator = self.proxy.operator();
        (figure(&mut operator, "Transaction_Replays"), figure(&mut operator, "Transaction_Replays_Done"))
    }

    /// Holds the marks against what is expected, and the cache's answer against them.
    fn look(&mut self, expected: &[Expected]) -> Vec<String> {
        let text = marks_of(self.cases);
        let before = self.direct.ok(&text).column();
        let cached = self.reader.query(&text);
        self.await_end();
        let after = self.direct.ok(&text).column();
        let marks: Vec<u32> = after.iter().map(|mark| mark.parse().expect("a number")).collect();
        let mut violations = find_wrong(expected, &marks);
        for (when, least, answer) in
            [("at once", before, cached), ("at the end", after, self.reader.query(&text))]
        {
            match answer {
                Ok(answer) if least.iter().all(|mark| answer.column().contains(mark)) => {}
                Ok(answer) => {
                    violations.push(format!("stale {when}: {:?} without all of {least:?}", answer.column()));
                }
                Err(failure) => violations.push(format!("another client was told {failure:?}")),
            }
        }
        violations
    }

    /// Returns when the server has no thread whose connection was lost.
    fn await_end(&mut self) {
        let threads = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{USER}'");
        eventually("lost threads end", || {
            let live = self.relay.live().to_string();
            (self.direct.value(&threads) == live && self.relay.live().to_string() == live).then_some(())
        });
    }
}

fn login() -> Login {
    Login::new(USER, PASSWORD)
        .schema(SCHEMA)
        .with(nuthatch_wire::CapabilityFlags::CLIENT_LOCAL_FILES)
        .with(nuthatch_wire::CapabilityFlags::CLIENT_MULTI_STATEMENTS)
}

fn prepare(direct: &mut Client) {
    for statement in [
        &format!("CREATE DATABASE {SCHEMA}"),
        &format!("CREATE DATABASE {SCHEMA}_other"),
        &format!("CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'"),
        &format!("GRANT ALL ON *.* TO {USER}@'%'"),
        "SET GLOBAL local_infile = 1",
        &format!("USE {SCHEMA}"),
        "CREATE TABLE ran (n INT AUTO_INCREMENT PRIMARY KEY, c INT, m INT, v TEXT, KEY (c))",
        "CREATE TABLE fixed (id INT PRIMARY KEY, v VARCHAR(100))",
        "CREATE PROCEDURE two_marks(c INT, one INT, other INT) BEGIN \
           INSERT INTO ran (c, m) VALUES (c, one); SELECT COUNT(*) FROM fixed; \
           INSERT INTO ran (c, m) VALUES (c, other); SELECT id FROM fixed; END",
    ] {
        direct.ok(statement);
    }
    for id in 1..=20 {
        direct.ok(format!("INSERT INTO fixed VALUES ({id}, 'row {id}')"));
    }
}
