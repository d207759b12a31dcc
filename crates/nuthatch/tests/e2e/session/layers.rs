//! A proxy behind a proxy multiplexes as one alone does: no more connections, no more statements of their own.

use std::thread;

use nuthatch_lab::ScratchLab;

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{before, figure, user_row};

const CLIENTS: usize = 40;

/// Of all clients together.
const STATEMENTS: usize = 100_000;

/// `latin1_swedish_ci`; the server's own is of utf8mb4.
const LATIN1: u8 = 8;

/// Connections that one run may take more than another: when clients meet is chance.
const CONNECTIONS_MORE: u64 = 15;

/// A server of its own, whose counters nobody else moves, and two accounts on it.
struct Ground {
    lab: ScratchLab,
    logins: [Login; 2],
}

/// Two proxies, the inner one in front of the server.
struct Layers {
    outer: Proxy,
    inner: Proxy,
}

/// What a client talks in.
#[derive(Clone, Copy)]
enum Talk {
    /// By its login.
    Latin1,
    /// As its login says: the server's own.
    Utf8,
    /// By a SET NAMES, with a collation that is not the default one.
    Utf8Binary,
}

impl Ground {
    fn new() -> Self {
        let lab = servers::own(0);
        let mut primary = servers::primary(&lab);
        for statement in [
            "CREATE DATABASE layers",
            "CREATE TABLE layers.t (id INT PRIMARY KEY, v VARCHAR(100))",
            "INSERT INTO layers.t VALUES (1, 'one'), (2, 'two'), (3, 'three')",
            "CREATE TABLE layers.counter (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
            "CREATE USER other IDENTIFIED BY 'other'",
            "GRANT ALL ON layers.* TO other",
        ] {
            primary.ok(statement);
        }
        let logins = [servers::account(&lab), Login::new("other", "other")];
        Self { lab, logins: logins.map(|login| login.schema("layers")) }
    }

    fn with_users(&self, setup: Setup) -> Setup {
        self.logins.iter().fold(setup, |setup, login| setup.user(user_row(login, "")))
    }

    fn alone(&self, setup: &Setup) -> Proxy {
        Proxy::start(&self.with_users(before(setup.clone(), &self.lab)))
    }

    fn layers(&self, setup: &Setup) -> Layers {
        let inner = self.alone(setup);
        let row = format!("hostgroup_id=0, hostname='127.0.0.1', port={}", inner.mysql.port());
        Layers { outer: Proxy::start(&self.with_users(setup.clone().server(row))), inner }
    }

    /// A figure of the server.
    fn status(&self, name: &str) -> u64 {
        let row = servers::primary(&self.lab).table(format!("SHOW GLOBAL STATUS LIKE '{name}'"));
        row[0][1].parse().expect("a number")
    }

    /// What the server has of connections besides that which asks.
    fn connections(&self) -> u64 {
        self.status("Threads_connected") - 1
    }

    fn await_no_connections(&self) {
        await_that("nobody is connected", || self.connections() == 0);
    }

    /// `statements` of clients that talk through the proxy, each in the way and by the login that its number says.
    fn run(&self, proxy: &Proxy, statements: usize, manner: impl Fn(usize) -> (usize, Talk)) {
        thread::scope(|scope| {
            for number in 0..CLIENTS {
                let (login, talk) = manner(number);
                let login = self.logins[login].clone();
                scope.spawn(move || talk.go_on(&mut talk.client(proxy, login), statements / CLIENTS));
            }
        });
    }
}

impl Layers {
    /// SET NAMES that the proxies have sent by themselves.
    fn set_names(&self) -> [u64; 2] {
        [&self.outer, &self.inner].map(|proxy| figure(&mut proxy.operator(), "Com_backend_set_names"))
    }

    /// Connections that the proxies have.
    fn connections(&self) -> [u64; 2] {
        [&self.outer, &self.inner].map(|proxy| {
            let sum = "SELECT SUM(ConnUsed + ConnFree) FROM stats_mysql_connection_pool";
            proxy.operator().value(sum).parse().expect("a number")
        })
    }
}

impl Talk {
    fn client(self, proxy: &Proxy, login: Login) -> Client {
        let mut client = match self {
            Self::Latin1 => proxy.client(&login.collation(LATIN1)),
            Self::Utf8 | Self::Utf8Binary => proxy.client(&login),
        };
        if matches!(self, Self::Utf8Binary) {
            client.ok("SET NAMES utf8mb4 COLLATE utf8mb4_bin");
        }
        client
    }

