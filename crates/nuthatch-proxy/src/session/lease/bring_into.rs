//! A connection is brought into a session's state: what differs is sent, ahead of the statement where the server has accepted the like before.

use std::sync::Arc;

use nuthatch_net::NetError;
use nuthatch_wire::{AnswerKind, Command};

use crate::backend::{READ_UTF8, Reset, clear_passwords};
use crate::session::lease::inheritance::blame_inheritance;
use crate::session::lease::question::{order, way};
use crate::session::parts::{Account, Context, Dealings, Ground, Hands, Held, Results};
use crate::session::statement::{FOREIGN_KEY_CHECKS, TRACKER, UNIQUE_CHECKS, is_profiled};
use crate::session::way::{Trouble, command_packet, unless_cut};
use crate::state::{Behind, Charset, SchemaNeed, SessionState, is_read_alike};

/// Sends what differs between the session's state and the connection's, and awaits each answer: a statement must not
/// run in a state that the server refused.
pub(crate) async fn bring_into_state(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    held: &mut Held,
) -> Result<(), Trouble> {
    if must_leave_schema(context, &dealings.hands, held) {
        log_in_anew(ground, account, held).await?;
    }
    let state = dealings.hands.errand().state_before(&context.state, &held.connection.state);
    bring_into(ground, account, context, dealings, &state, held).await
}

/// Brings a connection into another state than the session's own.
pub(crate) async fn bring_into(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    state: &SessionState,
    held: &mut Held,
) -> Result<(), Trouble> {
    if state.differences(&held.connection.state) == 0 {
        return Ok(());
    }
    let there = &held.connection;
    if is_profiled(&there.state.settings)
        && !is_profiled(&state.settings)
        && !dealings.results.is_state_of(held)
    {
        // What changes it would be profiled, for whoever asks next.
        return Err(Trouble::Unfit);
    }
    // DEFAULT would be the server's value, not what `mysql-init_connect` or the login has made it.
    let lacks =
        |(name, _): (&[u8], &[u8])| state.settings.get(name).is_none() && there.begins_otherwise(name);
    let must_forget = state.user_variables.lacks_some_of(&there.state.user_variables)
        || there.state.settings.iter().any(lacks);
    // What else is on it would be gone too.
    if must_forget && !dealings.results.is_state_of(held) {
        reset(ground, held).await?;
    }
    let counters = &ground.worker.counters;
    if state.role != held.connection.state.role
        && let Some(statement) = &state.role
    {
        // What else is changed may need it. It may have been taken away meanwhile: awaited each time.
        order(ground, held, Command::Query, statement.as_bytes(), AnswerKind::Single).await?;
        held.connection.state.role = Some(Arc::clone(statement));
    }
    if state.schema != held.connection.state.schema && !state.schema.is_empty() {
        if !is_read_alike(&state.schema) && !held.connection.state.charset.is_utf8() {
            set(ground, account, &dealings.hands, held, READ_UTF8, READ_UTF8).await?;
            held.connection.state.charset = Charset::utf8();
            held.connection.state.settings.forget_names();
        }
        counters.backend_init_db.bump();
        let may_follow = dealings.hands.errand().behind == Behind::All && !held.was_held();
        change(ground, account, held, Command::InitDb, &state.schema, &state.schema, may_follow).await?;
        held.connection.state.schema.clone_from(&state.schema);
    }
    if (state.charset != held.connection.state.charset || must_set_names_again(state, held))
        && let Some(statement) = state.charset.statement()
    {
        counters.backend_set_names.bump();
        set(ground, account, &dealings.hands, held, statement.as_bytes(), statement.as_bytes()).await?;
        held.connection.state.charset = state.charset.clone();
        held.connection.state.settings.forget_names();
    }
    bring_settings(ground, account, context, &dealings.hands, state, held).await?;
    // An open transaction would be committed by it, and its own state is the truth then.
    if Some(state.autocommit) != held.connection.state.autocommit && !held.in_transaction() {
        counters.backend_set_autocommit.bump();
        let statement = if state.autocommit { b"SET autocommit=1" } else { b"SET autocommit=0" };
        set(ground, account, &dealings.hands, held, statement, statement).await?;
        held.connection.state.autocommit = Some(state.autocommit);
    }
    Ok(())
}

/// Has the connection take over what a SET sets: see [`change`].
pub(crate) async fn set(
    ground: &Ground,
    account: &Account,
    hands: &Hands,
    held: &mut Held,
    statement: &[u8],
    proof: &[u8],
) -> Result<(), Trouble> {
    change(ground, account, held, Command::Query, statement, proof, hands.errand().behind != Behind::Nothing)
        .await
}

