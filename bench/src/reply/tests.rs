use super::*;

fn frame(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    let mut bytes = vec![length[0], length[1], length[2], sequence];
    bytes.extend_from_slice(payload);
    bytes
}

fn result_set(form: EofForm, rows: &[&[u8]]) -> Vec<u8> {
    let eof: &[u8] = &[0xfe, 0, 0, 2, 0];
    let end: &[u8] = if form == EofForm::Packets { eof } else { &[0xfe, 0, 0, 2, 0, 0, 0] };
    let mut bytes = frame(1, &[1]);
    bytes.extend(frame(2, b"\x03def column"));
    if form == EofForm::Packets {
        bytes.extend(frame(3, eof));
    }
    for row in rows {
        bytes.extend(frame(4, row));
    }
    bytes.extend(frame(5, end));
    bytes
}

/// The ending found when `bytes` come in pieces of `piece_bytes`, and how many bytes were not consumed.
fn scan(form: EofForm, bytes: &[u8], piece_bytes: usize) -> Option<(Ending, usize)> {
    let mut scan = ReplyScan::new(form);
    let mut fed = 0;
    for piece in bytes.chunks(piece_bytes) {
        if let Some(finished) = scan.feed(piece).unwrap() {
            return Some((finished.ending, bytes.len() - fed - finished.consumed));
        }
        fed += piece.len();
    }
    None
}

#[test]
fn end_is_found_however_the_reply_is_cut() {
    for form in [EofForm::Packets, EofForm::Deprecated] {
        let rows: [&[u8]; 3] = [b"\x01a", b"", b"\x03abc"];
        let cases = [
            (result_set(form, &rows), Ending::Rows(3)),
            (result_set(form, &[]), Ending::Rows(0)),
            (frame(1, &[0, 0, 0, 2, 0, 0, 0]), Ending::Ok),
            (frame(1, b"\xff\x28\x04#42000no"), Ending::Err),
        ];
        for (bytes, ending) in cases {
            for piece_bytes in [1, 2, 3, 5, 7, bytes.len()] {
                assert_eq!(scan(form, &bytes, piece_bytes), Some((ending, 0)), "{form:?} {piece_bytes}");
                assert_eq!(scan(form, &bytes[..bytes.len() - 1], piece_bytes), None);
            }
        }
    }
}

#[test]
fn bytes_behind_the_reply_are_not_consumed() {
    let mut bytes = result_set(EofForm::Packets, &[b"\x01a"]);
    bytes.extend(frame(1, &[0, 0, 0, 2, 0, 0, 0]));
    assert_eq!(scan(EofForm::Packets, &bytes, bytes.len()), Some((Ending::Rows(1), 11)));
}

#[test]
fn a_row_over_sixteen_mebibytes_counts_once() {
    let mut long = vec![b'x'; FRAME_BYTES_MAX as usize];
    long[0] = 0xfe;
    let mut bytes = frame(1, &[1]);
    bytes.extend(frame(2, b"\x03def column"));
    bytes.extend(frame(3, &[0xfe, 0, 0, 2, 0]));
    bytes.extend(frame(4, &long));
    bytes.extend(frame(5, b"\xfe\0\0\x02\0"));
    bytes.extend(frame(6, &[0xfe, 0, 0, 2, 0]));
    assert_eq!(scan(EofForm::Packets, &bytes, 65_536), Some((Ending::Rows(1), 0)));
}

#[test]
fn an_error_after_some_rows_ends_the_reply() {
    let mut bytes = frame(1, &[1]);
    bytes.extend(frame(2, b"\x03def column"));
    bytes.extend(frame(3, b"\x01a"));
    bytes.extend(frame(4, b"\xff\x28\x04#42000no"));
    assert_eq!(scan(EofForm::Deprecated, &bytes, 9), Some((Ending::Err, 0)));
}

#[test]
fn several_result_sets_are_refused() {
    let mut bytes = frame(1, &[1]);
    bytes.extend(frame(2, b"\x03def column"));
    bytes.extend(frame(3, &[0xfe, 0, 0, 0x0a, 0]));
    bytes.extend(frame(4, &[0xfe, 0, 0, 0x0a, 0]));
    assert!(ReplyScan::new(EofForm::Packets).feed(&bytes).is_err());
}

#[test]
fn answers_are_the_same_whatever_the_status() {
    let first = result_set(EofForm::Packets, &[b"\x01a"]);
    let mut other_status = first.clone();
    let last = other_status.len() - 2;
    other_status[last] = 3;
    assert!(is_same_answer(&first, &other_status));
    let other_row = result_set(EofForm::Packets, &[b"\x01b"]);
    assert!(!is_same_answer(&first, &other_row));
    assert!(!is_same_answer(&first, &result_set(EofForm::Packets, &[])));
    assert!(!is_same_answer(&first, &first[..first.len() - 1]));
}
