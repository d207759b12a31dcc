//! Servers that are started anew get a part of their share until they are warm.
//!
//! What a server loads at its start comes out of a pipe in most of these: as long as nobody writes into that, the load goes on.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Command;

use nuthatch_lab::{Kind, Options, Role, ScratchLab};
use rustix::fs::OFlags;

use super::WHO;
use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::figure;

const REPLICA: Role = Role::Replica(1);

/// A primary and its replicas, all in hostgroup 5, and a proxy that looks at them often.
struct Stage {
    lab: ScratchLab,
    roles: Vec<Role>,
    proxy: Proxy,
}

impl Stage {
    fn of(kind: Kind, variables: &[(&str, u64)]) -> Self {
        Self::with_replicas(1, kind, variables)
    }

    fn with_replicas(replicas: u16, kind: Kind, variables: &[(&str, u64)]) -> Self {
        let lab = lab(kind, replicas);
        let monitor = servers::account(&lab);
        Self::before(lab, replicas, &monitor, variables)
    }

    /// With that account for the monitor.
    fn before(lab: ScratchLab, replicas: u16, monitor: &Login, variables: &[(&str, u64)]) -> Self {
        let account = servers::account(&lab);
        let mut setup = watching(monitor);
        for (name, value) in variables {
            setup = setup.variable(&format!("mysql-{name}"), value);
        }
        let roles: Vec<_> = std::iter::once(Role::Primary).chain((1..=replicas).map(Role::Replica)).collect();
        for role in &roles {
            let port = port(&lab, *role);
            setup = setup.server(format!("hostgroup_id=5, hostname='127.0.0.1', port={port}"));
        }
        let proxy = Proxy::start(&setup.user(user(&account)));
        let stage = Self { lab, roles, proxy };
        let is_looked_at = "WHERE ping_us > 0 AND warm_pct IS NOT NULL";
        await_that("all are seen", || stage.asked(is_looked_at) == stage.roles.len() as u64);
        stage
    }

    fn client(&self) -> Client {
        self.proxy.client(&servers::account(&self.lab))
    }

    /// How many servers there are of which that is so.
    fn asked(&self, which: &str) -> u64 {
        let sql = format!("SELECT COUNT(*) FROM stats_nuthatch_servers {which}");
        self.proxy.operator().value(sql).parse().expect("a number")
    }

    /// A column of the row of that server.
    fn shown(&self, role: Role, column: &str) -> String {
        let port = port(&self.lab, role);
        self.proxy
            .operator()
            .value(format!("SELECT {column} FROM stats_nuthatch_servers WHERE port = {port}"))
    }

    fn is_held(&self, role: Role) -> bool {
        self.shown(role, "warming") == "1"
    }

    /// It has told that it loads, and lacks more than a tenth.
    fn loads(&self, role: Role) -> bool {
        self.shown(role, "warm_pct < 90") == "1"
    }

    /// Of so many statements, how many the replica gets.
    fn share_of_replica(&self, statements: usize) -> usize {
        let mut client = self.client();
        (0..statements).filter(|_| client.value(WHO) == "2").count()
    }

    /// Kills it, and starts it again; it loads from then on.
    fn start_anew(&mut self, role: Role) {
        self.lab.kill(role).expect("it runs");
        make_pipe(&self.lab, role);
        self.lab.start(role).expect("it comes up again");
    }

    /// The server has loaded what there is to load.
    fn end_load(&self, role: Role) {
        end_load(&self.lab, role);
    }

    /// An operator gives it that status.
    fn put_at(&self, role: Role, status: &str) {
        let port = port(&self.lab, role);
        let mut operator = self.proxy.operator();
        operator.ok(format!("UPDATE mysql_servers SET status = '{status}' WHERE port = {port}"));
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    }

    /// How often a line of the log has these words.
    fn logged(&self, words: &str) -> usize {
        self.proxy.log().lines().filter(|line| line.contains(words)).count()
    }
}

impl Drop for Stage {
    /// No server stops before its load has an end.
    fn drop(&mut self) {
        for role in &self.roles {
            self.end_load(*role);
        }
    }
}

fn lab(kind: Kind, replicas: u16) -> ScratchLab {
    let extra =
        ["innodb_buffer_pool_load_at_startup=ON".to_owned(), "innodb_buffer_pool_dump_pct=100".to_owned()];
    let installation = servers::installation(kind);
    let options =
        Options { installation, replicas, buffer_pool_mib: 64, extra: extra.into(), ..Options::default() };
    ScratchLab::up(&options).expect("a lab comes up")
}

