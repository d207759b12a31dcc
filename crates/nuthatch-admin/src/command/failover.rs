//! `NUTHATCH FAILOVER HOSTGROUP n [TO 'host:port'] [CHECK]`.

use super::Command;
use super::switchover::server;
use super::words::Words;
use crate::data_plane::{FailoverOrder, SwitchoverMode};

/// What stands behind FAILOVER.
pub(super) fn parse(mut words: Words<'_>) -> Command {
    let form = || Command::Malformed("FAILOVER HOSTGROUP n [TO 'host:port'] [CHECK]".to_owned());
    if !words.take("HOSTGROUP") {
        return form();
    }
    let Some(hostgroup) = words.take_any().and_then(|number| number.parse().ok()) else { return form() };
    let to = match words.take("TO") {
        true => match words.take_literal().as_deref().and_then(server) {
            Some(to) => Some(to),
            None => return form(),
        },
        false => None,
    };
    let mode = if words.take("CHECK") { SwitchoverMode::Check } else { SwitchoverMode::Act };
    match words.is_end() {
        true => Command::Failover(FailoverOrder { hostgroup, to, mode }),
        false => form(),
    }
}
