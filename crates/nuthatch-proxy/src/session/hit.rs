//! The hit path: what is asked, in full, was answered before and may be given again.
//!
//! Cost of a hit: one hash of the key, one look-up under a shared lock, a full comparison, a few counters, one write. No
//! allocation, no tokenising, no lock across an await; the answer is copied only into the kernel.

use std::io::IoSlice;
use std::sync::Arc;

use nuthatch_cache::{Entry, Judgement, Key, Protocol};
use nuthatch_config::RuleHits;

use crate::environment::Environment;
use crate::stats::DigestCounters;

use super::{Session, SessionEnd};

/// What a hit bumps besides the worker's counters: as if the statement had gone its way through the rules.
#[derive(Debug)]
pub(crate) struct HitPlan {
    pub(super) digest: Option<Arc<DigestCounters>>,
    pub(super) rules: Box<[Arc<RuleHits>]>,
}

impl Session {
    /// The entry that answers the statement at hand, if the session may use it as it stands.
    pub(super) fn look_up(&self, now_ms: u64) -> Option<Entry<Arc<HitPlan>>> {
        if !self.may_use_cache || self.proxy.epoch() != self.snapshot.epoch.0 {
            return None;
        }
        let entry = self.proxy.cache.get(&self.key()?)?;
        (entry.judge(now_ms, self.snapshot.epoch.0) == Judgement::Fresh).then_some(entry)
    }

    /// The cache's key of the statement at hand.
    pub(super) fn key(&self) -> Option<Key<'_>> {
        let (user, schema) = (self.account.name.as_bytes(), self.state.schema.as_slice());
        let statement = self.client.payload().get(1..)?;
        Some(Key::new(user, schema, self.environment?, Protocol::Text, statement))
    }

    /// Answers with the entry's packets, under the session's own status flags.
    pub(super) async fn serve_hit(
        &mut self,
        entry: &Entry<Arc<HitPlan>>,
        now_ms: u64,
    ) -> Result<(), SessionEnd> {
        self.count_hit(entry, now_ms);
        let (handle, packets) = (&self.handle, entry.packets());
        let status = self.status().bits();
        if entry.status() == status {
            let written = self.client.write_now(packets)?;
            return match &packets[written..] {
                [] => Ok(()),
                rest => Ok(handle.unless_ended(self.client.write(rest)).await??),
            };
        }
        let flags = status.to_le_bytes();
        let mut pieces = [IoSlice::new(&[]); 2 * nuthatch_cache::STATUS_OFFSETS_MAX + 1];
        let mut rest = packets;
        let mut done = 0;
        let mut count = 0;
        for offset in entry.status_offsets() {
            let place = *offset as usize - done;
            let (before, from_flags) = rest.split_at(place);
            pieces[count] = IoSlice::new(before);
            pieces[count + 1] = IoSlice::new(&flags);
            rest = &from_flags[flags.len()..];
            done += place + flags.len();
            count += 2;
        }
        pieces[count] = IoSlice::new(rest);
        Ok(handle.unless_ended(self.client.write_pieces(&mut pieces[..=count])).await??)
    }

    fn count_hit(&mut self, entry: &Entry<Arc<HitPlan>>, now_ms: u64) {
        let counters = &self.worker.counters;
        let bytes = entry.packets().len() as u64;
        counters.cache_get.bump();
        counters.cache_get_ok.bump();
        counters.cache_bytes_out.add(bytes);
        counters.frontend_bytes_sent.add(bytes);
        let plan = entry.plan();
        if let Some(digest) = &plan.digest {
            digest.hit(now_ms, entry.rows());
        }
        plan.rules.iter().for_each(|rule| rule.bump());
        self.last_ran_on = None;
        self.last.found_rows = entry.rows();
        self.last.row_count = -1;
    }

    /// Works out the number of the session's environment anew: after a change of character set or configuration.
    pub(super) fn renumber_environment(&mut self) {
        self.lexing.ascii_in_characters = self.state.charset.has_ascii_in_characters();
        let (rules, address) = (&self.snapshot.rules, &self.handle.address);
        let proxy_addr = || (Arc::clone(&address.proxy_host), address.proxy_port);
        self.environment = self.proxy.environments.number(Environment {
            shape: self.shape,
            charset: self.state.charset.clone(),
            client_addr: rules.looks_at_client_addr().then(|| Arc::clone(&address.host)),
            proxy_addr: rules.looks_at_proxy_addr().then(proxy_addr),
        });
    }
}