fn watching(account: &Login) -> Setup {
    Setup::default()
        .variable("mysql-monitor_enabled", true)
        .account("monitor", &account.user, &account.password)
        .variable("mysql-monitor_ping_interval", 200)
        .variable("mysql-monitor_ping_timeout", 300)
        .variable("mysql-monitor_warm_interval", 200)
        .variable("mysql-shun_recovery_time_sec", 1)
}

/// Returns when the replica, a MariaDB, has run for so many seconds.
fn await_uptime(lab: &ScratchLab, seconds: u32) {
    let uptime = format!(
        "SELECT VARIABLE_VALUE >= {seconds} FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Uptime'"
    );
    await_that("it was started long ago", || servers::client_of(lab, REPLICA).value(&uptime) == "1");
}

fn user(login: &Login) -> String {
    format!("username='{}', password='{}', default_hostgroup=5", login.user, login.password)
}

fn port(lab: &ScratchLab, role: Role) -> u16 {
    lab.server(role).expect("it is there").port()
}

/// The file of what is to be loaded.
fn dump(lab: &ScratchLab, role: Role) -> PathBuf {
    let log = lab.server(role).expect("it is there").error_log();
    let data = log.parent().expect("a directory").join("data");
    assert!(data.is_dir(), "{} is where its data is", data.display());
    data.join("ib_buffer_pool")
}

fn make_pipe(lab: &ScratchLab, role: Role) {
    let path = dump(lab, role);
    drop(std::fs::remove_file(&path));
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
    assert!(made.success());
}

/// A reader of the pipe reads its end; nothing happens if there is none.
fn end_load(lab: &ScratchLab, role: Role) {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    let path = dump(lab, role);
    let is_pipe = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo());
    if is_pipe(&path) {
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag");
        drop(OpenOptions::new().write(true).custom_flags(flags).open(&path));
    }
}

fn held_until_loaded(kind: Kind) {
    let mut stage = Stage::of(kind, &[("warm_weight", 25)]);
    assert!(stage.share_of_replica(400).abs_diff(200) < 50, "both are warm");
    stage.start_anew(REPLICA);
    await_that("it is held", || stage.is_held(REPLICA));
    assert!(stage.loads(REPLICA) && !stage.is_held(Role::Primary));
    let status = "SELECT status FROM stats_mysql_connection_pool ORDER BY status";
    await_that("it is there", || stage.share_of_replica(100) > 0);
    assert_eq!(stage.proxy.operator().table(status), [["ONLINE"], ["WARMING"]]);
    // 25 of 125.
    let share = stage.share_of_replica(1_000);
    assert!(share.abs_diff(200) < 60, "{share} of 1000");
    stage.proxy.set("warm_weight", 0);
    assert_eq!(stage.share_of_replica(200), 0);
    assert_eq!(figure(&mut stage.proxy.operator(), "Servers_Warming"), 1);
    stage.end_load(REPLICA);
    await_that("it is not held any more", || !stage.is_held(REPLICA));
    assert!(stage.share_of_replica(400).abs_diff(200) < 50, "it has its share again");
    assert_eq!(stage.logged("until it is warm it gets so much of its share"), 1);
    assert_eq!(stage.logged("a server gets its whole share again"), 1);
    assert!(stage.shown(REPLICA, "warm_why").contains("no dump to load"), "the pipe gave nothing");
}

#[test]
fn server_started_anew_gets_a_part_of_its_share_until_it_has_loaded() {
    held_until_loaded(Kind::MariaDb);
}

#[test]
fn server_started_anew_gets_a_part_of_its_share_until_it_has_loaded_on_mysql() {
    held_until_loaded(Kind::MySql);
}

#[test]
fn gate_is_opened_when_its_time_is_over() {
    let mut stage = Stage::of(Kind::MariaDb, &[("warm_weight", 0), ("warm_max_ms", 3_000)]);
    stage.start_anew(REPLICA);
    await_that("it is held", || stage.is_held(REPLICA));
    await_that("it is not held any more", || !stage.is_held(REPLICA));
    assert!(stage.shown(REPLICA, "warm_why").contains("mysql-warm_max_ms is 3000"));
    assert!(stage.loads(REPLICA), "it loads still");
    await_that("it has its share", || stage.share_of_replica(50) > 10);
}

