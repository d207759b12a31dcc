//! The lines of all hostgroups, to be shown: `stats_nuthatch_lines`.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::backend::hostgroup::{Hostgroup, Hostgroups};
use crate::backend::lent::{Lent, in_use, unfinished};
use crate::backend::server::line::holding::Wait;
use crate::backend::why_none::why_none_in;

/// A row of `stats_nuthatch_lines`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of the table under their names")]
pub struct LineRow {
    pub hostgroup: u32,
    pub waiting: u64,
    pub waiting_max: u64,
    pub statements_limit: u64,
    pub waiting_bytes: u64,
    pub bytes_limit: u64,
    pub refused: u64,
    pub oldest_wait_ms: u64,
    /// Why who waits gets nothing; empty where nobody waits and nothing is in the way.
    pub reason: String,
    pub held: bool,
    pub hold_reason: String,
    pub connections_used: u64,
    /// Of those, with a statement, a transaction or other state of a session on them, and those that are being opened.
    pub connections_unfinished: u64,
    pub connections_max: u64,
    pub pins: String,
}

/// One row for each hostgroup that is configured, held or waited for, by their numbers.
pub(crate) fn line_rows(hostgroups: &Hostgroups, now_us: u64) -> Vec<LineRow> {
    let groups = hostgroups.all_groups();
    let is_shown = |group: &&Arc<Hostgroup>| !(group.is_gone() && group.line.is_free());
    let mut rows: Vec<_> = groups.iter().filter(is_shown).map(|group| row(group, now_us)).collect();
    rows.sort_by_key(|row| row.hostgroup);
    rows
}

fn row(group: &Hostgroup, now_us: u64) -> LineRow {
    // Who orders a hold and looks here sees all that was on its way.
    fence(Ordering::SeqCst);
    let (line, lent) = (group.line.view(), Lent::of(group, now_us / 1000));
    let is_asked = line.waiting > 0 || line.wait.is_some();
    let reason = if is_asked { why_none_in(group, &line, now_us) } else { String::new() };
    let (held, hold_reason) = match &line.wait {
        Some(Wait::Release { reasons, .. }) => (true, reasons.clone()),
        _ => (false, String::new()),
    };
    LineRow {
        hostgroup: group.id.0,
        waiting: line.waiting,
        waiting_max: line.waiting_max,
        statements_limit: line.limits.0,
        waiting_bytes: line.waiting_bytes,
        bytes_limit: line.limits.1,
        refused: line.refused,
        oldest_wait_ms: line.oldest_since_us.map_or(0, |since_us| now_us.saturating_sub(since_us) / 1000),
        reason,
        held,
        hold_reason,
        connections_used: in_use(group) as u64,
        connections_unfinished: unfinished(group) as u64,
        connections_max: lent.allowed as u64,
        pins: lent.pins(),
    }
}

/// Of all lines together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineLevels {
    pub(crate) waiting: u64,
    /// Of those, in the longest line.
    pub(crate) longest: u64,
    /// In the line with most bytes.
    pub(crate) most_bytes: u64,
    pub(crate) refused: u64,
    /// Hostgroups that are held.
    pub(crate) held: u64,
    /// Hostgroups that are waited for because no server of them takes statements.
    pub(crate) without_server: u64,
}

/// Of all lines together, now.
pub(crate) fn line_levels(hostgroups: &Hostgroups) -> LineLevels {
    hostgroups.all_groups().iter().map(|group| group.line.view()).fold(
        LineLevels::default(),
        |levels, line| LineLevels {
            waiting: levels.waiting + line.waiting,
            longest: levels.longest.max(line.waiting),
            most_bytes: levels.most_bytes.max(line.waiting_bytes),
            refused: levels.refused + line.refused,
            held: levels.held + u64::from(matches!(line.wait, Some(Wait::Release { .. }))),
            without_server: levels.without_server + u64::from(matches!(line.wait, Some(Wait::Server { .. }))),
        },
    )
}
