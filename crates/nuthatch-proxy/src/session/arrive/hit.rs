//! The hit path: what is asked, in full, was answered before and may be given again.
//!
//! Cost of a hit: one hash of the key, one look-up under a shared lock, a full comparison, a few counters, one write. No
//! allocation, no tokenising, no lock across an await; the answer is copied only into the kernel.

use std::io::IoSlice;
use std::sync::Arc;

use nuthatch_cache::{Entry, Judgement, Key, Protocol, Standing};
use nuthatch_net::NetError;
use nuthatch_wire::{CapabilityFlags, Command};

use crate::exact::standing;
use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::arrive::attributes::{text_in, write_plain_execution};
use crate::session::parts::{CacheUse, Ground, Statements, Unsent};
use crate::session::prepare::execute::write_down_execution;
use crate::shared::answers::{Environment, HitPlan};

const PIECES_MAX: usize = 2 * nuthatch_cache::STATUS_OFFSETS_MAX + 1;

/// Cuts the entry's packets at its status flags, with `flags` in their place. Returns how many pieces there are.
fn cut<'a>(
    entry: &'a Entry<Arc<HitPlan>>,
    flags: &'a [u8; 2],
    pieces: &mut [IoSlice<'a>; PIECES_MAX],
) -> usize {
    let (mut rest, mut done, mut count) = (entry.packets(), 0, 0);
    for offset in entry.status_offsets() {
        let place = *offset as usize - done;
        let (before, from_flags) = rest.split_at(place);
        pieces[count] = IoSlice::new(before);
        pieces[count + 1] = IoSlice::new(flags);
        rest = &from_flags[flags.len()..];
        done += place + flags.len();
        count += 2;
    }
    pieces[count] = IoSlice::new(rest);
    count + 1
}

impl Session {
    /// The entry that answers the command with that payload, if the session may use it as it stands.
    pub(crate) fn look_up(&mut self, payload: &[u8], now_ms: u64) -> Option<Entry<Arc<HitPlan>>> {
        if !may_look_up(&self.ground, &self.cache) {
            return None;
        }
        let (command, rest) = payload.split_first()?;
        match Command::parse(*command)? {
            Command::Query => self.find(&self.key(text_in(&self.client, rest)?)?, now_ms),
            Command::StmtExecute => {
                if self.client.has_attributes() {
                    write_plain_execution(&mut self.statements, payload)?;
                    let Statements { prepared, plain_execution, execution, .. } = &mut self.statements;
                    prepared.as_mut()?.write_down(plain_execution, &self.context.state, execution)?;
                } else {
                    self.statements.prepared.as_mut()?.write_down(
                        payload,
                        &self.context.state,
                        &mut self.statements.execution,
                    )?;
                }
                self.find_execution(now_ms)
            }
            _ => None,
        }
    }

    /// The same of the command at hand, whose payload is the session's own.
    pub(crate) fn look_up_at_hand(&mut self, now_ms: u64) -> Option<Entry<Arc<HitPlan>>> {
        if !may_look_up(&self.ground, &self.cache) {
            return None;
        }
        let command = self.client.framed.payload().first().copied().and_then(Command::parse);
        match command? {
            Command::Query => self.find(&self.key(self.client.statement_text())?, now_ms),
            Command::StmtExecute
                if write_down_execution(&self.client, &self.context, &mut self.statements) =>
            {
                self.find_execution(now_ms)
            }
            _ => None,
        }
    }

    fn find_execution(&self, now_ms: u64) -> Option<Entry<Arc<HitPlan>>> {
        self.find(&self.key_in(Protocol::Binary, &self.statements.execution)?, now_ms)
    }

    fn find(&self, key: &Key<'_>, now_ms: u64) -> Option<Entry<Arc<HitPlan>>> {
        let entry = self.ground.shared.answers.cache.get(key)?;
        let is_allowed = match entry.is_exact() {
            true => {
                self.cache.may_use_exact
                    && self.cache.answers_from.is_none_or(|bound| bound.0 == entry.hostgroup())
                    && self.standing(&entry) == Standing::Holds
            }
            false => self.cache.may_use_any,
        };
        (is_allowed && entry.judge(now_ms, self.ground.snapshot.epoch.0) == Judgement::Fresh).then_some(entry)
    }

    /// What became of what the entry depends on, since it was read or since the snapshot of the open transaction. Cost: a load for each clock.
    pub(crate) fn standing(&self, entry: &Entry<Arc<HitPlan>>) -> Standing {
        standing(&self.ground.shared.exact.clocks, entry, self.transaction.beginning.snapshot())
    }

    /// The cache's key of `statement`.
    pub(crate) fn key<'a>(&'a self, statement: &'a [u8]) -> Option<Key<'a>> {
        self.key_in(Protocol::Text, statement)
    }

