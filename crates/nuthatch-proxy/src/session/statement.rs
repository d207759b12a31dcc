//! A statement off the hit path: planned, answered alone or by a server, learned from, maybe stored.

use std::sync::Arc;

use nuthatch_cache::{Entry, Fill, Judgement, Packets};
use nuthatch_sql::Kind;
use nuthatch_wire::{AnswerEnd, AnswerKind};

use super::capture::Capture;
use super::fall::{Fall, trip};
use super::internal::asks_for_internal_session;
use super::lease::{Behind, Errand, Held};
use super::plan::Plan;
use super::text_prepared::Named;
use super::trouble::Trouble;
use super::{HitPlan, Session, SessionEnd, reply};

impl Session {
    /// Answers the statement at hand, which was not a hit.
    pub(super) async fn statement(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        trip(self.statement_text(), Fall::InTask);
        self.take_over_configuration()?;
        if asks_for_internal_session(self.statement_text()) {
            let answer = self.internal_session();
            return self.send(&answer).await;
        }
        let is_under_flag = self.next_flag_in != 0;
        let mut plan = self.plan(self.statement_text());
        let named_answer = self.plan_named(&mut plan);
        self.next_flag_in = plan.verdict.next_query_flag_in.unwrap_or(0);
        let leaves = self.does_leave_diagnostics(self.statement_text(), &plan.facts);
        self.begin_after_the_last(leaves, &plan.facts).await?;
        self.judge_cache_use();
        if is_under_flag {
            // The key does not say under which flag the rules were walked.
            self.may_use_cache = false;
        }
        self.show(now_ms, "Query", plan.hostgroup.0);
        if plan.facts.reads_counts && plan.facts.reads_insert_id {
            // An answer of the session's own must not need the connection, where to ask for one would change the other.
            self.learn_insert_id_of_held().await?;
        }
        if let Some(answer) = self.answer_alone(&plan).or(named_answer) {
            plan.count_rules();
            self.observe(&plan, 0, 0);
            self.last_ran_on = None;
            return self.send(&answer).await;
        }
        if plan.facts.kind == Kind::Kill {
            plan.count_rules();
            return self.kill_as_told().await;
        }
        self.retake_what_is_left(&plan.facts);
        let wants_cache = self.wants_cache(&plan);
        if wants_cache {
            if let Some(entry) = self.entry_of_any_epoch(&plan, now_ms) {
                return self.serve_hit(&entry, now_ms).await;
            }
            self.worker.counters.cache_get.bump();
        }
        plan.count_rules();
        // What a transaction saw may be older than now: only what ran by itself is stored.
        let mut capture = (wants_cache && !self.is_in_transaction()).then(|| self.capture());
        match self.ask_a_server(&plan, capture.as_mut()).await {
            Ok(end) => {
                self.observe_at(self.latest_us, &plan, end.ok.affected_rows, end.rows);
                if let Some(capture) = capture {
                    self.store(&plan, &end, capture);
                }
                if plan.facts.disconnects { Err(SessionEnd::Quit) } else { Ok(()) }
            }
            Err(trouble) => {
                self.observe(&plan, 0, 0);
                self.reply_trouble(trouble).await
            }
        }
    }

    /// Whether a rule wants the statement cached and statement and session allow it.
    fn wants_cache(&self, plan: &Plan) -> bool {
        plan.verdict.cache_ttl_ms.is_some_and(|ttl_ms| ttl_ms > 0)
            && plan.facts.cacheable
            && self.may_use_cache
    }

    /// The entry that answers the statement, also one that an older configuration made, if the rules in force would have
    /// made it too.
    fn entry_of_any_epoch(&self, plan: &Plan, now_ms: u64) -> Option<Entry<Arc<HitPlan>>> {
        let key = self.key(self.statement_text())?;
        let entry = self.proxy.cache.get(&key)?;
        match entry.judge(now_ms, self.snapshot.epoch.0) {
            Judgement::Expired => {
                self.proxy.cache.remove_expired(&key, now_ms);
                None
            }
            Judgement::Fresh => Some(entry),
            Judgement::OlderEpoch => {
                let ttl_ms = u64::from(plan.verdict.cache_ttl_ms?);
                let expires_ms = entry.expires_ms().min(entry.created_ms().saturating_add(ttl_ms));
                if entry.hostgroup() != plan.hostgroup.0 || now_ms >= expires_ms {
                    return None;
                }
                let renewed = entry.renewed(self.snapshot.epoch.0, expires_ms, self.hit_plan(plan));
                self.proxy.cache.insert(renewed).ok()?;
                self.proxy.cache.get(&key)
            }
        }
    }

    fn capture(&self) -> Capture {
        let configured = self.snapshot.mysql.threshold_resultset_size;
        let bytes_max = configured.min(self.proxy.cache.entry_bytes_max());
        Capture::new(usize::try_from(bytes_max).unwrap_or(usize::MAX))
    }

