//! `NUTHATCH SWITCHOVER HOSTGROUP n TO 'host:port' [CHECK]`.

use super::Command;
use super::words::Words;
use crate::data_plane::{SwitchoverMode, SwitchoverOrder};

/// What stands behind SWITCHOVER.
pub(super) fn parse(mut words: Words<'_>) -> Command {
    let form = || Command::Malformed("SWITCHOVER HOSTGROUP n TO 'host:port' [CHECK]".to_owned());
    if !words.take("HOSTGROUP") {
        return form();
    }
    let Some(hostgroup) = words.take_any().and_then(|number| number.parse().ok()) else { return form() };
    if !words.take("TO") {
        return form();
    }
    let Some((hostname, port)) = words.take_literal().as_deref().and_then(server) else { return form() };
    let mode = if words.take("CHECK") { SwitchoverMode::Check } else { SwitchoverMode::Act };
    match words.is_end() {
        true => Command::Switchover(SwitchoverOrder { hostgroup, hostname, port, mode }),
        false => form(),
    }
}

/// `host:port`; without a port, MySQL's.
pub(super) fn server(text: &str) -> Option<(String, u16)> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() => Some((host.to_owned(), port.parse().ok()?)),
        None if !text.is_empty() => Some((text.to_owned(), 3306)),
        _ => None,
    }
}
