//! The answer to a statement that the session does not give by itself: from the cache, or by a server and then stored.
//!
//! One way for both protocols: what differs is how the statement is named in the cache, how it is sent, and what its text tells of
//! the session afterwards.

use std::sync::Arc;

use nuthatch_cache::{Entry, Fill, Judgement, Key, Packets, Protocol, Refusal};
use nuthatch_sql::Kind;
use nuthatch_wire::{AnswerEnd, Ending};

use crate::roster::SessionEnd;
use crate::session::after::diagnostics::count_error;
use crate::session::ask::exact::{dependencies_of, may_fill, own_up};
use crate::session::ask::lease::{has_other_transactions, may_wait_instead};
use crate::session::parts::{Ground, Held};
use crate::session::statement::{Caching, Plan, Request};
use crate::session::way::{Capture, Depends, Trouble};
use crate::session::{Session, look_at_clock};
use crate::shared::answers::HitPlan;
use crate::state::Behind;
use crate::stats::not_cached::NotCached;

impl Session {
    /// Answers the statement at hand from the cache, or by a server; then it is stored if it may be.
    pub(crate) async fn answer(
        &mut self,
        request: Request<'_>,
        plan: &Plan,
        caching: Caching,
        now_ms: u64,
    ) -> Result<(), SessionEnd> {
        if caching.is_any() {
            if let Some(entry) = self.entry_of_any_epoch(request, plan, caching, now_ms) {
                return self.serve_hit(&entry, now_ms).await;
            }
            self.ground.worker.counters.cache_get.bump();
            plan.count_miss();
        } else if plan.facts.kind == Kind::Select {
            self.ground.worker.counters.selects_not_cached.bump();
        }
        plan.count_rules();
        let mut capture =
            may_fill(&self.transaction, &self.hands, caching).map(|()| capture(&self.ground, caching));
        match self.ask_a_server(request, plan, capture.as_mut().ok()).await {
            Ok(end) => {
                self.ground.observe_at(self.ground.latest_us, plan, end.ok.affected_rows, end.rows);
                plan.count_fill(
                    capture.and_then(|capture| self.store(request, plan, caching, &end, capture)),
                );
                if plan.facts.hangs_up(&end) { Err(SessionEnd::Quit) } else { Ok(()) }
            }
            Err(trouble) => {
                self.observe(plan, 0, 0);
                Box::pin(self.reply_trouble(trouble)).await
            }
        }
    }

