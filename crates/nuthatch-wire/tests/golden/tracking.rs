//! What real servers say of their sessions' state, and the same OK packets for clients that did not ask for it.

use nuthatch_wire::{Hidden, OkPacket, StateChange, TrackedOk};

use crate::recorded::{MARIADB, MYSQL, Packet, Recorded, SERVERS, Side, Step, all};

/// The OK packets of an answer, those at the end of a result set among them; not where an EOF may stand.
fn oks(recorded: &Recorded, step: &Step) -> Vec<Packet> {
    let is_prepare = step.question().payload.first() == Some(&0x16);
    let is_ok = |packet: &&Packet| match packet.payload.first() {
        // A row may begin so, but is not where an answer to a statement as text begins or ends.
        Some(0x00) => !is_prepare && packet.payload.len() >= 7,
        Some(0xFE) => recorded.deprecates_eof() && packet.payload.len() >= 7,
        _ => false,
    };
    step.of(Side::Server).filter(is_ok).cloned().collect()
}

/// What is tracked in the answers to the steps of that label, one text for each answer.
fn check(servers: &[&str], forms: &[&str], label: &str, expected: &[&str]) {
    for (server, form) in servers.iter().flat_map(|server| forms.iter().map(move |form| (server, form))) {
        let recorded = Recorded::read(server, &format!("tracking-{form}"));
        let found: Vec<String> =
            recorded.labelled(label).into_iter().map(|step| told(&recorded, step)).collect();
        assert_eq!(found, expected, "{}: {label}", recorded.name);
    }
}

/// The changes of all OK packets of an answer, sorted, those of different packets parted by a bar.
fn told(recorded: &Recorded, step: &Step) -> String {
    let of_packet = |packet: &Packet| {
        let changes = TrackedOk::parse(&packet.payload).unwrap().changes;
        let mut shown: Vec<String> = changes.filter_map(|change| shown(&change.unwrap())).collect();
        shown.sort();
        shown.join(" ")
    };
    oks(recorded, step).iter().map(of_packet).collect::<Vec<_>>().join(" | ")
}

/// A change as text. GTIDs, which come in two ways, are a star; MySQL's number of the statement is left out.
fn shown(change: &StateChange<'_>) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Some(match *change {
        StateChange::SystemVariable { name: b"statement_id", value } => {
            assert!(text(value).parse::<u64>().is_ok());
            return None;
        }
        StateChange::SystemVariable { name: b"last_gtid", value } => {
            assert!(text(value).starts_with("0-1-"));
            "gtid=*".to_owned()
        }
        StateChange::Gtids { encoding, gtids } => {
            // A server's UUID and a number.
            assert_eq!((encoding, gtids.get(36)), (0, Some(&b':')));
            "gtid=*".to_owned()
        }
        StateChange::SystemVariable { name, value } => format!("{}={}", text(name), text(value)),
        StateChange::Schema(name) => format!("schema={}", text(name)),
        StateChange::State(state) => format!("state={}", text(state)),
        StateChange::TransactionCharacteristics(statements) => format!("next={}", text(statements)),
        StateChange::TransactionState(letters) => format!("transaction={}", text(letters)),
        StateChange::Other { .. } => panic!("a kind that is not known: {change:?}"),
    })
}

const BOTH: [&str; 2] = ["eof", "ok"];

#[test]
fn changes_are_those_that_the_statement_made() {
    const SNAPSHOT: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ WRITE";
    for (label, expected) in [
        ("SET session_track_system_variables = '*'", &["session_track_system_variables=*"][..]),
        (
            "SET NAMES latin1",
            &[
                "character_set_client=latin1 character_set_connection=latin1 character_set_results=latin1 state=1",
            ],
        ),
        ("SET sql_mode = ''", &["sql_mode= state=1"]),
        ("SET character_set_results = NULL", &["character_set_results= state=1"]),
        (
            "SET character_set_client = utf8mb4, wait_timeout = 100",
            &["character_set_client=utf8mb4 state=1 wait_timeout=100"],
        ),
        ("SET @x = 1", &["state=1"]),
        ("USE mysql", &["schema=mysql state=1"]),
        ("init db", &["schema=mysql state=1"]),
        ("DO 1", &[""]),
        ("CREATE TEMPORARY TABLE temporary_table (a INT)", &["state=1"]),
        ("PREPARE p FROM 'SELECT 1'", &["state=1"]),
        ("INSERT INTO tracked VALUES (1, 1), (2, 2)", &["gtid=*"]),
        ("UPDATE tracked SET a = a + 1", &["gtid=*", "transaction=T_R_W_S_"]),
        (SNAPSHOT, &[&format!("next={SNAPSHOT}; transaction=T_R_____")]),
        ("COMMIT", &["gtid=* next= transaction=________"]),
        (
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            &["next=SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;"],
        ),
        (
            "BEGIN",
            &[
                "next=SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION READ ONLY; transaction=T_______",
            ],
        ),
        ("ROLLBACK", &["next= transaction=________", "transaction=________"]),
        ("SET autocommit = 0", &["autocommit=OFF state=1"]),
        ("UPDATE tracked SET a = 0 WHERE id = 1", &["transaction=I___W___"]),
        ("SET nonsense = 1", &[""]),
        ("reset connection", &[""]),
    ] {
        check(&SERVERS, &BOTH, label, expected);
    }
    check(&MARIADB, &BOTH, "INSERT INTO tracked VALUES (3, 3)", &["gtid=*"]);
    check(&[MYSQL], &BOTH, "SET session_track_gtids = 'OWN_GTID'", &["session_track_gtids=OWN_GTID state=1"]);
}

