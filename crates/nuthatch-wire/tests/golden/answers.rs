//! Where real answers end, and what they tell.

use nuthatch_wire::{AnswerEnd, AnswerKind, AnswerScanner, Command, Ending, Form, StatusFlags};

use crate::recorded::{MARIADB, MYSQL, Packet, Recorded, SERVERS, Side, Step, all};

/// Files whose answers have forms that the scanner is not told of, because the proxy offers none of these capabilities.
const OTHER_FORMS: [&str; 2] = ["cached-metadata", "progress"];

/// What is scanned of a recorded connection, and how.
fn scanned(recorded: &Recorded) -> Vec<(&Step, AnswerKind)> {
    let is_plain = !["login", "compressed-z"].iter().any(|name| recorded.file().starts_with(name));
    let is_known = !OTHER_FORMS.iter().any(|name| recorded.file().starts_with(name));
    let steps = recorded.steps.iter().skip(1).filter(|_| is_plain && is_known);
    steps.filter_map(|step| Some((step, kind(step)?))).collect()
}

/// The answer that the step's command gets; `None` if it is none, or not one of packets.
pub(crate) fn kind(step: &Step) -> Option<AnswerKind> {
    Some(match Command::parse(*step.question().payload.first()?) {
        Some(Command::StmtExecute) if step.question().payload.get(5).is_some_and(|flags| flags & 7 != 0) => {
            AnswerKind::Cursor
        }
        Some(Command::Query | Command::StmtExecute | Command::StmtBulkExecute) => AnswerKind::ResultSets,
        Some(Command::StmtPrepare) => AnswerKind::Prepare,
        Some(Command::StmtFetch) => AnswerKind::Rows,
        Some(Command::FieldList) => AnswerKind::Fields,
        Some(Command::Statistics | Command::ChangeUser | Command::StmtSendLongData | Command::StmtClose) => {
            return None;
        }
        _ => AnswerKind::Single,
    })
}

/// An answer as a scanner meets it, with the next one behind it.
struct Scene<'a> {
    name: String,
    kind: AnswerKind,
    form: Form,
    bytes: Vec<u8>,
    len: usize,
    step: &'a Step,
}

impl<'a> Scene<'a> {
    fn new(recorded: &Recorded, step: &'a Step, kind: AnswerKind) -> Self {
        let answer = step.answer();
        Self {
            name: format!("{}: {}", recorded.name, step.label),
            kind,
            form: Form::of(recorded.capabilities()),
            len: answer.len(),
            bytes: [answer.as_slice(), b"\x07\0\0\x01\0\0\0\x02\0\0\0"].concat(),
            step,
        }
    }

    /// What is found, and the number of the packet that would follow, if the bytes come in pieces that end at `cuts`. The
    /// file that a server may ask for was sent in between.
    fn scan(&self, cuts: impl IntoIterator<Item = usize>) -> (AnswerEnd, Option<u8>) {
        let mut scanner = AnswerScanner::new(self.kind, self.form.deprecate_eof)
            .with_optional_metadata(self.form.optional_metadata)
            .with_local_files(true);
        let mut done = 0;
        for seen in cuts.into_iter().chain([self.len, self.bytes.len()]) {
            loop {
                let progress = scanner.scan(&self.bytes[done..seen]).unwrap();
                done += progress.consumed;
                let expected = done == self.len;
                assert_eq!(progress.finished, expected, "{}: {done} of {} bytes", self.name, self.len);
                if !progress.wants_file {
                    break;
                }
                let last_of_client = self.step.of(Side::Client).last().unwrap();
                scanner.file_was_sent(last_of_client.sequence().wrapping_add(1));
            }
        }
        assert_eq!(done, self.len, "{}", self.name);
        (*scanner.end(), scanner.next_sequence())
    }
}