#[test]
fn gate_is_off_where_the_hostgroup_says_so() {
    let mut stage = Stage::of(Kind::MariaDb, &[]);
    let mut operator = stage.proxy.operator();
    operator.ok("INSERT INTO mysql_hostgroup_attributes (hostgroup_id, hostgroup_settings) VALUES (5, '{\"warm_pct\": 101}')");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    let warnings = operator.table("SHOW WARNINGS").concat().join(" ");
    assert!(warnings.contains("\"warm_pct\" takes a number from 0 to 100; it does not count"), "{warnings}");
    operator.ok("UPDATE mysql_hostgroup_attributes SET hostgroup_settings = '{\"warm_pct\": 0}'");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    stage.start_anew(REPLICA);
    await_that("it has its share", || stage.share_of_replica(50) > 10);
    await_that("its load is seen", || stage.loads(REPLICA));
    assert_eq!(stage.logged("was started anew"), 0);
}

#[test]
fn gate_holds_no_server_that_is_alone_and_opens_when_the_others_are_gone() {
    let mut stage = Stage::of(Kind::MariaDb, &[("warm_weight", 0)]);
    let replica = port(&stage.lab, REPLICA);
    let mut operator = stage.proxy.operator();
    operator.ok(format!(
        "INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (6, '127.0.0.1', {replica})"
    ));
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    stage.start_anew(REPLICA);
    await_that("it is held beside the other", || stage.is_held(REPLICA));
    assert_eq!(stage.logged("no other server of the hostgroup takes statements"), 1, "said in hostgroup 6");
    assert!(stage.proxy.log().contains("gets its whole share at once"));
    let status = "SELECT status FROM stats_mysql_connection_pool WHERE hostgroup = 6";
    assert_eq!(operator.value(status), "ONLINE");
    stage.lab.kill(Role::Primary).expect("it runs");
    await_that("it takes over at once", || stage.client().query(WHO).is_ok());
    await_that("it is not held any more", || !stage.is_held(REPLICA));
    assert_eq!(stage.logged("no other server of the hostgroup takes statements"), 2);
    assert_eq!(stage.share_of_replica(20), 20);
}

/// A host whose power was away: who is looked at first must not get everything.
#[test]
fn cold_servers_share_what_there_is_where_none_is_warm() {
    let mut stage = Stage::with_replicas(2, Kind::MariaDb, &[("warm_weight", 0)]);
    let roles = stage.roles.clone();
    for role in &roles {
        stage.lab.kill(*role).expect("it runs");
        make_pipe(&stage.lab, *role);
    }
    await_that("all are gone", || stage.asked("WHERE trouble IS NULL") == 0);
    for role in &roles {
        stage.lab.start(*role).expect("it comes up again");
    }
    let mut client = stage.client();
    await_that("none is held", || {
        client = stage.client();
        client.query(WHO).is_ok()
            && stage.logged("started anew") >= 3
            && stage.asked("WHERE warming = 1") == 0
    });
    for server in ["1", "2", "3"] {
        await_that("each gets a share", || (0..30).filter(|_| client.value(WHO) == server).count() > 3);
    }
    assert_eq!(stage.asked("WHERE warm_pct < 90 AND warm_why LIKE 'no other server%'"), 3, "they load still");
}

/// A KILL by an operator, a proxy or firewall between: the server that was lost for a moment is there.
#[test]
fn connection_that_is_lost_to_the_warm_server_opens_no_gate() {
    let mut stage = Stage::of(Kind::MariaDb, &[("warm_weight", 0)]);
    stage.start_anew(REPLICA);
    await_that("it is held", || stage.is_held(REPLICA));
    let mut primary = servers::primary(&stage.lab);
    let running = "SELECT MAX(id) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'";
    for _ in 0..5 {
        let mut client = stage.client();
        let asking = std::thread::spawn(move || drop(client.query("SELECT SLEEP(2), CONNECTION_ID()")));
        await_that("it runs", || primary.value(running) != "NULL");
        let id = primary.value(running);
        primary.ok(format!("KILL {id}"));
        asking.join().expect("it comes to an end");
        assert!(stage.is_held(REPLICA));
    }
    assert_eq!(stage.share_of_replica(50), 0);
    assert_eq!(stage.logged("no other server"), 0);
}

