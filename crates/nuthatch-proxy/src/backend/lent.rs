//! Connections of a hostgroup that are in use: how many, whose, and for what sessions keep them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::backend::hostgroup::Hostgroup;
use crate::backend::server::control::Control;
use crate::stats::pins::Pins;

/// Users, and reasons, that are named where it is told in words.
const NAMED_MAX: usize = 3;

/// See the module's doc. As text, all of it in one line that is never long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lent {
    /// Open or being opened, idle ones included.
    pub(super) open: usize,
    /// `max_connections` of all servers that take statements.
    pub(super) allowed: usize,
    /// With a statement on them, and kept for nothing else.
    pub(super) at_work: usize,
    /// That sessions keep between statements, by each of the reasons.
    pub(super) by_pin: BTreeMap<&'static str, usize>,
    by_user: BTreeMap<Arc<str>, usize>,
}

/// A connection in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LentConnection {
    /// `CONNECTION_ID()` of the session that has it.
    pub session: Option<u32>,
    /// As whom it is logged in.
    pub user: Arc<str>,
    /// For what the session keeps it between statements, by the names of pins; empty where it does not.
    pub pins: String,
    /// Whether the session goes on with it: it is at work, or has a transaction or other state of the session.
    pub is_unfinished: bool,
}

impl Lent {
    /// Of a hostgroup, as things are.
    pub(super) fn of(group: &Hostgroup, now_ms: u64) -> Self {
        let mut lent = Self::default();
        for server in &group.servers {
            if server.takes_new_work(now_ms) {
                lent.open += server.open();
                lent.allowed += server.connections_max();
            }
            server.visit_connections(|control| lent.add(control));
        }
        lent
    }

    fn add(&mut self, control: &Control) {
        let reasons = control.kept_for();
        if !is_lent(control) {
            return;
        }
        *self.by_user.entry(Arc::clone(&control.user)).or_default() += 1;
        if reasons.is_empty() {
            self.at_work += 1;
        }
        for (_, name) in Pins::all().filter(|(pin, _)| reasons.contains(*pin)) {
            *self.by_pin.entry(name).or_default() += 1;
        }
    }

    /// Whether no server may get one more.
    pub(super) const fn is_full(&self) -> bool {
        self.open >= self.allowed
    }

    /// By what they are kept, each with its number.
    pub(super) fn pins(&self) -> String {
        let pins = most_first(&self.by_pin);
        pins.iter().map(|(name, count)| format!("{name}={count}")).collect::<Vec<_>>().join(",")
    }
}

/// Connections of a hostgroup that are in use, one by one.
pub(super) fn lent_connections(group: &Hostgroup) -> Vec<LentConnection> {
    let mut all = Vec::new();
    for server in &group.servers {
        server.visit_connections(|control| {
            if is_lent(control) {
                all.push(LentConnection {
                    session: control.session(),
                    user: Arc::clone(&control.user),
                    pins: control.kept_for().without(Pins::PASSING).without(Pins::CONFIGURED).to_string(),
                    is_unfinished: control.is_at_work() || control.kept_for().leaves_state_behind(),
                });
            }
        });
    }
    all
}

/// Connections of a hostgroup that are in use, or are being opened.
pub(super) fn in_use(group: &Hostgroup) -> usize {
    group.servers.iter().map(|server| server.in_use()).sum()
}

/// Of those, what must be waited for until nothing runs there any more. What is kept only because that is configured is not.
pub(super) fn unfinished(group: &Hostgroup) -> usize {
    let in_use = in_use(group);
    let finished = lent_connections(group).iter().filter(|lent| !lent.is_unfinished).count();
    in_use.saturating_sub(finished)
}

fn is_lent(control: &Control) -> bool {
    control.is_at_work() || !control.kept_for().is_empty()
}

fn most_first<K: Clone + Ord>(counts: &BTreeMap<K, usize>) -> Vec<(K, usize)> {
    let mut sorted: Vec<_> = counts.iter().map(|(key, count)| (key.clone(), *count)).collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    sorted
}

impl fmt::Display for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}: {} at work", self.open, self.allowed, self.at_work)?;
        let pins = most_first(&self.by_pin);
        for (name, count) in pins.iter().take(NAMED_MAX) {
            match *name {
                "transaction" => write!(f, ", {count} in transactions")?,
                name => write!(f, ", {count} by {name}")?,
            }
        }
        if pins.len() > NAMED_MAX {
            write!(f, ", others for {} more reasons", pins.len() - NAMED_MAX)?;
        }
        let users = most_first(&self.by_user);
        for (place, (user, count)) in users.iter().take(NAMED_MAX).enumerate() {
            write!(f, "{} {user} ({count})", if place == 0 { "; of" } else { "," })?;
        }
        match users.len().saturating_sub(NAMED_MAX) {
            0 => Ok(()),
            more => write!(f, " and {more} more users"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(user: &str, is_at_work: bool, reasons: Pins) -> Control {
        let control = Control::of(&user.into());
        control.work(is_at_work);
        control.keep_for(reasons);
        control
    }

    #[test]
    fn words_name_the_most_and_stay_short() {
        let mut lent = Lent { open: 9, allowed: 9, ..Lent::default() };
        let both = Pins::TRANSACTION.with(Pins::TEMPORARY_TABLE);
        for (user, is_at_work, reasons) in [
            ("app", true, Pins::NONE),
            ("app", true, Pins::TRANSACTION),
            ("app", false, both),
            ("idle", false, Pins::NONE),
            ("b", false, Pins::GET_LOCK),
            ("c", false, Pins::HANDLER),
            ("d", false, Pins::XA),
        ] {
            lent.add(&control(user, is_at_work, reasons));
        }
        assert_eq!(
            lent.to_string(),
            "9 of 9: 1 at work, 2 in transactions, 1 by get_lock, 1 by handler, others for 2 more reasons; \
             of app (3), b (1), c (1) and 1 more users"
        );
        assert_eq!(lent.pins(), "transaction=2,get_lock=1,handler=1,temporary_table=1,xa=1");
        assert!(lent.is_full());
    }

    #[test]
    fn nothing_in_use_is_said_too() {
        assert_eq!(Lent { allowed: 5, ..Lent::default() }.to_string(), "0 of 5: 0 at work");
    }
}