/// Changes the state of a connection: ahead of the statement if that `may_follow` and the server has accepted the like, which is
/// remembered as `proof`, before; awaited otherwise.
async fn change(
    ground: &Ground,
    account: &Account,
    held: &mut Held,
    command: Command,
    argument: &[u8],
    proof: &[u8],
    may_follow: bool,
) -> Result<(), Trouble> {
    let server = Arc::clone(held.connection.server());
    if may_follow && server.accepted.has(account.name(), proof) {
        held.connection.add_ahead(&command_packet(command, argument));
        return Ok(());
    }
    order(ground, held, command, argument, AnswerKind::Single).await?;
    server.accepted.learn(account.name(), proof);
    Ok(())
}

/// Has the server forget what it keeps for a connection of the pool: a variable that was set once can be told from one that
/// never was, also if it is NULL.
async fn reset(ground: &Ground, held: &mut Held) -> Result<(), Trouble> {
    if !held.connection.can_be_reset() {
        return Err(Trouble::Unfit);
    }
    ground.worker.counters.resets.bump();
    way(ground, held).hear_ahead().await?;
    let control = Arc::clone(&held.connection.control);
    match unless_cut(&ground.handle, &control, held.connection.reset()).await? {
        Ok(Reset::Done) => Ok(()),
        Ok(Reset::Doubtful) | Err(_) => Err(Trouble::Unfit),
    }
}

/// Whether the connection is in a schema, and the statement must run in none.
pub(crate) fn must_leave_schema(context: &Context, hands: &Hands, held: &Held) -> bool {
    hands.errand().schema == SchemaNeed::Own
        && context.state.schema.is_empty()
        && !held.connection.state.schema.is_empty()
}

/// Whether nothing that is of use is forgotten with the schema.
pub(crate) fn can_leave_schema(hands: &Hands, results: &Results, held: &Held) -> bool {
    let is_asked = held.was_held() && hands.errand().asks_of_the_last;
    !results.is_state_of(held) && !is_asked && held.connection.can_log_in_anew()
}

/// Has the connection leave its schema, and with it all that it carries.
async fn log_in_anew(ground: &Ground, account: &Account, held: &mut Held) -> Result<(), Trouble> {
    ground.worker.counters.backend_change_user.bump();
    let Some(password) = account.password() else { return Err(Trouble::Unfit) };
    let clear_passwords = clear_passwords(&ground.snapshot.mysql);
    let control = Arc::clone(&held.connection.control);
    let logging_in = held.connection.log_in_anew(password, clear_passwords);
    match unless_cut(&ground.handle, &control, logging_in).await? {
        Ok(Reset::Done) => Ok(()),
        Ok(Reset::Doubtful) | Err(NetError::Refused(_)) => {
            held.connection.server().doubt_new_logins();
            Err(Trouble::Unfit)
        }
        Err(_) => Err(Trouble::Unfit),
    }
}

/// What gives the variable the value that a new connection has, but for the tracker, which is never off.
fn unset(name: &[u8]) -> &'static [u8] {
    match name {
        TRACKER => b"ON",
        FOREIGN_KEY_CHECKS => b"@@global.foreign_key_checks",
        UNIQUE_CHECKS => b"@@global.unique_checks",
        _ => b"DEFAULT",
    }
}

/// Sets what differs between the state and the connection's.
async fn bring_settings(
    ground: &Ground,
    account: &Account,
    context: &Context,
    hands: &Hands,
    state: &SessionState,
    held: &mut Held,
) -> Result<(), Trouble> {
    let there = &held.connection.state;
    let mut statement = b"SET ".to_vec();
    for (name, value) in state.settings.ordered_differences(&there.settings) {
        let value = value.unwrap_or_else(|| unset(name));
        statement.extend([b"@@session.", name, b"=", value, b", "].concat());
    }
    // No server refuses a plain value to a user variable.
    let doubtful = statement.len();
    for (name, value) in state.user_variables.differences(&there.user_variables) {
        // There is none that the session has not: such a connection was reset.
        statement.extend([b"@`", name, b"`=", value.unwrap_or(b"NULL"), b", "].concat());
    }
    let Some(statement) = statement.strip_suffix(b", ") else { return Ok(()) };
    ground.worker.counters.backend_set_variables.bump();
    let proof = statement.get(..doubtful).unwrap_or(statement);
    if let Err(trouble) = set(ground, account, hands, held, statement, proof).await {
        return Err(Box::pin(blame_inheritance(ground, context, state, held, trouble)).await);
    }
    let there = &mut held.connection.state;
    there.settings = state.settings.clone();
    there.user_variables = state.user_variables.clone();
    Ok(())
}

/// Whether a SET NAMES must take something back on the connection before settings are brought there.
fn must_set_names_again(state: &SessionState, held: &Held) -> bool {
    let there = &held.connection.state.settings;
    there.has_names() && !state.settings.agrees_in_names(there)
}
