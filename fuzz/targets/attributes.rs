//! Attributes of statements: what is taken off a client's command is what is put back on its way to a server.
//!
//! Input: how many parameters the statement has and which have come before, the packet's payload.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{
    Attributes, HEADER_LEN, execution_with_attributes, packet_with_attributes, query_packet,
};

fuzz_target!(|input: &[u8]| {
    let [parameters, long, payload @ ..] = input else { return };
    if let Ok((attributes, place)) = Attributes::parse_query(payload) {
        assert!(place <= payload.len());
        let packet = query_packet(&payload[place..], attributes.as_ref());
        let again = Attributes::parse_query(&packet[HEADER_LEN + 1..]).expect("it was understood once");
        assert_eq!(again.0, attributes);
        assert_eq!(packet[HEADER_LEN + 1 + again.1..], payload[place..]);
    }
    let parameters = usize::from(parameters % 40);
    let is_long = |number: usize| number < 8 && long >> number & 1 == 1;
    let mut plain = Vec::new();
    if let Ok(attributes) = Attributes::take_off_execution(payload, parameters, is_long, &mut plain) {
        assert!(plain.len() <= payload.len());
        let _packet = execution_with_attributes(&plain, parameters, attributes.as_ref());
    }
    let _worded = packet_with_attributes(payload);
});
