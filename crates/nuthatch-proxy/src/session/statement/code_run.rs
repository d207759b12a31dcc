//! What is known of the stored code that a statement runs.

use nuthatch_config::HostgroupId;
use nuthatch_sql::Leaves;

/// What is known, before a statement is sent, of the stored code that it may run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CodeRun {
    /// What that leaves, if it is known.
    pub(crate) leaves: Option<Leaves>,
    /// It may leave what no server tells of, as far as can be told.
    pub(crate) may_leave_untold: bool,
    /// It may read the session's last insert id.
    pub(crate) asks_for_insert_id: bool,
    /// How often code had been made then.
    pub(crate) changes: u64,
}

/// What code does that a statement names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) leaves: Leaves,
    pub(crate) asks_for_insert_id: bool,
}

/// How many bits of a memorized number say what code does.
pub(crate) const LEAVES_BITS: u32 = 4;

/// Which of them says that it may read the session's last insert id.
const ASKS_BIT: u64 = 1 << 3;

/// All that what is left depends on besides the statement's shape, as a number other than 0; none where it is not memorized.
pub(crate) fn memo_tag(version: u64, hostgroup: HostgroupId, schema: &[u8]) -> Option<u64> {
    let hostgroup = u16::try_from(hostgroup.0).ok()?;
    let is_ordinary = !nuthatch_sql::is_own_schema(schema) && version < 1 << 40;
    is_ordinary.then(|| (version + 1) << 16 | u64::from(hostgroup))
}

const LEAVES: [Leaves; 5] = [Leaves::Nothing, Leaves::Foreign, Leaves::Told, Leaves::Untold, Leaves::Lasting];

pub(crate) const fn to_bits(seen: Seen) -> u64 {
    seen.leaves as u64 | if seen.asks_for_insert_id { ASKS_BIT } else { 0 }
}

pub(crate) fn of_bits(memorized: u64) -> Seen {
    let bits = memorized & (ASKS_BIT - 1);
    let leaves = LEAVES.into_iter().find(|leaves| *leaves as u64 == bits).unwrap_or(Leaves::Lasting);
    Seen { leaves, asks_for_insert_id: memorized & ASKS_BIT != 0 }
}

/// What the server told of the session at the end of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing that it tells of has changed, but by what the text says.
    NoChange,
    /// What the text does not explain has changed.
    Change,
    /// It could not tell, or what it told is of the text.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_memorized_is_of_one_version_and_hostgroup() {
        for (leaves, asks_for_insert_id) in
            LEAVES.into_iter().flat_map(|leaves| [(leaves, false), (leaves, true)])
        {
            let seen = Seen { leaves, asks_for_insert_id };
            assert_eq!(of_bits(to_bits(seen)), seen);
        }
        let tag =
            |version, hostgroup, schema: &str| memo_tag(version, HostgroupId(hostgroup), schema.as_bytes());
        assert!(tag(0, 0, "s").is_some_and(|tag| tag != 0));
        assert_ne!(tag(0, 1, "s"), tag(1, 1, "s"));
        assert_ne!(tag(0, 1, "s"), tag(0, 2, "s"));
        assert_eq!((tag(0, 1, "SYS"), tag(1 << 40, 1, "s"), tag(0, 1 << 16, "s")), (None, None, None));
    }
}
