//! A server's greeting: what is parsed and encoded again parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::Greeting;

fuzz_target!(|payload: &[u8]| {
    let Ok(greeting) = Greeting::parse(payload) else { return };
    let mut encoded = Vec::new();
    greeting.encode(&mut encoded);
    assert_eq!(Greeting::parse(&encoded), Ok(greeting));
});
