use proptest::prelude::*;

use super::*;
use crate::{CapabilityFlags, Column, ErrorCode, ResultSetWriter, append_err, append_ok, append_packet};

const AUTOCOMMIT: StatusFlags = StatusFlags::SERVER_STATUS_AUTOCOMMIT;

fn result_set(deprecate_eof: bool, rows: usize, status: StatusFlags, sequence: &mut u8) -> Vec<u8> {
    let capabilities =
        if deprecate_eof { CapabilityFlags::CLIENT_DEPRECATE_EOF } else { CapabilityFlags::empty() };
    let mut out = Vec::new();
    let columns = [Column::integer("id"), Column::text("c")];
    let mut writer = ResultSetWriter::begin(&mut out, sequence, capabilities, status, &columns);
    for row in 0..rows {
        writer.row([Some(row.to_string().as_bytes()), None]);
    }
    writer.end(status, 0);
    out
}

/// Feeds `answer` in pieces of `piece` bytes; what is not consumed is offered again with the next piece.
fn scan_in_pieces(kind: AnswerKind, deprecate_eof: bool, answer: &[u8], piece: usize) -> (usize, AnswerEnd) {
    let mut scanner = AnswerScanner::new(kind, deprecate_eof);
    let (mut done, mut seen) = (0, 0);
    loop {
        seen = (seen + piece).min(answer.len());
        let progress = scanner.scan(&answer[done..seen]).unwrap();
        done += progress.consumed;
        if progress.finished || seen == answer.len() {
            assert!(progress.finished, "not finished after {done} of {} bytes", answer.len());
            return (done, *scanner.end());
        }
    }
}

#[test]
fn a_result_set_ends_where_it_ends_however_it_is_cut() {
    for deprecate_eof in [false, true] {
        let mut answer = result_set(deprecate_eof, 3, AUTOCOMMIT, &mut 1);
        let len = answer.len();
        answer.extend_from_slice(b"next answer");
        for piece in 1..answer.len() {
            let (done, end) = scan_in_pieces(AnswerKind::ResultSets, deprecate_eof, &answer, piece);
            assert_eq!((done, end.rows, end.results), (len, 3, 1));
            assert_eq!((end.ending, end.status), (Ending::ResultSet, AUTOCOMMIT));
        }
    }
}

#[test]
fn status_offsets_point_at_the_flags() {
    for (deprecate_eof, expected) in [(false, 2), (true, 1)] {
        let answer = result_set(deprecate_eof, 2, AUTOCOMMIT, &mut 1);
        let (_, end) = scan_in_pieces(AnswerKind::ResultSets, deprecate_eof, &answer, 7);
        let offsets: Vec<_> = end.status_offsets.into_iter().flatten().collect();
        assert_eq!(offsets.len(), expected);
        for offset in offsets {
            let offset = offset as usize;
            assert_eq!(&answer[offset..offset + 2], AUTOCOMMIT.bits().to_le_bytes());
        }
    }
}

#[test]
fn several_results_are_one_answer() {
    let mut sequence = 1;
    let more = AUTOCOMMIT | StatusFlags::SERVER_MORE_RESULTS_EXISTS;
    let mut answer = result_set(false, 1, more, &mut sequence);
    append_ok(&mut answer, &mut sequence, &OkPacket { status: more, ..OkPacket::default() });
    answer.extend(result_set(false, 2, AUTOCOMMIT, &mut sequence));
    let (done, end) = scan_in_pieces(AnswerKind::ResultSets, false, &answer, 11);
    assert_eq!((done, end.results, end.rows), (answer.len(), 3, 3));
}

#[test]
fn out_parameters_are_followed_by_an_ok_also_where_their_end_does_not_say_so() {
    // As MySQL 9.7 sends them without CLIENT_DEPRECATE_EOF, and MariaDB with more results said twice.
    let more = AUTOCOMMIT | StatusFlags::SERVER_MORE_RESULTS_EXISTS | StatusFlags::SERVER_PS_OUT_PARAMS;
    for at_the_end in [AUTOCOMMIT, more] {
        let (mut answer, mut sequence) = (Vec::new(), 1);
        let columns = [Column::integer("out")];
        let none = CapabilityFlags::empty();
        let mut writer = ResultSetWriter::begin(&mut answer, &mut sequence, none, more, &columns);
        writer.row([Some(&b"1"[..])]);
        writer.end(at_the_end, 0);
        append_ok(&mut answer, &mut sequence, &OkPacket { status: AUTOCOMMIT, ..OkPacket::default() });
        let len = answer.len();
        append_ok(&mut answer, &mut 1, &OkPacket::default());
        let (done, end) = scan_in_pieces(AnswerKind::ResultSets, false, &answer, 3);
        assert_eq!((done, end.results, end.rows, end.ending), (len, 2, 1, Ending::Ok));
    }
}

