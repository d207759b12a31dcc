//! What is to be done, and by whose wish.

use std::time::Duration;

use nuthatch_config::{LossMax, ServerName};

use super::evidence::Silence;
use super::fencing::FenceCommand;
use crate::order::{Account, Cluster, KeptOut};

/// Who wants a failover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An operator: who has said so is the majority, and takes any loss.
    Order,
    /// The proxy itself.
    Auto,
}

/// See the module's doc.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Of which pair.
    pub cluster: Cluster,
    /// How many servers are configured for it, those included that an operator has cut off.
    pub configured: usize,
    /// Who may take statements at all, and how heavy each is.
    pub may_write: Vec<(ServerName, u64)>,
    /// Those that were replaced and do not follow again yet, as far as this proxy knows.
    pub kept_out: Vec<KeptOut>,
    /// Who is to take the writes, if somebody has said so.
    pub to: Option<ServerName>,
    /// By whose wish.
    pub cause: Cause,
    /// Whether it is enough that the primary does not answer.
    pub silence: Silence,
    /// As whom replicas log in to the new primary.
    pub replication: Account,
    /// What is run before anything else is touched.
    pub fence: Option<FenceCommand>,
    /// How many acknowledged transactions may be lost.
    pub max_loss: LossMax,
    /// One look at the primary.
    pub look: Duration,
    /// One answer of a server.
    pub answer: Duration,
    /// The new primary applies what it has received.
    pub catch_up: Duration,
}

impl Demand {
    /// Whether that server was replaced before.
    pub(crate) fn keeps_out(&self, server: &ServerName) -> bool {
        self.kept_out.iter().any(|one| one.name == *server)
    }
}
