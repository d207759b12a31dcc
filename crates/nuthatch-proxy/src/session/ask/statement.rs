//! A statement that comes as text, off the hit path: planned, answered alone or by a server.

use nuthatch_sql::{DefaultsChange, Kind};
use nuthatch_wire::{AnswerEnd, AnswerKind, StatusFlags};

use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::after::diagnostics::{does_leave_diagnostics, must_fetch_what_is_left};
use crate::session::after::found_rows::{found_by, learn_found_rows};
use crate::session::after::handlers::learn_handlers;
use crate::session::after::temporary::learn_temporary_tables;
use crate::session::ask::exact::land;
use crate::session::fall::{Fall, trip};
use crate::session::parts::{Held, InsertId, NamedLocks, Off, Results};
use crate::session::statement::{Facts, Named, Plan, Request, asks_for_internal_session};
use crate::session::way::{Capture, Trouble};
use crate::stats::not_cached::NotCached;
use crate::stats::pins::Pins;

impl Session {
    /// Answers the statement at hand, which was not a hit.
    pub(crate) async fn statement(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        trip(self.client.framed.payload(), Fall::InTask);
        self.take_over_configuration()?;
        if asks_for_internal_session(self.client.statement_text()) {
            let answer = self.internal_session();
            return self.client.send(&self.ground, &answer).await;
        }
        let is_under_flag = self.cache.next_flag_in != 0;
        let mut plan = self.plan(self.client.statement_text());
        let named_answer = self.plan_named(&mut plan);
        self.cache.next_flag_in = plan.verdict.next_query_flag_in.unwrap_or(0);
        let leaves = does_leave_diagnostics(
            &self.context,
            &self.diagnostics,
            self.client.statement_text(),
            &plan.facts,
        );
        self.begin_after_the_last(leaves, &plan.facts).await?;
        self.judge_cache_use();
        if is_under_flag {
            // The key does not say under which flag the rules were walked.
            self.take_cache_use(Off::wholly(NotCached::UnderFlag));
        }
        self.show(now_ms, "Query", plan.hostgroup.0);
        if plan.facts.reads_counts() && plan.facts.reads_insert_id {
            // An answer of the session's own must not need the connection, where to ask for one would change the other.
            Box::pin(self.learn_insert_id_of_held()).await?;
        }
        if let Some(answer) = self.answer_alone(&plan).or(named_answer) {
            plan.count_rules();
            self.observe(&plan, 0, 0);
            self.hands.last_ran_on = None;
            return self.client.send(&self.ground, &answer).await;
        }
        if plan.facts.kind == Kind::Kill {
            plan.count_rules();
            return Box::pin(self.kill_as_told(&plan)).await;
        }
        if let Some(said) = plan.said_to_cache.take() {
            plan.count_rules();
            self.hands.last_ran_on = None;
            let answer = Box::pin(self.do_as_said_to_cache(said)).await?;
            self.observe(&plan, 0, 0);
            return self.client.send(&self.ground, &answer).await;
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
        if plan.brings_names() {
            Box::pin(self.bring_names(plan, held)).await?;
        }
        let numbered = match plan.facts.asks_for_numbers && plan.named.is_none() {
            true => Box::pin(self.with_numbers(plan, held)).await?,
            false => None,
        };
        if self.must_bring_more(&plan.facts, None, held) {
            Box::pin(self.bring_more(&plan.facts, None, held)).await?;
        }
        held.connection.count_statement();
        *was_sent = true;
        if plan.facts.lists_connections && plan.named.is_none() {
            return Box::pin(self.list_processes(held)).await;
        }
        let mut flight = self.take_off(plan, capture.as_deref_mut(), held);
        if let Some(Named::Prepare { sent, .. }) = &plan.named {
            Box::pin(self.send_preparation(AnswerKind::ResultSets, sent.as_deref(), held)).await?;
        } else {
            let (mut way, client) = self.way_and_client(held);
            way.send_packet_of_or(numbered.as_deref().or(plan.sent.as_deref()), client).await?;
        }
        let (way, client) = self.way_and_client(held);
        let answered =
            way.hearing(&mut flight).pass_answer(client, AnswerKind::ResultSets, capture, |_| ()).await;
        land(&self.ground, &mut self.transaction, &self.hands, flight);
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
            None => found_by(&self.context, &plan.facts, self.client.statement_text(), Vec::new, end),
            Some(_) => found_by(&self.context, &plan.facts, &self.executed_text(plan), Vec::new, end),
        };
        learn_found_rows(&mut self.results, &plan.facts, found, end, held);
        learn_temporary_tables(&self.client, &self.context, plan, end, held);
        learn_handlers(&self.client, &self.context, plan, end, held);
        if must_fetch_what_is_left(&self.ground, &self.diagnostics, held) {
            Box::pin(self.keep_what_is_left(end, held)).await?;
        }
        if let Some(Named::Prepare { .. }) = &plan.named {
            Box::pin(self.learn_name(plan, end, held)).await?;
        }
        match held.pins.contains(Pins::GET_LOCK) {
            true => Box::pin(self.learn_named_locks(plan, end, held)).await?,
            false => held.named_locks = NamedLocks::default(),
        }
        self.ask_for_more(&plan.facts, end, held).await
    }

    /// What a connection must have before a statement is sent over it, besides the session's state and names: most need nothing of it.
    ///
    /// The futures of the steps are large, and copied where they are awaited: so none is made that is not needed.
    pub(crate) fn must_bring_more(&self, facts: &Facts, prepared: Option<&[u8]>, held: &Held) -> bool {
        facts.asks_of_the_last()
            || facts.sequences.is_some()
            || facts.asks_for_gtid
            || facts.reads_tracker
            || facts.changes_defaults != DefaultsChange::No
            || self.must_bring_transaction(held, facts)
            || self.must_bring_insert_id(held, facts, prepared)
    }

    /// Brings it.
    pub(crate) async fn bring_more(
        &mut self,
        facts: &Facts,
        prepared: Option<&[u8]>,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        self.bring_last_results(held, facts, prepared).await?;
        self.bring_tracker(held, facts).await?;
        self.bring_transaction(held, facts).await?;
        self.begin_change_of_defaults(facts, held).await
    }

    /// Asks the server for what its answer did not tell of the session's variables, and of anything else.
    pub(crate) async fn ask_for_more(
        &mut self,
        facts: &Facts,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if held.is_to_be_asked {
            Box::pin(self.learn_worked_out(facts, held)).await?;
        }
        if leaves_out(&self.results, end, held) {
            Box::pin(self.ask_what_answers_leave_out(end, held)).await?;
        }
        if facts.changes_defaults != DefaultsChange::No {
            Box::pin(self.learn_changed_defaults(facts, end, held)).await?;
        }
        Ok(())
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
}

/// Whether the session must know something that the answer did not tell.
fn leaves_out(results: &Results, end: &AnswerEnd, held: &Held) -> bool {
    held.is_in_unnamed_schema
        || end.status_seen.contains(StatusFlags::SERVER_STATUS_DB_DROPPED)
        || results.insert_id == InsertId::At(held.connection.thread_id)
}