    fn store(&self, plan: &Plan, end: &AnswerEnd, capture: Capture) {
        let stores_empty =
            plan.verdict.cache_empty_result.unwrap_or(self.snapshot.mysql.query_cache_stores_empty_result);
        if end.rows == 0 && !stores_empty {
            return;
        }
        let (Some(ttl_ms), Some((packets, status_offsets)), Some(key)) =
            (plan.verdict.cache_ttl_ms, capture.finish(end), self.key(self.statement_text()))
        else {
            return;
        };
        let created_ms = self.latest_us / 1000;
        let stored = self.proxy.cache.insert(Fill {
            key,
            packets: Packets::Whole(&packets),
            status_offsets: &status_offsets,
            rows: end.rows,
            hostgroup: plan.hostgroup.0,
            created_ms,
            expires_ms: created_ms.saturating_add(u64::from(ttl_ms)),
            epoch: self.snapshot.epoch.0,
            plan: self.hit_plan(plan),
        });
        if let Err(refusal) = stored {
            tracing::trace!(session = self.handle.id, %refusal, "did not store an answer");
        }
    }

    /// Has a server answer, on another connection when the first had died in the pool and the statement only reads.
    async fn ask_a_server(
        &mut self,
        plan: &Plan,
        mut capture: Option<&mut Capture>,
    ) -> Result<AnswerEnd, Trouble> {
        if plan.facts.ends_transaction {
            let text = self.executed_text(plan);
            self.end_other_transactions(plan.hostgroup, &text).await?;
        }
        self.errand = Errand::of(&plan.facts);
        let mut retries_left = self.snapshot.mysql.query_retries_on_failure;
        loop {
            let mut held = self.lease(plan.hostgroup).await?;
            match self.exchange(&mut held, plan, capture.as_deref_mut()).await {
                Ok(end) => {
                    self.look_at_clock();
                    self.learn(&plan.facts, &end, &mut held);
                    self.learn_temporary_tables(plan, &end, &mut held);
                    self.learn_handlers(plan, &end, &mut held);
                    let asked = self.learn_by_asking(plan, &end, &mut held).await;
                    if let Err(trouble) = asked {
                        self.put_away(held, Some(&trouble));
                        return Err(Trouble::End(SessionEnd::Gone));
                    }
                    // One that the server hangs up on is closed.
                    if !plan.facts.disconnects {
                        self.settle(held);
                    }
                    return Ok(end);
                }
                Err(trouble) => {
                    let asks_it = held.was_held && plan.facts.asks_of_the_last();
                    let may_retry =
                        !plan.facts.writes && held.is_fresh && !asks_it && trouble.left_no_trace();
                    let may_wait = self.may_wait_instead(&held, &plan.facts);
                    self.put_away(held, Some(&trouble));
                    if may_wait && matches!(trouble, Trouble::RefusedAhead(_)) {
                        self.errand.behind = Behind::Nothing;
                        continue;
                    }
                    if !may_retry || retries_left == 0 {
                        return Err(trouble);
                    }
                    retries_left -= 1;
                    self.worker.counters.retries.bump();
                }
            }
        }
    }

    async fn learn_by_asking(
        &mut self,
        plan: &Plan,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        self.keep_what_is_left(end, held).await?;
        self.learn_name(plan, end, held).await?;
        self.learn_named_locks(plan, end, held).await?;
        self.learn_worked_out(&plan.facts, held).await?;
        self.ask_what_answers_leave_out(end, held).await
    }

    async fn exchange(
        &mut self,
        held: &mut Held,
        plan: &Plan,
        capture: Option<&mut Capture>,
    ) -> Result<AnswerEnd, Trouble> {
        self.bring_names(plan, held).await?;
        self.bring_last_results(held, &plan.facts).await?;
        self.bring_tracker(held, &plan.facts).await?;
        held.connection.count_statement();
        if matches!(plan.named, Some(Named::Prepare { .. })) {
            self.send_preparation(AnswerKind::ResultSets, held).await?;
        } else {
            let (mut way, client) = self.way_and_client(held);
            way.send_packet_of(client).await?;
        }
        let (mut way, client) = self.way_and_client(held);
        way.pass_answer(client, AnswerKind::ResultSets, capture, |_| ()).await
    }

    /// Asks the server for what its answer did not tell and the session must know.
    pub(super) async fn ask_what_answers_leave_out(
        &mut self,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        self.learn_dropped_schema(end, held).await?;
        self.keep_insert_id(held).await
    }

    /// The text of the statement at hand.
    pub(super) fn statement_text(&self) -> &[u8] {
        self.client.payload().get(1..).unwrap_or_default()
    }

    /// Sends bytes of the proxy's own making to the client.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), SessionEnd> {
        self.worker.counters.frontend_bytes_sent.add(bytes.len() as u64);
        if self.sequence_shift > 0 {
            let renumbered = reply::renumbered(bytes, self.sequence_shift);
            return Ok(self.handle.unless_ended(self.client.write(&renumbered)).await??);
        }
        Ok(self.handle.unless_ended(self.client.write(bytes)).await??)
    }
}
