//! `PREPARE`, `EXECUTE` and `DEALLOCATE PREPARE` as text: the names are the session's, the preparations the connections'.
//!
//! What a session prepares under a name is kept with the session, and prepared again, under that name, on whichever connection
//! it gets for an `EXECUTE`. Another session's statement of the same name there is replaced, and that session prepares its own
//! again when it needs it. So a name holds no connection. An `EXECUTE` is judged by what it executes.
//!
//! Names are *given up* to one connection, and pinned to it, when a statement runs that may use or make names out of sight: a
//! procedure, several statements in one, a `PREPARE` of an expression.

use std::sync::Arc;

use nuthatch_sql::{Kind, NotCacheable, ServerFlavor, TextPrepared, classify, kill, text_prepared};
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending, ErrorCode};

use crate::backend::StatementKey;
use crate::session::Session;
use crate::session::decide::connection_numbers::with_own_number;
use crate::session::decide::stored_code::code_run_by_name;
use crate::session::parts::names::{NAMES_MAX, NamedStatement, folded};
use crate::session::parts::{Context, Hands, Held};
use crate::session::prepare::prepared::state_of;
use crate::session::statement::{Facts, Named, Plan, asks_for_numbers, may_use_names, said_to_cache};
use crate::session::way::{Trouble, UNSUPPORTED_PS, reply};
use crate::stats::pins::Pins;

impl Session {
    /// Completes the plan of a `PREPARE`, `EXECUTE` or `DEALLOCATE`. Returns the answer if the session itself gives it.
    pub(crate) fn plan_named(&mut self, plan: &mut Plan) -> Option<Vec<u8>> {
        if !matches!(plan.facts.kind, Kind::Prepare | Kind::Execute | Kind::Deallocate)
            || self.statements.names.as_ref().is_some_and(|names| names.are_given_up)
        {
            return None;
        }
        match text_prepared(self.client.statement_text(), self.context.lexing)? {
            TextPrepared::Prepare { name, statement: Some(text) } => {
                let name = folded(&name);
                let inner = Facts::of(&classify(&text, self.context.lexing));
                let is_unknown_kill = inner.kind == Kind::Kill && kill(&text, self.context.lexing).is_none();
                if is_unknown_kill || said_to_cache(inner.kind, &text, self.context.lexing).is_some() {
                    return Some(self.own_error(ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS));
                }
                let names = self.statements.names.get_or_insert_default();
                if names.statements.len() >= NAMES_MAX && !names.statements.contains_key(&name) {
                    let message =
                        format!("Can't create more than {NAMES_MAX} prepared statements in a session");
                    return Some(self.own_error(ErrorCode::TOO_MANY_STATEMENTS, &message));
                }
                plan.facts.pins =
                    plan.facts.pins.without(Pins::TEXT_PREPARE).with(inner.pins_when_prepared());
                plan.facts.sets_by_hint = inner.sets_by_hint;
                let asks_for_numbers = asks_for_numbers(inner.kind, &text);
                let numbered =
                    with_own_number(&self.ground, &self.context, &Facts { asks_for_numbers, ..inner }, &text);
                let sent = numbered.map(|numbered| preparation_of(&self.context, &name, &numbered).into());
                plan.named = Some(Named::Prepare { name, text: text.into(), sent });
                None
            }
            TextPrepared::Prepare { name, statement: None } => {
                self.statements.forget_name(&folded(&name));
                None
            }
            TextPrepared::Execute { name } => match self.statements.named_text(&folded(&name)) {
                Some(text) => {
                    let facts = Facts::of(&classify(&text, self.context.lexing))
                        .with_settings(&text, self.context.lexing);
                    let code =
                        code_run_by_name(&self.ground, &self.context, &text, facts.class, plan.hostgroup);
                    let multiplex = plan.facts.multiplex;
                    plan.facts = Facts {
                        reads_insert_id: facts.reads_insert_id || code.asks_for_insert_id,
                        cacheable: Err(NotCacheable::NotSelect),
                        has_parameters: true,
                        multiplex,
                        code,
                        ..facts
                    };
                    plan.hostgroup = self.hostgroup_for(plan.wanted, &plan.facts);
                    plan.named = Some(Named::Execute { name: folded(&name) });
                    None
                }
                None => {
                    plan_unknown(&self.context, &self.hands, plan, &name);
                    None
                }
            },
            TextPrepared::Deallocate { name } => match self.statements.forget_name(&folded(&name)) {
                true => {
                    self.results.row_count = 0;
                    Some(reply::ok(self.status()))
                }
                false => {
                    plan_unknown(&self.context, &self.hands, plan, &name);
                    None
                }
            },
        }
    }

