//! Faults that tests ask for, to see that they find them. A release build has none, and knows no flag for them.

use clap::Args;
#[cfg(debug_assertions)]
use nuthatch_proxy::Proxy;

/// Those that one start asks for.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Faults {
    /// No write moves a clock: what the exact cache serves may be stale
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    fault_stopped_clocks: bool,

    /// What stands in a binlog counts as shown by its server at once
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    fault_unproven_events: bool,
}

#[cfg(debug_assertions)]
impl Faults {
    /// From now on the proxy has them.
    pub(crate) fn begin(self, proxy: &Proxy) {
        if self.fault_stopped_clocks {
            tracing::warn!("no write moves a clock: what the cache serves may be stale");
            proxy.exact().stop_clocks();
        }
        if self.fault_unproven_events {
            tracing::warn!("events of binlogs count as shown: what the cache serves may be stale");
            proxy.exact().believe_events();
        }
    }
}
