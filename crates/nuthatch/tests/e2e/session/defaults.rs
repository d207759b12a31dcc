//! What sessions begin with is changed while they live: each keeps what was in force when it logged in, as at a server, whichever
//! connection it gets; and what is stored for one is not served to the other.

use std::collections::BTreeSet;

use nuthatch_lab::{Kind, Options, Role, ScratchLab};
use nuthatch_sql::{ServerFlavor, SystemVariable};

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage;

/// Between two looks at the server.
const INTERVAL_MS: u32 = 1_000;

/// Whether answers are cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
    Off,
    Exact,
}

/// A server of its own, and a proxy before it.
struct Ground {
    proxy: Proxy,
    login: Login,
    lab: ScratchLab,
}

impl Ground {
    fn new(kind: Kind, cache: Cache) -> Self {
        let installation = servers::installation(kind);
        let options = Options { installation, replicas: 0, buffer_pool_mib: 64, ..Options::default() };
        let lab = ScratchLab::up(&options).expect("a server comes up");
        let mut admin = servers::primary(&lab);
        for statement in [
            "CREATE DATABASE s",
            "CREATE TABLE s.t (id INT PRIMARY KEY, v VARCHAR(100), d DATE, at TIMESTAMP)",
            "SET time_zone = '+00:00'",
            "INSERT INTO s.t VALUES (1, 'one', '2026-03-01', '2026-03-01 12:00:00'), (2, 'two', '2026-03-02', '2026-03-02 12:00:00')",
        ] {
            admin.ok(statement);
        }
        let login = servers::account(&lab).schema("s");
        let setup = stage::before(Setup::default(), &lab)
            .user(stage::user_row(&login, ""))
            .variable("mysql-query_cache_type", u8::from(cache == Cache::Exact))
            .variable("mysql-query_cache_catalogue_interval_ms", INTERVAL_MS);
        let ground = Self { proxy: Proxy::start(&setup), login, lab };
        if cache == Cache::Exact {
            let mut client = ground.through();
            await_that("the tables are known", || {
                let before = ground.hits();
                client.ok("SELECT COUNT(*) FROM t");
                ground.hits() > before
            });
        }
        ground
    }

    fn through(&self) -> Client {
        self.proxy.client(&self.login)
    }

    fn direct(&self) -> Client {
        let mut client = servers::primary(&self.lab);
        client.init_db("s").expect("the schema is there");
        client
    }

    fn hits(&self) -> u64 {
        stage::figure(&mut self.proxy.operator(), "Query_Cache_count_GET_OK")
    }

    fn pair(&self) -> Pair {
        Pair { direct: self.direct(), through: self.through() }
    }

    /// A user without privileges but on the schema.
    fn plain_user(&self) -> Login {
        let mut admin = servers::primary(&self.lab);
        admin.ok("CREATE USER plain@'%' IDENTIFIED BY 'pw'");
        admin.ok("GRANT ALL ON s.* TO plain@'%'");
        let mut operator = self.proxy.operator();
        operator.ok("INSERT INTO mysql_users (username, password) VALUES ('plain', 'pw')");
        operator.ok("LOAD MYSQL USERS TO RUNTIME");
        Login::new("plain", "pw").schema("s")
    }

    fn isolation(&self) -> &'static str {
        if self.lab.primary().version().contains("MariaDB") {
            "tx_isolation"
        } else {
            "transaction_isolation"
        }
    }
}

/// Two sessions that began at the same time, one past the proxy.
struct Pair {
    direct: Client,
    through: Client,
}

impl Pair {
    /// Asks both, the one through the proxy twice.
    #[track_caller]
    fn compare(&mut self, sql: &str, when: &str) -> String {
        let ask = |client: &mut Client| match client.query(sql) {
            Ok(answer) => format!("{:?}", answer.table()),
            Err(failure) => failure.server().message,
        };
        let expected = ask(&mut self.direct);
        for time in ["first", "second"] {
            assert_eq!(ask(&mut self.through), expected, "{when}, the {time} time: {sql}");
        }
        expected
    }
}

/// Variables, other values, and what tells them apart.
fn cases(ground: &Ground) -> Vec<(&str, &str, &str)> {
    vec![
        ("group_concat_max_len", "4", "SELECT GROUP_CONCAT(v) FROM t"),
        ("sql_mode", "'ANSI_QUOTES'", "SELECT \"v\" FROM t"),
        ("sql_mode", "'NO_BACKSLASH_ESCAPES'", "SELECT v, 'a\\b' FROM t"),
        ("lc_time_names", "'de_DE'", "SELECT DAYNAME(d) FROM t"),
        ("time_zone", "'+05:00'", "SELECT at FROM t"),
        ("div_precision_increment", "9", "SELECT id / 3 FROM t"),
        ("sql_select_limit", "1", "SELECT id FROM t"),
        ("default_week_format", "3", "SELECT WEEK(d) FROM t"),
        (ground.isolation(), "'READ-COMMITTED'", "SELECT v FROM t"),
        ("collation_server", "'latin1_bin'", "SELECT v FROM t"),
        ("autocommit", "0", "SELECT v FROM t WHERE id = 1"),
        ("optimizer_switch", "'index_merge=off'", "SELECT v FROM t WHERE id = 2"),
        ("wait_timeout", "600", "SELECT v FROM t WHERE id = 2"),
    ]
}