#[test]
fn an_error_ends_an_answer_at_its_start_and_between_rows() {
    let mut answer = Vec::new();
    append_err(&mut answer, &mut 1, ErrorCode::PARSE_ERROR, b"no");
    let (done, end) = scan_in_pieces(AnswerKind::ResultSets, false, &answer, 3);
    assert_eq!((done, end.ending), (answer.len(), Ending::Err(1064)));

    let mut sequence = 1;
    let mut answer = result_set(false, 2, AUTOCOMMIT, &mut sequence);
    answer.truncate(answer.len() - 9);
    append_err(&mut answer, &mut sequence, ErrorCode::UNKNOWN_ERROR, b"late");
    let (done, end) = scan_in_pieces(AnswerKind::ResultSets, false, &answer, 5);
    assert_eq!((done, end.ending, end.rows), (answer.len(), Ending::Err(1105), 2));
}

#[test]
fn a_row_over_16_mib_that_begins_like_an_eof_is_a_row() {
    for deprecate_eof in [false, true] {
        let mut sequence = 1;
        let mut answer = result_set(deprecate_eof, 0, AUTOCOMMIT, &mut sequence);
        let tail_len = if deprecate_eof { 11 } else { 9 };
        let tail = answer.split_off(answer.len() - tail_len);
        let mut row = vec![0xFE];
        row.extend((17_u64 << 20).to_le_bytes());
        row.resize(row.len() + (17 << 20), b'x');
        append_packet(&mut answer, &mut sequence, &row);
        answer.extend(tail);
        let (done, end) = scan_in_pieces(AnswerKind::ResultSets, deprecate_eof, &answer, 1 << 16);
        assert_eq!((done, end.rows), (answer.len(), 1));
    }
}

#[test]
fn a_row_of_exactly_16_mib_is_one_row() {
    let mut sequence = 1;
    let mut answer = result_set(false, 0, AUTOCOMMIT, &mut sequence);
    let tail = answer.split_off(answer.len() - 9);
    append_packet(&mut answer, &mut sequence, &vec![1; FRAME_PAYLOAD_MAX]);
    answer.extend(tail);
    let (done, end) = scan_in_pieces(AnswerKind::ResultSets, false, &answer, 1 << 15);
    assert_eq!((done, end.rows), (answer.len(), 1));
}

#[test]
fn an_empty_row_is_a_row_whatever_stands_behind_it() {
    for len in [0xFE, 0xFF] {
        let (mut answer, mut sequence) = (Vec::new(), 1);
        append_packet(&mut answer, &mut sequence, b"");
        append_packet(&mut answer, &mut sequence, &vec![1; len]);
        crate::append_eof(&mut answer, &mut sequence, AUTOCOMMIT, 0);
        for piece in [1, HEADER_LEN, HEADER_LEN + 1, answer.len()] {
            let (done, end) = scan_in_pieces(AnswerKind::Rows, false, &answer, piece);
            assert_eq!((done, end.rows), (answer.len(), 2), "{len} {piece}");
        }
    }
}

#[test]
fn preparation_ends_after_parameters_and_columns() {
    for deprecate_eof in [false, true] {
        for (columns, parameters) in [(0_u16, 0_u16), (2, 0), (0, 3), (2, 3)] {
            let mut sequence = 1;
            let mut answer = Vec::new();
            let mut first = vec![0];
            first.extend(77_u32.to_le_bytes());
            first.extend(columns.to_le_bytes());
            first.extend(parameters.to_le_bytes());
            first.extend([0, 0, 0]);
            append_packet(&mut answer, &mut sequence, &first);
            for group in [parameters, columns] {
                (0..group).for_each(|_| append_packet(&mut answer, &mut sequence, b"\x03def..."));
                if group > 0 && !deprecate_eof {
                    crate::append_eof(&mut answer, &mut sequence, AUTOCOMMIT, 0);
                }
            }
            let len = answer.len();
            answer.push(9);
            let (done, end) = scan_in_pieces(AnswerKind::Prepare, deprecate_eof, &answer, 4);
            assert_eq!((done, end.statement_id), (len, Some(77)), "{columns} {parameters}");
        }
    }
}

#[test]
fn an_open_cursor_sends_no_rows() {
    let cursor = AUTOCOMMIT | StatusFlags::SERVER_STATUS_CURSOR_EXISTS;
    let mut answer = result_set(false, 0, cursor, &mut 1);
    answer.truncate(answer.len() - 9);
    let (done, end) = scan_in_pieces(AnswerKind::Cursor, false, &answer, 4);
    assert_eq!((done, end.status), (answer.len(), cursor));
}

#[test]
fn flag_of_a_cursor_that_nobody_asked_for_means_nothing() {
    let cursor = AUTOCOMMIT | StatusFlags::SERVER_STATUS_CURSOR_EXISTS;
    let answer = result_set(false, 3, cursor, &mut 1);
    let (done, end) = scan_in_pieces(AnswerKind::ResultSets, false, &answer, 4);
    assert_eq!((done, end.rows), (answer.len(), 3));
}

#[test]
fn a_request_for_a_local_file_is_refused() {
    let mut answer = Vec::new();
    append_packet(&mut answer, &mut 1, b"\xFB/etc/passwd");
    assert!(AnswerScanner::new(AnswerKind::ResultSets, false).scan(&answer).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_scanned_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), eof: bool) {
        for kind in [AnswerKind::ResultSets, AnswerKind::Prepare, AnswerKind::Rows, AnswerKind::Single] {
            let mut scanner = AnswerScanner::new(kind, eof);
            if let Ok(progress) = scanner.scan(&bytes) {
                prop_assert!(progress.consumed <= bytes.len());
            }
        }
    }
}
