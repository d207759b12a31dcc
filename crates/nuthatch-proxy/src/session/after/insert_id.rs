//! `LAST_INSERT_ID()` of a session, which must not depend on the connection that its statements happen to get.
//!
//! An OK packet tells an id also when the statement or a trigger named the key, and then the server's `LAST_INSERT_ID()` stays what it
//! was (measured on MariaDB and MySQL). So an id counts as known only where text and catalogue show that the server made it up.
//! Otherwise the connection that ran the statement is asked: when somebody wants to know, or before the session lets go
//! of it.

use nuthatch_sql::{Kind, makes_up};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::roster::SessionEnd;
use crate::session::after::found_rows::fetch_found_rows;
use crate::session::lease::put_away::{is_wanted_by_hold, put_away};
use crate::session::lease::question::ask;
use crate::session::parts::{Account, Context, Dealings, Ground, Hands, Held, IdsBefore, InsertId, Results};
use crate::session::statement::Facts;
use crate::session::way::Trouble;
use crate::state::Found;
use crate::stats::pins::Pins;

/// Takes note of what a statement did to the id.
pub(crate) fn learn_insert_id(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    facts: &Facts,
    text: &[u8],
    end: &AnswerEnd,
    held: &mut Held,
) {
    let told = end.ok.insert_id;
    let is_insert = inserts(facts.kind);
    let learned = match told {
        0 if !(may_set(facts) || is_insert && end.ending == Ending::ResultSet) => return,
        id if id > 0 && is_insert && is_made_up(ground, context, id, text, held) => {
            held.connection.insert_id = Some(id);
            held.note_insert_id(true);
            held.leave_ids_open(None);
            InsertId::Known(id)
        }
        _ => only_known_at(&dealings.results, told, held),
    };
    dealings.results.set_insert_id(learned);
    dealings.hands.held.iter_mut().for_each(|other| other.note_insert_id(false));
}

/// Asks for the id, if only a held connection knows it.
pub(crate) async fn learn_insert_id_of_held(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<(), SessionEnd> {
    let InsertId::At(thread_id) = dealings.results.insert_id() else { return Ok(()) };
    let knows = |held: &Held| held.connection.thread_id == thread_id;
    let Some(place) = dealings.hands.held.iter().position(knows) else { return Ok(()) };
    let mut held = dealings.hands.held.swap_remove(place);
    let outcome = resolve_insert_id(ground, context, dealings, &mut held).await;
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    outcome.map_err(|_trouble| SessionEnd::Gone)
}

/// Asks for the id before the session lets go of the connection that knows it. Not while the next statement may ask for
/// warnings or FOUND_ROWS(): MySQL forgets the warnings at any question, and FOUND_ROWS() would be of this one.
pub(crate) async fn keep_insert_id(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
) -> Result<(), Trouble> {
    let is_kept = held.in_transaction() || !held.pins().is_empty();
    if !is_kept && dealings.results.insert_id_is_at(held.connection.thread_id) {
        resolve_insert_id(ground, context, dealings, held).await?;
    }
    Ok(())
}

/// The same for a connection that was held only for warnings or FOUND_ROWS(), once nobody can ask for them any more.
pub(crate) async fn keep_insert_id_of_held(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<(), SessionEnd> {
    let InsertId::At(thread_id) = dealings.results.insert_id() else { return Ok(()) };
    let is_let_go = |held: &Held| {
        held.connection.thread_id == thread_id
            && !held.in_transaction()
            && (held.pins().without(Pins::PASSING).is_empty() || is_wanted_by_hold(ground, held))
    };
    let Some(place) = dealings.hands.held.iter().position(is_let_go) else { return Ok(()) };
    let mut held = dealings.hands.held.swap_remove(place);
    match resolve_insert_id(ground, context, dealings, &mut held).await {
        Ok(()) => {
            dealings.hands.held.push(held);
            Ok(())
        }
        Err(trouble) => {
            put_away(ground, account, context, dealings, held, Some(&trouble));
            Err(SessionEnd::Gone)
        }
    }
}

/// Asks this connection, which knows, for the id.
pub(crate) async fn resolve_insert_id(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
) -> Result<(), Trouble> {
    if dealings.results.found_rows() == Found::Elsewhere
        && dealings.results.found_rows_are_on(held.connection.thread_id)
    {
        // This question would be what it tells of.
        Box::pin(fetch_found_rows(ground, context, dealings, held)).await?;
    }
    let id = ask(ground, context, dealings, held, "SELECT LAST_INSERT_ID()").await?.unwrap_or_default();
    held.connection.insert_id = Some(id);
    let known = match held.take_ids_before() {
        // The statement left it alone: it is another session's.
        Some(before) if before.connection == id && (id == 0 || before.told != id) => before.session,
        _ => id,
    };
    dealings.results.set_insert_id(InsertId::Known(known));
    Ok(())
}

/// What makes ids up.
pub(crate) const fn inserts(kind: Kind) -> bool {
    matches!(kind, Kind::Insert | Kind::Replace | Kind::LoadData)
}

/// Whether the statement may set the id without saying so in its answer.
pub(crate) fn may_set(facts: &Facts) -> bool {
    facts.reads_insert_id() || facts.transaction.is_opaque || facts.pins.contains(Pins::SESSION_VARIABLE)
}

/// `INSERT … RETURNING` answers with rows, and those tell no id.
pub(crate) fn tells_nothing(text: &[u8]) -> bool {
    let word = b"returning";
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// The same of a statement that failed: an insert that was taken back has set the id all the same.
pub(crate) fn learn_insert_id_of_failed(
    hands: &mut Hands,
    results: &mut Results,
    facts: &Facts,
    held: &mut Held,
) {
    if may_set(facts) || inserts(facts.kind) {
        let only_there = only_known_at(results, 0, held);
        results.set_insert_id(only_there);
        hands.held.iter_mut().for_each(|other| other.note_insert_id(false));
    }
}

fn only_known_at(results: &Results, told: u64, held: &mut Held) -> InsertId {
    let before = match (results.insert_id(), held.connection.insert_id) {
        (InsertId::Known(session), Some(connection)) if !held.knows_insert_id() => {
            Some(IdsBefore { connection, session, told })
        }
        _ => None,
    };
    held.leave_ids_open(before);
    held.connection.insert_id = None;
    InsertId::At(held.connection.thread_id)
}

/// Whether an id that the statement tells is surely one that the server made up, as far as the catalogue tells: of the statement at
/// hand, or the prepared one that it executes.
pub(crate) fn is_made_up(ground: &Ground, context: &Context, id: u64, text: &[u8], held: &Held) -> bool {
    let catalogues = ground.shared.exact.catalogues.current();
    let domain = catalogues.domain(held.hostgroup);
    domain.is_ok_and(|domain| {
        makes_up(id, text, context.lexing, &held.connection.state.schema, &domain.catalogue)
    })
}