    /// What the statement at hand executes: itself, unless it names another.
    pub(crate) fn executed_text(&self, plan: &Plan) -> Arc<[u8]> {
        self.statements.prepared_text(plan).unwrap_or_else(|| self.client.statement_text().into())
    }

    /// Sees to it that the connection knows what the statement needs of names.
    pub(crate) async fn bring_names(&mut self, plan: &Plan, held: &mut Held) -> Result<(), Trouble> {
        match &plan.named {
            Some(Named::Execute { name }) => {
                self.prepare_name_on(name, held).await?;
                // What it executes may be the call of a procedure.
                match may_use_names(plan.facts.kind) {
                    true => self.give_names_up(held).await,
                    false => self.take_surplus_back(held).await,
                }
            }
            Some(Named::Unknown { name }) if held.connection.named.knows(name) => {
                self.deallocate(name, held).await?;
                held.connection.named.remove(name);
                Ok(())
            }
            Some(Named::Prepare { .. } | Named::Unknown { .. }) => Ok(()),
            None if may_use_names(plan.facts.kind) => self.give_names_up(held).await,
            None => Ok(()),
        }
    }

    async fn prepare_name_on(&mut self, name: &Arc<[u8]>, held: &mut Held) -> Result<(), Trouble> {
        let known = self.statements.names.as_ref().and_then(|names| names.statements.get(name));
        let Some(key) = known.map(|statement| statement.key.clone()) else { return Ok(()) };
        if held.connection.named.has(name, &key) {
            return Ok(());
        }
        // What the last statement left on the connection is gone by this one.
        self.hands.last_ran_on = None;
        let state = state_of(&self.context, &key);
        let back = self.bring_into_preparation(&state, false, held).await?;
        let outcome = self.order_preparation(Command::Query, &key.text, AnswerKind::ResultSets, held).await;
        match self.bring_back(&state, back, outcome, held).await {
            Ok(_) => {
                held.connection.named.add(Arc::clone(name), key);
                Ok(())
            }
            Err(trouble) => {
                held.connection.named.remove(name);
                Err(trouble)
            }
        }
    }

    /// Takes back what is prepared on the connection beyond what it may keep.
    async fn take_surplus_back(&self, held: &mut Held) -> Result<(), Trouble> {
        let count_max =
            usize::try_from(self.ground.snapshot.mysql.max_stmts_per_connection).unwrap_or(usize::MAX);
        for name in held.connection.named.shrink_to(count_max) {
            self.deallocate(&name, held).await?;
        }
        Ok(())
    }

    async fn deallocate(&self, name: &[u8], held: &mut Held) -> Result<(), Trouble> {
        let mut statement = b"DEALLOCATE PREPARE ".to_vec();
        append_quoted(&mut statement, name, b'`', b"`");
        match self.order(held, Command::Query, &statement, AnswerKind::ResultSets).await {
            // A procedure has taken it back already.
            Err(Trouble::Refused(_)) => Ok(()),
            outcome => outcome,
        }
    }

    /// Takes all names back from the connection, so that what they take of the server's limit is free.
    pub(crate) async fn take_names_back(&self, held: &mut Held) -> Result<(), Trouble> {
        for name in held.connection.named.shrink_to(0) {
            self.deallocate(&name, held).await?;
        }
        Ok(())
    }

