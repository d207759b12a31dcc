//! Numbers of prepared statements, and which executions a cache may know.

use super::*;
use crate::state::Charset;

const TEXT: &str = "SELECT ?";

fn state() -> SessionState {
    SessionState::new(b"shop".to_vec(), Charset::Collation(45))
}

impl Statement {
    /// One with a parameter, prepared by a session in [`state`]; for the tests of other parts too.
    pub(crate) fn of_text(text: &str) -> Self {
        let SessionState { schema, charset, settings, .. } = state();
        let key = StatementKey {
            text: text.as_bytes().into(),
            schema: schema[..].into(),
            charset,
            settings,
            owner: None,
            hidden: None,
            bound: [].into(),
        };
        Self {
            key,
            binding: Binding::new(1),
            looked: None,
            is_cacheable: true,
            long_data: Vec::new(),
            has_too_much: false,
            cursor: None,
        }
    }
}

fn statement() -> Statement {
    Statement::of_text(TEXT)
}

/// One that has prepared that statement as its only one.
fn prepared(id: u32, statement: Statement) -> Prepared {
    let statements = [(id, statement)].into_iter().collect();
    Prepared { statements, last_id: id, ..Prepared::default() }
}

/// The execution of a statement with one parameter, a LONG of 7.
fn execution(id: u32, flags: u8) -> Vec<u8> {
    let behind = [flags, 1, 0, 0, 0, 0, 1, 3, 0, 7, 0, 0, 0];
    [&[0x17][..], &id.to_le_bytes(), &behind].concat()
}

fn written_down(prepared: &mut Prepared, payload: &[u8], state: &SessionState) -> Option<Vec<u8>> {
    prepared.execution = b"of the last one".to_vec();
    prepared.write_down(payload, state).map(|()| prepared.execution.clone())
}

#[test]
fn command_names_a_statement_by_its_number_or_as_the_last() {
    for (last_id, payload, expected) in [
        (5, &[0x17, 3, 0, 0, 0][..], Some(3)),
        (5, &[0x17, 0xFF, 0xFF, 0xFF, 0xFF], Some(5)),
        (0, &[0x17, 0xFF, 0xFF, 0xFF, 0xFF], Some(0)),
        (5, &[0x17, 0xFE, 0xFF, 0xFF, 0xFF], Some(LAST_PREPARED - 1)),
        (5, &[0x17, 3, 0, 0], None),
        (5, &[], None),
    ] {
        let prepared = Prepared { last_id, ..Prepared::default() };
        assert_eq!(prepared.named_in(payload), expected, "{payload:?}");
    }
}

#[test]
fn numbers_go_on_behind_what_is_forgotten() {
    let mut prepared = prepared(5, statement());
    let (by_number, as_last) = (execution(5, 0), execution(LAST_PREPARED, 0));
    assert!(prepared.named(&by_number).is_some() && prepared.named(&as_last).is_some());
    prepared.forget_all();
    assert!(prepared.named(&by_number).is_none() && prepared.named(&as_last).is_none());
    assert_eq!(prepared.last_id, 5);
}

#[test]
fn execution_is_written_down_alike_under_each_number() {
    let expected = [&[0, 1, 3, 0, 7, 0, 0, 0][..], TEXT.as_bytes(), &8_u64.to_le_bytes()].concat();
    for (id, named) in [(1, 1), (900, 900), (3, LAST_PREPARED)] {
        let found = written_down(&mut prepared(id, statement()), &execution(named, 0), &state());
        assert_eq!(found.as_deref(), Some(&*expected), "{named}");
    }
}

#[test]
fn execution_with_attributes_is_written_down_as_without() {
    let plain = execution(1, 0);
    let expected = written_down(&mut prepared(1, statement()), &plain, &state());
    let packet = statement().binding.packet_with_attributes(&plain, 1, None);
    let with_attributes = &packet[nuthatch_wire::HEADER_LEN..];
    assert_ne!(with_attributes, plain);
    let mut prepared = prepared(1, statement());
    for (payload, is_read) in [(with_attributes, true), (&with_attributes[..12], false)] {
        prepared.execution = b"of the last one".to_vec();
        let found = prepared.write_down_plain(payload, &state());
        assert_eq!(found.map(|()| prepared.execution.clone()), expected.clone().filter(|_| is_read));
    }
    prepared.forget_longer_than(1000);
    assert!(prepared.execution.capacity() > 0 && prepared.plain.capacity() > 0);
    prepared.forget_longer_than(0);
    assert_eq!((prepared.execution.capacity(), prepared.plain.capacity()), (0, 0));
}

#[test]
fn execution_that_goes_by_more_than_its_bytes_is_not_written_down() {
    let usual = || (statement(), state(), execution(1, 0));
    let is_written = |(statement, state, payload): (Statement, SessionState, Vec<u8>)| {
        written_down(&mut prepared(1, statement), &payload, &state).is_some()
    };
    assert!(is_written(usual()));
    let of_statement = |change: fn(&mut Statement)| {
        let mut parts = usual();
        change(&mut parts.0);
        parts
    };
    let in_state = |change: fn(&mut SessionState)| {
        let mut parts = usual();
        change(&mut parts.1);
        parts
    };
    let sent = |payload: Vec<u8>| (statement(), state(), payload);
    for (why, parts) in [
        ("its text", of_statement(|it| it.is_cacheable = false)),
        ("long data", of_statement(|it| it.long_data.push(vec![0x18]))),
        ("long data beyond the limit", of_statement(|it| it.has_too_much = true)),
        ("a cursor is open", of_statement(|it| it.cursor = Some((1, 1)))),
        ("state of which not all is known", of_statement(|it| it.key.hidden = Some((1, 1)))),
        ("another schema", in_state(|it| it.schema = b"other".to_vec().into())),
        ("another character set", in_state(|it| it.charset = Charset::Collation(8))),
        ("another variable", in_state(|it| it.settings.set(b"sql_mode", Some(b"''")))),
        ("it asks for a cursor", sent(execution(1, 1))),
        ("no such statement", sent(execution(2, 0))),
        ("no number", sent(vec![0x17, 1])),
    ] {
        assert!(!is_written(parts), "{why}");
    }
}