#[test]
fn every_answer_ends_where_the_server_fell_silent_however_it_is_cut() {
    let mut count = 0;
    for recorded in all() {
        for (step, kind) in scanned(&recorded) {
            let scene = Scene::new(&recorded, step, kind);
            let whole = scene.scan([]);
            let last = step.of(Side::Server).last().unwrap().sequence();
            assert_eq!(whole.1, Some(last.wrapping_add(1)), "{}", scene.name);
            // Pairs of pieces, and pieces of one length.
            for cut in (1..scene.len).step_by(scene.len / 300 + 1) {
                assert_eq!(scene.scan([cut]), whole, "{}: {cut}", scene.name);
            }
            for piece in [1, 2, 3, 5, 7, 11, 64] {
                assert_eq!(scene.scan((piece..scene.len).step_by(piece)), whole, "{}: {piece}", scene.name);
            }
            count += 1;
        }
    }
    assert!(count > 800, "{count} answers");
}

#[test]
fn status_flags_stand_where_they_are_said_to_be() {
    for recorded in all() {
        for (step, kind) in scanned(&recorded) {
            let (end, _) = Scene::new(&recorded, step, kind).scan([]);
            let has_flags =
                end.results == 1 && end.statement_id.is_none() && !matches!(end.ending, Ending::Err(_));
            if !has_flags || step.of(Side::Client).count() > 1 {
                continue;
            }
            let last = end.status_offsets.iter().flatten().last().copied().unwrap() as usize;
            assert_eq!(step.answer()[last..last + 2], end.status.bits().to_le_bytes(), "{}", step.label);
            let others = end.status_offsets.iter().flatten().count() - 1;
            let is_two = !recorded.deprecates_eof()
                && end.ending == Ending::ResultSet
                && matches!(kind, AnswerKind::ResultSets | AnswerKind::Cursor)
                && !end.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS);
            assert_eq!(others, usize::from(is_two), "{}: {}", recorded.name, step.label);
        }
    }
}

/// What is to be read out of the answers to the steps of that label, as text that shows what it is.
fn check(servers: &[&str], file: &str, label: &str, expected: &[&str]) {
    for server in servers {
        for form in ["eof", "ok"] {
            let recorded = Recorded::read(server, &format!("{file}-{form}"));
            let found: Vec<String> = recorded
                .labelled(label)
                .into_iter()
                .map(|step| summary(&Scene::new(&recorded, step, kind(step).unwrap()).scan([]).0))
                .collect();
            assert_eq!(found, expected, "{}: {label}", recorded.name);
        }
    }
}

fn summary(end: &AnswerEnd) -> String {
    let status: Vec<&str> =
        FLAGS.iter().filter(|(flag, _)| end.status.contains(*flag)).map(|(_, name)| *name).collect();
    let ending = match end.ending {
        Ending::Ok => format!("ok affected={} id={}", end.ok.affected_rows, end.ok.insert_id),
        Ending::ResultSet => format!("rows={}", end.rows),
        Ending::Err(code) => return format!("error {code} rows={} results={}", end.rows, end.results),
    };
    let results = if end.results > 1 { format!(" results={}", end.results) } else { String::new() };
    let warnings = if end.ok.warnings > 0 { format!(" warnings={}", end.ok.warnings) } else { String::new() };
    format!("{ending}{results}{warnings} {}", status.join(" ")).trim_end().to_owned()
}

/// Those of which the statements themselves say when they are set.
const FLAGS: [(StatusFlags, &str); 8] = [
    (StatusFlags::SERVER_STATUS_AUTOCOMMIT, "auto"),
    (StatusFlags::SERVER_STATUS_IN_TRANS, "open"),
    (StatusFlags::SERVER_STATUS_IN_TRANS_READONLY, "read-only"),
    (StatusFlags::SERVER_STATUS_CURSOR_EXISTS, "cursor"),
    (StatusFlags::SERVER_STATUS_LAST_ROW_SENT, "last"),
    (StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES, "no-backslash"),
    (StatusFlags::SERVER_PS_OUT_PARAMS, "out"),
    (StatusFlags::SERVER_STATUS_ANSI_QUOTES, "ansi"),
];

