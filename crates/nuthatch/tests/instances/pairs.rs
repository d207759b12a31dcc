//! Two hosts, of which the second is reached by an sshd of the test's own: pairs in both directions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::host::{Host, await_that};
use crate::replicating::{Server, makes_tables, purge, rows_of};
use crate::sshd::Sshd;
use crate::work::{Work, checksums};

/// Two hosts and the way from the first to the second.
struct Two {
    here: Host,
    there: Host,
    sshd: Sshd,
}

impl Two {
    fn new() -> Self {
        let (here, there) = (Host::new(), Host::new());
        let sshd = Sshd::new(&there.address());
        Self { here, there, sshd }
    }

    /// What is said to pair with a host of that name.
    fn words(&self, with: &str, more: &[&str]) -> Vec<String> {
        self.words_by(env!("CARGO_BIN_EXE_nuthatch"), with, more)
    }

    /// The same with another program there.
    fn words_by(&self, program: &str, with: &str, more: &[&str]) -> Vec<String> {
        let config = format!("-F{}", self.sshd.client_config().display());
        let root = self.there.root().display().to_string();
        let words = [
            "pair",
            "--with",
            with,
            "--remote-root",
            &root,
            "--remote-program",
            program,
            "--ssh-option",
            &config,
        ];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    fn pair(&self, more: &[&str]) -> String {
        let words = self.words("there", more);
        self.here.ok(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn refused(&self, with: &str, more: &[&str]) -> String {
        self.refused_words(&self.words(with, more))
    }

    fn refused_words(&self, words: &[String]) -> String {
        let said = self.here.refused(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(said.trim().lines().count(), 1, "one sentence: {said}");
        said
    }

    /// A program for the other host that does what ours does, but for requests with that word, of which it makes what the script says: `$program`
    /// answers `$request`.
    fn odd_program(&self, word: &str, script: &str) -> String {
        let path = self.there.root().join("odd-nuthatch");
        let text = format!(
            "#!/bin/sh\nprogram() {{ {} \"$@\"; }}\ncase \"$*\" in *answer) ;; *) program \"$@\"; exit $?;; esac\nrequest=$(cat)\n\
             answer() {{ printf %s \"$request\" | program \"$@\"; }}\n\
             case $request in *{word}*) {script};; *) answer \"$@\";; esac\n",
            env!("CARGO_BIN_EXE_nuthatch")
        );
        fs::write(&path, text).expect("it goes well");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it goes well");
        path.display().to_string()
    }

    /// Both replicate, and what is written to the one arrives at the other.
    fn replicates(&self, name: &str, mark: &str) {
        for host in [&self.here, &self.there] {
            await_that(|| host.replica(name)["state"] == "running");
        }
        self.here.query(name, &format!("INSERT INTO d.t (v) VALUES ('{mark}')"));
        let found = format!("SELECT v FROM d.t WHERE v = '{mark}'");
        await_that(|| rows_of(&self.there, name, &found) == mark);
    }
}

fn pair_replicates_both_ways_and_one_side_is_read_only(server: Server) {
    let two = Two::new();
    two.here.add(server, "shop", &["--set", "max_connections=33"]);
    two.here.query(
        "shop",
        "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))",
    );
    let said = two.pair(&["--yes"]);
    assert!(said.contains("there: added, port"), "{said}");
    // What was there before, and what is written from now on.
    two.here.query("shop", "INSERT INTO d.t (v) VALUES ('here')");
    await_that(|| rows_of(&two.there, "shop", "SELECT v FROM d.t") == "here");
    assert_eq!(two.there.query("shop", "SELECT @@max_connections"), "33", "options go with it");
    let ends: Vec<_> = [&two.here, &two.there].map(|host| host.replicas()).into_iter().flatten().collect();
    let writable: Vec<_> = ends.iter().map(|one| one["writable"].as_bool().expect("it goes well")).collect();
    assert_eq!(writable, [true, false], "{ends:?}");
    for end in &ends {
        assert_eq!(
            (end["state"].as_str(), end["over_tls"].as_bool()),
            (Some("running"), Some(true)),
            "{end}"
        );
    }
    // Its own clients cannot write there; who may do everything can, and that comes back.
    two.there.query("shop", "INSERT INTO d.t (v) VALUES ('there')");
    await_that(|| rows_of(&two.here, "shop", "SELECT GROUP_CONCAT(v ORDER BY id) FROM d.t") == "here,there");
    let numbers = rows_of(&two.here, "shop", "SELECT GROUP_CONCAT(id % 2 ORDER BY id) FROM d.t");
    assert_eq!(numbers, "1,0", "each side numbers its own rows");
    // A second time nothing is done.
    let said = two.pair(&[]);
    assert!(said.contains("as it is") && said.contains("shop is paired already"), "{said}");
}

#[test]
fn pair_of_mariadb_replicates_both_ways_and_one_side_is_read_only() {
    pair_replicates_both_ways_and_one_side_is_read_only(Server::MariaDb);
}

#[test]
fn pair_of_mysql_replicates_both_ways_and_one_side_is_read_only() {
    pair_replicates_both_ways_and_one_side_is_read_only(Server::MySql);
}

fn both_sides_are_written_to_at_once(server: Server) {
    const ROWS: usize = 200;
    let two = Two::new();
    two.here.add(server, "shop", &[]);
    two.pair(&["--both-writable", "--yes"]);
    two.here.query(
        "shop",
        "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))",
    );
    await_that(|| rows_of(&two.there, "shop", "SHOW TABLES FROM d") == "t");
    let inserts = "INSERT INTO d.t (v) VALUES (@@server_id);".repeat(ROWS);
    let children: Vec<_> = [&two.here, &two.there]
        .map(|host| {
            let words = ["client", "shop", "--", "--execute", &inserts];
            host.command(&words).stdout(Stdio::null()).spawn().expect("it goes well")
        })
        .into_iter()
        .collect();
    children.into_iter().for_each(|mut child| assert!(child.wait().expect("it goes well").success()));
    for host in [&two.here, &two.there] {
        let all = || rows_of(host, "shop", "SELECT COUNT(*) FROM d.t");
        await_that(|| all() == (2 * ROWS).to_string());
        assert!(host.replicas().iter().all(|one| one["state"] == "running"), "{:?}", host.replicas());
    }
    let sum = "SELECT CONCAT_WS(' ', COUNT(*), SUM(id), COUNT(DISTINCT v)) FROM d.t";
    assert_eq!(two.here.query("shop", sum), two.there.query("shop", sum));
}

#[test]
fn both_sides_of_mariadb_are_written_to_at_once() {
    both_sides_are_written_to_at_once(Server::MariaDb);
}

#[test]
fn both_sides_of_mysql_are_written_to_at_once() {
    both_sides_are_written_to_at_once(Server::MySql);
}

#[test]
fn what_cannot_be_paired_is_one_sentence_and_touches_nothing() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &[]);
    let before = (two.here.ok(&["config", "shop"]), two.there.list().len());
    for (with, word) in [
        ("stranger", "Host key verification failed"),
        ("nobody", "Connection refused"),
        ("-oProxyCommand=id", "it is no host's name"),
    ] {
        let with = if with.starts_with('-') { format!("--with={with}") } else { with.to_owned() };
        let said = match with.strip_prefix("--with=") {
            Some(_) => two.here.refused(&["pair", &with, "--yes"]),
            None => two.refused(&with, &["--yes"]),
        };
        assert!(said.contains(word), "{with}: {said}");
    }
    let config = format!("-F{}", two.sshd.client_config().display());
    let said = two.here.refused(&[
        "pair",
        "--with",
        "there",
        "--remote-program",
        "/nonexistent/nuthatch",
        "--ssh-option",
        &config,
        "--yes",
    ]);
    assert!(said.contains("there is no /nonexistent/nuthatch there"), "{said}");
    assert!(two.refused("there", &[]).contains("say --yes"), "nobody has said yes");
    assert!(two.refused("there", &["nothing", "--yes"]).contains("find nothing"));
    assert!(two.here.refused(&["host", "--address", "0.0.0.0"]).contains("by which others reach it"));
    // The one here has nothing, and must not be what the other one becomes.
    two.there.add(Server::MariaDb, "shop", &[]);
    makes_tables(&two.there, "shop");
    let said = two.refused("there", &["shop", "--yes"]);
    assert!(said.contains("say it there"), "{said}");
    two.there.ok(&["remove", "shop", "--yes", "shop", "--destroy-data"]);
    // One of that name with another port.
    two.there.ok(&["add", "other"]);
    assert!(two.refused("there", &["shop", "--yes"]).contains("is that of other there"));
    two.there.ok(&["remove", "other", "--yes", "other", "--destroy-data"]);
    assert_eq!((two.here.ok(&["config", "shop"]), two.there.list().len()), before);
    assert_eq!(two.here.query("shop", "SELECT COUNT(*) FROM mysql.user WHERE User LIKE 'nuthatch%'"), "0");
}

fn one_whose_binlogs_are_purged_is_copied_while_it_is_written_to(server: Server) {
    let two = Two::new();
    two.here.add(server, "shop", &["--set", "max_connections=44", "--set", "event_scheduler=ON"]);
    makes_tables(&two.here, "shop");
    // What writes by itself goes on here alone.
    two.here.query(
        "shop",
        "CREATE TABLE d.ticks (server_id BIGINT); CREATE USER owner@'%' IDENTIFIED BY 'x'; GRANT ALL ON *.* TO owner@'%'; \
         CREATE DEFINER = owner@'%' EVENT d.tick ON SCHEDULE EVERY 1 SECOND DO INSERT INTO d.ticks VALUES (@@server_id)",
    );
    two.here.query("shop", "INSERT INTO d.t (v) VALUES ('old')");
    purge(&two.here, "shop");
    // Writes go on from the beginning to the end.
    let inserts = "INSERT INTO d.t (v) VALUES ('new'); DO SLEEP(0.001);".repeat(100_000);
    let file = two.here.root().join("inserts.sql");
    fs::write(&file, inserts).expect("it goes well");
    let mut writer = two
        .here
        .command(&["client", "shop"])
        .stdin(fs::File::open(&file).expect("it goes well"))
        .stdout(Stdio::null())
        .spawn()
        .expect("it goes well");
    let said = two.pair(&["--yes"]);
    assert!(said.contains("there: added, as a copy of the one here"), "{said}");
    assert!(writer.try_wait().expect("it goes well").is_none(), "it was written to all the time");
    writer.kill().expect("it goes well");
    writer.wait().expect("it goes well");
    let all = "SELECT CONCAT_WS(' ', COUNT(*), SUM(id), MIN(v)) FROM d.t";
    await_that(|| two.here.query("shop", all) == two.there.query("shop", all));
    assert_eq!(two.there.query("shop", "SELECT @@max_connections"), "44");
    two.there.query("shop", "INSERT INTO d.t (v) VALUES ('back')");
    await_that(|| rows_of(&two.here, "shop", "SELECT v FROM d.t WHERE v = 'back'") == "back");
    for host in [&two.here, &two.there] {
        await_that(|| host.replica("shop")["state"] == "running");
    }
    assert!(two.pair(&[]).contains("shop is paired already"));
    two.here.query("shop", "DELETE FROM d.ticks");
    await_that(|| two.there.query("shop", "SELECT COUNT(*) FROM d.ticks") != "0");
    let by = |host: &Host| rows_of(host, "shop", "SELECT GROUP_CONCAT(DISTINCT server_id) FROM d.ticks");
    let here = two.here.query("shop", "SELECT @@server_id");
    assert_eq!([by(&two.here), by(&two.there)], [here.clone(), here]);
    let event = "SELECT CONCAT_WS(' ', COUNT(*), SUM(STATUS = 'ENABLED'), MAX(DEFINER)) FROM information_schema.EVENTS";
    assert_eq!(two.here.query("shop", event), "1 1 owner@%");
    assert_eq!(two.there.query("shop", event), "1 0 owner@%");
}

#[test]
fn mariadb_whose_binlogs_are_purged_is_copied_while_it_is_written_to() {
    one_whose_binlogs_are_purged_is_copied_while_it_is_written_to(Server::MariaDb);
}

#[test]
fn mysql_whose_binlogs_are_purged_is_copied_while_it_is_written_to() {
    one_whose_binlogs_are_purged_is_copied_while_it_is_written_to(Server::MySql);
}

#[test]
fn one_that_is_older_than_its_binlogs_is_copied() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &[]);
    makes_tables(&two.here, "shop");
    two.here.query("shop", "INSERT INTO d.t (v) VALUES ('old')");
    two.here.query("shop", "RESET MASTER");
    let said = two.pair(&["--yes"]);
    assert!(said.contains("there: added, as a copy of the one here"), "{said}");
    two.here.query("shop", "INSERT INTO d.t (v) VALUES ('new')");
    await_that(|| rows_of(&two.there, "shop", "SELECT GROUP_CONCAT(v ORDER BY id) FROM d.t") == "old,new");
}