/// As one does for maintenance.
#[test]
fn server_that_was_started_anew_while_it_was_taken_out_is_held() {
    let mut stage = Stage::of(Kind::MariaDb, &[("warm_weight", 0)]);
    stage.put_at(REPLICA, "OFFLINE_HARD");
    stage.start_anew(REPLICA);
    stage.put_at(REPLICA, "ONLINE");
    await_that("it is held", || stage.is_held(REPLICA));
    assert_eq!(stage.share_of_replica(50), 0);
    stage.end_load(REPLICA);
    await_that("it has its share", || stage.share_of_replica(50) > 10);
}

/// A real dump, on a quick disk.
fn opened_by_a_load(kind: Kind) {
    let mut stage = Stage::of(kind, &[("warm_weight", 0)]);
    let mut replica = servers::client_of(&stage.lab, REPLICA);
    replica.ok("SET GLOBAL innodb_buffer_pool_dump_now = ON");
    await_that("it has dumped", || {
        let status = replica.table("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_dump_status'");
        status.concat().concat().contains("dump completed")
    });
    stage.lab.kill(REPLICA).expect("it runs");
    await_that("it is gone", || stage.shown(REPLICA, "trouble IS NOT NULL") == "1");
    stage.lab.start(REPLICA).expect("it comes up again");
    await_that("its load is understood", || {
        let why = stage.shown(REPLICA, "warm_why");
        why == "all of its dumped pages are loaded" || why.contains("mysql-warm_pct is 90")
    });
    await_that("it has its share", || stage.share_of_replica(50) > 10);
    assert!(!stage.is_held(REPLICA));
}

#[test]
fn gate_is_opened_when_the_dumped_pages_are_loaded() {
    opened_by_a_load(Kind::MariaDb);
}

#[test]
fn gate_is_opened_when_the_dumped_pages_are_loaded_on_mysql() {
    opened_by_a_load(Kind::MySql);
}

/// The network is away, or the host: the server has all that it had.
#[test]
fn server_that_was_only_away_is_not_held() {
    let stage = Stage::of(Kind::MariaDb, &[("warm_weight", 0)]);
    await_uptime(&stage.lab, 4);
    stage.lab.freeze(REPLICA).expect("it runs");
    await_that("it is shunned", || stage.shown(REPLICA, "trouble IS NOT NULL") == "1");
    stage.lab.thaw(REPLICA).expect("it stands still");
    await_that("it has its share", || stage.share_of_replica(50) > 10);
    assert!(!stage.is_held(REPLICA));
    assert_eq!(stage.logged("was started anew"), 0);
}

#[test]
fn new_server_is_held_if_it_was_started_a_moment_ago_and_not_if_it_was_long_ago() {
    let mut stage = Stage::of(Kind::MariaDb, &[("warm_weight", 0)]);
    let replica = port(&stage.lab, REPLICA);
    let put = |what: &str| {
        let mut operator = stage.proxy.operator();
        operator.ok(what);
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    };
    let insert = format!(
        "INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (5, '127.0.0.1', {replica})"
    );
    put(&format!("DELETE FROM mysql_servers WHERE port = {replica}"));
    stage.lab.kill(REPLICA).expect("it runs");
    make_pipe(&stage.lab, REPLICA);
    stage.lab.start(REPLICA).expect("it comes up again");
    put(&insert);
    await_that("it is held", || stage.is_held(REPLICA));
    put(&format!("DELETE FROM mysql_servers WHERE port = {replica}"));
    await_uptime(&stage.lab, 2);
    stage.proxy.set("warm_max_ms", 1_000);
    put(&insert);
    await_that("it has its share", || stage.share_of_replica(50) > 10);
    assert!(!stage.is_held(REPLICA));
}

/// A dump of what a server has just loaded, or has not loaded yet, would be of less than it had.
#[test]
fn warm_server_is_asked_for_dumps_and_one_that_loads_is_not() {
    let mut stage = Stage::of(Kind::MariaDb, &[("warm_dump_interval_ms", 1_000)]);
    let file = |stage: &Stage, role| std::fs::metadata(dump(&stage.lab, role)).map(|file| file.is_file());
    await_that("both have dumped", || {
        [Role::Primary, REPLICA].map(|role| file(&stage, role).is_ok_and(|is_file| is_file)) == [true; 2]
    });
    await_that("that is shown", || stage.asked("WHERE dumped > 1700000000 AND dump_trouble IS NULL") == 2);
    stage.start_anew(REPLICA);
    await_that("it is held", || stage.is_held(REPLICA));
    let dumps = || figure(&mut stage.proxy.operator(), "Warm_Dumps");
    let (before, of_replica) = (dumps(), stage.shown(REPLICA, "dumped"));
    await_that("the other one dumps again and again", || dumps() >= before + 3);
    assert!(stage.is_held(REPLICA));
    assert_eq!(stage.shown(REPLICA, "dumped"), of_replica);
    assert!(file(&stage, REPLICA).is_ok_and(|is_file| !is_file), "its pipe is there still");
}