fn sessions_keep_what_they_began_with(kind: Kind, cache: Cache) {
    let ground = Ground::new(kind, cache);
    let mut admin = ground.through();
    let mut first = ground.pair();
    for (variable, value, question) in cases(&ground) {
        let asked = format!("SELECT @@session.{variable}, v FROM t WHERE id = 1");
        let mut old = ground.pair();
        for pair in [&mut old, &mut first] {
            pair.compare(question, "before");
        }
        let before = admin.value(format!("SELECT @@global.{variable}"));
        admin.ok(format!("SET GLOBAL {variable} = {value}"));
        let mut new = ground.pair();
        for sql in [question, &asked] {
            new.compare(sql, "a new session");
            old.compare(sql, "an old session");
            new.compare(sql, "a new session again");
            first.compare(sql, "an older session");
        }
        let of_now = [new.compare(&asked, "new"), old.compare(&asked, "old")];
        assert_ne!(of_now[0], of_now[1], "{variable}");
        // What the session sets itself is its own, also to what is in force now.
        for client in [&mut old.through, &mut old.direct] {
            client.ok(format!("SET {variable} = DEFAULT"));
        }
        old.compare(&asked, "an old session that wants today's");
        for client in [&mut new.through, &mut new.direct] {
            client.ok(format!("SET {variable} = {value}"));
        }
        let literal = if before.parse::<f64>().is_ok() { before } else { format!("'{before}'") };
        admin.ok(format!("SET @@global.{variable} = {literal}"));
        let mut newest = ground.pair();
        for sql in [question, &asked] {
            newest.compare(sql, "a session of afterwards");
            new.compare(sql, "a session of in between");
            old.compare(sql, "a session of before");
            first.compare(sql, "a session of long before");
        }
        for client in [&mut new.through, &mut new.direct] {
            // COM_RESET_CONNECTION.
            client.command(31, b"").expect("it is reset");
        }
        new.compare(&asked, "a session that began anew");
    }
}

#[test]
fn sessions_keep_what_they_began_with_on_mariadb() {
    sessions_keep_what_they_began_with(Kind::MariaDb, Cache::Off);
}

#[test]
fn sessions_keep_what_they_began_with_on_mysql() {
    sessions_keep_what_they_began_with(Kind::MySql, Cache::Off);
}

#[test]
fn answers_are_those_of_what_the_session_began_with_on_mariadb() {
    sessions_keep_what_they_began_with(Kind::MariaDb, Cache::Exact);
}

#[test]
fn answers_are_those_of_what_the_session_began_with_on_mysql() {
    sessions_keep_what_they_began_with(Kind::MySql, Cache::Exact);
}

/// Values that variables may take.
const GUESSES: [&str; 30] = [
    "1",
    "0",
    "2",
    "7",
    "1000",
    "65536",
    "'latin1'",
    "'latin1_bin'",
    "'READ-COMMITTED'",
    "'MyISAM'",
    "'de_DE'",
    "'+01:00'",
    "'COPY'",
    "'mrr=off'",
    "'MINIMAL'",
    "'STATEMENT'",
    "'BLANK'",
    "OFF",
    "ON",
    "'NO'",
    "'JSON'",
    "'EVENTUAL'",
    "'rows'",
    "'KEEP'",
    "'nulls_equal'",
    "'aes-256-ecb'",
    "'NEVER'",
    "'TRADITIONAL'",
    "'ALL'",
    "'-oneline'",
];

/// Changing them for the server stops the test, or the server; with 8 KB of memory no session can ask for anything.
const LEFT_ALONE: [&str; 7] = [
    "debug",
    "debug_dbug",
    "debug_sync",
    "redirect_url",
    "innodb_tmpdir",
    "default_table_encryption",
    "max_session_mem_used",
];

