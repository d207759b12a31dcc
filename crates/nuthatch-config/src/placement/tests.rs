//! What becomes of servers, look by look. A row of a table shows each hostgroup with its servers; what an operator would not send to is
//! in brackets.

use std::sync::Arc;

use super::*;
use crate::clusters::{CheckType, Cluster, ClusterKind, Clusters, ReplicationPair, WritersRead};
use crate::server::{Server, ServerStatus};
use crate::variables::MysqlVariables;

const WRITER: HostgroupId = HostgroupId(10);
const READER: HostgroupId = HostgroupId(20);

fn name(host: &str) -> ServerName {
    ServerName { host: host.to_owned(), port: 3306 }
}

/// `10:a 20:b,c`, with `a!` for one that is OFFLINE_SOFT.
fn servers(text: &str) -> Hostgroups {
    let rows = text.split_whitespace().flat_map(|group| {
        let (number, names) = group.split_once(':').expect("a number and names");
        let hostgroup = HostgroupId(number.parse().expect("a number"));
        names.split(',').map(move |host| {
            let status = if host.ends_with('!') { ServerStatus::OfflineSoft } else { ServerStatus::Online };
            Server { status, ..Server::new(hostgroup, host.trim_end_matches('!'), 3306) }
        })
    });
    Hostgroups::new(rows)
}

fn shown(hostgroups: &Hostgroups) -> String {
    let server = |server: &Arc<Server>| match server.status {
        ServerStatus::Online => server.host.clone(),
        ServerStatus::OfflineSoft => format!("{}!", server.host),
        ServerStatus::Shunned | ServerStatus::OfflineHard => format!("[{}]", server.host),
    };
    let group = |(id, servers): (HostgroupId, &[Arc<Server>])| {
        format!("{id}:{}", servers.iter().map(server).collect::<Vec<_>>().join(","))
    };
    hostgroups.iter().map(group).collect::<Vec<_>>().join(" ")
}

fn pair_of(hostgroups: &str, two_writers: &str, writer_is_also_reader: bool) -> Snapshot {
    let pair = ReplicationPair {
        writer: WRITER,
        reader: READER,
        check: CheckType::ReadOnly,
        comment: String::new(),
    };
    Snapshot {
        hostgroups: servers(hostgroups),
        clusters: Arc::new(Clusters { pairs: vec![pair], clusters: Vec::new() }),
        mysql: MysqlVariables {
            two_writers: two_writers.to_owned(),
            monitor_writer_is_also_reader: writer_is_also_reader,
            ..MysqlVariables::default()
        },
        ..Snapshot::default()
    }
}

/// `a=w b=r c=gone d=silent`.
fn note(findings: &mut Findings, looks: &str) {
    for look in looks.split_whitespace() {
        let (host, found) = look.split_once('=').expect("a server and what it was found to be");
        let why = || "no answer".to_owned();
        let finding = match found {
            "w" => AccessFinding::Writable,
            "r" => AccessFinding::ReadOnly,
            "silent" => AccessFinding::Silent { why: why() },
            "gone" => AccessFinding::Gone { why: why() },
            other => panic!("{other}"),
        };
        let access = findings.entry(name(host)).or_default().access.entry(CheckType::ReadOnly);
        access.or_default().note(&finding);
    }
}

#[track_caller]
fn check(configured: &Snapshot, looks: &[(&str, &str)]) {
    let (mut placer, mut findings) = (Placer::default(), Findings::default());
    for (look, expected) in looks {
        note(&mut findings, look);
        let placement = placer.place(configured, &findings);
        assert_eq!(shown(&placement.hostgroups), *expected, "after {look}: {:#?}", placement.placed);
        let again = placer.place(configured, &findings);
        assert_eq!(again, placement, "after {look}: the same again");
    }
}

#[test]
fn servers_stand_where_they_are_loaded_until_they_were_looked_at() {
    for two_writers in ["refuse", "proxysql"] {
        check(&pair_of("10:a 20:b 30:c", two_writers, true), &[("", "10:a 20:b 30:c")]);
    }
}

#[test]
fn who_is_read_only_reads_and_who_is_not_writes() {
    for two_writers in ["refuse", "proxysql"] {
        check(
            &pair_of("10:a 20:b", two_writers, true),
            &[
                ("a=w b=r", "10:a 20:b"),
                ("a=r", "20:b,a"),
                ("b=w", "10:b 20:b,a"),
                ("b=r", "20:b,a"),
                ("a=w", "10:a 20:b"),
            ],
        );
        check(
            &pair_of("10:a 20:a,b", two_writers, false),
            &[("a=w b=r", "10:a 20:a,b"), ("a=r", "20:a,b"), ("b=w", "10:b 20:a")],
        );
        check(
            &pair_of("20:a,b", two_writers, false),
            &[("a=w b=r", "10:a 20:b"), ("a=silent", "20:a,b"), ("a=w", "10:a 20:b")],
        );
    }
}

