//! Where an answer ends: the same however its bytes are cut, never past what was given, and with the status flags where
//! they are said to be.
//!
//! Input: the kind of answer, a number of pieces, their lengths, the answer.
#![no_main]

use std::iter::repeat;

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{AnswerEnd, AnswerKind, AnswerScanner, Ending, Progress, WireError};

const KINDS: [AnswerKind; 5] =
    [AnswerKind::ResultSets, AnswerKind::Prepare, AnswerKind::Rows, AnswerKind::Single, AnswerKind::Cursor];

/// What can be told of a scan from outside.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Bytes consumed, and whether the answer ended with them.
    progress: Result<(usize, bool), WireError>,
    files: usize,
    end: AnswerEnd,
    has_begun: bool,
    next_sequence: Option<u8>,
}

fuzz_target!(|input: &[u8]| {
    let [settings, pieces, rest @ ..] = input else { return };
    let Some((pieces, answer)) = rest.split_at_checked(usize::from(pieces % 16)) else { return };
    let scanner = || {
        AnswerScanner::new(
            KINDS[usize::from(settings & 3) + usize::from(settings & 11 == 11)],
            settings & 4 != 0,
        )
        .with_local_files(settings & 8 != 0)
    };
    let whole = scan(scanner(), answer, repeat(answer.len()));
    let pieces = pieces.iter().map(|len| usize::from(*len));
    let in_pieces = scan(scanner(), answer, pieces.chain(repeat(answer.len())));
    assert_eq!(whole, in_pieces);
    let byte_by_byte = scan(scanner(), answer, repeat(1));
    assert_eq!(whole, byte_by_byte);
    if let Ok((consumed, true)) = whole.progress {
        check_status(&whole.end, &answer[..consumed]);
    }
});

/// Feeds `answer` in pieces of these lengths; what is not consumed is offered again with the next piece.
fn scan(mut scanner: AnswerScanner, answer: &[u8], mut pieces: impl Iterator<Item = usize>) -> Outcome {
    let (mut done, mut seen, mut files) = (0, 0, 0);
    let progress = loop {
        seen = (seen + pieces.next().unwrap_or_default()).min(answer.len());
        match scanner.scan(&answer[done..seen]) {
            Err(error) => break Err(error),
            Ok(Progress { consumed, finished, wants_file }) => {
                assert!(consumed <= seen - done);
                done += consumed;
                if wants_file {
                    assert!(!finished && consumed > 0);
                    files += 1;
                    scanner.file_was_sent(200);
                } else if finished || seen == answer.len() {
                    break Ok((done, finished));
                }
            }
        }
    };
    if let Ok((_, finished)) = progress {
        let nothing = Progress { consumed: 0, finished, wants_file: false };
        assert_eq!(scanner.scan(&answer[done..]), Ok(nothing), "the same bytes once more");
        assert_eq!(scanner.has_begun(), done > 0);
    }
    Outcome {
        progress,
        files,
        end: *scanner.end(),
        has_begun: scanner.has_begun(),
        next_sequence: scanner.next_sequence(),
    }
}

fn check_status(end: &AnswerEnd, answer: &[u8]) {
    if end.results != 1 || end.statement_id.is_some() || matches!(end.ending, Ending::Err(_)) {
        return;
    }
    let places: Vec<usize> = end.status_offsets.iter().flatten().map(|place| *place as usize).collect();
    let last = *places.last().expect("a single result has status flags");
    assert!(places.iter().all(|place| place + 2 <= answer.len()));
    assert_eq!(answer[last..last + 2], end.status.bits().to_le_bytes());
}
