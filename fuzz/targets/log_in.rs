//! The proxy's login to a server that says anything: it ends, and goes well only where the server said so.
//!
//! Input: which password is known, then the server's packets, each behind its length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::{block_on, login_packets, peer_that_sends};
use nuthatch_net::{BackendLogin, BackendPassword, ClearPasswords, log_in};
use nuthatch_wire::{CapabilityFlags, Greeting, Sha2Stage1, Stage1};

fuzz_target!(|input: &[u8]| {
    let Some((settings, packets)) = input.split_first() else { return };
    let password = match settings % 4 {
        0 => BackendPassword::Empty,
        1 => BackendPassword::Clear(b"secret".to_vec()),
        2 => BackendPassword::Halves { native: Some(Stage1::of(b"secret")), sha2: None },
        _ => BackendPassword::Halves { native: None, sha2: Some(Sha2Stage1::of(b"secret")) },
    };
    let login = BackendLogin {
        user: "app",
        password: &password,
        schema: (settings & 4 != 0).then_some(b"test"),
        collation: 45,
        capabilities: CapabilityFlags::CLIENT_DEPRECATE_EOF,
        max_packet_bytes: 1 << 24,
        tls: None,
        clear_passwords: if settings & 8 == 0 { ClearPasswords::Refused } else { ClearPasswords::Allowed },
    };
    let logged_in = block_on(async {
        let (mut framed, _peer) = peer_that_sends(&login_packets(packets, 0)).await;
        log_in(&mut framed, &login).await
    });
    let Ok(logged_in) = logged_in else { return };
    let len = usize::from(packets[0]);
    assert_eq!(Greeting::parse(&packets[1..][..len]), Ok(logged_in.greeting.clone()));
    let offered = logged_in.greeting.capabilities | CapabilityFlags::CLIENT_LONG_PASSWORD;
    assert!(offered.contains(logged_in.capabilities));
    assert!(packets[1 + len..].contains(&0), "an OK packet");
});
