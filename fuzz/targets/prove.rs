//! A client's login with any packets, behind a PROXY header if one is trusted: it ends, and nobody is let in who does not
//! know the password.
//!
//! Input: what is known of the password, whether a header is trusted and a clear password taken, the header behind its
//! length, then the client's packets, each behind its length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::{block_on, login_packets, peer_that_sends};
use nuthatch_net::{ClearPasswords, Credential, Greeted, NetError, Proving, ProxyHeaders, greet, prove};
use nuthatch_wire::{
    CapabilityFlags, Greeting, NATIVE_PASSWORD_PLUGIN, SHA2_PASSWORD_PLUGIN, StatusFlags, double_sha1,
};

fuzz_target!(|input: &[u8]| {
    let [settings, header_len, rest @ ..] = input else { return };
    let Some((header, packets)) = rest.split_at_checked(usize::from(*header_len)) else { return };
    let double = double_sha1(b"secret");
    let credential = match settings % 4 {
        0 => Credential::Nobody,
        1 => Credential::Empty,
        2 => Credential::Clear(b"secret"),
        _ => Credential::NativeHash(&double),
    };
    let plugin = if settings & 4 == 0 { NATIVE_PASSWORD_PLUGIN } else { SHA2_PASSWORD_PLUGIN };
    let greeting = Greeting {
        version: b"8.0.36".to_vec(),
        connection_id: 1,
        nonce: *b"abcdefghijklmnopqrst",
        capabilities: CapabilityFlags::all().difference(CapabilityFlags::CLIENT_SSL),
        collation: 45,
        status: StatusFlags::SERVER_STATUS_AUTOCOMMIT,
        auth_plugin: plugin.to_vec(),
    };
    let trust = if settings & 8 == 0 { ProxyHeaders::Refused } else { ProxyHeaders::Trusted };
    let clear = if settings & 16 == 0 { ClearPasswords::Refused } else { ClearPasswords::Allowed };
    let Ok(proving) = block_on(log_in(&greeting, credential, header, packets, trust, clear)) else { return };
    if proving.proof.is_some() {
        let is_told = clear == ClearPasswords::Allowed && packets.windows(6).any(|bytes| bytes == b"secret");
        assert!(is_told || matches!(credential, Credential::Empty) && !proving.used_password);
    }
});

async fn log_in(
    greeting: &Greeting,
    credential: Credential<'_>,
    header: &[u8],
    packets: &[u8],
    trust: ProxyHeaders,
    clear: ClearPasswords,
) -> Result<Proving, NetError> {
    let bytes = [header, &login_packets(packets, 1)].concat();
    let (mut framed, _peer) = peer_that_sends(&bytes).await;
    let Greeted { login, sequence, proxied } = greet(&mut framed, greeting, None, trust).await?;
    if let Some(proxied) = proxied {
        assert_eq!(trust, ProxyHeaders::Trusted);
        assert!(header.starts_with(b"\r\n\r\n\0\r\nQUIT\n") || header.starts_with(b"PROXY TCP"));
        assert_eq!(proxied.source.is_ipv4(), proxied.destination.is_ipv4());
    }
    assert!(
        (greeting.capabilities | CapabilityFlags::CLIENT_LONG_PASSWORD).contains(login.capabilities),
        "no more than was offered"
    );
    prove(&mut framed, &login, &greeting.nonce, sequence, credential, &greeting.auth_plugin, clear).await
}