#[test]
fn end_of_a_result_set_tells_changes_only_as_an_ok() {
    for (form, expected) in [("eof", ""), ("ok", "transaction=T_R___S_")] {
        check(&SERVERS, &[form], "SELECT a FROM tracked", &[expected]);
    }
    let label = "SET NAMES utf8mb4; SELECT 1; USE golden; UPDATE tracked SET a = 7";
    let names =
        "character_set_client=utf8mb4 character_set_connection=utf8mb4 character_set_results=utf8mb4 state=1";
    check(&SERVERS, &["eof"], label, &[&format!("{names} | schema=golden state=1 | gtid=*")]);
    check(&SERVERS, &["ok"], label, &[&format!("{names} |  | schema=golden state=1 | gtid=*")]);
}

#[test]
fn every_ok_packet_is_read_to_its_end_and_walked_over() {
    let mut kinds = [0; 7];
    for recorded in all().iter().filter(|recorded| recorded.file().starts_with("tracking")) {
        for packet in recorded.steps.iter().flat_map(|step| oks(recorded, step)) {
            let tracked = TrackedOk::parse(&packet.payload).unwrap();
            assert_eq!(Ok(tracked.ok), OkPacket::parse_body(&packet.payload[1..]));
            for change in tracked.changes {
                kinds[match change.unwrap() {
                    StateChange::SystemVariable { .. } => 0,
                    StateChange::Schema(_) => 1,
                    StateChange::State(_) => 2,
                    StateChange::Gtids { .. } => 3,
                    StateChange::TransactionCharacteristics(_) => 4,
                    StateChange::TransactionState(_) => 5,
                    StateChange::Other { .. } => 6,
                }] += 1;
            }
            for len in 0..packet.payload.len() {
                let cut = TrackedOk::parse(&packet.payload[..len]);
                assert!(cut.is_err() || len == packet.payload.len() - 1 - tracked.info.len(), "{len}");
            }
        }
    }
    assert!(kinds[..6].iter().all(|count| *count > 1) && kinds[6] == 0, "{kinds:?}");
}

#[test]
fn packet_without_tracking_is_what_the_server_sends_to_who_does_not_ask() {
    for (server, form) in SERVERS.iter().flat_map(|server| ["eof", "ok"].map(|form| (server, form))) {
        let tracked = Recorded::read(server, &format!("tracking-{form}"));
        let untracked = Recorded::read(server, &format!("no-tracking-{form}"));
        assert_eq!(tracked.steps.len(), untracked.steps.len());
        let (mut count, mut changed) = (0, 0);
        // MariaDB 11.4 and later ends a login with a hash that is of this connection only.
        let logins = usize::from(*server == MARIADB[1]);
        for (with, without) in tracked.steps.iter().zip(&untracked.steps).skip(logins) {
            let (with_oks, without_oks) = (oks(&tracked, with), oks(&untracked, without));
            assert_eq!(with_oks.len(), without_oks.len(), "{}: {}", tracked.name, with.label);
            for (with_ok, without_ok) in with_oks.iter().zip(&without_oks) {
                let mut rewritten = Vec::new();
                TrackedOk::parse(&with_ok.payload).unwrap().encode_untracked(&mut rewritten);
                assert_eq!(rewritten, without_ok.payload, "{}: {}", tracked.name, with.label);
                count += 1;
                changed += usize::from(rewritten != with_ok.payload);
            }
        }
        assert!(count > 30 && changed > 20, "{}: {count} {changed}", tracked.name);
    }
}

#[test]
fn packet_without_state_tells_all_else_and_is_whole() {
    for (server, form) in SERVERS.iter().flat_map(|server| BOTH.map(|form| (server, form))) {
        let recorded = Recorded::read(server, &format!("tracking-{form}"));
        let (mut alone, mut among_others) = (0, 0);
        for packet in recorded.steps.iter().flat_map(|step| oks(&recorded, step)) {
            let told = TrackedOk::parse(&packet.payload).unwrap();
            let mut less = Vec::new();
            told.encode_without(Hidden { state: true, gtids: false }, &mut less).unwrap();
            let again = TrackedOk::parse(&less).unwrap();
            let all = told.changes.map(Result::unwrap).collect::<Vec<_>>();
            let is_else = |change: &&StateChange<'_>| !matches!(change, StateChange::State(_));
            let rest: Vec<_> = all.iter().filter(is_else).copied().collect();
            assert_eq!(again.changes.map(Result::unwrap).collect::<Vec<_>>(), rest);
            assert_eq!(again.info, told.info);
            if all.is_empty() {
                assert_eq!(less, packet.payload, "nothing else is changed");
            }
            alone += usize::from(all.len() == 1 && rest.is_empty());
            among_others += usize::from(rest.len() < all.len() && !rest.is_empty());
            if rest.is_empty() {
                assert_eq!(again.ok, OkPacket { status: again.ok.status, ..told.ok });
                let flag = told.ok.status.difference(again.ok.status);
                assert_eq!(flag.is_empty(), all.is_empty(), "the flag goes with the last change");
            }
        }
        assert!(alone + among_others > 15, "{}: {alone} {among_others}", recorded.name);
    }
}
