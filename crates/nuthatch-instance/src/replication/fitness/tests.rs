//! Each refusal, and what is none.

use super::*;

fn mariadb(server_id: u32) -> Standing {
    Standing {
        kind: Kind::MariaDb,
        version: "10.11.14-MariaDB-log".into(),
        server_id,
        uuid: String::new(),
        domain: server_id,
        misfits: Vec::new(),
        executed: String::new(),
        replicated: String::new(),
        known: String::new(),
        purged: Some(String::new()),
        read_only: false,
        has_tls: true,
        auto_increment: (1, 1),
        sources: Vec::new(),
        login_fails: false,
        following: None,
    }
}

fn mysql(server_id: u32) -> Standing {
    Standing {
        kind: Kind::MySql,
        version: "9.7.4".into(),
        uuid: format!("{server_id:08x}-0000-0000-0000-000000000000"),
        ..mariadb(server_id)
    }
}

/// What is said of replica 1 at a:1 and source 2 at b:2, once they were changed.
fn said(of: fn(u32) -> Standing, change: impl FnOnce(&mut Standing, &mut Standing)) -> String {
    let (mut replica, mut source) = (of(1), of(2));
    change(&mut replica, &mut source);
    let looked = judge(
        Looked { name: "shop", address: "a:1", standing: &replica },
        Looked { name: "b:2", address: "b:2", standing: &source },
        BothWays::Wanted,
    );
    looked.map_or_else(|error| error.to_string(), |beginning| format!("{beginning:?}"))
}

#[test]
fn servers_that_do_not_fit_together_are_refused() {
    for (change, word) in [
        (
            (|_, source| source.kind = Kind::MySql) as fn(&mut Standing, &mut Standing),
            "it is MySQL, and shop is MariaDB",
        ),
        (|_, source| source.server_id = 1, "it is shop itself"),
        (|_, source| source.version = "11.4.2-MariaDB".into(), "must not be newer"),
        (|replica, _| replica.version = "11.4.2-MariaDB".into(), "AsItStands"),
        (
            |_, source| source.misfits = vec!["log_bin=ON".into()],
            "b:2 cannot take part as it is set: log_bin=ON",
        ),
        (|_, _| {}, "AsItStands"),
    ] {
        let said = said(mariadb, change);
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn positions_of_mariadb_are_compared() {
    for (own, other, purged, expected) in [
        // Replica: replicated; known. Source: known; replicated.
        (("", ""), ("2-2-9", ""), "", "AsItStands"),
        (("2-2-4", "2-2-4"), ("2-2-9", ""), "2-2-4", "AsItStands"),
        (("2-2-3", "2-2-3"), ("2-2-9", ""), "2-2-4", "do not hold what shop lacks"),
        (("", "1-1-7"), ("2-2-9", ""), "", "that the source has not: 1-1-7"),
        // Both wrote in one domain: the higher number says nothing.
        (("", "0-1-5"), ("0-2-9", ""), "", "that the source has not: 0-1-5"),
        // It was the source of this one, which was put in its place.
        (("", "1-1-7"), ("1-1-7,2-2-3", "1-1-7"), "", "AsItStands"),
        (("", "1-1-7"), ("1-1-7,2-2-3", "1-1-7"), "1-1-7", "FromAllItHas"),
        // The source was cloned, and its binlogs begin behind that.
        (("", ""), ("2-2-1", "1-1-7"), "", "do not hold what shop lacks"),
        (("1-1-7", ""), ("2-2-1", "1-1-7"), "", "AsItStands"),
        // It was restored from the source's backup, and its replication was not told so.
        (("", "2-2-5"), ("2-2-9", ""), "", "has 2-2-5 already"),
        (("2-2-5", "2-2-5"), ("2-2-9", ""), "", "AsItStands"),
    ] {
        let said = said(mariadb, |replica, source| {
            (replica.replicated, replica.known) = (own.0.into(), own.1.into());
            replica.executed = if own.1.is_empty() { own.0.into() } else { own.1.into() };
            (source.known, source.replicated) = (other.0.into(), other.1.into());
            source.purged = Some(purged.into());
        });
        assert!(said.contains(expected), "{own:?} {other:?}: {said}");
    }
}

#[test]
fn sets_of_mysql_are_compared() {
    let uuid = |server_id| mysql(server_id).uuid;
    for (own, other, purged, expected) in [
        (String::new(), format!("{}:1-9", uuid(2)), String::new(), "AsItStands".to_owned()),
        (
            format!("{}:1-3", uuid(2)),
            format!("{}:1-9", uuid(2)),
            format!("{}:1-4", uuid(2)),
            "do not hold".into(),
        ),
        (format!("{}:1-4", uuid(2)), format!("{}:1-9", uuid(2)), format!("{}:1-4", uuid(2)), "AsIt".into()),
        (
            format!("{}:1-2", uuid(1)),
            format!("{}:1-9", uuid(2)),
            String::new(),
            format!("has not: {}:1-2", uuid(1)),
        ),
    ] {
        let said = said(mysql, |replica, source| {
            (replica.executed, source.executed) = (own.clone(), other.clone());
            source.purged = Some(purged);
        });
        assert!(said.contains(&expected), "{own:?} {other:?}: {said}");
    }
}

#[test]
fn what_is_on_its_way_to_a_source_that_follows_is_no_surplus() {
    let ahead = |replica: &mut Standing, source: &mut Standing| {
        (replica.known, replica.executed) = ("1-1-8".into(), "1-1-8".into());
        (source.known, source.replicated) = ("1-1-7".into(), "1-1-7".into());
        source.sources = vec!["a:1".into()];
    };
    assert_eq!(said(mariadb, ahead), "AsItStands");
    let (mut replica, mut source) = (mariadb(1), mariadb(2));
    ahead(&mut replica, &mut source);
    let (one, other) = (
        Looked { name: "shop", address: "a:1", standing: &replica },
        Looked { name: "b:2", address: "b:2", standing: &source },
    );
    let refused = judge(one, other, BothWays::Refused).unwrap_err().to_string();
    assert!(refused.contains("it follows shop itself"), "{refused}");
}

#[test]
fn replica_without_anything_of_the_sources_is_blank() {
    let uuid = |server_id| mysql(server_id).uuid;
    let of_mysql = |own: &str, other: &str| {
        let (mut replica, mut source) = (mysql(1), mysql(2));
        (replica.executed, source.executed) = (own.into(), other.into());
        is_blank(&replica, &source)
    };
    let all = format!("{}:1-9", uuid(2));
    assert!(of_mysql("", &all) && of_mysql("", "") && of_mysql(&format!("{}:1-2", uuid(1)), &all));
    assert!(!of_mysql(&format!("{}:1-2,{}:1-3", uuid(1), uuid(2)), &all));
    for ((executed, replicated), (known, others), expected) in [
        (("", ""), ("2-2-9", ""), true),
        (("", ""), ("", ""), true),
        (("1-1-3", ""), ("2-2-9", ""), true),
        (("", "2-2-4"), ("2-2-9", ""), false),
        // The source was cloned from where this one was.
        (("1-1-7", ""), ("2-2-1", "1-1-7"), false),
    ] {
        let (mut replica, mut source) = (mariadb(1), mariadb(2));
        (replica.executed, replica.replicated) = (executed.into(), replicated.into());
        (source.known, source.replicated) = (known.into(), others.into());
        assert_eq!(is_blank(&replica, &source), expected, "{executed} {replicated} {known} {others}");
    }
}
