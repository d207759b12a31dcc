//! `PREPARE`, `EXECUTE` and `DEALLOCATE PREPARE` as text: the names are the session's, the preparations the connections'.
//!
//! What a session prepares under a name is kept with the session, and prepared again, under that name, on whichever connection
//! it gets for an `EXECUTE`. Another session's statement of the same name there is replaced, and that session prepares its own
//! again when it needs it. So a name holds no connection. An `EXECUTE` is judged by what it executes.
//!
//! Names are *given up* to one connection, and pinned to it, when a statement runs that may use or make names out of sight: a
//! procedure, several statements in one, a `PREPARE` of an expression.

use std::sync::Arc;

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending};

use crate::backend::StatementKey;
use crate::session::after::diagnostics::{fetch_list, lost_list};
use crate::session::parts::names::NamedStatement;
use crate::session::parts::{Account, Client, Context, Dealings, Ground, Held, Names, Statements};
use crate::session::prepare::preparation_state::{bring_back, bring_into_preparation};
use crate::session::prepare::prepared::state_of;
use crate::session::prepare::statement_room::{deallocate, order_preparation, take_names_back};
use crate::session::statement::{Named, Plan, may_use_names};
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

/// Sees to it that the connection knows what the statement needs of names.
pub(crate) async fn bring_names(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    statements: &mut Statements,
    plan: &Plan,
    held: &mut Held,
) -> Result<(), Trouble> {
    match plan.named.as_deref() {
        Some(Named::Execute { name }) => {
            prepare_name_on(ground, account, context, dealings, statements, name, held).await?;
            // What it executes may be the call of a procedure.
            match may_use_names(plan.facts.kind) {
                true => give_names_up(ground, account, context, dealings, statements, held).await,
                false => take_surplus_back(ground, held).await,
            }
        }
        Some(Named::Unknown { name }) if held.connection.named.knows(name) => {
            deallocate(ground, name, held).await?;
            held.connection.named.remove(name);
            Ok(())
        }
        Some(Named::Prepare { .. } | Named::Unknown { .. }) => Ok(()),
        None if may_use_names(plan.facts.kind) => {
            give_names_up(ground, account, context, dealings, statements, held).await
        }
        None => Ok(()),
    }
}

async fn prepare_name_on(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    statements: &Statements,
    name: &Arc<[u8]>,
    held: &mut Held,
) -> Result<(), Trouble> {
    let known = statements.names().and_then(|names| names.get(name));
    let Some(key) = known.map(|statement| statement.key.clone()) else { return Ok(()) };
    if held.connection.named.has(name, &key) {
        return Ok(());
    }
    take_over_diagnostics(ground, context, dealings, held).await?;
    // What the last statement left on the connection is gone by this one.
    dealings.hands.forget_what_ran_last();
    let state = state_of(context, &key);
    let back = bring_into_preparation(ground, account, context, dealings, &state, false, held).await?;
    let outcome =
        order_preparation(ground, context, Command::Query, &key.text, AnswerKind::ResultSets, held).await;
    match bring_back(ground, account, context, dealings, back, outcome, held).await {
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

/// The session takes over what the last statement left on the connection, before a preparation of our own has that forgotten.
async fn take_over_diagnostics(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
) -> Result<(), Trouble> {
    if !dealings.diagnostics.are_on(held.connection.thread_id) {
        return Ok(());
    }
    let list = Box::pin(fetch_list(ground, context, &dealings.diagnostics, held)).await?;
    held.unpin(Pins::DIAGNOSTICS);
    let list = list.unwrap_or_else(|| lost_list(context, &dealings.diagnostics));
    dealings.diagnostics.take_over(list);
    Ok(())
}

/// Takes back what is prepared on the connection beyond what it may keep.
async fn take_surplus_back(ground: &Ground, held: &mut Held) -> Result<(), Trouble> {
    let count_max = usize::try_from(ground.snapshot.mysql.max_stmts_per_connection).unwrap_or(usize::MAX);
    for name in held.connection.named.shrink_to(count_max) {
        deallocate(ground, &name, held).await?;
    }
    Ok(())
}

/// The connection alone knows names from now on: it has those of the session and no others.
async fn give_names_up(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    statements: &mut Statements,
    held: &mut Held,
) -> Result<(), Trouble> {
    if statements.names().is_some_and(Names::are_given_up) {
        return Ok(());
    }
    let own: Vec<Arc<[u8]>> = statements.names().map(Names::all).unwrap_or_default();
    if own.is_empty() && held.connection.named.is_empty() {
        return Ok(());
    }
    dealings.hands.forget_what_ran_last();
    take_names_back(ground, held).await?;
    for name in &own {
        match prepare_name_on(ground, account, context, dealings, statements, name, held).await {
            // A table is gone: so would be the statement.
            Ok(()) | Err(Trouble::Refused(_)) => {}
            Err(trouble) => return Err(trouble),
        }
    }
    held.connection.named.forget_all();
    if !own.is_empty() {
        statements.give_names_up();
        held.pin(Pins::TEXT_PREPARE);
    }
    Ok(())
}

/// Takes note of what a `PREPARE` did.
pub(crate) async fn learn_name(
    ground: &Ground,
    client: &Client,
    context: &Context,
    statements: &mut Statements,
    plan: &Plan,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    let Some(Named::Prepare { name, text, sent }) = plan.named.as_deref() else { return Ok(()) };
    if matches!(end.ending, Ending::Err(_)) {
        // Servers take back what was prepared under the name before they look at the new text.
        held.connection.named.remove(name);
        statements.forget_name(name);
        return Ok(());
    }
    // A statement goes by the types of the values that it was executed with first: those must be the session's own.
    let keeps_types = matches!(context.lexing.server, ServerFlavor::MySql(_)) && text.contains(&b'?');
    let key = StatementKey {
        text: sent.clone().unwrap_or_else(|| client.statement_text().into()),
        schema: context.state.schema[..].into(),
        charset: context.state.charset.clone(),
        settings: context.state.settings.clone(),
        owner: keeps_types.then_some((ground.handle.id, 0)),
        hidden: None,
        bound: Arc::default(),
    };
    let statement = NamedStatement { key: key.clone(), text: Arc::clone(text) };
    statements.name(Arc::clone(name), statement);
    held.connection.named.add(Arc::clone(name), key);
    take_surplus_back(ground, held).await
}