#[test]
fn source_is_the_one_at_the_address_that_was_said() {
    let two = Two::new();
    two.here.ok(&["add", "replica"]);
    two.there.ok(&["add", "shop"]);
    let port = two.there.show("shop")["port"].as_u64().expect("it goes well");
    let config = format!("-F{}", two.sshd.client_config().display());
    let root = two.there.root().display().to_string();
    let words = |from: &str| {
        let words = ["replicate", "replica", "--from", from, "--ssh", "there", "--remote-root", &root];
        let ssh = ["--remote-program", env!("CARGO_BIN_EXE_nuthatch"), "--ssh-option", &config];
        words.iter().chain(&ssh).map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let other = words(&format!("127.9.9.9:{port}"));
    let said = two.here.refused(&other.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.contains("there, which ssh comes to, is another host"), "{said}");
    let it = words(&format!("{}:{port}", two.there.address()));
    two.here.ok(&it.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The password of a replica's login, as its server keeps it for itself.
fn password_of(server: Server, host: &Host, name: &str) -> String {
    if server == Server::MySql {
        return host.query(name, "SELECT User_password FROM mysql.slave_master_info");
    }
    let file = fs::read_to_string(host.path_of(name).join("data/master.info")).expect("it goes well");
    file.lines().nth(5).expect("it goes well").to_owned()
}

fn files_with(dir: &Path, word: &str) -> Vec<String> {
    let said = Command::new("grep").args(["-rlaF", word]).arg(dir).output().expect("it goes well");
    String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect()
}

fn secrets_are_in_no_log_and_in_no_process_list(server: Server) {
    let two = Two::new();
    // Other tests, whose `add` has such a word, run beside this one.
    let word = format!("nobodys_business_{server:?}_{}", std::process::id());
    let init = format!("init_connect=SET @{word} = 1");
    let own = ["general_log=ON", "long_query_time=0", &init];
    two.here.add(server, "shop", &own.map(|option| ["--set", option]).concat());
    // It goes there as a copy.
    two.here.query("shop", "CREATE DATABASE d");
    purge(&two.here, "shop");
    // Who looks all the time at what runs.
    let seen = two.here.root().join("seen");
    let script = format!(
        "while :; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | sort -u >> {}; done",
        seen.display()
    );
    let mut looker = Command::new("sh").args(["-c", &script]).spawn().expect("it goes well");
    two.pair(&["--yes"]);
    looker.kill().expect("it goes well");
    looker.wait().expect("it goes well");
    let seen_all = fs::read_to_string(&seen).unwrap_or_default();
    assert!(seen_all.contains("answer") && seen_all.contains("receive"), "it has looked");
    assert!(!seen_all.contains(&word), "an own option is in the process list");
    assert_eq!(two.there.query("shop", "SELECT @@init_connect"), format!("SET @{word} = 1"));
    // Where the servers keep it for themselves.
    let is_its_own = |file: &str| match server {
        Server::MariaDb => file.ends_with("data/master.info"),
        Server::MySql => {
            file.contains("/data/") && !["binlog.", "relay.", ".log"].iter().any(|part| file.contains(part))
        }
    };
    for (host, other) in [(&two.here, &two.there), (&two.there, &two.here)] {
        let password = password_of(server, host, "shop");
        assert_eq!(password.len(), 24, "{password:?}");
        assert!(!seen_all.contains(&password), "in the process list");
        for host in [host, other] {
            for file in files_with(host.root(), &password) {
                assert!(is_its_own(&file), "{file}");
            }
        }
    }
}

#[test]
fn secrets_of_mariadb_are_in_no_log_and_in_no_process_list() {
    secrets_are_in_no_log_and_in_no_process_list(Server::MariaDb);
}

#[test]
fn secrets_of_mysql_are_in_no_log_and_in_no_process_list() {
    secrets_are_in_no_log_and_in_no_process_list(Server::MySql);
}

#[test]
fn what_fails_in_the_second_direction_leaves_no_first_one() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &[]);
    makes_tables(&two.here, "shop");
    let program = two.odd_program("make_account", r#"echo '{"refused":"make it: no"}'"#);
    let said = two.refused_words(&two.words_by(&program, "there", &["--yes"]));
    assert!(said.contains("make it: no"), "{said}");
    for host in [&two.here, &two.there] {
        assert_eq!(host.replica("shop")["source"], serde_json::Value::Null);
        assert!(!host.root().join("links/shop.json").exists());
        let accounts = "SELECT COUNT(*) FROM mysql.user WHERE User LIKE 'nuthatch%'";
        assert_eq!(host.query("shop", accounts), "0");
    }
    two.pair(&["--yes"]);
    two.replicates("shop", "then");
}

#[test]
fn ssh_that_is_cut_behind_the_work_leaves_no_replica_without_its_account() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &[]);
    makes_tables(&two.here, "shop");
    let program = two.odd_program(r#"'{"follow"'"#, "answer \"$@\" > /dev/null; kill -9 $PPID");
    let said = two.refused_words(&two.words_by(&program, "there", &["--yes"]));
    assert!(said.contains("over ssh"), "{said}");
    await_that(|| two.there.replica("shop")["state"] == "running");
    two.there.query("shop", "STOP SLAVE; START SLAVE");
    await_that(|| two.there.replica("shop")["state"] == "running");
    two.pair(&["--yes"]);
    two.replicates("shop", "then");
}

#[test]
fn one_that_was_read_only_is_written_to_behind_pairing() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &["--set", "read_only=ON"]);
    makes_tables(&two.here, "shop");
    two.here.query("shop", "SET GLOBAL read_only = OFF");
    // What the one there would have for its number is taken.
    let octets: Vec<u32> = two.there.address().split('.').map(|octet| octet.parse().unwrap()).collect();
    let port = u32::try_from(two.here.show("shop")["port"].as_u64().unwrap()).unwrap();
    let taken = ((octets[2] << 24) + (octets[3] << 16) + port).to_string();
    two.here.add(Server::MariaDb, "other", &["--server-id", &taken]);
    assert!(two.here.refused(&["add", "third", "--server-id", &taken]).contains("of no other instance"));
    let said = two.pair(&["shop", "--yes"]);
    assert!(said.contains("here: auto_increment_increment=2") && said.contains("read_only=OFF"), "{said}");
    two.replicates("shop", "one");
    let row = two.there.show("shop");
    assert_ne!(row["server_id"].to_string(), taken);
    assert!(said.contains(&format!("gtid_domain_id={}", row["server_id"])), "{said}");
    let read_only = |host: &Host| host.query("shop", "SELECT @@read_only + 0");
    assert_eq!([read_only(&two.here), read_only(&two.there)], ["0", "1"]);
    // At run time too: its option says so already.
    two.here.query("shop", "SET GLOBAL read_only = ON");
    two.pair(&["shop", "--yes"]);
    assert_eq!([read_only(&two.here), read_only(&two.there)], ["0", "1"]);
}

