//! In which schema a session is, and in which role, where only its server knows.

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerEnd, StatusFlags};

use crate::session::lease::put_away::put_away;
use crate::session::lease::question::{ask, way};
use crate::session::parts::{Account, Context, Dealings, Ground, Held};
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

/// Asks, after some schema was dropped, whether it was the session's own: the status flag does not tell which.
pub(crate) async fn learn_dropped_schema(
    ground: &Ground,
    context: &mut Context,
    dealings: &mut Dealings,
    end: &AnswerEnd,
    held: &mut Held,
) -> Result<(), Trouble> {
    if held.is_in_unnamed_schema() {
        return learn_name_of_schema(ground, context, held).await;
    }
    if end.status_seen.contains(StatusFlags::SERVER_STATUS_DB_DROPPED)
        && ask(ground, context, dealings, held, "SELECT DATABASE() IS NULL").await? == Some(1)
    {
        held.connection.state.schema.clear();
        context.state.schema.clear();
    }
    Ok(())
}

/// Asks in which schema the connection is: names in other character sets are read by servers only.
pub(crate) async fn learn_name_of_schema(
    ground: &Ground,
    context: &mut Context,
    held: &mut Held,
) -> Result<(), Trouble> {
    held.note_unnamed_schema(false);
    let name = way(ground, held).ask_value("SELECT CAST(DATABASE() AS BINARY)").await?.unwrap_or_default();
    context.state.schema = name.into();
    held.connection.state.schema.clone_from(&context.state.schema);
    Ok(())
}

/// The connection is in a schema that the client named so.
pub(crate) fn learn_schema(context: &mut Context, name: &[u8], held: &mut Held) {
    match context.state.charset.reads_as_utf8(name) {
        true => {
            held.connection.state.schema = name.into();
            context.state.schema = name.into();
        }
        false => held.note_unnamed_schema(true),
    }
}

/// Behind these the connection alone may know in which schema the session is, and in which role.
const MAY_HAVE_MOVED: Pins = Pins::UNKNOWN.with(Pins::SESSION_VARIABLE).with(Pins::STORED_CODE);

/// A server keeps schema and role over a reset: asks for them where something may have changed them that is not understood.
pub(crate) async fn learn_what_outlasts_resets(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
) -> Result<(), Trouble> {
    let may_have_moved = |held: &Held| held.pins().without(MAY_HAVE_MOVED) != held.pins();
    let Some(place) = dealings.hands.held.iter().position(may_have_moved) else { return Ok(()) };
    let mut held = dealings.hands.held.swap_remove(place);
    let outcome = learn_schema_and_role(ground, context, &mut held).await;
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    outcome
}

async fn learn_schema_and_role(
    ground: &Ground,
    context: &mut Context,
    held: &mut Held,
) -> Result<(), Trouble> {
    learn_name_of_schema(ground, context, held).await?;
    let told = match way(ground, held).ask_value("SELECT CAST(CURRENT_ROLE() AS BINARY)").await {
        // Servers before MySQL 8 have no roles.
        Err(Trouble::Refused(_)) => None,
        told => told?,
    };
    let role = told.filter(|role| !role.eq_ignore_ascii_case(b"NONE"));
    if role.is_none() && context.state.role.is_none() {
        return Ok(());
    }
    let role = role.map(|role| String::from_utf8_lossy(&role).into_owned());
    let statement = match (role, context.lexing.server) {
        (None, _) => "SET ROLE NONE".to_owned(),
        (Some(role), ServerFlavor::MariaDb(_)) => format!("SET ROLE `{}`", role.replace('`', "``")),
        (Some(roles), ServerFlavor::MySql(_)) => format!("SET ROLE {roles}"),
    };
    context.state.role = Some(statement.into());
    Ok(())
}
