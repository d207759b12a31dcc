//! Another instance with the same data, and the same instance with a newer server.

use crate::fetched::{mysql, newer_mariadb};
use crate::host::{Host, await_that};
use crate::work::{Work, checksums};

#[test]
fn clone_of_one_that_is_written_to_is_whole() {
    let host = Host::new();
    for (name, server) in [("maria", "mariadb".to_owned()), ("my", mysql())] {
        host.ok(&["add", name, "--server", &server, "--set", "max_connections=33"]);
        let work = Work::begin(&host, name);
        host.query(
            name,
            "SET GLOBAL event_scheduler = ON; CREATE EVENT work.tick ON SCHEDULE EVERY 1 HOUR DO DO 1",
        );
        let other = format!("{name}-2");
        let said = host.ok(&["clone", name, &other, "--replicate"]);
        assert!(said.contains("GTID position"), "{said}");
        work.end();
        await_that(|| checksums(&host, name) == checksums(&host, &other));
        assert_eq!(host.query(&other, "SELECT SUM(balance) FROM work.account"), "800");
        assert_eq!(host.query(&other, "SELECT @@max_connections"), "33");
        let enabled = "SELECT COUNT(*) FROM information_schema.EVENTS WHERE STATUS = 'ENABLED'";
        assert_eq!(
            [host.query(name, enabled), host.query(&other, enabled)],
            ["1", "0"],
            "a replica runs none"
        );
        assert_ne!(host.show(name)["port"], host.show(&other)["port"]);
        let password =
            |name: &str| std::fs::read_to_string(host.path_of(name).join("root.password")).unwrap();
        assert_ne!(password(name), password(&other));
        assert!(host.refused(&["clone", name, &other]).contains("it is there already"));
    }
}

#[test]
fn upgrade_is_tried_on_a_copy_and_can_be_undone() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    Work::begin(&host, "shop").end();
    let before = checksums(&host, "shop");
    let version = "SELECT VERSION()";
    let old = host.query("shop", version);
    let newer = newer_mariadb();
    assert!(host.refused(&["upgrade", "shop", "--server", "mariadb"]).contains("which is not newer"));
    assert!(
        host.refused(&["upgrade", "shop", "--server", &mysql()]).contains("do not take each other's data")
    );
    assert!(host.refused(&["upgrade", "shop", "--back"]).contains("it was not upgraded"));
    host.ok(&["upgrade", "shop", "--server", &newer]);
    assert!(host.query("shop", version).starts_with("11."));
    assert_eq!(checksums(&host, "shop"), before);
    host.query("shop", "UPDATE work.account SET note = 'since'");
    host.ok(&["restart", "shop"]);
    assert!(host.refused(&["upgrade", "shop", "--back"]).contains("--yes shop"));
    host.ok(&["upgrade", "shop", "--back", "--yes", "shop"]);
    assert_eq!(host.query("shop", version), old);
    assert_eq!(checksums(&host, "shop"), before);
}

#[test]
fn upgrade_that_fails_changes_nothing() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    Work::begin(&host, "shop").end();
    let before = checksums(&host, "shop");
    // The newer server knows its options, and cannot read this table.
    let table = host.path_of("shop").join("data/work/moved.ibd");
    let bytes = std::fs::read(&table).unwrap();
    host.ok(&["stop", "shop"]);
    std::fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
    host.ok(&["start", "shop"]);
    let said = host.refused(&["upgrade", "shop", "--server", &newer_mariadb()]);
    assert!(said.contains("moved"), "{said}");
    assert_eq!(host.state("shop"), "running");
    assert!(host.query("shop", "SELECT VERSION()").starts_with("10."));
    assert_eq!(host.query("shop", "CHECKSUM TABLE work.account"), before.lines().next().unwrap());
    assert_eq!(std::fs::read_dir(host.root().join("instances")).unwrap().count(), 1);
    let said = host.ok(&["set", "shop", "innodb_log_write_ahead_size=8192"]);
    let said = host.refused(&["upgrade", "shop", "--server", &newer_mariadb()]) + &said;
    assert!(said.contains("innodb_log_write_ahead_size") || said.contains("moved"), "{said}");
}

#[test]
fn upgrade_that_was_cut_is_whole_or_was_not() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    Work::begin(&host, "shop").end();
    let before = checksums(&host, "shop");
    let (record, pending) =
        (host.path_of("shop").join("instance.toml"), host.path_of("shop").join("pending.toml"));
    let old = std::fs::read_to_string(&record).unwrap();
    host.ok(&["upgrade", "shop", "--server", &newer_mariadb()]);
    let new = std::fs::read_to_string(&record).unwrap();
    // As a kill leaves it between the data and what is remembered of them: forth,
    host.ok(&["stop", "shop"]);
    std::fs::write(&pending, &new).unwrap();
    std::fs::write(&record, &old).unwrap();
    host.ok(&["start", "shop"]);
    assert!(host.query("shop", "SELECT VERSION()").starts_with("11."));
    assert_eq!(checksums(&host, "shop"), before);
    // and before the data: nothing has happened.
    host.ok(&["upgrade", "shop", "--back", "--yes", "shop"]);
    host.ok(&["stop", "shop"]);
    std::fs::write(&pending, &new).unwrap();
    host.ok(&["start", "shop"]);
    assert!(host.query("shop", "SELECT VERSION()").starts_with("10.") && !pending.exists());
    // Data of another server are not started on, whatever is remembered.
    host.ok(&["stop", "shop"]);
    std::fs::write(&record, &new).unwrap();
    let said = host.refused(&["start", "shop"]);
    assert!(said.contains("its data were last used by 10.11"), "{said}");
    std::fs::write(&record, &old).unwrap();
    std::fs::remove_file(host.path_of("shop").join("my.cnf")).unwrap();
    host.ok(&["upgrade", "shop", "--server", &newer_mariadb()]);
}
