//! Backups are what was there, and nothing that is not whole is taken for one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::fetched::{mysql, newer_mariadb};
use crate::host::{Host, await_that};
use crate::work::{Work, checksums};

/// A directory of backups of a host.
struct Backups<'a> {
    host: &'a Host,
    dir: String,
}

impl<'a> Backups<'a> {
    fn of(host: &'a Host) -> Self {
        Self { host, dir: host.root().join("backups").display().to_string() }
    }

    fn take(&self, name: &str, more: &[&str]) -> Value {
        self.host.ok(&[&["backup", name, "--to", &self.dir], more].concat());
        self.list().pop().expect("it is there")
    }

    fn list(&self) -> Vec<Value> {
        serde_json::from_str(&self.host.ok(&["backups", &self.dir, "--json"])).expect("it goes well")
    }

    fn archive(&self, name: &str) -> String {
        self.host.ok(&["archive", name, "--to", &self.dir])
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().expect("a text")
}

#[test]
fn backup_is_what_was_there_at_its_position() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    let work = Work::begin(&host, "shop");
    let first = backups.take("shop", &[]);
    work.await_more();
    let second = backups.take("shop", &[]);
    let third = backups.take("shop", &["--incremental"]);
    work.await_more();
    assert_ne!(text(&first, "gtid"), text(&second, "gtid"));
    assert_eq!(text(&third, "form"), "incremental");
    work.end();
    backups.archive("shop");
    // By its own files; and by those of an earlier one, and the binlogs up to its position.
    for (number, wanted) in [&second, &third].into_iter().enumerate() {
        let (own, from) = (format!("own{number}"), format!("from{number}"));
        host.ok(&["restore", &own, "--from", text(wanted, "directory")]);
        let (directory, gtid) = (text(&first, "directory"), text(wanted, "gtid"));
        let said = host.ok(&["restore", &from, "--from", directory, "--until", gtid]);
        assert!(said.contains(&format!("GTID position {gtid}")), "{said}");
        assert_eq!(checksums(&host, &own), checksums(&host, &from));
    }
    host.ok(&["restore", "all", "--from", text(&first, "directory"), "--until", "end"]);
    assert_eq!(checksums(&host, "all"), checksums(&host, "shop"));
    assert_ne!(checksums(&host, "all"), checksums(&host, "own1"), "the check can fail");
    for (backup, gtid) in [(&second, text(&first, "gtid")), (&first, "0-1-999999999")] {
        let said = host.refused(&["restore", "no", "--from", text(backup, "directory"), "--until", gtid]);
        assert!(said.contains(&format!("come to {gtid}")), "{said}");
    }
    let said = host.refused(&["restore", "no", "--from", text(&first, "directory"), "--until", "tomorrow"]);
    assert!(said.contains("binlogs are archived up to"), "{said}");
    // It goes on counting where it was.
    let position = "SELECT @@gtid_binlog_pos";
    let before = host.query("all", position);
    assert_eq!(before, host.query("shop", position));
    host.query("all", "UPDATE work.account SET note = 'x' WHERE id = 1");
    let next = |gtid: &str| gtid.rsplit('-').next().map(|number| number.parse::<u64>().expect("a number"));
    assert_eq!(next(&host.query("all", position)), next(&before).map(|number| number + 1));
}

