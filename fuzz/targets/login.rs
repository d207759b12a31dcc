//! A client's login: what is parsed and encoded again parses to the same, where the capabilities can say all of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{CapabilityFlags, Login};

fuzz_target!(|payload: &[u8]| {
    if let Ok(login) = Login::parse_change_user(payload, CapabilityFlags::CLIENT_PLUGIN_AUTH) {
        let schema = login.schema.as_ref().map_or(0, Vec::len);
        let taken = login.user.len() + login.auth_answer.len() + schema + login.auth_plugin.len();
        assert!(taken + 4 <= payload.len());
        assert!(!format!("{login:?}").contains("auth_answer"));
    }
    let Ok(login) = Login::parse(payload) else { return };
    assert!(!format!("{login:?}").contains("auth_answer"));
    if !survives_encoding(&login) {
        return;
    }
    let mut encoded = Vec::new();
    login.encode(&mut encoded);
    assert_eq!(Login::parse(&encoded), Ok(login));
});

/// The answer is written with a length, which is read only under two flags and in one byte under one of them; a schema
/// that is announced must be there.
fn survives_encoding(login: &Login) -> bool {
    let has = |flag| login.capabilities.contains(flag);
    let has_length = has(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
        || has(CapabilityFlags::CLIENT_SECURE_CONNECTION) && login.auth_answer.len() <= 250;
    has_length && has(CapabilityFlags::CLIENT_CONNECT_WITH_DB) == login.schema.is_some()
}
