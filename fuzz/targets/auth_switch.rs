//! A server's wish for another authentication plugin: what is parsed and encoded again parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::AuthSwitch;

fuzz_target!(|payload: &[u8]| {
    let Ok(switch) = AuthSwitch::parse(payload) else { return };
    let mut encoded = Vec::new();
    switch.encode(&mut encoded);
    assert_eq!(AuthSwitch::parse(&encoded), Ok(switch));
});
