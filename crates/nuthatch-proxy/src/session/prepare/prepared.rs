//! Prepared statements: the numbers are the session's, the preparations the connections'.
//!
//! A statement is executed on whichever connection the session gets. What is prepared there already, by whomever, under the same
//! schema and character set, is used; else it is prepared now ([`crate::backend::StatementKey`]). So a session with prepared
//! statements holds no connection for them, but while a cursor is open. A client's own COM_STMT_PREPARE always goes to a
//! server: what it is told of columns is of now.
//!
//! What a client sends only once (parameter types, long data) is kept here to be repeated.

use std::sync::Arc;

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerKind, Command};

use crate::backend::StatementKey;
use crate::session::parts::{Account, Client, Context, Dealings, Ground, Held, Statement, Statements};
use crate::session::prepare::preparation_state::{bring_back, bring_into_preparation};
use crate::session::prepare::statement_room::{close_on, order_preparation};
use crate::session::way::Trouble;
use crate::state::SessionState;

/// Takes note of what is prepared on a connection, and closes what is too much there.
pub(crate) async fn remember(
    ground: &Ground,
    key: StatementKey,
    number: u32,
    held: &mut Held,
) -> Result<(), Trouble> {
    let count_max = usize::try_from(ground.snapshot.mysql.max_stmts_per_connection).unwrap_or(usize::MAX);
    let prepared = &mut held.connection.prepared;
    let replaced = prepared.add(key, number);
    let closed: Vec<_> = replaced.into_iter().chain(prepared.shrink_to(count_max)).collect();
    for number in closed {
        close_on(ground, number, held).await?;
    }
    Ok(())
}

/// Under what the statement of that number is to be prepared on a connection for the execution at hand, which opens a cursor or not.
pub(crate) fn key_on(
    ground: &Ground,
    client: &Client,
    context: &Context,
    statement: &Statement,
    (id, opens_cursor): (u32, bool),
) -> StatementKey {
    let mut key = statement.key().clone();
    key.owner = (opens_cursor && key.hidden.is_none()).then_some((ground.handle.id, id));
    // MariaDB reads long data of a parameter that was bound as a number before from the wrong place.
    if keeps_types(context) || !statement.long_data().is_empty() {
        key.bound = statement.binding().types_of(client.payload()).into();
    }
    key
}

fn keeps_types(context: &Context) -> bool {
    matches!(context.lexing.server, ServerFlavor::MySql(_))
}

/// The statement's number on the connection, if it is prepared there.
pub(crate) fn known_number(context: &Context, key: &StatementKey, held: &mut Held) -> Option<u32> {
    let known = &mut held.connection.prepared;
    if keeps_types(context) { known.find_to_bind(key) } else { known.find(key) }
}

/// Prepares it on a connection that does not have it yet. Returns its number there.
pub(crate) async fn prepare_anew(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    key: StatementKey,
    held: &mut Held,
) -> Result<u32, Trouble> {
    // A statement belongs to the schema and the character set that it was prepared under.
    let state = state_of(context, &key);
    let back = bring_into_preparation(ground, account, context, dealings, &state, key.hidden.is_some(), held)
        .await?;
    let prepared =
        order_preparation(ground, context, Command::StmtPrepare, &key.text, AnswerKind::Prepare, held).await;
    let prepared = bring_back(ground, account, context, dealings, back, prepared, held).await?;
    let number = prepared.statement_id.unwrap_or_default();
    remember(ground, key, number, held).await?;
    Ok(number)
}

/// The state that a statement was prepared under; what it does not depend on is as it is.
pub(crate) fn state_of(context: &Context, key: &StatementKey) -> SessionState {
    SessionState {
        schema: key.schema[..].into(),
        charset: key.charset.clone(),
        settings: key.settings.clone(),
        ..context.state.clone()
    }
}

/// Number and text of the statement that the command at hand names.
pub(crate) fn statement_at_hand(client: &Client, statements: &Statements) -> Option<(u32, Arc<[u8]>)> {
    let prepared = statements.prepared()?;
    let id = prepared.named_in(client.payload())?;
    Some((id, Arc::clone(&prepared.get(id)?.key().text)))
}