fn every_variable_is_kept(kind: Kind) {
    let ground = Ground::new(kind, Cache::Off);
    let mut direct = ground.direct();
    let flavor = ServerFlavor::of_version(ground.lab.primary().version().as_bytes());
    let shown = direct.table("SHOW GLOBAL VARIABLES");
    let names: BTreeSet<String> = shown.into_iter().map(|row| row[0].clone()).collect();
    let is_inherited = |name: &&String| {
        SystemVariable::named(name.as_bytes(), flavor).is_some_and(|variable| variable.is_inherited())
    };
    let (mut changed, mut wrong, mut ended) = (0, Vec::new(), Vec::new());
    for name in names.iter().filter(is_inherited).filter(|name| !LEFT_ALONE.contains(&name.as_str())) {
        let asked = format!("SELECT @@session.{name}");
        if direct.query(&asked).is_err() {
            continue;
        }
        let before = direct.value(format!("SELECT @@global.{name}"));
        let (mut old, mut admin) = (ground.pair(), ground.through());
        let of_old = old.direct.value(&asked);
        if old.through.value(&asked) != of_old {
            wrong.push(format!("{name} before anything"));
        }
        let takes = |guess: &&&str| {
            admin.query(format!("SET GLOBAL {name} = {guess}")).is_ok()
                && direct.value(format!("SELECT @@global.{name}")) != before
        };
        let Some(guess) = GUESSES.iter().find(takes) else { continue };
        changed += 1;
        let mut new = ground.pair();
        let (expected, told) = (new.direct.value(&asked), new.through.value(&asked));
        if told != expected {
            wrong.push(format!("{name} = {guess}: a new session has {told} and not {expected}"));
        }
        let of_old = old.direct.value(&asked);
        match old.through.query(&asked) {
            Ok(answer) => {
                let told = answer.table()[0][0].clone();
                if told != of_old {
                    wrong.push(format!("{name} = {guess}: an old session has {told} and not {of_old}"));
                }
            }
            Err(failure) => {
                let error = failure.server();
                assert_eq!(error.code, 1184, "{name} = {guess}: {}", error.message);
                ended.push(name.clone());
            }
        }
        let back = match before.as_str() {
            "NULL" => "NULL".to_owned(),
            before if before.parse::<f64>().is_ok() => before.to_owned(),
            before => format!("'{before}'"),
        };
        ground.through().ok(format!("SET GLOBAL {name} = {back}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(changed > 100, "{changed} variables were changed");
    let read_only = ["max_allowed_packet", "net_buffer_length"];
    assert!(ended.iter().all(|name| read_only.contains(&name.as_str())), "{ended:?} ended their sessions");
}

#[test]
fn every_variable_of_mariadb_is_kept_by_sessions_that_began_with_it() {
    every_variable_is_kept(Kind::MariaDb);
}

#[test]
fn every_variable_of_mysql_is_kept_by_sessions_that_began_with_it() {
    every_variable_is_kept(Kind::MySql);
}

fn what_may_not_be_set_back_ends_the_session(kind: Kind) {
    let ground = Ground::new(kind, Cache::Off);
    let plain = ground.plain_user();
    let (mut admin, mut busy, mut idle) =
        (ground.through(), ground.proxy.client(&plain), ground.proxy.client(&plain));
    let asked = "SELECT @@session.sql_log_off, v FROM t WHERE id = 1";
    assert_eq!(idle.table(asked), [["0", "one"]]);
    busy.ok("BEGIN");
    busy.ok("UPDATE t SET v = 'changed' WHERE id = 2");
    admin.ok("SET GLOBAL sql_log_off = 1");
    assert_eq!(busy.table(asked), [["0", "one"]]);
    busy.ok("ROLLBACK");
    assert_eq!(busy.table(asked), [["0", "one"]], "it keeps the connection of its own time");
    let pinned = "SELECT COUNT(*) FROM stats_mysql_processlist WHERE extended_info LIKE '%older_defaults%'";
    await_that("it is shown", || ground.proxy.operator().value(pinned) == "1");
    let error = idle.refused(asked);
    assert_eq!(error.code, 1184);
    assert!(error.message.contains("'sql_log_off'"), "{}", error.message);
    assert!(idle.is_closed_by_server());
    let mut new = ground.proxy.client(&plain);
    assert_eq!(new.table(asked), [["1", "one"]]);
    admin.ok("SET GLOBAL sql_log_off = 0");
    await_that("any connection does again", || {
        assert_eq!(busy.table(asked), [["0", "one"]]);
        ground.proxy.operator().value(pinned) == "0"
    });
}

#[test]
fn what_may_not_be_set_back_ends_the_session_on_mariadb() {
    what_may_not_be_set_back_ends_the_session(Kind::MariaDb);
}

#[test]
fn what_may_not_be_set_back_ends_the_session_on_mysql() {
    what_may_not_be_set_back_ends_the_session(Kind::MySql);
}

fn server_that_begins_anew_gives_its_own(kind: Kind) {
    let mut ground = Ground::new(kind, Cache::Exact);
    let asked = "SELECT @@session.max_allowed_packet, @@session.group_concat_max_len, GROUP_CONCAT(v) FROM t";
    // Numbers that the server will not give again soon.
    (0..100).for_each(|_| drop(ground.direct()));
    let mut admin = ground.through();
    let expected = admin.table(asked);
    admin.ok("SET GLOBAL group_concat_max_len = 5");
    let mut second = ground.through();
    assert_eq!(second.table(asked)[0][2], "one,t");
    admin.ok("SET GLOBAL max_allowed_packet = 2097152");
    let mut third = ground.through();
    assert_eq!(third.table(asked)[0][0], "2097152");
    ground.lab.kill(Role::Primary).expect("it runs");
    ground.lab.start(Role::Primary).expect("it comes up again");
    await_that("the server answers", || ground.through().query("SELECT 1 FROM t FOR UPDATE").is_ok());
    for (client, when) in [
        (&mut ground.through(), "behind its beginning"),
        (&mut third, "before it, behind both changes"),
        (&mut second, "before it, behind one change"),
    ] {
        for _ in 0..3 {
            assert_eq!(client.table(asked), expected, "a session that began {when}");
        }
    }
}

#[test]
fn server_that_begins_anew_gives_its_own_on_mariadb() {
    server_that_begins_anew_gives_its_own(Kind::MariaDb);
}

#[test]
fn server_that_begins_anew_gives_its_own_on_mysql() {
    server_that_begins_anew_gives_its_own(Kind::MySql);
}

fn change_past_the_proxy_is_found(kind: Kind) {
    let ground = Ground::new(kind, Cache::Exact);
    let asked = "SELECT GROUP_CONCAT(v) FROM t";
    let (mut old, mut direct) = (ground.through(), ground.direct());
    assert_eq!(old.value(asked), "one,two");
    direct.ok("SET GLOBAL group_concat_max_len = 5");
    await_that("new sessions begin with it", || ground.through().value(asked) == "one,t");
    assert_eq!(old.value(asked), "one,two");
    direct.ok("SET GLOBAL group_concat_max_len = 4");
    await_that("new sessions begin with that", || ground.through().value(asked) == "one,");
    assert_eq!(old.value(asked), "one,two");
}

#[test]
fn change_past_the_proxy_is_found_on_mariadb() {
    change_past_the_proxy_is_found(Kind::MariaDb);
}

#[test]
fn change_past_the_proxy_is_found_on_mysql() {
    change_past_the_proxy_is_found(Kind::MySql);
}

/// Ways to say it.
fn every_way_to_change_is_seen(kind: Kind) {
    let ground = Ground::new(kind, Cache::Off);
    let asked = "SELECT @@group_concat_max_len";
    let mut admin = ground.through();
    let mut ways = vec![
        "SET GLOBAL group_concat_max_len = {}",
        "SET @@global.group_concat_max_len = {}",
        "/* a */ set @a = 1, /*!50000 global */ group_concat_max_len = {}",
        "SET GLOBAL sort_buffer_size = 65536, group_concat_max_len = {}",
        "SET GLOBAL group_concat_max_len = {}, nonsense = 1",
        "SET GLOBAL group_concat_max_len = {}, GLOBAL lc_time_names = 'nonsense'",
        "DO 1; SET GLOBAL group_concat_max_len = {}",
        "PREPARE p FROM 'SET GLOBAL group_concat_max_len = {}'; EXECUTE p",
        "prepare",
        "SET GLOBAL group_concat_max_len = {}; SELECT 1",
    ];
    match kind {
        Kind::MariaDb => ways.extend([
            "EXECUTE IMMEDIATE 'SET GLOBAL group_concat_max_len = {}'",
            "SET STATEMENT lock_wait_timeout = 5 FOR SET GLOBAL group_concat_max_len = {}",
            "BEGIN NOT ATOMIC SET GLOBAL group_concat_max_len = {}; END",
        ]),
        Kind::MySql => {
            ways.extend(["SET PERSIST group_concat_max_len = {}", "SET @@persist.group_concat_max_len = {}"]);
        }
    }
    for (number, way) in (100..).zip(ways) {
        let mut old = ground.pair();
        old.compare(asked, way);
        let statement = match way {
            "prepare" => {
                admin.ok(format!("PREPARE p FROM 'SET GLOBAL group_concat_max_len = {number}'"));
                "EXECUTE p".to_owned()
            }
            way => way.replace("{}", &number.to_string()),
        };
        let _whatever = admin.query_all(&statement);
        let mut new = ground.pair();
        new.compare(asked, way);
        old.compare(asked, way);
        new.compare(asked, way);
    }
}

#[test]
fn every_way_to_change_what_sessions_begin_with_is_seen_on_mariadb() {
    every_way_to_change_is_seen(Kind::MariaDb);
}

#[test]
fn every_way_to_change_what_sessions_begin_with_is_seen_on_mysql() {
    every_way_to_change_is_seen(Kind::MySql);
}