#[test]
fn ok_and_err_packets_tell_what_the_statement_did() {
    for (label, expected) in [
        ("INSERT INTO t (a) VALUES (1)", &["ok affected=1 id=1 auto"][..]),
        ("INSERT INTO t (a) VALUES (2), (3), (4)", &["ok affected=3 id=2 auto"]),
        ("INSERT INTO t VALUES (250, 0, NULL)", &["ok affected=1 id=250 auto"]),
        ("INSERT INTO t (a) VALUES (251)", &["ok affected=1 id=251 auto"]),
        (
            "INSERT INTO t (a) VALUES (0)",
            &[
                "ok affected=1 id=70001 auto",
                "ok affected=1 id=20000001 auto",
                "ok affected=1 id=18446744073709551601 auto",
            ],
        ),
        (
            "UPDATE t SET b = 'new' WHERE id IN (1, 2, 3)",
            &["ok affected=3 id=0 auto", "ok affected=0 id=0 auto"],
        ),
        ("DELETE FROM t WHERE id = 9999", &["ok affected=0 id=0 auto"]),
        ("INSERT INTO t (id, a) SELECT 1000 + n, n FROM numbers", &["ok affected=300 id=1300 auto"]),
        ("DELETE FROM t WHERE id BETWEEN 1001 AND 1300", &["ok affected=300 id=0 auto"]),
        ("BEGIN", &["ok affected=0 id=0 auto open"]),
        ("SAVEPOINT s", &["ok affected=0 id=0 auto open"]),
        ("ROLLBACK", &["ok affected=0 id=0 auto"]),
        ("START TRANSACTION READ ONLY", &["ok affected=0 id=0 auto open read-only"]),
        ("USE nowhere", &["error 1049 rows=0 results=0"]),
        ("DROP TABLE IF EXISTS not_there", &["ok affected=0 id=0 warnings=1 auto"]),
        ("SELECT", &["error 1064 rows=0 results=0"]),
        ("", &["error 1065 rows=0 results=0"]),
        ("SELECT * FROM not_there", &["error 1146 rows=0 results=0"]),
        ("INSERT INTO t VALUES (1, 1, '')", &["error 1062 rows=0 results=0"]),
    ] {
        check(&SERVERS, "ok-and-err", label, expected);
    }
    // Only MariaDB has a flag for quotes.
    for (servers, ansi) in [(&MARIADB[..], " ansi"), (&[MYSQL], "")] {
        let later = format!("ok affected=0 id=0 auto no-backslash{ansi}");
        check(servers, "ok-and-err", "DO 1", &["ok affected=0 id=0 auto", &later]);
    }
    let ignoring = "INSERT IGNORE INTO t (a, b) VALUES (1, 'too long'), (2, 'too long')";
    check(&SERVERS, "ok-and-err", ignoring, &["ok affected=2 id=18446744073709551602 warnings=2 auto"]);
}

#[test]
fn result_sets_tell_their_rows_warnings_and_state() {
    for (label, expected) in [
        ("SELECT 1", &["rows=1 auto"][..]),
        ("SELECT * FROM all_types ORDER BY id", &["rows=3 auto"]),
        ("SELECT * FROM all_types WHERE id = 99", &["rows=0 auto"]),
        ("SELECT CAST('1x' AS SIGNED)", &["rows=1 warnings=1 auto"]),
        ("SELECT n FROM numbers", &["rows=300 auto"]),
        ("SELECT id FROM few LIMIT 1", &["rows=1 auto open", "rows=1 open"]),
        ("SET autocommit = 1", &["ok affected=0 id=0 auto"]),
    ] {
        check(&SERVERS, "text-results", label, expected);
    }
    for (label, expected) in [
        ("execute: all types", &["rows=3 auto"][..]),
        ("execute: no rows", &["rows=0 auto"]),
        ("execute: three parameters, one NULL", &["rows=1 auto"]),
        ("execute: insert once more", &["error 1062 rows=0 results=0"]),
        ("execute: a closed statement", &["error 1243 rows=0 results=0"]),
    ] {
        check(&SERVERS, "prepared", label, expected);
    }
}

#[test]
fn several_results_are_one_answer() {
    for (label, expected) in [
        ("SELECT 1; SELECT 2", &["rows=2 results=2 auto"][..]),
        ("DO 1; DO 2; DO 3", &["ok affected=0 id=0 results=3 auto"]),
        ("SELECT 1; SELECT nonsense; SELECT 2", &["error 1054 rows=1 results=1"]),
        ("CALL two_results()", &["ok affected=0 id=0 results=3 auto"]),
        ("CALL two_results(); SELECT 3", &["rows=5 results=4 auto"]),
        ("CALL nowhere()", &["error 1305 rows=0 results=0"]),
        ("execute: CALL two_results()", &["ok affected=0 id=0 results=3 auto"]),
    ] {
        check(&SERVERS, "several-results", label, expected);
    }
}