#[test]
fn second_writer_is_kept_out_as_long_as_the_first_is_there() {
    check(
        &pair_of("10:a 20:b", "refuse", true),
        &[
            ("b=w", "10:a 20:b"),
            ("a=w", "10:a 20:b"),
            ("b=r", "10:a 20:b"),
            ("b=w", "10:a 20:b"),
            ("a=r", "10:b 20:b,a"),
        ],
    );
    check(
        &pair_of("10:a,b", "refuse", true),
        &[("b=w", "10:a,[b]"), ("a=w", "10:a,[b]"), ("a=r", "10:b 20:a")],
    );
    check(&pair_of("10:a 20:b", "proxysql", true), &[("a=w b=w", "10:a,b 20:b"), ("a=r", "10:b 20:b,a")]);
}

#[test]
fn writer_that_is_gone_stays_until_another_writes_and_is_kept_out_when_it_comes_back() {
    check(
        &pair_of("10:a 20:a,b,c", "refuse", true),
        &[
            ("a=w b=r c=r", "10:a 20:a,b,c"),
            ("a=gone", "10:a 20:a,b,c"),
            ("b=w", "10:[a],b 20:[a],b,c"),
            ("a=w", "10:[a],b 20:[a],b,c"),
            ("b=gone", "10:[a],b 20:[a],b,c"),
            ("b=w", "10:[a],b 20:[a],b,c"),
            ("a=r", "10:b 20:a,b,c"),
            ("a=w", "10:b 20:a,b,c"),
        ],
    );
    check(
        &pair_of("10:a 20:b", "proxysql", true),
        &[("a=w b=r", "10:a 20:b"), ("a=gone b=w", "10:a,b 20:b"), ("a=w", "10:a,b 20:b")],
    );
}

#[test]
fn writer_that_is_silent_is_no_writer_and_is_one_again() {
    check(
        &pair_of("10:a 20:b", "refuse", true),
        &[
            ("a=w b=r", "10:a 20:b"),
            ("a=silent", "10:[a] 20:b"),
            ("a=w", "10:a 20:b"),
            ("a=silent b=w", "10:[a],b 20:b"),
            ("a=w", "10:[a],b 20:b"),
        ],
    );
}

#[test]
fn writer_that_hung_died_and_comes_back_is_not_read_from_before_it_was_seen_read_only() {
    check(
        &pair_of("10:a 20:a,b", "refuse", true),
        &[
            ("a=w b=r", "10:a 20:a,b"),
            ("a=silent", "20:a,b"),
            ("b=w", "10:[a],b 20:[a],b"),
            ("a=gone", "10:[a],b 20:[a],b"),
            ("a=w", "10:[a],b 20:[a],b"),
            ("b=gone", "10:[a],b 20:[a],b"),
            ("a=r", "10:b 20:a,b"),
        ],
    );
}

#[test]
fn writer_is_remembered_when_nothing_is_known_for_a_while() {
    let configured = pair_of("10:a 20:a,b", "refuse", true);
    let (mut placer, mut findings) = (Placer::default(), Findings::default());
    note(&mut findings, "a=w b=r");
    placer.place(&configured, &findings);
    note(&mut findings, "a=gone b=w");
    placer.place(&configured, &findings);
    findings.clear();
    note(&mut findings, "a=w");
    let placement = placer.place(&configured, &findings);
    assert_eq!(shown(&placement.hostgroups), "10:[a],b 20:[a],b", "{:#?}", placement.placed);
    let mysql = MysqlVariables { monitor_enabled: false, ..configured.mysql.clone() };
    let off = Snapshot { mysql, ..configured };
    assert_eq!(shown(&placer.place(&off, &findings).hostgroups), "10:a 20:a,b", "the operator is in charge");
}

#[test]
fn fenced_writer_is_of_no_use_until_it_is_readmitted() {
    let configured = pair_of("10:a 20:a,b,c", "refuse", true);
    let (mut placer, mut findings) = (Placer::default(), Findings::default());
    let mut place = |placer: &mut Placer, looks: &str| {
        note(&mut findings, looks);
        shown(&placer.place(&configured, &findings).hostgroups)
    };
    assert_eq!(place(&mut placer, "a=w b=r c=r"), "10:a 20:a,b,c");
    placer.fence(WRITER, &name("a"), "it was gone");
    assert_eq!(placer.last_writer(WRITER), Some(&name("a")));
    for (looks, expected) in [
        ("", "10:[a] 20:[a],b,c"),
        ("a=w", "10:[a] 20:[a],b,c"),
        ("a=r", "10:[a] 20:[a],b,c"),
        ("a=gone b=w", "10:[a],b 20:[a],b,c"),
        ("b=gone", "10:[a],b 20:[a],b,c"),
        ("a=w", "10:[a],b 20:[a],b,c"),
        ("a=r b=w", "10:[a],b 20:[a],b,c"),
    ] {
        assert_eq!(place(&mut placer, looks), expected, "{looks}");
    }
    placer.readmit(WRITER, &name("a"));
    assert_eq!(place(&mut placer, ""), "10:b 20:a,b,c");
    // Taken back before another one wrote.
    placer.fence(WRITER, &name("b"), "it was gone");
    assert_eq!(place(&mut placer, ""), "20:a,[b],c");
    placer.readmit(WRITER, &name("b"));
    assert_eq!(place(&mut placer, ""), "10:b 20:a,b,c");
}