    /// The cache's key of the statement at hand.
    fn key_of(&self, request: Request<'_>) -> Option<Key<'_>> {
        match request {
            Request::Text => self.key_in(Protocol::Text, self.client.statement_text()),
            Request::Execution { .. } => self.key_in(Protocol::Binary, &self.statements.execution),
        }
    }

    /// The entry that answers the statement, also one that an older configuration made, if the rules in force would have
    /// made it too.
    fn entry_of_any_epoch(
        &self,
        request: Request<'_>,
        plan: &Plan,
        caching: Caching,
        now_ms: u64,
    ) -> Option<Entry<Arc<HitPlan>>> {
        let key = self.key_of(request)?;
        let entry = self.ground.shared.answers.cache.get(&key)?;
        if entry.is_exact() != caching.is_exact() {
            return None;
        }
        let is_from_there = entry.hostgroup() == plan.hostgroup.0;
        if entry.is_exact() && !(self.cache.may_use_exact && is_from_there && self.stands(&key, &entry)) {
            return None;
        }
        match entry.judge(now_ms, self.ground.snapshot.epoch.0) {
            Judgement::Expired => {
                if self.ground.shared.answers.cache.remove_expired(&key, now_ms) {
                    entry.plan().count_expired();
                }
                None
            }
            Judgement::Fresh => Some(entry),
            Judgement::OlderEpoch => {
                let expires_ms = entry.expires_ms().min(caching.expires_ms(entry.created_ms()));
                if !is_from_there || now_ms >= expires_ms {
                    return None;
                }
                let hit_plan = self.hit_plan(plan, entry.plan().found_rows);
                let renewed = entry.renewed(self.ground.snapshot.epoch.0, expires_ms, hit_plan);
                insert(&self.ground, renewed).ok()?;
                self.ground.shared.answers.cache.get(&key)
            }
        }
    }

    /// Stores the answer that ended so, or says why not.
    fn store(
        &self,
        request: Request<'_>,
        plan: &Plan,
        caching: Caching,
        end: &AnswerEnd,
        mut capture: Capture,
    ) -> Result<(), NotCached> {
        let stores_empty = plan
            .verdict
            .cache_empty_result
            .unwrap_or(self.ground.snapshot.mysql.query_cache_stores_empty_result);
        let reading = capture.reading.take();
        let (packets, status_offsets) = capture.finish(end)?;
        if end.rows == 0 && !stores_empty {
            return Err(NotCached::Empty);
        }
        let Depends { clocks, since } = match (caching, &reading) {
            (Caching::Exact { .. }, Some(reading)) => dependencies_of(&self.ground, reading, end)?,
            (Caching::Exact { .. }, None) => return Err(NotCached::TablesNotUnderstood),
            _ => Depends::default(),
        };
        let created_ms = self.ground.latest_us / 1000;
        insert(
            &self.ground,
            Fill {
                key: self.key_of(request).ok_or(NotCached::TooManyEnvironments)?,
                packets: Packets::Whole(&packets),
                status_offsets: &status_offsets,
                rows: end.rows,
                hostgroup: plan.hostgroup.0,
                created_ms,
                expires_ms: caching.expires_ms(created_ms),
                epoch: self.ground.snapshot.epoch.0,
                clocks: &clocks,
                since,
                plan: self.hit_plan(plan, self.results.found_rows),
            },
        )?;
        if let Some(reading) = reading {
            self.ground.shared.exact.table_counters.count_reads(&reading.footprint);
        }
        Ok(())
    }

    /// Has a server answer, on another connection when the first had died in the pool and the statement, if it was sent, only reads.
    async fn ask_a_server(
        &mut self,
        request: Request<'_>,
        plan: &Plan,
        mut capture: Option<&mut Capture>,
    ) -> Result<AnswerEnd, Trouble> {
        own_up(&self.ground, &mut self.transaction);
        if plan.facts.ends_transaction && has_other_transactions(&self.hands, plan) {
            match request {
                Request::Text => {
                    let text = self.executed_text(plan);
                    Box::pin(self.end_other_transactions(plan, &text)).await?;
                }
                Request::Execution { text, .. } => Box::pin(self.end_other_transactions(plan, text)).await?,
            }
        }
        self.hands.errand = match request {
            Request::Text if plan.named.is_none() => {
                self.errand_of_text(&plan.facts, self.client.statement_text())
            }
            Request::Text | Request::Execution { .. } => self.context.errand_of(&plan.facts),
        };
        let mut retries_left = self.ground.snapshot.mysql.query_retries_on_failure;
        loop {
            let mut held = self.lease(plan.hostgroup).await?;
            let mut was_sent = false;
            let answered = match request {
                Request::Text => self.query_on(plan, capture.as_deref_mut(), &mut held, &mut was_sent).await,
                Request::Execution { id, text } => {
                    let capture = capture.as_deref_mut();
                    self.execute_on(id, text, plan, capture, &mut held, &mut was_sent).await
                }
            };
            match answered {
                Ok(end) => {
                    self.take_note(request, plan, &end, held).await?;
                    self.transaction
                        .learn_opening(capture.and_then(|capture| capture.reading.as_ref()), &end);
                    return Ok(end);
                }
                Err(trouble) => {
                    let asks_it = held.was_held && plan.facts.asks_of_the_last();
                    let may_repeat = held.is_fresh && !asks_it && (!was_sent || !plan.facts.writes);
                    let may_wait = may_wait_instead(&held, &plan.facts);
                    self.put_away(held, Some(&trouble));
                    if may_wait && matches!(trouble, Trouble::RefusedAhead(_)) {
                        self.hands.errand.behind = Behind::Nothing;
                        continue;
                    }
                    if !may_repeat || !trouble.left_no_trace() || retries_left == 0 {
                        return Err(trouble);
                    }
                    retries_left -= 1;
                    self.ground.worker.counters.retries.bump();
                }
            }
        }
    }

    /// Learns from the answer that the client has by now, so that nothing may be tried again, and lets go of the connection.
    async fn take_note(
        &mut self,
        request: Request<'_>,
        plan: &Plan,
        end: &AnswerEnd,
        mut held: Held,
    ) -> Result<(), Trouble> {
        look_at_clock(&mut self.ground);
        let prepared = match request {
            Request::Text => None,
            Request::Execution { text, .. } => Some(text),
        };
        self.learn(&plan.facts, prepared, end, &mut held);
        self.learn_stored_code(request, plan, end, &mut held);
        let learned = match request {
            Request::Text => self.learn_of_text(plan, end, &mut held).await,
            Request::Execution { id, text } => self.learn_of_execution(id, text, plan, end, &mut held).await,
        };
        if let Err(trouble) = learned {
            self.put_away(held, Some(&trouble));
            return Err(Trouble::End(SessionEnd::Gone));
        }
        if let Ending::Err(number) = end.ending {
            let text = prepared.unwrap_or_else(|| self.client.statement_text());
            count_error(&self.ground, &self.account, &self.context, number, text, &plan.facts, &mut held);
        }
        // One that the server hangs up on is closed.
        if !plan.facts.hangs_up(end) {
            self.settle(held);
        }
        Ok(())
    }
}

fn capture(ground: &Ground, caching: Caching) -> Capture {
    let configured = ground.snapshot.mysql.threshold_resultset_size;
    let bytes_max = configured.min(ground.shared.answers.cache.entry_bytes_max());
    Capture::new(usize::try_from(bytes_max).unwrap_or(usize::MAX), caching.is_exact())
}

fn insert(ground: &Ground, fill: Fill<'_, Arc<HitPlan>>) -> Result<(), Refusal> {
    ground.shared.answers.cache.insert_and(fill, |evicted| evicted.plan().count_evicted())
}