#[test]
fn pair_is_told_as_it_is_and_not_as_it_would_be() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &[]);
    makes_tables(&two.here, "shop");
    let said = two.pair(&["--no-tls", "--yes"]);
    assert!(said.contains("not encrypted"), "{said}");
    two.replicates("shop", "clear");
    for host in [&two.here, &two.there] {
        assert_eq!(host.replica("shop")["over_tls"], false);
    }
    assert!(two.refused("there", &[]).contains("replicates already, not encrypted"));
    assert!(two.pair(&["--no-tls"]).contains("shop is paired already"));
    // Clients keep the steps of AUTO_INCREMENT that they began with.
    let client = ["client", "shop", "--", "--execute", "SELECT SLEEP(100)"];
    let mut client = two.here.command(&client).stdout(Stdio::null()).spawn().expect("it goes well");
    await_that(|| {
        two.here.query(
            "shop",
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'",
        ) == "1"
    });
    let said = two.refused("there", &["--no-tls", "--both-writable", "--yes"]);
    assert!(said.contains("1 clients are connected to it"), "{said}");
    client.kill().expect("it goes well");
    client.wait().expect("it goes well");
    // One that does not replicate is not told to be paired.
    two.there.ok(&["replicate", "shop", "--stop"]);
    let said = two.refused("there", &["--no-tls"]);
    assert!(said.contains("shop on there: stopped") && said.contains("--repair"), "{said}");
    two.there.ok(&["replicate", "shop", "--go-on"]);
    two.replicates("shop", "again");
}

