//! Result sets that the proxy has asked for: nothing is read past their ends, and what is read is what stands there.
//!
//! Input: the form, the answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{Form, HEADER_LEN, SmallResult, text_values};

fuzz_target!(|input: &[u8]| {
    let [form, answer @ ..] = input else { return };
    let form = Form {
        deprecate_eof: form & 1 != 0,
        session_track: form & 2 != 0,
        optional_metadata: form & 4 != 0,
        extended_metadata: form & 8 != 0,
    };
    let Some(result) = SmallResult::parse(answer, form) else { return };
    let packets = result.definitions.len() + result.rows.len();
    let of_rows: usize = result.rows.iter().map(|payload| payload.len()).sum();
    let bytes = of_rows + result.definitions.iter().map(|payload| payload.len()).sum::<usize>();
    assert!(bytes + packets * HEADER_LEN < answer.len());
    for row in &result.rows {
        if let Some(values) = text_values::<3>(row) {
            assert!(values.iter().map(|value| value.len() + 1).sum::<usize>() <= row.len());
        }
    }
    if let Some(value) = result.only_value() {
        assert_eq!((result.rows.len(), text_values(result.rows[0])), (1, Some([value])));
    }
});
