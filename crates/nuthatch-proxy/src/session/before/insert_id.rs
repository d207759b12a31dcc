//! The session's `LAST_INSERT_ID()`, brought to a connection that needs it.

use nuthatch_sql::names_another;

use crate::session::after::insert_id::{inserts, is_made_up, may_set, resolve_insert_id, tells_nothing};
use crate::session::lease::bring_into::set;
use crate::session::lease::put_away::put_away;
use crate::session::parts::{Account, Context, Dealings, Ground, Held, InsertId, Results};
use crate::session::statement::Facts;
use crate::session::way::Trouble;

/// Whether the connection must be told the session's id before the statement.
#[inline]
pub(crate) fn must_bring_insert_id(
    ground: &Ground,
    context: &Context,
    results: &Results,
    held: &Held,
    facts: &Facts,
    text: &[u8],
) -> bool {
    !held.knows_insert_id() && needs_insert_id(ground, context, results, facts, text, held)
}

/// Whether the session's id must be on the connection before the statement runs: because it reads it, or because it could
/// not be told afterwards whether it set it.
fn needs_insert_id(
    ground: &Ground,
    context: &Context,
    results: &Results,
    facts: &Facts,
    text: &[u8],
    held: &Held,
) -> bool {
    if may_set(facts) {
        return true;
    }
    inserts(facts.kind)
        && match (results.insert_id(), held.connection.insert_id) {
            // The server makes no 0 up, and tells none. What it tells may be the connection's id only where the text can
            // hold that.
            (InsertId::Known(_), Some(0)) => false,
            (InsertId::Known(_), Some(id)) => {
                tells_nothing(text)
                    || match ground.shared.exact.catalogues.current().domain(held.hostgroup) {
                        Ok(_) => !is_made_up(ground, context, id, text, held),
                        // That a trigger names the very id of another session, nobody waits for in front of each INSERT.
                        Err(_) => !names_another(id, text, context.lexing),
                    }
            }
            _ => true,
        }
}

/// Brings the session's id to the connection if the statement needs it there. Tells whether anything was sent for it.
pub(crate) async fn bring_insert_id(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
    facts: &Facts,
    text: &[u8],
) -> Result<bool, Trouble> {
    if !must_bring_insert_id(ground, context, &dealings.results, held, facts, text) {
        return Ok(false);
    }
    let was_known = matches!(dealings.results.insert_id(), InsertId::Known(_));
    let Some(id) = insert_id_for(ground, account, context, dealings, held).await? else {
        return Ok(!was_known);
    };
    let differs = held.connection.insert_id != Some(id);
    if differs {
        let statement = format!("SET last_insert_id={id}");
        set(ground, account, &dealings.hands, held, statement.as_bytes(), b"SET last_insert_id").await?;
        dealings.hands.forget_what_ran_last();
        held.connection.insert_id = Some(id);
    }
    held.note_insert_id(true);
    Ok(!was_known || differs)
}

/// The value, if it is needed on this connection.
async fn insert_id_for(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
) -> Result<Option<u64>, Trouble> {
    if let InsertId::At(thread_id) = dealings.results.insert_id() {
        if held.connection.thread_id == thread_id {
            resolve_insert_id(ground, context, dealings, held).await?;
        } else {
            let knows = |other: &Held| other.connection.thread_id == thread_id;
            let Some(place) = dealings.hands.held.iter().position(knows) else { return Ok(Some(0)) };
            let mut other = dealings.hands.held.swap_remove(place);
            let outcome = resolve_insert_id(ground, context, dealings, &mut other).await;
            put_away(ground, account, context, dealings, other, outcome.as_ref().err());
            outcome?;
        }
    }
    Ok(match dealings.results.insert_id() {
        InsertId::Known(id) => Some(id),
        InsertId::At(_) => None,
    })
}