#[test]
fn running_one_is_cloned_to_another_host_and_followed_there() {
    let two = Two::new();
    for (name, server) in [("shop", Server::MariaDb), ("blog", Server::MySql)] {
        two.here.add(server, name, &["--set", "max_connections=33"]);
    }
    let work = Work::begin(&two.here, "shop");
    let words = two.words("there", &["--replicate"]);
    let clone = |first: &[&str]| -> Vec<String> {
        let to =
            words.iter().skip(1).map(|word| if word == "--with" { "--to".to_owned() } else { word.clone() });
        first.iter().map(|word| (*word).to_owned()).chain(to).collect()
    };
    let said = |words: Vec<String>| two.here.ok(&words.iter().map(String::as_str).collect::<Vec<_>>());
    said(clone(&["clone", "--all"]));
    work.await_more();
    work.end();
    await_that(|| checksums(&two.there, "shop") == checksums(&two.here, "shop"));
    for name in ["shop", "blog"] {
        assert_eq!(two.there.show(name)["port"], two.here.show(name)["port"]);
        assert_eq!(
            two.there.query(name, "SELECT CONCAT_WS(' ', @@max_connections, @@read_only + 0)"),
            "33 1"
        );
    }
    two.here.query("blog", "CREATE DATABASE followed");
    await_that(|| two.there.query("blog", "SHOW DATABASES").contains("followed"));
    // Its account cannot be dropped from there; how is said.
    let said = two.there.ok(&["replicate", "blog", "--forget"]);
    assert!(
        said.contains("nuthatch instance client blog") && said.contains("DROP USER 'nuthatch_repl_"),
        "{said}"
    );
    // What is there already stays, and what fails leaves nothing.
    let again = clone(&["clone", "shop"]);
    let refused = two.here.refused(&again.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refused.contains("it is there already"), "{refused}");
    // What could not follow is not copied.
    two.here.add(Server::MariaDb, "clear", &[]);
    without_tls(&two.here, "clear");
    let refused = clone(&["clone", "clear"]);
    let refused = two.here.refused(&refused.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refused.contains("nuthatch instance restart clear"), "{refused}");
    assert_eq!(two.there.list().len(), 2);
}

