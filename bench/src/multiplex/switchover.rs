//! One planned switchover: the order, and what the proxy says of its steps.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::clock::monotonic;
use crate::proxy::Proxy;

/// See the module's doc.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Switchover {
    /// When it was ordered, and when it was through.
    pub(super) began: Duration,
    pub(super) ended: Duration,
    /// How long statements were held.
    pub(super) held: Duration,
    /// What of that the servers took: to end what ran, to be read-only, to catch up, to take writes.
    pub(super) by_servers: Duration,
}

impl Switchover {
    /// Has that server take the writes.
    pub(super) fn order(proxy: &Proxy, hostgroup: u32, to: &str) -> Result<Self> {
        let began = monotonic();
        let steps = proxy.ask(&format!("NUTHATCH SWITCHOVER HOSTGROUP {hostgroup} TO '{to}'"))?;
        let (held, by_servers) = times(&steps)?;
        Ok(Self { began, ended: monotonic(), held, by_servers })
    }
}

/// From the steps, of which each is a line: milliseconds since the beginning, and what was done.
fn times(steps: &str) -> Result<(Duration, Duration)> {
    let at = |is_it: fn(&str) -> bool| {
        let mut steps = steps.lines().filter_map(|line| line.split_once('\t'));
        let (at_ms, _) = steps.find(|(_, what)| is_it(what))?;
        at_ms.parse().ok().map(Duration::from_millis)
    };
    let held = at(|what| what.starts_with("statements of") && what.ends_with(" wait"));
    let lifted = at(|what| what.ends_with(" takes writes"));
    let released = at(|what| what.starts_with("statements of") && what.contains(" go to "));
    let times = held.zip(lifted).zip(released);
    let ((held, lifted), released) = times.with_context(|| format!("a step is missing:\n{steps}"))?;
    Ok((released.saturating_sub(held), lifted.saturating_sub(held)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_between_the_steps() {
        let steps = "2\tdb2:3306 is near enough\n3\tstatements of hostgroup 0 wait\n9\tnothing is under way any more\n\
                     20\tdb2:3306 takes writes\n24\tstatements of hostgroup 0 go to db2:3306\n90\tdb1:3306 follows\n";
        let ms = Duration::from_millis;
        assert_eq!(times(steps).unwrap(), (ms(21), ms(17)));
        assert!(times("3\tstatements of hostgroup 0 wait\n").is_err());
    }
}