#[test]
fn standby_without_weight_can_write() {
    let mut configured = pair_of("10:a", "refuse", true);
    let standby = Server { weight: 0, ..Server::new(READER, "b", 3306) };
    configured.hostgroups = Hostgroups::new([Server::new(WRITER, "a", 3306), standby]);
    let (mut placer, mut findings) = (Placer::default(), Findings::default());
    note(&mut findings, "a=r b=w");
    let placement = placer.place(&configured, &findings);
    let weight = |hostgroup| placement.hostgroups.server(hostgroup, &name("b")).map(|row| row.weight);
    assert_eq!((weight(WRITER), weight(READER)), (Some(1), Some(0)));
}

#[test]
fn server_that_an_operator_has_taken_off_is_no_reason_to_keep_another_out() {
    check(&pair_of("10:a! 20:b", "refuse", true), &[("a=w b=w", "10:a!,b 20:b")]);
}

fn group(kind: ClusterKind, hostgroups: &str, writers_max: u64, writers_read: WritersRead) -> Snapshot {
    let [writer, backup_writer, reader, offline] = [10, 11, 20, 99].map(HostgroupId);
    let cluster =
        Cluster { kind, writer, backup_writer, reader, offline, writers_max, writers_read, behind_max: 0 };
    Snapshot {
        hostgroups: servers(hostgroups),
        clusters: Arc::new(Clusters { pairs: Vec::new(), clusters: vec![cluster] }),
        ..Snapshot::default()
    }
}

#[track_caller]
fn check_members(configured: &Snapshot, looks: &[(&str, &str)]) {
    let (mut placer, mut findings) = (Placer::default(), Findings::default());
    for (look, expected) in looks {
        for one in look.split_whitespace() {
            let (host, found) = one.split_once('=').expect("a member and what it was found to be");
            let behind = found.ends_with('-').then(|| "it is behind".to_owned());
            let member = match found.trim_end_matches('-') {
                "off" => Member::Unusable { why: "no quorum".to_owned() },
                found => Member::Usable { is_read_only: found == "r", behind },
            };
            findings.entry(name(host)).or_default().member = Some(member);
        }
        let placement = placer.place(configured, &findings);
        assert_eq!(shown(&placement.hostgroups), *expected, "after {look}: {:#?}", placement.placed);
    }
}

#[test]
fn as_many_members_write_as_may_and_the_others_stand_by() {
    use ClusterKind::{Galera, GroupReplication};
    for kind in [Galera, GroupReplication] {
        check_members(
            &group(kind, "10:a,b,c", 1, WritersRead::Never),
            &[
                ("", "10:a,b,c"),
                ("a=w b=w c=w", "10:a 11:b,c"),
                ("a=off", "10:b 11:c 99:a"),
                ("a=w", "10:b 11:a,c"),
                ("b=r", "10:a 11:c 20:b"),
            ],
        );
        check_members(
            &group(kind, "10:a 20:b,c", 1, WritersRead::Backups),
            &[("a=w b=w c=r", "10:a 11:b 20:b,c"), ("a=off", "10:b 20:c 99:a")],
        );
    }
    check_members(
        &group(Galera, "10:a,b,c", 2, WritersRead::Always),
        &[
            ("a=w b=w c=w", "10:a,b 11:c 20:a,b,c"),
            ("a=w-", "10:b,c 11:[a] 20:[a],b,c"),
            ("b=off c=off a=w-", "11:[a] 20:[a] 99:b,c"),
        ],
    );
    check_members(
        &group(GroupReplication, "10:a 20:b,c", 1, WritersRead::Never),
        &[("a=w- b=r- c=r", "10:a 20:[b],c"), ("b=r", "10:a 20:b,c")],
    );
    check_members(
        &group(Galera, "10:a 20:b", 1, WritersRead::Never),
        &[("a=w b=off", "10:a 99:b"), ("a=w-", "10:a 99:b"), ("b=w", "10:b 11:[a]")],
    );
}

#[test]
fn heaviest_member_writes() {
    let mut configured = group(ClusterKind::Galera, "10:a,b", 1, WritersRead::Never);
    let heavy = Server { weight: 100, ..Server::new(WRITER, "b", 3306) };
    configured.hostgroups = Hostgroups::new([Server::new(WRITER, "a", 3306), heavy]);
    check_members(&configured, &[("a=w", "10:a,b"), ("b=w", "10:b 11:a"), ("b=off", "10:a 99:b")]);
}