fn dump_that_is_refused(kind: Kind) {
    let lab = lab(kind, 1);
    servers::primary(&lab).ok("CREATE USER 'eye'@'%' IDENTIFIED BY 'eye'");
    servers::await_replicas(&lab);
    let stage = Stage::before(lab, 1, &Login::new("eye", "eye"), &[("warm_dump_interval_ms", 500)]);
    let refused = || figure(&mut stage.proxy.operator(), "Warm_Dumps_Refused");
    await_that("dumps are refused again and again", || refused() >= 6);
    let trouble = stage.shown(REPLICA, "dump_trouble");
    assert!(trouble.contains("1227") && trouble.contains("SYSTEM_VARIABLES_ADMIN"), "{trouble}");
    assert!(trouble.contains("GRANT SUPER on MariaDB"), "{trouble}");
    assert_eq!(stage.logged("may not have a server dump its buffer pool"), 2, "once for each server");
    assert_eq!((stage.asked("WHERE warming = 1"), figure(&mut stage.proxy.operator(), "Warm_Dumps")), (0, 0));
}

#[test]
fn missing_privilege_for_dumps_is_said_once() {
    dump_that_is_refused(Kind::MariaDb);
}

#[test]
fn missing_privilege_for_dumps_is_said_once_on_mysql() {
    dump_that_is_refused(Kind::MySql);
}

/// A server of the test's own that loads nothing, started anew; the proxy sends it what it sends to the other.
fn reads_of_others(kind: Kind) {
    let mut stage =
        Stage::of(kind, &[("warm_weight", 0), ("warm_reads_per_sec", 1_000), ("warm_max_ms", 600_000)]);
    let mut primary = servers::primary(&stage.lab);
    primary.ok("CREATE DATABASE shop");
    primary.ok("CREATE TABLE shop.goods (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE = InnoDB");
    primary.ok("INSERT INTO shop.goods VALUES (1, 'nut'), (2, 'hatch')");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(REPLICA).expect("it runs");
    drop(std::fs::remove_file(dump(&stage.lab, REPLICA)));
    stage.lab.start(REPLICA).expect("it comes up again");
    await_that("it is held", || stage.is_held(REPLICA));
    await_that("it takes reads", || stage.logged("reads of others are sent to a cold server too") == 1);
    let mut replica = servers::client_of(&stage.lab, REPLICA);
    replica.ok("SET GLOBAL log_output = 'TABLE'");
    replica.ok("SET GLOBAL general_log = ON");
    let mut client = stage.proxy.client(&servers::account(&stage.lab).schema("shop"));
    client.ok("SELECT /* plain */ name FROM goods WHERE id = 1");
    client.ok("INSERT INTO goods VALUES (3, 'written')");
    client.ok("SELECT /* locks */ name FROM goods WHERE id = 1 FOR UPDATE");
    client.ok("BEGIN");
    client.ok("SELECT /* in a transaction */ name FROM goods WHERE id = 1");
    client.ok("COMMIT");
    client.ok("SELECT /* no table */ 1");
    client.ok("SET @a = 1");
    client.ok("SELECT /* behind a variable */ name FROM goods WHERE id = 2");
    let mut other = stage.proxy.client(&servers::account(&stage.lab).schema("shop"));
    assert_eq!(other.value("SELECT /* last */ name FROM goods WHERE id = 2"), "hatch");
    let sent = || figure(&mut stage.proxy.operator(), "Warm_Reads");
    let logged = "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log \
                  WHERE CONVERT(argument USING utf8mb4) LIKE 'SELECT /* % */%' AND command_type = 'Query' \
                  AND CONVERT(argument USING utf8mb4) NOT LIKE '%general\\_log%' ORDER BY event_time";
    await_that("both are answered there", || sent() == 2);
    let mut answered = replica.table(logged).concat();
    // Not all go over the same connection.
    answered.sort_by_key(|text| !text.contains("plain"));
    assert_eq!(
        answered,
        ["SELECT /* plain */ name FROM goods WHERE id = 1", "SELECT /* last */ name FROM goods WHERE id = 2"]
    );
    let failed =
        ["Warm_Reads_Failed", "Warm_Reads_Left_Out"].map(|name| figure(&mut stage.proxy.operator(), name));
    assert_eq!(failed, [0, 0]);
    let counted = "SELECT SUM(count_star) FROM stats_mysql_query_digest WHERE digest_text LIKE 'SELECT name FROM goods WHERE id = ?'";
    assert_eq!(stage.proxy.operator().value(counted), "4", "as the clients have sent them");
    assert!(!stage.proxy.log().contains(&servers::account(&stage.lab).password));
    // What looks like a read and is none.
    primary.ok("CREATE TABLE shop.one (id INT PRIMARY KEY) ENGINE = InnoDB");
    primary.ok("INSERT INTO shop.one VALUES (1)");
    primary.ok("CREATE FUNCTION shop.counts() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN DELETE FROM shop.goods WHERE id = 3; RETURN 1; END");
    primary.ok("CREATE VIEW shop.hidden AS SELECT shop.counts() AS n FROM shop.one");
    servers::await_replicas(&stage.lab);
    client.quit();
    other.ok("SELECT n FROM hidden");
    await_that("that one may not write there", || {
        figure(&mut stage.proxy.operator(), "Warm_Reads_Failed") == 1
    });
    assert_eq!(primary.value("SELECT COUNT(*) FROM shop.goods"), "2", "it has deleted where it was sent");
    sends_none_where_it_is_offline(&stage, &mut replica, &mut other);
    stage.proxy.set("warm_reads_per_sec", 0);
    await_that("it is not held any more", || !stage.is_held(REPLICA));
}

