//! Starting an instance, with this program as its supervisor.

use std::time::Duration;

use anyhow::Context;
use nuthatch_instance::{InstanceName, Root};

use super::said::{failed, lines};

/// How long a server may take to answer behind `add`, and to end behind `remove`.
pub(super) const WITHIN: Duration = Duration::from_secs(600);

/// Its server answers.
pub(super) fn start_one(root: &Root, name: &InstanceName, within: Duration) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    nuthatch_instance::start(root, name, &program, within, &mut lines).map_err(failed)
}