#[test]
fn mysqls_backup_is_what_was_there() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop", "--server", &mysql()]);
    let work = Work::begin(&host, "shop");
    let first = backups.take("shop", &[]);
    work.await_more();
    assert!(
        host.refused(&["backup", "shop", "--to", &backups.dir, "--incremental"]).contains("full ones only")
    );
    work.end();
    // What is written in another second than the moment that is wanted.
    std::thread::sleep(Duration::from_millis(1_100));
    let moment = host.query("shop", "SELECT UNIX_TIMESTAMP()");
    let then = checksums(&host, "shop");
    std::thread::sleep(Duration::from_millis(1_100));
    host.query("shop", "UPDATE work.account SET note = 'later'; DROP TABLE work.moved");
    backups.archive("shop");
    let said =
        host.ok(&["restore", "then", "--from", text(&first, "directory"), "--until", &format!("@{moment}")]);
    assert_eq!(checksums(&host, "then"), then, "{said}");
    // The file and the place there are what they were at the backup, not before.
    host.ok(&["restore", "own", "--from", text(&first, "directory")]);
    assert_eq!(host.query("own", "SELECT SUM(balance) FROM work.account"), "800");
    let uuid = "SELECT @@server_uuid";
    assert_ne!(host.query("own", uuid), host.query("shop", uuid));
    let said = host.ok(&["verify", &backups.dir]);
    assert!(said.contains("is good"), "{said}");
}

#[test]
fn killed_one_is_no_backup() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    let work = Work::begin(&host, "shop");
    let mut whole = 0;
    for round in 0..20_u64 {
        let mut child = host
            .command(&["backup", "shop", "--to", &backups.dir])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(50 + round * 97 % 1_500));
        child.kill().unwrap();
        whole += usize::from(child.wait().unwrap().success());
        let found = backups.list();
        assert!(found.len() >= whole, "round {round}");
        for one in &found {
            let stored = &one["stored"];
            let file = Path::new(text(one, "directory")).join(text(stored, "file"));
            assert_eq!(fs::metadata(file).unwrap().len(), stored["bytes"].as_u64().unwrap());
        }
        // Its tool ends with it; the next one would be refused else.
        let is_free = || !host.query("shop", "SHOW PROCESSLIST").contains("BACKUP");
        await_that(is_free);
        whole = found.len();
    }
    let before = backups.list().len();
    let last = backups.take("shop", &[]);
    work.end();
    assert_eq!(backups.list().len(), before + 1);
    let left: Vec<PathBuf> = fs::read_dir(Path::new(&backups.dir).join("shop"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with('.'))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new(), "the next one has removed what was left");
    for one in backups.list().iter().take(2).chain([&last]) {
        host.ok(&["verify", text(one, "directory")]);
    }
}

#[test]
fn killed_restore_is_no_instance() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    Work::begin(&host, "shop").end();
    let backup = backups.take("shop", &[]);
    let making = host.path_of(".making-copy");
    for wait in [900, 700, 500, 300, 150, 20] {
        if making.exists() {
            fs::remove_dir_all(&making).unwrap();
        }
        let mut child = host
            .command(&["restore", "copy", "--from", text(&backup, "directory"), "--no-start"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        await_that(|| making.join("data").exists());
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            host.ok(&["remove", "copy", "--yes", "copy", "--destroy-data"]);
            continue;
        }
        assert_eq!(host.list().len(), 1, "killed after {wait} ms");
        // What it has started ends with it.
        let scratch = making.join("my.cnf").display().to_string();
        await_that(|| !command_lines().iter().any(|line| line.contains(&scratch)));
    }
    let left = || fs::read_dir(host.root().join("instances")).unwrap().count();
    assert_eq!(left(), 2, "the last was killed");
    assert!(host.refused(&["doctor"]).contains("is not as it should be"));
    host.ok(&["doctor", "--mend"]);
    assert_eq!(left(), 1);
    host.ok(&["restore", "copy", "--from", text(&backup, "directory")]);
    assert_eq!(checksums(&host, "copy"), checksums(&host, "shop"));
}

fn command_lines() -> Vec<String> {
    let all = fs::read_dir("/proc").expect("it goes well").flatten();
    let line = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).ok();
    all.filter_map(line).map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
}

