//! Pairs through the proxy: what it answers after the write is what the server answers.

use nuthatch_lab::{Kind, ScratchLab};
use nuthatch_wire::Command;

use crate::answer::Told;
use crate::author::{Author, Ending, Pair, Sessions};
use crate::client::{Address, Client, Login};
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
    /// The same where the binlog is followed: half of the writes go past the proxy, and answers may depend on what rows hold.
    Followed,
    /// Everything, whatever is written.
    Ttl,
}

impl Caching {
    fn setup(self, login: &Login) -> Setup {
        let exact = || Setup::default().variable("mysql-query_cache_type", 1);
        match self {
            Self::Exact => exact(),
            Self::Followed => exact()
                .variable("mysql-query_cache_follow", "'bounded'")
                .variable("mysql-query_cache_follow_columns_max", 1000)
                .variable("mysql-query_cache_follow_username", format!("'{}'", login.user))
                .variable("mysql-query_cache_follow_password", format!("'{}'", login.password)),
            Self::Ttl => Setup::default().rule("rule_id=1, match_digest='^SELECT', cache_ttl=60000, apply=1"),
        }
    }
}

/// One session that reads and one that writes, through a proxy; one that reads past it, and one that writes so.
#[derive(Debug)]
pub(crate) struct ThroughProxy {
    server: Kind,
    caching: Caching,
    operator: Client,
    reader: Client,
    writer: Client,
    direct: Client,
    /// Writes past the proxy.
    past: Client,
    pairs: u64,
    _proxy: Proxy,
    _lab: ScratchLab,
}

impl ThroughProxy {
    /// Before a server of its own.
    pub(crate) fn new(server: Kind, caching: Caching) -> Self {
        let lab = ground::lab(server);
        let login = servers::account(&lab);
        let proxy =
            Proxy::start(&stage::before(caching.setup(&login), &lab).user(stage::user_row(&login, "")));
        let connect = |address: &Address| Client::connect(address, &login).expect("the login is taken");
        let (front, back) = (Address::Tcp(proxy.mysql), ground::socket(&lab));
        let [reader, writer, direct, past] = [&front, &front, &back, &back].map(connect);
        let operator = proxy.operator();
        Self { server, caching, operator, reader, writer, direct, past, pairs: 0, _proxy: proxy, _lab: lab }
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
    fn write(&mut self, pair: &Pair, past: bool) -> Told {
        let writer = if past { &mut self.past } else { &mut self.writer };
        if pair.ending != Ending::Autocommit {
            writer.ok("BEGIN");
        }
        let told = pair.writes.iter().map(|write| write.run(writer)).last();
        match pair.ending {
            Ending::Autocommit => {}
            Ending::Commit => drop(writer.ok("COMMIT")),
            Ending::Rollback => drop(writer.ok("ROLLBACK")),
        }
        told.expect("a pair writes")
    }

    /// Returns when all that was written is carried and shown.
    fn await_carried(&mut self) {
        let end = match self.server {
            Kind::MariaDb => "SHOW MASTER STATUS",
            Kind::MySql => "SHOW BINARY LOG STATUS",
        };
        let end = self.direct.table(end);
        let number = end[0][0].rsplit('.').next().expect("files are numbered").parse::<u64>();
        let end: (u64, u64) = (number.expect("a number"), end[0][1].parse().expect("a number"));
        let operator = &mut self.operator;
        await_that("all is carried", || {
            let row = operator.table("SELECT position, unproven FROM stats_query_cache_follow").remove(0);
            let (file, offset) = row[0].split_once(':').expect("a file and a place");
            let place: (u64, u64) = (file.parse().expect("a number"), offset.parse().expect("a number"));
            place >= end && row[1] == "0" && stage::figure(operator, "Query_Cache_Writes_Pending") == 0
        });
    }

    /// Returns when the picture is known to be that of the events at hand.
    fn await_proven(&mut self) {
        let operator = &mut self.operator;
        let mut reached =
            || operator.value("SELECT delay_count FROM stats_query_cache_follow").parse::<u64>();
        let before = reached().expect("a number");
        await_that("the end is reached again", || reached().expect("a number") > before + 1);
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

impl ThroughProxy {
    /// A write past the proxy may be seen late, but not once it is carried; one through it is seen at once, and what is kept of it behind
    /// its event is right.
    fn attempt_followed(&mut self, pair: &Pair) -> Outcome {
        self.pairs += 1;
        let (past, looks_at_once) = (self.pairs.is_multiple_of(2), self.pairs.is_multiple_of(3));
        let (first, _) = self.ask(pair);
        let (second, is_cached) = self.ask(pair);
        let written = self.write(pair, past);
        let mut answers = Vec::new();
        if looks_at_once && !past {
            answers.push(self.ask(pair).0);
        }
        if pair.goes_beyond_rows() {
            self.await_catalogue();
            self.await_proven();
        }
        self.await_carried();
        let (last, is_kept) = self.ask(pair);
        answers.push(last);
        let server = pair.read.run(&mut self.direct);
        let difference = if first != second {
            Some(format!("first {first:?}\n  then {second:?}"))
        } else {
            let wrong = answers.iter().find(|answer| **answer != server);
            wrong.map(|answer| format!("proxy {answer:?}\n  server {server:?}, past: {past}"))
        };
        Outcome {
            cached: if is_cached { Ok(()) } else { Err("was not served again".to_owned()) },
            has_changed: first != server,
            is_kept: is_kept && !looks_at_once,
            given: written.insert_id,
            difference,
        }
    }
}

impl Trial for ThroughProxy {
    fn author(&self, random: Random) -> Author {
        Author::new(random, self.server, Sessions::Any)
    }

    fn begin(&mut self, sql_mode: &str) {
        for session in [&mut self.reader, &mut self.writer, &mut self.direct, &mut self.past] {
            // A statement that the proxy does not understand may have bound its session to a connection.
            session.command(Command::ResetConnection as u8, &[]).expect("the session is reset");
        }
        self.writer.ok("SET SESSION sql_mode = ''");
        for statement in statements(self.server) {
            self.writer.ok(statement);
        }
        for session in [&mut self.reader, &mut self.writer, &mut self.direct, &mut self.past] {
            session.init_db(SCHEMA).expect("the schema is there");
            session.ok(format!("SET SESSION sql_mode = '{sql_mode}'"));
        }
        self.await_catalogue();
        if self.caching == Caching::Followed {
            let operator = &mut self.operator;
            await_that("it is followed", || {
                operator.value("SELECT COUNT(*) FROM stats_query_cache_follow WHERE mode = 'bounded'") == "1"
            });
            self.await_proven();
        }
    }

    fn attempt(&mut self, pair: &Pair) -> Outcome {
        if self.caching == Caching::Followed {
            return self.attempt_followed(pair);
        }
        let (first, _) = self.ask(pair);
        let (second, is_cached) = self.ask(pair);
        let written = self.write(pair, false);
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