/// Its server runs as one that was started before there were certificates.
fn without_tls(host: &Host, name: &str) {
    let file = host.path_of(name).join("my.cnf");
    let text = fs::read_to_string(&file).expect("it goes well");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("ssl_")).collect();
    fs::write(&file, lines.join("\n") + "\n").expect("it goes well");
    let before = host.server_pid(name);
    host.kill(before);
    host.await_another(name, before);
    assert_eq!(host.query(name, "SELECT @@have_ssl"), "DISABLED");
}

#[test]
fn one_that_has_no_certificate_is_restarted_for_it_if_it_can_start() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &[]);
    makes_tables(&two.here, "shop");
    without_tls(&two.here, "shop");
    let pid = two.here.server_pid("shop");
    two.here.ok(&["set", "shop", "ssl_cert=/nonexistent/cert.pem", "ssl_key=/nonexistent/key.pem"]);
    let said = two.refused("there", &["--yes"]);
    assert!(said.contains("would not start: the file of ssl_cert=/nonexistent/cert.pem"), "{said}");
    assert_eq!((two.here.server_pid("shop"), two.there.list().len()), (pid, 0));
    two.here.ok(&["set", "shop", "--unset", "ssl_cert", "--unset", "ssl_key"]);
    assert!(two.pair(&["--yes"]).contains("here: restarted, for its certificate"));
    two.replicates("shop", "restarted");
}

