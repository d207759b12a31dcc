//! Where an answer ends that has packets of 16 MiB and more: the same however its bytes are cut.
//!
//! Input: the kind of answer, then segments. A segment is a byte under 128 and as many bytes, or a byte from 128, two more,
//! and stands for a run of one byte of up to 16 MiB. Cost: rows are passed over, so such a run costs what a short one does.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{AnswerEnd, AnswerKind, AnswerScanner, FRAME_PAYLOAD_MAX, WireError};

const KINDS: [AnswerKind; 5] =
    [AnswerKind::ResultSets, AnswerKind::Prepare, AnswerKind::Rows, AnswerKind::Single, AnswerKind::Cursor];

/// Read as headers they are frames of 4 MiB, so that no run is millions of small packets.
const FILLER: u8 = 0x40;

static RUN: [u8; FRAME_PAYLOAD_MAX + 1] = [FILLER; FRAME_PAYLOAD_MAX + 1];

/// What is given to a scanner at most in one piece, once something was left over.
const PIECE_BYTES: usize = 64 << 10;

#[derive(Debug, PartialEq)]
struct Outcome {
    error: Option<WireError>,
    finished: bool,
    consumed: usize,
    end: AnswerEnd,
    next_sequence: Option<u8>,
}

fuzz_target!(|input: &[u8]| {
    let Some((settings, rest)) = input.split_first() else { return };
    let segments = segments(rest);
    let scanner = || {
        AnswerScanner::new(
            KINDS[usize::from(settings & 3) + usize::from(settings & 11 == 11)],
            settings & 4 != 0,
        )
    };
    let whole = scan(scanner(), segments.iter().copied());
    let halves = segments.iter().flat_map(|segment| {
        let (first, second) = segment.split_at(segment.len() / 2);
        [first, second]
    });
    assert_eq!(whole, scan(scanner(), halves));
    let edges = segments.iter().flat_map(|segment| {
        let (first, rest) = segment.split_at(segment.len().min(1));
        let (middle, last) = rest.split_at(rest.len().saturating_sub(1));
        [first, middle, last]
    });
    assert_eq!(whole, scan(scanner(), edges));
});

fn segments(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut segments = Vec::new();
    while let [first, after @ ..] = rest {
        match (first, after) {
            (0..128, _) => {
                let (bytes, later) = after.split_at(after.len().min(usize::from(*first)));
                segments.push(bytes);
                rest = later;
            }
            (_, [low, high, later @ ..]) => {
                let number = usize::from(u16::from_le_bytes([*low, *high]));
                let len = match first % 4 {
                    0 => number,
                    1 => FRAME_PAYLOAD_MAX - usize::from(*low),
                    2 => number << 8,
                    _ => FRAME_PAYLOAD_MAX + 1 - usize::from(low % 2),
                };
                segments.push(&RUN[..len]);
                rest = later;
            }
            _ => break,
        }
    }
    segments
}

/// Feeds the segments; what is not consumed is offered again with more behind it.
fn scan<'a>(mut scanner: AnswerScanner, segments: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let (mut left_over, mut consumed) = (Vec::new(), 0);
    let (mut error, mut finished) = (None, false);
    'answer: for mut segment in segments {
        while !segment.is_empty() {
            let is_direct = left_over.is_empty();
            if !is_direct {
                let (now, later) = segment.split_at(segment.len().min(PIECE_BYTES));
                left_over.extend_from_slice(now);
                segment = later;
            }
            let bytes = if is_direct { segment } else { &left_over };
            match scanner.scan(bytes) {
                Err(found) => {
                    error = Some(found);
                    break 'answer;
                }
                Ok(progress) => {
                    consumed += progress.consumed;
                    finished = progress.finished;
                    if is_direct {
                        left_over.extend_from_slice(&segment[progress.consumed..]);
                        segment = &[];
                    } else {
                        left_over.drain(..progress.consumed);
                    }
                }
            }
            if finished {
                break 'answer;
            }
        }
    }
    // How much was consumed before an error depends on the pieces.
    let consumed = if error.is_some() { 0 } else { consumed };
    Outcome { error, finished, consumed, end: *scanner.end(), next_sequence: scanner.next_sequence() }
}