    /// The connection alone knows names from now on: it has those of the session and no others.
    async fn give_names_up(&mut self, held: &mut Held) -> Result<(), Trouble> {
        let own: Vec<Arc<[u8]>> = match &self.statements.names {
            Some(names) if !names.are_given_up => names.statements.keys().map(Arc::clone).collect(),
            Some(_) => return Ok(()),
            None => Vec::new(),
        };
        if own.is_empty() && held.connection.named.is_empty() {
            return Ok(());
        }
        self.hands.last_ran_on = None;
        self.take_names_back(held).await?;
        for name in &own {
            match self.prepare_name_on(name, held).await {
                // A table is gone: so would be the statement.
                Ok(()) | Err(Trouble::Refused(_)) => {}
                Err(trouble) => return Err(trouble),
            }
        }
        held.connection.named.forget_all();
        if let Some(names) = &mut self.statements.names
            && !own.is_empty()
        {
            names.are_given_up = true;
            names.statements.clear();
            held.pins = held.pins.with(Pins::TEXT_PREPARE);
        }
        Ok(())
    }

    /// Takes note of what a `PREPARE` did.
    pub(crate) async fn learn_name(
        &mut self,
        plan: &Plan,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        let Some(Named::Prepare { name, text, sent }) = &plan.named else { return Ok(()) };
        if matches!(end.ending, Ending::Err(_)) {
            // Servers take back what was prepared under the name before they look at the new text.
            held.connection.named.remove(name);
            self.statements.forget_name(name);
            return Ok(());
        }
        // A statement goes by the types of the values that it was executed with first: those must be the session's own.
        let keeps_types =
            matches!(self.context.lexing.server, ServerFlavor::MySql(_)) && text.contains(&b'?');
        let key = StatementKey {
            text: sent.clone().unwrap_or_else(|| self.client.statement_text().into()),
            schema: self.context.state.schema.as_slice().into(),
            charset: self.context.state.charset.clone(),
            settings: self.context.state.settings.clone(),
            owner: keeps_types.then_some((self.ground.handle.id, 0)),
            hidden: None,
            bound: Arc::default(),
        };
        let statement = NamedStatement { key: key.clone(), text: Arc::clone(text) };
        self.statements.names.get_or_insert_default().statements.insert(Arc::clone(name), statement);
        held.connection.named.add(Arc::clone(name), key);
        self.take_surplus_back(held).await
    }
}

/// Writes it between quotes, with those characters twice that must be.
fn append_quoted(out: &mut Vec<u8>, text: &[u8], quote: u8, doubled: &[u8]) {
    out.push(quote);
    for byte in text {
        out.extend(std::iter::repeat_n(*byte, if doubled.contains(byte) { 2 } else { 1 }));
    }
    out.push(quote);
}

/// A `PREPARE` of that text, which no character set cuts otherwise.
fn preparation_of(context: &Context, name: &[u8], text: &[u8]) -> Vec<u8> {
    let mut statement = b"PREPARE ".to_vec();
    append_quoted(&mut statement, name, b'`', b"`");
    statement.extend_from_slice(b" FROM ");
    let escaped: &[u8] = if context.lexing.no_backslash_escapes { b"'" } else { b"'\\" };
    append_quoted(&mut statement, text, b'\'', escaped);
    statement
}

/// A name that the session does not know: a server says so. A connection that is held for good may know it all the same.
fn plan_unknown(context: &Context, hands: &Hands, plan: &mut Plan, name: &[u8]) {
    if hands.held.iter().any(|held| held.pins.is_sticky()) {
        return;
    }
    let multiplex = plan.facts.multiplex;
    let nothing = classify(b"DEALLOCATE PREPARE x", context.lexing);
    plan.facts = Facts { multiplex, ..Facts::of(&nothing) };
    plan.named = Some(Named::Unknown { name: folded(name) });
}