    /// A letter that character sets write differently.
    const fn letter(self) -> &'static [u8] {
        match self {
            Self::Latin1 => b"\xE9",
            Self::Utf8 | Self::Utf8Binary => "é".as_bytes(),
        }
    }

    const fn collation(self) -> &'static str {
        match self {
            Self::Latin1 => "latin1_swedish_ci",
            Self::Utf8 => "utf8mb4_general_ci",
            Self::Utf8Binary => "utf8mb4_bin",
        }
    }

    /// The client is understood, and answered, in its own character set.
    #[track_caller]
    fn check(self, client: &mut Client) {
        let letter = self.letter();
        let statement = [
            &b"SELECT '"[..],
            letter,
            b"', HEX(CONVERT('",
            letter,
            b"' USING ucs2)), @@collation_connection, @@character_set_results",
        ];
        let charset = self.collation().split('_').next().expect("a name");
        let expected = [letter, b"00E9", self.collation().as_bytes(), charset.as_bytes()];
        assert_eq!(client.ok(statement.concat()).rows, [expected.map(|value| Some(value.to_vec()))]);
    }

    fn go_on(self, client: &mut Client, statements: usize) {
        for number in 0..statements {
            match number % 25 {
                0 => self.check(client),
                10 => {
                    let id = client.ok("INSERT INTO counter (v) VALUES (0)").insert_id;
                    assert_eq!(client.value("SELECT LAST_INSERT_ID()"), id.to_string());
                }
                _ => assert_eq!(client.value("SELECT v FROM t WHERE id = 2"), "two"),
            }
        }
    }
}

/// Clients of one account talk in one way, those of the other in another; neither is the server's own.
fn by_account(client: usize) -> (usize, Talk) {
    if client.is_multiple_of(2) { (0, Talk::Latin1) } else { (1, Talk::Utf8Binary) }
}

/// Clients of the same account talk in two ways.
fn mixed(client: usize) -> (usize, Talk) {
    (0, if client.is_multiple_of(2) { Talk::Latin1 } else { Talk::Utf8 })
}

#[test]
fn two_layers_set_character_sets_for_connections_and_not_for_statements() {
    let ground = Ground::new();
    let layers = ground.layers(&Setup::default());
    ground.run(&layers.outer, STATEMENTS, by_account);
    let (sent, connections) = (layers.set_names(), layers.connections());
    // Each connection comes into one of two, and half of the clients change theirs.
    for (sent, connections) in sent.iter().zip(connections) {
        assert!(*sent <= 2 * connections + CLIENTS as u64, "{sent} for {connections} connections");
    }
    let at_server = ground.status("Com_set_option");
    // And each connection has the server tell of changes.
    let at_most = sent[0] + sent[1] + connections[0] + connections[1] + CLIENTS as u64;
    assert!(at_server <= at_most, "{at_server} at the server: {sent:?} and {connections:?} connections");
    let taken = ground.connections();
    drop(layers);
    ground.await_no_connections();

    let alone = ground.alone(&Setup::default());
    ground.run(&alone, STATEMENTS / 10, by_account);
    let needed = ground.connections();
    assert!(taken <= needed + CONNECTIONS_MORE, "{taken} where {needed} are enough");
}

/// Where connections are opened for who finds none, so that there are about as many as clients. With fewer, some must change now
/// and then, and how often is chance.
#[test]
fn two_layers_keep_character_sets_of_one_account_apart() {
    let ground = Ground::new();
    let layers = ground.layers(&Setup::default().variable("mysql-connection_growth_interval_ms", 0));
    let statements = STATEMENTS / 5;
    ground.run(&layers.outer, statements, mixed);
    let (sent, connections) = (layers.set_names(), layers.connections());
    assert!(
        sent.iter().all(|sent| *sent < statements as u64 / 50),
        "{sent:?} for {connections:?} connections"
    );
    // Who waits for one that is being opened may be given one that comes back first; the next client that finds none has the other.
    let at_most = CLIENTS as u64 + CONNECTIONS_MORE;
    assert!(connections.iter().all(|connections| *connections <= at_most), "{connections:?}");
}

#[test]
fn two_layers_know_what_the_last_statement_left() {
    let ground = Ground::new();
    let layers = ground.layers(&Setup::default());
    let talks = [Talk::Latin1, Talk::Utf8, Talk::Utf8Binary, Talk::Latin1];
    let mut clients = talks.map(|talk| talk.client(&layers.outer, ground.logins[0].clone()));
    for _ in 0..10 {
        let ids = clients.each_mut().map(|client| client.ok("INSERT INTO counter (v) SELECT 5").insert_id);
        for (client, id) in clients.iter_mut().zip(ids) {
            let (last, larger) = (id.to_string(), (id + 1).to_string());
            assert_eq!(client.value("SELECT LAST_INSERT_ID() + 1"), larger);
            assert_eq!(client.ok("UPDATE counter SET v = 6 WHERE id = LAST_INSERT_ID()").affected_rows, 1);
            assert_eq!(client.value("SELECT ROW_COUNT()"), "1");
            assert_eq!(client.value("SELECT LAST_INSERT_ID()"), last);
        }
        for (client, talk) in clients.iter_mut().zip(talks) {
            client.ok(["SELECT '".as_bytes(), talk.letter(), b"' + 1"].concat());
        }
        for (client, talk) in clients.iter_mut().zip(talks) {
            let warnings = client.ok("SHOW WARNINGS").rows;
            let message = warnings[0][2].as_deref().expect("a message");
            let names_it = message.windows(talk.letter().len()).any(|part| part == talk.letter());
            assert!(names_it, "{}", String::from_utf8_lossy(message));
            talk.check(client);
        }
    }
}
