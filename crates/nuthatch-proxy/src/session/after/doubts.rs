//! Statements of which it is not known yet what stored code they ran: judged once it is.

use std::sync::atomic::Ordering;

use nuthatch_sql::Leaves;
use nuthatch_wire::AnswerEnd;

use crate::exact::{CodeOf, Exact};
use crate::session::after::diagnostics::keep_what_is_left;
use crate::session::after::insert_id::keep_insert_id;
use crate::session::lease::put_away::put_away;
use crate::session::lease::show::show_idle;
use crate::session::parts::{Account, Context, Dealings, Doubt, Ground, Hands, Held};
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

/// Fetches what only this connection knows, before it is let go of.
async fn keep_what_is_known(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
) -> Result<(), Trouble> {
    keep_what_is_left(ground, context, dealings, &AnswerEnd::default(), held).await?;
    keep_insert_id(ground, context, dealings, held).await
}

/// Whether any connection is held that [`end_delays`] may let go of.
pub(crate) fn has_delays(ground: &Ground) -> bool {
    ground.handle.delay_ends_ms.load(Ordering::Relaxed) != 0
}

/// Lets go of connections whose time is over, and of those of which it is known by now that nothing is on them.
pub(crate) async fn end_delays(
    ground: &mut Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) {
    let now_ms = ground.look_at_clock() / 1000;
    let is_over = |held: &Held| held.pins().contains(Pins::DELAY) && !held.delay().lasts(now_ms);
    while let Some(place) = dealings.hands.held.iter().position(is_over) {
        let mut held = dealings.hands.held.swap_remove(place);
        held.unpin(Pins::DELAY);
        let outcome = Box::pin(keep_what_is_known(ground, context, dealings, &mut held)).await;
        put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    }
    let doubt_ends_ms = settle_doubts_alone(ground, account, context, dealings).await;
    let ends_ms = dealings
        .hands
        .held
        .iter()
        .filter(|held| held.pins().contains(Pins::DELAY))
        .map(|held| held.delay().ends_ms());
    ground.handle.delay_ends_ms.store(ends_ms.chain(doubt_ends_ms).min().unwrap_or(0), Ordering::Relaxed);
    show_idle(ground, context, &dealings.hands);
}

/// How often a silent session looks whether more is known.
const DOUBT_PAUSE_MS: u64 = 1000;

/// Judges by what is known now the statements that were in doubt.
pub(crate) fn settle_doubts(ground: &Ground, hands: &mut Hands) {
    for held in &mut hands.held {
        if let Some(pins) = judgement_of(&ground.shared.exact, held) {
            held.settle_doubts(pins);
        }
    }
}

/// The same while the client is silent: connections that are not kept for anything else are put back.
async fn settle_doubts_alone(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Option<u64> {
    let judged = |hands: &Hands, ground: &Ground| {
        let judged = |(place, held)| Some((place, judgement_of(&ground.shared.exact, held)?));
        hands.held.iter().enumerate().find_map(judged)
    };
    while let Some((place, pins)) = judged(&dealings.hands, ground) {
        let mut held = dealings.hands.held.swap_remove(place);
        held.settle_doubts(pins);
        let outcome = Box::pin(keep_what_is_known(ground, context, dealings, &mut held)).await;
        put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    }
    let is_in_doubt = dealings.hands.held.iter().any(|held| !held.doubts().is_empty());
    is_in_doubt.then(|| ground.latest_us / 1000 + DOUBT_PAUSE_MS)
}

/// Why a connection with statements in doubt is kept, once it is known; none while it is not, or without any.
fn judgement_of(exact: &Exact, held: &Held) -> Option<Pins> {
    let doubts = held.doubts();
    if doubts.is_empty() {
        return None;
    }
    let catalogues = exact.catalogues.look();
    // What the server did not tell of is judged by the code that is there now.
    let is_outdated =
        |doubt: &Doubt| doubt.least < Leaves::Untold && doubt.changes != catalogues.times_code_was_made();
    if doubts.iter().any(is_outdated) || held.connection.server().is_retired() {
        // It will never be known.
        return Some(Pins::STORED_CODE);
    }
    let CodeOf::Known(code, _) = catalogues.stored_code(held.hostgroup) else { return None };
    let has_left =
        |doubt: &Doubt| code.leaves(&doubt.text, doubt.class, doubt.lexing, &doubt.schema) >= doubt.least;
    Some(if doubts.iter().any(has_left) { Pins::STORED_CODE } else { Pins::NONE })
}
