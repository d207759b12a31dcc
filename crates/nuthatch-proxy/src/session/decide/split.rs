//! Which hostgroup a statement goes to: where rules send it, or the user's own, whose reads may be answered by readers.
//!
//! With `mysql-read_write_split` a read of tables that does nothing else goes to the readers of a replication pair while no transaction is
//! open and nothing is kept on a connection. All else goes to who writes: what writes, locks, pins or asks, and what is not understood. What
//! a server may answer that is behind says so ([`Plan::causal`](crate::session::statement::Plan)): only one does that shows what the session
//! has seen.

use nuthatch_config::{HostgroupId, Verdict};

use crate::session::lease::check_out::hostgroup_for;
use crate::session::parts::{Account, Context, Dealings, Ground};
use crate::session::statement::Facts;

/// Where a statement goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    /// Where rules, the user's default or the split of reads send it.
    pub(crate) wanted: HostgroupId,
    /// Where it goes, open transactions and pins considered.
    pub(crate) hostgroup: HostgroupId,
    /// Whose writes the server must show, if it may be behind.
    pub(crate) causal: Option<HostgroupId>,
}

/// See the module's doc.
pub(crate) fn way(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    verdict: &Verdict,
    facts: &Facts,
) -> Way {
    let own = verdict.destination_hostgroup.unwrap_or(account.user().default_hostgroup);
    if !dealings.hands.position.is_kept() {
        return Way { wanted: own, hostgroup: hostgroup_for(account, dealings, own, facts), causal: None };
    }
    let from = match verdict.destination_hostgroup {
        Some(_) => verdict.gtid_from_hostgroup.map(|from| (own, from)),
        None if may_be_split(context, dealings, facts) => {
            ground.snapshot.readers_of(own).map(|readers| (readers, own))
        }
        None => None,
    };
    let wanted = from.map_or(own, |(elsewhere, _)| elsewhere);
    let hostgroup = hostgroup_for(account, dealings, wanted, facts);
    let causal = match from {
        Some((elsewhere, writer)) if hostgroup == elsewhere => Some(writer),
        // Replicas may have shown what this one does not show yet.
        _ if facts.is_for_any_server() && ground.snapshot.writer_of(hostgroup) == hostgroup => {
            Some(hostgroup)
        }
        _ => None,
    };
    if verdict.destination_hostgroup.is_none() && hostgroup != own && causal.is_some() {
        ground.worker.counters.reads_split.bump();
    }
    Way { wanted, hostgroup, causal }
}

fn may_be_split(context: &Context, dealings: &Dealings, facts: &Facts) -> bool {
    let Dealings { hands, transaction, .. } = dealings;
    context.state.autocommit
        && !hands.is_open_somewhere()
        && !hands.are_in_transaction(transaction)
        && facts.is_for_any_server()
}
