//! `nuthatch instance pair`.

use nuthatch_instance::{Manner, PairPlan, Root, Writable};

use super::ask_person::confirm;
use super::replicating::ssh;
use super::said::{failed, lines};
use crate::cli::InstancePairArguments;
use crate::log::print_line;

/// Shows the plan, asks, does it.
pub(super) fn pair(root: &Root, arguments: &InstancePairArguments) -> anyhow::Result<()> {
    let manner = Manner {
        writable: if arguments.both_writable { Writable::Both } else { Writable::Source },
        over_tls: !arguments.no_tls,
    };
    let with = ssh(&arguments.with, &arguments.remote)?;
    let plan = PairPlan::make(root, with, &arguments.names, manner).map_err(failed)?;
    print_line(&plan.to_string())?;
    if !plan.is_done() && !arguments.yes {
        confirm(&format!("pair with {}?", plan.with()))?;
    }
    nuthatch_instance::pair(&plan, &mut lines).map_err(failed)
}