#[test]
fn what_was_changed_is_found() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    let backup = backups.take("shop", &[]);
    host.ok(&["verify", text(&backup, "directory")]);
    let verified = &backups.list()[0]["verified_s"];
    assert!(verified.as_u64().is_some(), "{verified}");
    let file = Path::new(text(&backup, "directory")).join(text(&backup["stored"], "file"));
    let whole = fs::read(&file).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for bytes in [&changed[..], &whole[..whole.len() / 2], &[]] {
        fs::write(&file, bytes).unwrap();
        host.refused(&["verify", text(&backup, "directory")]);
        host.refused(&["restore", "copy", "--from", text(&backup, "directory")]);
        // An instance that is there goes on with what it has.
        host.refused(&["restore", "shop", "--from", text(&backup, "directory"), "--yes", "shop"]);
        assert_eq!(host.state("shop"), "running");
    }
    assert_eq!(host.list().len(), 1);
    let leftovers = fs::read_dir(host.root().join("instances")).unwrap().count();
    assert_eq!(leftovers, 1, "nothing is left half made");
}

#[test]
fn encrypted_one_is_read_by_who_has_the_key() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    Work::begin(&host, "shop").end();
    let key = |name: &str| {
        let (secret, public) = (host.root().join(name), host.root().join(format!("{name}.pub")));
        let made = std::process::Command::new("age-keygen").arg("-o").arg(&secret).output().expect("age");
        assert!(made.status.success());
        let said = std::process::Command::new("age-keygen").arg("-y").arg(&secret).output().expect("age");
        fs::write(&public, said.stdout).unwrap();
        (secret.display().to_string(), public.display().to_string())
    };
    let ((secret, public), (other, _)) = (key("key"), key("other"));
    let said = host.refused(&["backup", "shop", "--to", &backups.dir, "--recipients", &secret]);
    assert!(said.contains("that is a secret key"), "{said}");
    let backup = backups.take("shop", &["--recipients", &public]);
    let directory = text(&backup, "directory");
    let bytes = fs::read(Path::new(directory).join(text(&backup["stored"], "file"))).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/"));
    assert!(host.refused(&["verify", directory]).contains("--identity FILE"));
    assert!(host.refused(&["verify", directory, "--identity", &other]).contains("another key"));
    host.ok(&["verify", directory, "--identity", &secret]);
    host.ok(&["archive", "shop", "--to", &backups.dir, "--recipients", &public]);
    host.ok(&["restore", "copy", "--from", directory, "--identity", &secret, "--until", "end"]);
    assert_eq!(checksums(&host, "copy"), checksums(&host, "shop"));
}

#[test]
fn pipe_that_was_cut_is_no_backup() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    Work::begin(&host, "shop").end();
    let file = host.root().join("pipe.zst");
    let taken = host
        .command(&["backup", "shop", "--to", "-"])
        .stdout(fs::File::create(&file).unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(taken.success());
    let whole = fs::read(&file).unwrap();
    let path = file.display().to_string();
    for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..cut]).unwrap();
        host.refused(&["restore", "copy", "--from", &path]);
        assert_eq!(host.list().len(), 1);
    }
    fs::write(&file, &whole).unwrap();
    let restored = host
        .command(&["restore", "copy", "--from", "-", "--set", "max_connections=20"])
        .stdin(fs::File::open(&file).unwrap())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(restored.success());
    assert_eq!(checksums(&host, "copy"), checksums(&host, "shop"));
    assert_eq!(host.query("copy", "SELECT @@max_connections"), "20");
}