#[test]
fn text_that_knows_of_no_pair_leaves_it_as_it_is() {
    let two = Two::new();
    two.here.add(Server::MariaDb, "shop", &[]);
    let before = [&two.here, &two.there].map(|host| host.ok(&["describe"]));
    two.pair(&["--yes"]);
    let text = two.there.root().join("host.toml").with_file_name("wanted.toml");
    let with_shop = format!("{}\n[instances.shop]\n", before[1].replace("[instances]\n", ""));
    fs::write(&text, with_shop).unwrap();
    let said = two.there.ok(&["converge", text.to_str().unwrap(), "--plan"]);
    assert!(said.contains("nothing has to be done"), "{said}");
    assert_eq!(two.there.query("shop", "SELECT @@read_only + 0"), "1");
    // Nor one that would have it otherwise.
    let named = "set = { read_only = false, auto_increment_offset = 1, max_connections = 44 }";
    fs::write(&text, fs::read_to_string(&text).unwrap() + named).unwrap();
    let said = two.there.ok(&["converge", text.to_str().unwrap(), "--yes"]);
    for option in ["read_only=ON", "auto_increment_offset=2"] {
        assert!(said.contains(&format!("shop keeps {option}")), "{option}: {said}");
    }
    let now = "SELECT CONCAT_WS(' ', @@read_only + 0, @@auto_increment_offset, @@max_connections)";
    assert_eq!(two.there.query("shop", now), "1 2 44");
}
