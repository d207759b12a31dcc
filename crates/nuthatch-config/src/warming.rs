//! How servers of a hostgroup get warm before they get their whole share of its statements: its own settings, or the variables.

use crate::server::HostgroupId;
use crate::snapshot::Snapshot;

/// See the module's doc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Warming {
    /// Percent of the dumped pages that are loaded when it gets its whole share; 0 for at once.
    pub pct: u64,
    /// Percent of its share that it gets until then.
    pub weight_pct: u64,
    /// Milliseconds after which it gets it in any case.
    pub ms_max: u64,
    /// Reads of others in a second that are sent to it too, where there is no dump; 0 for none.
    pub reads_per_second: u64,
    /// Milliseconds between dumps that it is asked for; 0 for none.
    pub dump_interval_ms: u64,
}

impl Warming {
    /// Whether anything is to be known of the servers' buffer pools.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.pct > 0 || self.dump_interval_ms > 0
    }
}

impl Snapshot {
    /// How the servers of a hostgroup get warm. Without a monitor nobody knows how warm they are.
    #[must_use]
    pub fn warming(&self, hostgroup: HostgroupId) -> Warming {
        let variables = &self.mysql;
        if !variables.monitor_enabled {
            return Warming::default();
        }
        let own = self.hostgroup_attributes.get(&hostgroup).map(|own| own.warming).unwrap_or_default();
        let ms_max = own.ms_max.unwrap_or(variables.warm_max_ms);
        Warming {
            pct: if ms_max == 0 { 0 } else { own.pct.unwrap_or(variables.warm_pct) },
            weight_pct: own.weight_pct.unwrap_or(variables.warm_weight),
            ms_max,
            reads_per_second: own.reads_per_second.unwrap_or(variables.warm_reads_per_sec),
            dump_interval_ms: own.dump_interval_ms.unwrap_or(variables.warm_dump_interval_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::attributes::{HostgroupAttributes, OwnWarming};

    #[test]
    fn what_a_hostgroup_says_goes_before_the_variables_and_no_monitor_before_all() {
        let mut own = OwnWarming::default();
        for (place, (key, max)) in (1..).zip(OwnWarming::KEYS) {
            own.take(key, max - place);
        }
        let mut snapshot = Snapshot::default();
        let attributes = HostgroupAttributes { warming: own, ..HostgroupAttributes::default() };
        snapshot.hostgroup_attributes =
            [(HostgroupId(7), attributes)].into_iter().collect::<BTreeMap<_, _>>().into();
        let by_variables = snapshot.warming(HostgroupId(1));
        assert_eq!((by_variables.pct, by_variables.weight_pct, by_variables.ms_max), (90, 0, 600_000));
        assert_eq!((by_variables.reads_per_second, by_variables.dump_interval_ms), (0, 300_000));
        let expected = Warming {
            pct: 99,
            weight_pct: 98,
            ms_max: 86_399_997,
            reads_per_second: 99_996,
            dump_interval_ms: 604_799_995,
        };
        assert_eq!(snapshot.warming(HostgroupId(7)), expected);
        snapshot.mysql.warm_max_ms = 0;
        assert_eq!(snapshot.warming(HostgroupId(1)).pct, 0, "no time is no gate");
        snapshot.mysql.monitor_enabled = false;
        assert_eq!(snapshot.warming(HostgroupId(7)), Warming::default());
    }
}