#[test]
fn backup_in_the_place_of_data_is_no_accident() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    host.query("shop", "CREATE DATABASE then_it_was");
    let backup = backups.take("shop", &[]);
    let directory = text(&backup, "directory").to_owned();
    host.query("shop", "CREATE DATABASE later");
    assert!(host.refused(&["restore", "shop", "--from", &directory]).contains("--yes shop"));
    assert!(
        host.refused(&["restore", "shop", "--from", &directory, "--yes", "blog"])
            .contains("nothing was changed")
    );
    let mut client = host
        .command(&["client", "shop", "--", "--execute", "SELECT SLEEP(60)"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    await_that(|| host.query("shop", "SHOW PROCESSLIST").contains("SLEEP(60)"));
    assert!(host.refused(&["restore", "shop", "--from", &directory, "--yes", "shop"]).contains("in use"));
    client.kill().unwrap();
    client.wait().unwrap();
    await_that(|| !host.query("shop", "SHOW PROCESSLIST").contains("SLEEP(60)"));
    let said = host.ok(&["restore", "shop", "--from", &backups.dir, "--yes", "shop"]);
    let databases = host.query("shop", "SHOW DATABASES");
    assert!(databases.contains("then_it_was") && !databases.contains("later"), "{databases}");
    let kept = said.lines().find_map(|line| line.strip_prefix("its data from before are in ")).unwrap();
    assert!(Path::new(kept).join("data/later").is_dir());
    // Its binlogs are numbered anew, and are archived beside those of before.
    backups.archive("shop");
    let archived = fs::read_dir(Path::new(&backups.dir).join("shop/binlogs")).unwrap().flatten();
    let archived = archived.filter(|one| one.path().is_dir()).count();
    assert_eq!(archived, 1);
    let said = host.refused(&["restore", "copy", "--from", &directory, "--until", "end"]);
    assert!(said.contains("is not archived"), "{said}");
    let said = host.refused(&["restore", "nobody", "--from", &backups.dir]);
    assert!(said.contains("has no whole backup of nobody"), "{said}");
}

#[test]
fn limit_and_retention_hold() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    host.ok(&["add", "blog"]);
    let quick = backups.take("shop", &[]);
    let mib = quick["stream_bytes"].as_u64().unwrap() >> 20;
    std::thread::sleep(Duration::from_secs(1));
    host.ok(&["backup", "--all", "--to", &backups.dir, "--limit", "20M", "--keep", "1"]);
    let all = backups.list();
    assert_eq!(all.len(), 2, "of each the newest one is kept: {all:?}");
    let took = |one: &Value| one["ended_s"].as_u64().unwrap() - one["began_s"].as_u64().unwrap();
    let (slowest, wanted) = (all.iter().map(took).max().unwrap(), 2 * mib / 20);
    assert!(slowest + 1 >= wanted, "two backups of {mib} MiB in {slowest} s");
    let shown = host.show("shop");
    assert!(shown["last_backup_s"].as_u64().is_some(), "{shown}");
}

#[test]
fn refusals_are_sentences() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    let dir = host.root().join("backups").display().to_string();
    let refusals: [(&[&str], &str); 7] = [
        (&["backup", "shop", "--to", &dir], "its server does not run"),
        (&["backup", "shopp", "--to", &dir], "which has shop"),
        (&["backup", "shop", "--to", &dir, "--recipients", "/nonexistent"], "/nonexistent"),
        (&["restore", "copy", "--from", "/nonexistent"], "no whole backup"),
        (&["restore", "copy", "--from", &dir, "--until", "the other day"], "is no moment"),
        (&["verify", "/nonexistent"], "is no backup"),
        (&["archive", "shop", "--to", &dir], "ask shop"),
    ];
    for (words, word) in refusals {
        let said = host.refused(words);
        assert!(said.contains(word), "{words:?}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{said}");
    }
}

