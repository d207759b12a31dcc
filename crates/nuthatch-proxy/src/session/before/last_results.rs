//! What a statement asks of the one before it, brought to its connection.

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerKind, Command};

use crate::session::after::found_rows::lacks_counts;
use crate::session::after::pins::own_values::check_own_values;
use crate::session::before::insert_id::bring_insert_id;
use crate::session::lease::question::{order, way};
use crate::session::parts::{Account, Context, Dealings, Ground, Held, MARK};
use crate::session::statement::Facts;
use crate::session::way::{Elsewhere, Trouble};

/// Makes what the statement asks of the one before it on the connection what it is in the session.
pub(crate) async fn bring_last_results(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
    facts: &Facts,
    text: &[u8],
) -> Result<(), Trouble> {
    if dealings.diagnostics.is_in_doubt() {
        Box::pin(mark_what_is_in_doubt(ground, dealings, facts, held)).await?;
    }
    if let Err(elsewhere) = check_own_values(context, facts, held) {
        // No statement follows, behind which it could go.
        way(ground, held).hear_ahead().await?;
        return Err(elsewhere);
    }
    let was_asked = bring_insert_id(ground, account, context, dealings, held, facts, text).await?;
    let has_diagnostics = held.was_held() && dealings.diagnostics.are_on(held.connection.thread_id);
    let must_forget = facts.asks.diagnostics && !has_diagnostics;
    // To forget them takes a statement, which has counts of its own.
    let lacks_counts =
        lacks_counts(&dealings.hands, &dealings.results, held, facts) || facts.reads_counts() && must_forget;
    // MySQL keeps no list over a question.
    let has_cleared = was_asked && matches!(context.lexing.server, ServerFlavor::MySql(_));
    let lacks_diagnostics = facts.asks.diagnostics
        && (dealings.diagnostics.list().is_some() || has_cleared && dealings.diagnostics.thread().is_some());
    if lacks_counts || lacks_diagnostics {
        // No statement follows, behind which it could go.
        way(ground, held).hear_ahead().await?;
        let elsewhere = if lacks_counts { Elsewhere::Counts } else { Elsewhere::Diagnostics };
        return Err(Trouble::Elsewhere(elsewhere));
    }
    if must_forget {
        // The session's last statement left no warnings, or its connection would be held. MariaDB forgets those of
        // others only for a statement with a table, even if it is none (`DO 0` keeps them).
        let forget = b"SELECT 0 FROM (SELECT 0) AS nothing";
        order(ground, held, Command::Query, forget, AnswerKind::ResultSets).await?;
    }
    Ok(())
}

/// Gives the connection a warning by which it shows behind the statement whether that has left alone what was there, as the session's list
/// would be.
pub(crate) async fn mark_what_is_in_doubt(
    ground: &Ground,
    dealings: &mut Dealings,
    facts: &Facts,
    held: &mut Held,
) -> Result<(), Trouble> {
    if facts.asks_of_the_last() {
        // The answer would be of the mark.
        dealings.diagnostics.lose();
        return Ok(());
    }
    dealings.hands.forget_what_ran_last();
    let mark = format!("SIGNAL SQLSTATE '01000' SET MYSQL_ERRNO = {MARK}, MESSAGE_TEXT = ''");
    match order(ground, held, Command::Query, mark.as_bytes(), AnswerKind::ResultSets).await {
        Err(Trouble::Refused(_)) => dealings.diagnostics.lose(),
        outcome => outcome?,
    }
    Ok(())
}
