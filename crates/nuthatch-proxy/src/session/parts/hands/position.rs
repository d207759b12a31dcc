//! What the session has seen: its own writes, and what servers and the cache have shown to it, of each cluster.
//!
//! It is kept where some statements are answered by servers that may be behind, and nowhere else.

use std::sync::Arc;

use nuthatch_config::HostgroupId;

use crate::backend::{CaughtUp, Need};

/// See the module's doc. Most sessions have none, and an idle one is to be small.
#[derive(Debug, Default)]
pub(crate) struct Position {
    kept: Option<Box<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// By writer hostgroup. Nearly all sessions know one.
    needs: Vec<(HostgroupId, Need)>,
    demanded: Option<Need>,
}

impl Position {
    /// Whether it is kept from now on. What was not kept is not known: whoever wishes it kept later begins with nothing.
    pub(crate) fn keep(&mut self, is_kept: bool) {
        match is_kept {
            true => drop(self.kept.get_or_insert_default()),
            false => self.kept = None,
        }
    }

    pub(crate) const fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// What a server of the cluster must show to the session.
    pub(crate) fn need(&self, writer: HostgroupId) -> Need {
        let known = self.kept.iter().flat_map(|kept| &kept.needs).find(|(cluster, _)| *cluster == writer);
        known.map(|(_, need)| need.clone()).unwrap_or_default()
    }

    /// A server of the cluster has answered, just now.
    pub(crate) fn saw(&mut self, writer: HostgroupId, server: &Arc<CaughtUp>, now_us: u64) {
        if let Some(kept) = &mut self.kept {
            kept.of(writer).saw(server, now_us);
        }
    }

    /// It was shown what some server of the cluster showed before then.
    pub(crate) fn saw_somewhere(&mut self, writer: HostgroupId, until_us: u64) {
        if let Some(kept) = &mut self.kept {
            kept.of(writer).saw_somewhere(until_us);
        }
    }

    /// The server of the statement at hand must show that; none: it may be any.
    #[inline]
    pub(crate) fn demand(&mut self, need: Option<Need>) {
        if let Some(kept) = &mut self.kept {
            kept.demanded = need;
        }
    }

    /// What the server of the statement at hand must show.
    #[inline]
    pub(crate) fn demanded(&self) -> Option<&Need> {
        self.kept.as_ref()?.demanded.as_ref()
    }
}

impl Kept {
    fn of(&mut self, writer: HostgroupId) -> &mut Need {
        let place = self.needs.iter().position(|(cluster, _)| *cluster == writer).unwrap_or_else(|| {
            self.needs.push((writer, Need::default()));
            self.needs.len() - 1
        });
        &mut self.needs[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_one_cluster_need_not_be_shown_by_another() {
        let (server, other) = (Arc::default(), CaughtUp::default());
        let mut position = Position::default();
        position.keep(true);
        position.saw(HostgroupId(1), &server, 50);
        assert!(position.need(HostgroupId(1)).is_met_by(&server));
        assert!(!position.need(HostgroupId(1)).is_met_by(&other));
        assert!(position.need(HostgroupId(2)).is_met_by(&other));
        position.saw_somewhere(HostgroupId(2), 70);
        assert_eq!(position.need(HostgroupId(2)).until_us(), 70);
        position.keep(false);
        assert_eq!(position.need(HostgroupId(1)).until_us(), 0, "what is not kept is forgotten");
    }
}