#[test]
fn cursor_gives_its_rows_when_they_are_fetched() {
    for (label, expected) in [
        ("execute: with a cursor", "rows=0 auto cursor"),
        ("fetch 2", "rows=2 auto cursor"),
        ("fetch 0", "rows=0 auto cursor"),
        ("fetch 5", "rows=1 auto last"),
    ] {
        check(&SERVERS, "cursors", label, &[expected]);
    }
}

#[test]
fn error_behind_the_first_rows_ends_an_answer() {
    let label = "SELECT n, (SELECT f.id FROM few AS f WHERE f.id >= 5 - numbers.n) FROM numbers WHERE n < 9 ORDER BY n";
    check(&SERVERS, "failing-rows", label, &["error 1242 rows=2 results=0"]);
    check(&SERVERS, "failing-rows", "execute: subquery", &["error 1242 rows=2 results=0"]);
    check(&SERVERS, "failing-rows", "SELECT 1", &["rows=1 auto"]);
}

#[test]
fn commands_without_sql_have_one_packet() {
    for (label, expected) in [
        ("ping", "ok affected=0 id=0 auto"),
        ("init db", "ok affected=0 id=0 auto"),
        ("init db: unknown", "error 1049 rows=0 results=0"),
        ("field list", "rows=2 auto"),
        ("field list: wildcard", "rows=1 auto"),
        ("field list: unknown table", "error 1146 rows=0 results=0"),
        ("DO 1; DO 2", "error 1064 rows=0 results=0"),
        ("set option: unknown", "error 1047 rows=0 results=0"),
        ("reset connection", "ok affected=0 id=0 auto"),
        ("unknown command", "error 1047 rows=0 results=0"),
    ] {
        check(&SERVERS, "commands", label, &[expected]);
    }
    check(&MARIADB, "commands", "kill: unknown", &["error 1094 rows=0 results=0"]);
    check(&[MYSQL], "commands", "kill: unknown", &["error 1047 rows=0 results=0"]);
    for label in ["set option: off", "set option: on"] {
        // MySQL may carry warnings of the command before.
        check(&MARIADB, "commands", label, &["ok affected=0 id=0 auto"]);
    }
}

#[test]
fn file_that_the_server_asks_for_is_part_of_the_exchange() {
    let load = "LOAD DATA LOCAL INFILE 'golden.csv' INTO TABLE loaded FIELDS TERMINATED BY ','";
    check(&SERVERS, "local-file", load, &["ok affected=3 id=0 auto"]);
    check(&SERVERS, "local-file", &format!("{load} /* empty */"), &["ok affected=0 id=0 auto"]);
    for server in SERVERS {
        let recorded = Recorded::read(server, "local-file-ok");
        let request = recorded.step(load).of(Side::Server).next().unwrap();
        assert_eq!(request.payload, b"\xfbgolden.csv");
        let packets = &recorded.step(load).packets;
        let numbers: Vec<u8> = packets.iter().map(Packet::sequence).collect();
        // The statement; then the request, two pieces of the file, the empty packet and the verdict.
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5], "{server}");
    }
}

#[test]
fn prepared_statement_has_its_number_and_no_rows() {
    for server in SERVERS {
        for form in ["eof", "ok"] {
            let recorded = Recorded::read(server, &format!("prepared-{form}"));
            let numbers = recorded.steps.iter().filter(|step| step.label.starts_with("prepare: "));
            let numbers: Vec<_> = numbers
                .map(|step| Scene::new(&recorded, step, AnswerKind::Prepare).scan([]).0.statement_id)
                .collect();
            let executed = |label| {
                let question = &recorded.step(label).question().payload;
                Some(u32::from_le_bytes(question[1..5].try_into().unwrap()))
            };
            // The sixth cannot be prepared.
            assert_eq!(numbers.iter().position(Option::is_none), Some(5), "{}", recorded.name);
            assert_eq!(numbers[6], executed("execute: all types"));
            assert_eq!(numbers[7], executed("execute: no rows"));
            assert_eq!(numbers[9], executed("execute: insert"));
        }
    }
}
