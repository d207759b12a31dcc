//! The number of all that of a session which answers go by.

use std::sync::Arc;

use nuthatch_wire::CapabilityFlags;

use crate::session::parts::{Context, Ground};
use crate::shared::answers::Environment;

/// Works out the number of the session's environment anew: after a change of character set or configuration.
pub(crate) fn renumber_environment(ground: &Ground, context: &mut Context) {
    // Texts are taken from the one into the other.
    let is_of_connection = |name: &[u8]| {
        let value = context.state.settings.get(name).unwrap_or_default().to_ascii_lowercase();
        value.windows(4).any(|word| word == b"swe7")
    };
    context.lexing.ascii_in_characters = context.state.charset.has_ascii_in_characters()
        || is_of_connection(b"character_set_connection")
        || is_of_connection(b"collation_connection");
    let (rules, address) = (&ground.snapshot.rules, &ground.handle.address());
    let proxy_addr = || (Arc::clone(&address.proxy_host), address.proxy_port);
    let inheritance = ground.shared.hostgroups.defaults.inheritance(context.begun.era());
    context.begun.set_inheritance(inheritance);
    context.environment = ground.shared.answers.environments.number(Environment {
        shape: context.shape - CapabilityFlags::CLIENT_QUERY_ATTRIBUTES,
        charset: context.state.charset.clone(),
        settings: context.begun.own(&context.state.settings),
        inheritance: context.begun.inheritance().cloned(),
        role: context.state.role.clone(),
        client_addr: rules.looks_at_client_addr().then(|| Arc::clone(&address.host)),
        proxy_addr: rules.looks_at_proxy_addr().then(proxy_addr),
    });
}