fn sends_none_where_it_is_offline(stage: &Stage, replica: &mut Client, other: &mut Client) {
    let sent = || figure(&mut stage.proxy.operator(), "Warm_Reads");
    stage.put_at(REPLICA, "OFFLINE_SOFT");
    let user = servers::account(&stage.lab).user;
    let connections =
        format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{user}' AND db = 'shop'");
    await_that("it is left alone", || replica.value(&connections) == "0");
    let sent_before = sent();
    other.ok("SELECT /* none */ name FROM goods WHERE id = 2");
    stage.put_at(REPLICA, "ONLINE");
    other.ok("SELECT /* one */ name FROM goods WHERE id = 2");
    await_that("it is sent reads again", || {
        other.ok("SELECT /* one */ name FROM goods WHERE id = 2");
        sent() > sent_before
    });
    let logged = "SELECT COUNT(*) FROM mysql.general_log WHERE CONVERT(argument USING utf8mb4) LIKE 'SELECT /* none */%'";
    assert_eq!(replica.value(logged), "0");
}

#[test]
fn pure_reads_of_others_are_sent_to_a_cold_server_that_loads_nothing() {
    reads_of_others(Kind::MariaDb);
}

#[test]
fn pure_reads_of_others_are_sent_to_a_cold_server_that_loads_nothing_on_mysql() {
    reads_of_others(Kind::MySql);
}

/// The pages that it lacks are brought by what others ask for.
#[test]
fn cold_server_gets_its_share_when_it_lacks_hardly_more_than_the_others() {
    let mut stage = Stage::of(Kind::MariaDb, &[("warm_weight", 0), ("warm_reads_per_sec", 1_000)]);
    let mut primary = servers::primary(&stage.lab);
    primary.ok("CREATE DATABASE shop");
    primary.ok("CREATE TABLE shop.goods (id INT PRIMARY KEY, name VARCHAR(200)) ENGINE = InnoDB");
    primary.ok("INSERT INTO shop.goods SELECT seq, REPEAT('x', 200) FROM shop.seq_1_to_20000");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(REPLICA).expect("it runs");
    drop(std::fs::remove_file(dump(&stage.lab, REPLICA)));
    stage.lab.start(REPLICA).expect("it comes up again");
    await_that("it is held", || stage.is_held(REPLICA));
    let mut client = stage.client();
    await_that("it is warm", || {
        (0..50).for_each(|_| drop(client.ok("SELECT COUNT(*) FROM shop.goods WHERE name > 'a'")));
        !stage.is_held(REPLICA)
    });
    let why = stage.shown(REPLICA, "warm_why");
    assert!(why.starts_with("it lacks 0."), "{why}");
    assert!(figure(&mut stage.proxy.operator(), "Warm_Reads") > 10);
}