#[test]
fn binlogs_that_are_numbered_anew_are_another_history() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    host.query("shop", "CREATE DATABASE before_it");
    let before = backups.take("shop", &[]);
    host.query("shop", "CREATE DATABASE archived");
    backups.archive("shop");
    // The first event tells the second in which it was written.
    std::thread::sleep(Duration::from_millis(1_100));
    host.query("shop", "CREATE DATABASE unseen; RESET MASTER; CREATE DATABASE anew");
    let since = backups.take("shop", &[]);
    host.query("shop", "CREATE DATABASE later");
    let restore = |backup: &Value, name: &str| {
        host.command(&["restore", name, "--from", text(backup, "directory"), "--until", "end"])
            .output()
            .unwrap()
    };
    let refused = restore(&since, "early");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("in which the backup ends, is not archived"),
        "{said}"
    );
    let said = backups.archive("shop");
    assert!(said.contains("do not follow those that are archived"), "{said}");
    // One of before leads to the end of what was archived then, one of since on.
    assert!(restore(&before, "one").status.success());
    let databases = host.query("one", "SHOW DATABASES");
    assert!(databases.contains("archived") && !databases.contains("anew"), "{databases}");
    assert!(restore(&since, "two").status.success());
    let databases = host.query("two", "SHOW DATABASES");
    assert!(databases.contains("later") && databases.contains("anew"), "{databases}");
    // A second store knows nothing of the first, and changes nothing for it.
    let other = host.root().join("other").display().to_string();
    host.ok(&["archive", "shop", "--to", &other]);
    host.query("shop", "CREATE DATABASE latest");
    backups.archive("shop");
    assert!(restore(&since, "three").status.success());
    assert!(host.query("three", "SHOW DATABASES").contains("latest"));
    // What no backup leads to goes with the backups.
    std::thread::sleep(Duration::from_secs(1));
    backups.take("shop", &["--keep", "1"]);
    let histories = fs::read_dir(Path::new(&backups.dir).join("shop/binlogs")).unwrap().flatten();
    assert!(histories.filter(|one| one.path().is_dir()).count() <= 1);
}

#[test]
fn what_a_tool_would_leave_out_is_refused() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    host.ok(&["add", "mysql", "--server", &mysql()]);
    host.query("mysql", "CREATE DATABASE d; CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE = MyISAM; SET PERSIST max_connections = 77");
    let said = host.refused(&["backup", "mysql", "--to", &backups.dir]);
    assert!(said.contains("d.m (MyISAM)"), "{said}");
    host.query("mysql", "DROP TABLE d.m");
    let backup = backups.take("mysql", &[]);
    host.ok(&["restore", "copy", "--from", text(&backup, "directory")]);
    assert_eq!(host.query("copy", "SELECT @@max_connections"), "77");

    let outside = host.root().join("outside");
    fs::create_dir(&outside).unwrap();
    let table = format!(
        "CREATE DATABASE d; CREATE TABLE d.o (id INT PRIMARY KEY) DATA DIRECTORY = '{}'",
        outside.display()
    );
    host.query("shop", &table);
    for words in
        [&["backup", "shop", "--to", &backups.dir][..], &["upgrade", "shop", "--server", &newer_mariadb()]]
    {
        let said = host.refused(words);
        assert!(said.contains("d.o have their files outside"), "{said}");
    }
    host.query("shop", "DROP TABLE d.o");
    host.ok(&["stop", "shop"]);
    let bin = outside.join("binlog").display().to_string();
    host.ok(&["set", "shop", &format!("log_bin={bin}")]);
    host.ok(&["start", "shop"]);
    let said = host.refused(&["clone", "shop", "shop2"]);
    assert!(said.contains("shop writes there"), "{said}");
}

#[test]
fn moment_is_behind_the_backup_and_within_the_archive() {
    let host = Host::new();
    let backups = Backups::of(&host);
    host.ok(&["add", "shop"]);
    host.query("shop", "CREATE DATABASE d");
    let backup = backups.take("shop", &[]);
    let said =
        host.refused(&["restore", "early", "--from", text(&backup, "directory"), "--until", "1 hour ago"]);
    assert!(said.contains("the backup was taken later"), "{said}");
    host.query("shop", "SET gtid_domain_id = 7; CREATE DATABASE other; SET gtid_domain_id = 0");
    let backup = backups.take("shop", &[]);
    let said = host.refused(&["restore", "half", "--from", text(&backup, "directory"), "--until", "7-1-99"]);
    assert!(said.contains("other domains too"), "{said}");
    // One that rests on what is gone would be nothing.
    fs::remove_dir_all(text(&backup, "directory")).unwrap();
    let rest = backups.list().pop().unwrap();
    backups.take("shop", &["--incremental"]);
    fs::remove_dir_all(text(&rest, "directory")).unwrap();
    let said = host.refused(&["backup", "shop", "--to", &backups.dir, "--incremental"]);
    assert!(said.contains("take a full one"), "{said}");
}
