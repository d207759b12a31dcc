//! Pairs through the proxy: what it answers after the write is what the server answers.

use nuthatch_lab::{Kind, ScratchLab};
use nuthatch_wire::Command;

use crate::answer::Told;
use crate::author::{Author, Ending, Pair, Sessions};
use crate::client::{Address, Client};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::random::Random;
use crate::report::Outcome;
use crate::rounds::Trial;
use crate::schema::{SCHEMA, statements};
use crate::{ground, servers, stage};

/// How many tables a proxy knows: those whose names differ in case only are one.
const TABLES: &str = "SELECT COUNT(DISTINCT LOWER(TABLE_SCHEMA), LOWER(TABLE_NAME)) FROM information_schema.TABLES \
                      WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')";

/// What the proxy caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caching {
    Exact,
    /// Everything, whatever is written.
    Ttl,
}

impl Caching {
    fn setup(self) -> Setup {
        match self {
            Self::Exact => Setup::default().variable("mysql-query_cache_type", 1),
            Self::Ttl => Setup::default().rule("rule_id=1, match_digest='^SELECT', cache_ttl=60000, apply=1"),
        }
    }
}

/// One session that reads and one that writes, through a proxy; one that reads past it.
#[derive(Debug)]
pub(crate) struct ThroughProxy {
    server: Kind,
    caching: Caching,
    operator: Client,
    reader: Client,
    writer: Client,
    direct: Client,
    _proxy: Proxy,
    _lab: ScratchLab,
}

impl ThroughProxy {
    /// Before a server of its own.
    pub(crate) fn new(server: Kind, caching: Caching) -> Self {
        let lab = ground::lab(server);
        let login = servers::account(&lab);
        let proxy = Proxy::start(&stage::before(caching.setup(), &lab).user(stage::user_row(&login, "")));
        let connect = |address: &Address| Client::connect(address, &login).expect("the login is taken");
        let (front, back) = (Address::Tcp(proxy.mysql), ground::socket(&lab));
        let [reader, writer, direct] = [&front, &front, &back].map(connect);
        let operator = proxy.operator();
        Self { server, caching, operator, reader, writer, direct, _proxy: proxy, _lab: lab }
    }

    /// Asks the proxy, and says whether its cache answered.
    fn ask(&mut self, pair: &Pair) -> (Told, bool) {
        let before = self.hits();
        let told = pair.read.run(&mut self.reader);
        (told, self.hits() > before)
    }

    fn hits(&mut self) -> u64 {
        self.reader.table("SHOW STATUS LIKE 'Qcache_hits'")[0][1].parse().expect("a count")
    }

    /// Runs the write to its end; what the statement itself was told.
    fn write(&mut self, pair: &Pair) -> Told {
        if pair.ending != Ending::Autocommit {
            self.writer.ok("BEGIN");
        }
        let told = pair.writes.iter().map(|write| write.run(&mut self.writer)).last();
        match pair.ending {
            Ending::Autocommit => {}
            Ending::Commit => drop(self.writer.ok("COMMIT")),
            Ending::Rollback => drop(self.writer.ok("ROLLBACK")),
        }
        told.expect("a pair writes")
    }

    /// Returns when the proxy knows all tables of the server, if it is to know any.
    fn await_catalogue(&mut self) {
        if self.caching == Caching::Ttl {
            return;
        }
        let tables: u64 = self.direct.value(TABLES).parse().expect("a count");
        let operator = &mut self.operator;
        await_that("all tables are known", || stage::figure(operator, "Query_Cache_Tables") == tables);
    }
}

impl Trial for ThroughProxy {
    fn author(&self, random: Random) -> Author {
        Author::new(random, self.server, Sessions::Any)
    }

    fn begin(&mut self, sql_mode: &str) {
        for session in [&mut self.reader, &mut self.writer, &mut self.direct] {
            // A statement that the proxy does not understand may have bound its session to a connection.
            session.command(Command::ResetConnection as u8, &[]).expect("the session is reset");
        }
        self.writer.ok("SET SESSION sql_mode = ''");
        for statement in statements(self.server) {
            self.writer.ok(statement);
        }
        for session in [&mut self.reader, &mut self.writer, &mut self.direct] {
            session.init_db(SCHEMA).expect("the schema is there");
            session.ok(format!("SET SESSION sql_mode = '{sql_mode}'"));
        }
        self.await_catalogue();
    }

    fn attempt(&mut self, pair: &Pair) -> Outcome {
        let (first, _) = self.ask(pair);
        let (second, is_cached) = self.ask(pair);
        let written = self.write(pair);
        let (third, is_kept) = self.ask(pair);
        let server = pair.read.run(&mut self.direct);
        let difference = if first != second {
            Some(format!("first {first:?}\n  then {second:?}"))
        } else if third != server {
            Some(format!("proxy {third:?}\n  server {server:?}"))
        } else {
            None
        };
        if pair.goes_beyond_rows() {
            self.await_catalogue();
        }
        Outcome {
            cached: if is_cached { Ok(()) } else { Err("was not served again".to_owned()) },
            has_changed: first != server,
            is_kept,
            given: written.insert_id,
            difference,
        }
    }
}