    /// The same of what comes over that protocol.
    pub(crate) fn key_in<'a>(&'a self, protocol: Protocol, statement: &'a [u8]) -> Option<Key<'a>> {
        let (user, schema) = (self.account.name.as_bytes(), self.context.state.schema.as_slice());
        Some(Key::new(user, schema, self.cache.environment?, protocol, statement))
    }

    /// Answers with the entry's packets; what the client does not take now is kept as unsent.
    pub(crate) fn give_hit(&mut self, entry: Entry<Arc<HitPlan>>, now_ms: u64) {
        self.count_hit(&entry, now_ms);
        // An error will be met again by the task that sends the rest.
        let written = self.write_entry_now(&entry).unwrap_or(0);
        if written < entry.packets().len() {
            self.client.unsent = Some(Box::new(Unsent { entry, written }));
        }
    }

    /// Answers with the entry's packets.
    pub(crate) async fn serve_hit(
        &mut self,
        entry: &Entry<Arc<HitPlan>>,
        now_ms: u64,
    ) -> Result<(), SessionEnd> {
        self.count_hit(entry, now_ms);
        let written = self.write_entry_now(entry)?;
        if written < entry.packets().len() { self.send_entry(entry, written).await } else { Ok(()) }
    }

    /// Writes as much of the entry's packets as goes out at once, under the session's own status flags.
    fn write_entry_now(&mut self, entry: &Entry<Arc<HitPlan>>) -> Result<usize, NetError> {
        let status = self.status().bits();
        if entry.status() == status {
            return self.client.framed.write_now(entry.packets());
        }
        let flags = status.to_le_bytes();
        let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
        let count = cut(entry, &flags, &mut pieces);
        self.client.framed.write_pieces_now(&pieces[..count])
    }

    /// Sends the entry's packets from the byte `written` on.
    pub(crate) async fn send_entry(
        &mut self,
        entry: &Entry<Arc<HitPlan>>,
        written: usize,
    ) -> Result<(), SessionEnd> {
        let flags = self.status().bits().to_le_bytes();
        let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
        let count = cut(entry, &flags, &mut pieces);
        let mut left = &mut pieces[..count];
        IoSlice::advance_slices(&mut left, written);
        Ok(self.ground.handle.unless_ended(self.client.framed.write_pieces(left)).await??)
    }

    fn count_hit(&mut self, entry: &Entry<Arc<HitPlan>>, now_ms: u64) {
        let counters = &self.ground.worker.counters;
        let bytes = entry.packets().len() as u64;
        counters.cache_get.bump();
        counters.cache_get_ok.bump();
        counters.cache_bytes_out.add(bytes);
        counters.frontend_bytes_sent.add(bytes);
        entry.note_hit(now_ms);
        let plan = entry.plan();
        if let Some(digest) = &plan.digest {
            digest.hit(now_ms, entry.rows());
        }
        plan.rules.iter().for_each(|rule| rule.bump());
        if !plan.leaves_diagnostics {
            if self.diagnostics.list.is_some() {
                self.diagnostics.list = None;
            }
            self.diagnostics.on = None;
        }
        self.hands.last_ran_on = None;
        (self.results.found_rows, self.results.found_rows_on) = (plan.found_rows, None);
        self.results.row_count = -1;
    }

    /// Works out the number of the session's environment anew: after a change of character set or configuration.
    pub(crate) fn renumber_environment(&mut self) {
        self.context.lexing.ascii_in_characters = self.context.state.charset.has_ascii_in_characters();
        let (rules, address) = (&self.ground.snapshot.rules, &self.ground.handle.address());
        let proxy_addr = || (Arc::clone(&address.proxy_host), address.proxy_port);
        self.context.begun.inheritance =
            self.ground.shared.hostgroups.defaults.inheritance(&self.context.begun.era);
        self.cache.environment = self.ground.shared.answers.environments.number(Environment {
            shape: self.client.shape - CapabilityFlags::CLIENT_QUERY_ATTRIBUTES,
            charset: self.context.state.charset.clone(),
            settings: self.context.begun.own(&self.context.state.settings),
            inheritance: self.context.begun.inheritance.clone(),
            role: self.context.state.role.clone(),
            client_addr: rules.looks_at_client_addr().then(|| Arc::clone(&address.host)),
            proxy_addr: rules.looks_at_proxy_addr().then(proxy_addr),
        });
    }
}

fn may_look_up(ground: &Ground, cache: &CacheUse) -> bool {
    (cache.may_use_any || cache.may_use_exact)
        && ground.shared.configuration.epoch() == ground.snapshot.epoch.0
}
