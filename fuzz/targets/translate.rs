//! An answer in another form: the same however its bytes are cut, and an answer of that form as a whole.
//!
//! Input: the kind of answer, both forms, a number of pieces, their lengths, the answer.
#![no_main]

use std::iter::repeat;

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{AnswerKind, AnswerScanner, Ending, Form, Hidden, StatusFlags, Translator, WireError};

const KINDS: [AnswerKind; 6] = [
    AnswerKind::ResultSets,
    AnswerKind::Prepare,
    AnswerKind::Rows,
    AnswerKind::Single,
    AnswerKind::Cursor,
    AnswerKind::Fields,
];

fuzz_target!(|input: &[u8]| {
    let [kind, forms, pieces, rest @ ..] = input else { return };
    let Some((pieces, answer)) = rest.split_at_checked(usize::from(pieces % 16)) else { return };
    let form = |bits: u8| Form {
        deprecate_eof: bits & 1 != 0,
        session_track: bits & 2 != 0,
        optional_metadata: bits & 4 != 0,
        extended_metadata: bits & 8 != 0,
    };
    let hides_state = kind & 4 != 0;
    let kind = KINDS[usize::from(kind & 3) + usize::from(kind & 11 == 11) + usize::from(kind & 27 == 27)];
    let (from, to) = (form(*forms), form(*forms >> 4));
    let translate =
        |pieces: &mut dyn Iterator<Item = usize>| translate(kind, from, to, hides_state, answer, pieces);
    let whole = translate(&mut repeat(answer.len()));
    let pieces = pieces.iter().map(|len| usize::from(*len));
    let in_pieces = translate(&mut pieces.chain(repeat(answer.len())));
    assert_eq!(whole, in_pieces);
    assert_eq!(whole, translate(&mut repeat(1)));
    let mut scanned = scanner(kind, from);
    // Bytes behind what a preparation tells are left out, and whether metadata follow may be left to be guessed. The flags of an EOF packet
    // between columns and rows are not among those that are seen.
    if from == to
        && from.deprecate_eof
        && kind != AnswerKind::Prepare
        && !from.optional_metadata
        && let Ok(progress) = scanned.scan(answer)
        && !scanned.end().status_seen.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED)
        && let Ok((out, ..)) = &whole
    {
        // Where nothing is told, such answers pass as they are.
        assert_eq!(*out, answer[..progress.consumed]);
    }
    let Ok((out, true, ending)) = whole else { return };
    if matches!(ending, Ending::Err(_)) {
        // An ERR in the place of the EOF packet behind the last definition: no server sends one, and the other form has no
        // place for it.
        return;
    }
    let told = scanner(kind, to).scan(&out).expect("an answer of that form");
    assert_eq!((told.consumed, told.finished), (out.len(), true));
});

fn scanner(kind: AnswerKind, form: Form) -> AnswerScanner {
    AnswerScanner::new(kind, form.deprecate_eof)
        .with_optional_metadata(form.optional_metadata)
        .with_session_track(form.session_track)
}

/// What the answer becomes, whether it is whole, and how it ended.
fn translate(
    kind: AnswerKind,
    from: Form,
    to: Form,
    hides_state: bool,
    answer: &[u8],
    pieces: &mut dyn Iterator<Item = usize>,
) -> Result<(Vec<u8>, bool, Ending), WireError> {
    let status = StatusFlags::SERVER_STATUS_AUTOCOMMIT;
    let mut translator = Translator::new(scanner(kind, from), from, to, status)
        .hiding(Hidden { state: hides_state, gtids: hides_state });
    let (mut out, mut done, mut seen) = (Vec::new(), 0, 0);
    loop {
        seen = (seen + pieces.next().unwrap_or_default()).min(answer.len());
        let progress = translator.translate(&answer[done..seen], &mut out)?;
        assert!(progress.consumed <= seen - done);
        done += progress.consumed;
        if progress.finished || seen == answer.len() {
            return Ok((out, progress.finished, translator.scanner().end().ending));
        }
    }
}
