//! OK and ERR: what is parsed and encoded again parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{ErrPacket, ErrorCode, HEADER_LEN, OkPacket, append_err};

fuzz_target!(|payload: &[u8]| {
    if let Some((marker, body)) = payload.split_first()
        && let Ok(ok) = OkPacket::parse_body(body)
    {
        let mut encoded = Vec::new();
        ok.encode(&mut encoded, *marker);
        assert_eq!(OkPacket::parse_body(&encoded[1..]), Ok(ok));
        assert!(encoded.len() <= payload.len(), "an integer is written in its shortest form");
    }
    if let Ok(error) = ErrPacket::parse(payload) {
        assert!(error.message.len() < payload.len());
        let code = ErrorCode { code: error.code, sql_state: error.sql_state };
        let mut encoded = Vec::new();
        append_err(&mut encoded, &mut 0, code, &error.message);
        assert_eq!(ErrPacket::parse(&encoded[HEADER_LEN..]), Ok(error));
    }
});
