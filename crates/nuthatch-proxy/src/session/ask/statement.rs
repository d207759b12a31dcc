//! A statement that comes as text, off the hit path: planned, answered alone or by a server.

use nuthatch_sql::Kind;
use nuthatch_wire::{AnswerEnd, AnswerKind};

use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::fall::{Fall, trip};
use crate::session::parts::Held;
use crate::session::parts::Off;
use crate::session::statement::Named;
use crate::session::statement::Plan;
use crate::session::statement::Request;
use crate::session::statement::asks_for_internal_session;
use crate::session::way::Capture;
use crate::session::way::Trouble;
use crate::session::way::reply;
use crate::stats::not_cached::NotCached;

impl Session {
    /// Answers the statement at hand, which was not a hit.
    pub(crate) async fn statement(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        trip(self.client.framed.payload(), Fall::InTask);
        self.take_over_configuration()?;
        if asks_for_internal_session(self.statement_text()) {
            let answer = self.internal_session();
            return self.send(&answer).await;
        }
        let is_under_flag = self.cache.next_flag_in != 0;
        let mut plan = self.plan(self.statement_text());
        let named_answer = self.plan_named(&mut plan);
        self.cache.next_flag_in = plan.verdict.next_query_flag_in.unwrap_or(0);
        let leaves = self.does_leave_diagnostics(self.statement_text(), &plan.facts);
        self.begin_after_the_last(leaves, &plan.facts).await?;
        self.judge_cache_use();
        if is_under_flag {
            // The key does not say under which flag the rules were walked.
            self.take_cache_use(Off::wholly(NotCached::UnderFlag));
        }
        self.show(now_ms, "Query", plan.hostgroup.0);
        if plan.facts.reads_counts() && plan.facts.reads_insert_id {
            // An answer of the session's own must not need the connection, where to ask for one would change the other.
            self.learn_insert_id_of_held().await?;
        }
        if let Some(answer) = self.answer_alone(&plan).or(named_answer) {
            plan.count_rules();
            self.observe(&plan, 0, 0);
            self.hands.last_ran_on = None;
            return self.send(&answer).await;
        }
        if plan.facts.kind == Kind::Kill {
            plan.count_rules();
            return self.kill_as_told(&plan).await;
        }
        if let Some(said) = plan.said_to_cache.take() {
            plan.count_rules();
            self.hands.last_ran_on = None;
            let answer = self.do_as_said_to_cache(said).await?;
            self.observe(&plan, 0, 0);
            return self.send(&answer).await;
        }
        self.retake_what_is_left(&plan.facts);
        let caching = self.caching(&plan);
        self.answer(Request::Text, &plan, caching, now_ms).await
    }

    /// Has the connection's server execute the text.
    pub(crate) async fn query_on(
        &mut self,
        plan: &Plan,
        mut capture: Option<&mut Capture>,
        held: &mut Held,
        was_sent: &mut bool,
    ) -> Result<AnswerEnd, Trouble> {
        self.bring_names(plan, held).await?;
        let numbered = self.with_numbers(plan, held).await?;
        self.bring_last_results(held, &plan.facts, None).await?;
        self.bring_tracker(held, &plan.facts).await?;
        self.bring_transaction(held, &plan.facts).await?;
        self.begin_change_of_defaults(&plan.facts, held).await?;
        held.connection.count_statement();
        *was_sent = true;
        if plan.facts.lists_connections && plan.named.is_none() {
            return self.list_processes(held).await;
        }
        let mut flight = self.take_off(plan, capture.as_deref_mut(), held);
        if let Some(Named::Prepare { sent, .. }) = &plan.named {
            self.send_preparation(AnswerKind::ResultSets, sent.as_deref(), held).await?;
        } else {
            let (mut way, client) = self.way_and_client(held);
            way.send_packet_of_or(numbered.as_deref().or(plan.sent.as_deref()), client).await?;
        }
        let (way, client) = self.way_and_client(held);
        let answered =
            way.hearing(&mut flight).pass_answer(client, AnswerKind::ResultSets, capture, |_| ()).await;
        self.land(flight);
        answered
    }

    /// What an answered text tells of the session, and what the server must be asked for it.
    pub(crate) async fn learn_of_text(
        &mut self,
        plan: &Plan,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        let found = match plan.named {
            None => self.found_by(&plan.facts, self.statement_text(), Vec::new, end),
            Some(_) => self.found_by(&plan.facts, &self.executed_text(plan), Vec::new, end),
        };
        self.learn_found_rows(&plan.facts, found, end, held);
        self.learn_temporary_tables(plan, end, held);
        self.learn_handlers(plan, end, held);
        self.keep_what_is_left(end, held).await?;
        self.learn_name(plan, end, held).await?;
        self.learn_named_locks(plan, end, held).await?;
        self.learn_worked_out(&plan.facts, held).await?;
        self.ask_what_answers_leave_out(end, held).await?;
        self.learn_changed_defaults(&plan.facts, end, held).await
    }

    /// Asks the server for what its answer did not tell and the session must know.
    pub(crate) async fn ask_what_answers_leave_out(
        &mut self,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        self.learn_dropped_schema(end, held).await?;
        self.keep_insert_id(held).await
    }

    /// The text of the statement at hand.
    pub(crate) fn statement_text(&self) -> &[u8] {
        self.client.framed.payload().get(1..).unwrap_or_default()
    }

    /// Sends bytes of the proxy's own making to the client.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<(), SessionEnd> {
        self.ground.worker.counters.frontend_bytes_sent.add(bytes.len() as u64);
        if self.client.sequence_shift > 0 {
            let renumbered = reply::renumbered(bytes, self.client.sequence_shift);
            return Ok(self.ground.handle.unless_ended(self.client.framed.write(&renumbered)).await??);
        }
        Ok(self.ground.handle.unless_ended(self.client.framed.write(bytes)).await??)
    }
}
