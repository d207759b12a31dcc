use super::*;
use crate::{CapabilityFlags, Column, ResultSetWriter};

const STATUS: StatusFlags = StatusFlags::SERVER_STATUS_AUTOCOMMIT;
const EOF: Form =
    Form { deprecate_eof: false, session_track: false, optional_metadata: false, extended_metadata: false };
const OK: Form = Form { deprecate_eof: true, ..EOF };

fn result_set(form: Form, sequence: &mut u8, more: StatusFlags) -> Vec<u8> {
    result_set_that_begins(form, sequence, STATUS, more)
}

fn result_set_that_begins(form: Form, sequence: &mut u8, begins: StatusFlags, more: StatusFlags) -> Vec<u8> {
    let mut capabilities = CapabilityFlags::empty();
    capabilities.set(CapabilityFlags::CLIENT_DEPRECATE_EOF, form.deprecate_eof);
    capabilities.set(CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA, form.optional_metadata);
    capabilities.set(CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA, form.extended_metadata);
    let mut out = Vec::new();
    let columns = [Column::integer("id"), Column::text("c")];
    let mut writer = ResultSetWriter::begin(&mut out, sequence, capabilities, begins, &columns);
    for row in 0..300 {
        writer.row([Some(row.to_string().as_bytes()), None]);
    }
    writer.end(STATUS | more, 7);
    out
}

/// The answer in another form, its bytes coming in pieces of `piece`.
fn translated(kind: AnswerKind, from: Form, to: Form, answer: &[u8], piece: usize) -> Vec<u8> {
    let scanner = AnswerScanner::new(kind, from.deprecate_eof).with_optional_metadata(from.optional_metadata);
    let mut translator = Translator::new(scanner, from, to, STATUS);
    let (mut out, mut done, mut seen) = (Vec::new(), 0, 0);
    loop {
        seen = (seen + piece).min(answer.len());
        let progress = translator.translate(&answer[done..seen], &mut out).unwrap();
        done += progress.consumed;
        if progress.finished || seen == answer.len() {
            assert!(progress.finished, "not finished after {done} of {} bytes", answer.len());
            return out;
        }
    }
}

#[test]
fn result_sets_become_what_the_other_form_has_however_they_are_cut() {
    let of = |bits: u8| Form {
        deprecate_eof: bits & 1 != 0,
        optional_metadata: bits & 2 != 0,
        extended_metadata: bits & 4 != 0,
        ..EOF
    };
    let forms = [0, 1, 2, 3, 4, 5, 6, 7].map(of);
    for from in forms {
        for to in forms {
            let (mut asked, mut told) = (1, 1);
            let more = StatusFlags::SERVER_MORE_RESULTS_EXISTS;
            let answer = [result_set(from, &mut asked, more), result_set(from, &mut asked, STATUS)].concat();
            let expected = [result_set(to, &mut told, more), result_set(to, &mut told, STATUS)].concat();
            // What follows is said before the rows where it is known then.
            let knowing = [
                result_set_that_begins(to, &mut 1, STATUS | more, more),
                expected[result_set(to, &mut 1, more).len()..].to_vec(),
            ]
            .concat();
            let is_made_up = from.deprecate_eof && !to.deprecate_eof;
            for piece in [1, 2, 3, 5, 7, 64, answer.len()] {
                let found = translated(AnswerKind::ResultSets, from, to, &answer, piece);
                let is_whole = piece == answer.len();
                let expected = if is_made_up && is_whole { &knowing } else { &expected };
                assert!(found == *expected, "{from:?} to {to:?} in pieces of {piece}");
            }
        }
    }
}

#[test]
fn flag_of_changes_that_cannot_be_told_is_taken_away() {
    let tracked = Form { session_track: true, ..OK };
    let info = b"\x04info";
    let with = |status: [u8; 2]| [&[12, 0, 0, 1, 0, 0, 0][..], &status, &[0, 0], info].concat();
    for from in [EOF, OK] {
        let found = translated(AnswerKind::ResultSets, from, tracked, &with([2, 0x40]), 1);
        assert_eq!(found, with([2, 0]));
        let found = translated(AnswerKind::ResultSets, from, tracked, &with([2, 0]), 1);
        assert_eq!(found, with([2, 0]));
    }
}

#[test]
fn error_among_the_rows_is_numbered_behind_them() {
    let error = |sequence: u8| [&[3, 0, 0, sequence][..], &[0xFF, 1, 2]].concat();
    // Column count, two columns, the error in the place of the first row.
    let head = |form| result_set(form, &mut 1, STATUS).into_iter().take(5 + 2 * 28).collect::<Vec<u8>>();
    let columns = {
        let whole = head(OK);
        let mut end = 0;
        for _ in 0..3 {
            end += HEADER_LEN + FrameHeader::parse(&whole[end..]).unwrap().payload_len;
        }
        whole[..end].to_vec()
    };
    let found = translated(AnswerKind::ResultSets, OK, EOF, &[columns.clone(), error(4)].concat(), 1);
    let mut expected = columns;
    append_eof(&mut expected, &mut 4, STATUS, 0);
    expected.extend(error(5));
    assert_eq!(found, expected);
}

#[test]
fn cursor_has_one_end() {
    let cursor = STATUS | StatusFlags::SERVER_STATUS_CURSOR_EXISTS;
    let columns = [1, 0, 0, 1, 1, 3, 0, 0, 2, b'd', b'e', b'f'];
    let (mut ok, mut eof) = (columns.to_vec(), columns.to_vec());
    let mut payload = Vec::new();
    OkPacket { status: cursor, ..OkPacket::default() }.encode(&mut payload, 0xFE);
    append_packet(&mut ok, &mut 3, &payload);
    append_eof(&mut eof, &mut 3, cursor, 0);
    assert_eq!(translated(AnswerKind::Cursor, OK, EOF, &ok, 1), eof);
    assert_eq!(translated(AnswerKind::Cursor, EOF, OK, &eof, 1), ok);
}

#[test]
fn tracking_is_taken_out_of_ok_packets() {
    let tracked = Form { session_track: true, ..OK };
    let payload = [0, 1, 0, 2, 0x40, 0, 0, 2, b'h', b'i', 5, 1, 3, 2, b'd', b'b'];
    let mut answer = Vec::new();
    append_packet(&mut answer, &mut 1, &payload);
    let found = translated(AnswerKind::Single, tracked, OK, &answer, 3);
    assert_eq!(found[HEADER_LEN..], [0, 1, 0, 2, 0, 0, 0, 2, b'h', b'i']);
    assert_eq!(translated(AnswerKind::Single, tracked, tracked, &answer, 3), answer);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_translated_without_panic(
        bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        forms in 0_u8..=255,
        kind in 0_usize..5,
    ) {
        let form = |bits: u8| Form {
            deprecate_eof: bits & 1 != 0,
            session_track: bits & 2 != 0,
            optional_metadata: bits & 4 != 0,
            extended_metadata: bits & 8 != 0,
        };
        let (from, to) = (form(forms), form(forms >> 4));
        let kinds = [
            AnswerKind::ResultSets,
            AnswerKind::Prepare,
            AnswerKind::Rows,
            AnswerKind::Single,
            AnswerKind::Fields,
        ];
        let scanner = AnswerScanner::new(kinds[kind], from.deprecate_eof).with_optional_metadata(from.optional_metadata);
        let _translated = Translator::new(scanner, from, to, STATUS).translate(&bytes, &mut Vec::new());
    }
}
