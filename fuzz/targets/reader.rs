//! The primitive types and frame headers, in an order that the input says: nothing is read past the end, nothing is
//! read by a call that fails, and lengths are those of what was taken.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{FrameHeader, HEADER_LEN, Reader, append_lenenc_bytes, append_lenenc_int, append_packet};

fuzz_target!(|input: &[u8]| {
    let Some((&calls, rest)) = input.split_first() else { return };
    let Some((calls, payload)) = rest.split_at_checked(usize::from(calls % 16)) else { return };
    let mut reader = Reader::new(payload);
    for call in calls {
        let before = reader.rest();
        let taken = read(&mut reader, *call);
        let left = reader.rest();
        assert!(before.ends_with(left));
        if let Some(taken) = taken {
            assert_eq!(before.len() - left.len(), taken);
        }
    }
    frame(payload);
});

/// Makes one call; how many bytes it must have taken, if it succeeded.
fn read(reader: &mut Reader<'_>, call: u8) -> Option<usize> {
    let before = reader.rest();
    match call % 7 {
        0 => reader.u8().ok().map(|_| 1),
        1 => reader.u16().ok().map(|_| 2),
        2 => reader.u32().ok().map(|_| 4),
        3 => reader.bytes(usize::from(call / 7)).ok().map(<[u8]>::len),
        4 => reader.null_terminated().ok().map(|text| {
            assert!(!text.contains(&0));
            text.len() + 1
        }),
        5 => reader.lenenc_int().ok().map(|value| {
            let width = before.len() - reader.rest().len();
            let mut shortest = Vec::new();
            append_lenenc_int(&mut shortest, value);
            assert!(shortest.len() <= width);
            assert_eq!(Reader::new(&shortest).lenenc_int(), Ok(value));
            width
        }),
        _ => reader.lenenc_bytes().ok().map(|bytes| {
            let mut again = Vec::new();
            append_lenenc_bytes(&mut again, bytes);
            assert_eq!(Reader::new(&again).lenenc_bytes(), Ok(bytes));
            before.len() - reader.rest().len()
        }),
    }
}

fn frame(bytes: &[u8]) {
    let Some(header) = FrameHeader::parse(bytes) else {
        assert!(bytes.len() < HEADER_LEN);
        return;
    };
    assert_eq!(header.encode(), bytes[..HEADER_LEN]);
    let payload = &bytes[HEADER_LEN..];
    let (mut out, mut sequence) = (Vec::new(), header.sequence);
    append_packet(&mut out, &mut sequence, payload);
    assert_eq!(sequence, header.sequence.wrapping_add(1));
    assert_eq!(&out[HEADER_LEN..], payload);
    let expected = FrameHeader { payload_len: payload.len(), sequence: header.sequence };
    assert_eq!(FrameHeader::parse(&out), Some(expected));
}
