//! How long somebody may wait in a line, and with how much.

use nuthatch_config::MysqlVariables;

/// What those in a line wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::backend) enum Awaited {
    /// A connection: servers are there.
    #[default]
    Connection,
    /// A server: none takes statements, and one may come.
    Server,
    /// That the hostgroup is held no more.
    Release,
}

/// How long somebody waits. Times are in microseconds of the clock.
#[derive(Debug, Clone, Copy)]
pub(in crate::backend) struct Stay {
    /// Since when.
    pub(in crate::backend) since_us: u64,
    patience_us: u64,
    hold_us: u64,
    bytes: u64,
}

impl Stay {
    /// As long as the variables let a statement of so many bytes wait.
    pub(in crate::backend) fn at_most(since_us: u64, variables: &MysqlVariables, bytes: usize) -> Self {
        Self {
            since_us,
            patience_us: variables.connect_timeout_server_max.saturating_mul(1000),
            hold_us: variables.hold_for_writer_ms.saturating_mul(1000),
            bytes: bytes as u64,
        }
    }

    /// Bytes of the statement that waits.
    pub(super) const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Until when, where that has been awaited since then. What was waited for something else does not count, but in all it is never more
    /// than both limits together.
    pub(super) fn until_us(self, awaited: Awaited, awaited_since_us: u64) -> u64 {
        let limit_us = match awaited {
            Awaited::Connection => self.patience_us,
            Awaited::Server | Awaited::Release => self.hold_us,
        };
        let in_all_us = self.patience_us.saturating_add(self.hold_us);
        let until_us = self.since_us.max(awaited_since_us).saturating_add(limit_us);
        until_us.min(self.since_us.saturating_add(in_all_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_is_awaited_has_its_limit_and_all_of_them_together_have_one() {
        let mut variables = MysqlVariables::default();
        (variables.connect_timeout_server_max, variables.hold_for_writer_ms) = (3, 10);
        let stay = Stay::at_most(1_000, &variables, 7);
        for (awaited, since_us, until_us) in [
            (Awaited::Connection, 0, 4_000),
            (Awaited::Connection, 2_000, 5_000),
            (Awaited::Connection, 13_000, 14_000),
            (Awaited::Server, 0, 11_000),
            (Awaited::Release, 2_000, 12_000),
            (Awaited::Release, 9_000, 14_000),
        ] {
            assert_eq!(stay.until_us(awaited, since_us), until_us, "{awaited:?} {since_us}");
        }
    }
}
