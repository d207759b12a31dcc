//! What the next statement does not leave alone of what the last one left.

use crate::roster::SessionEnd;
use crate::session::after::doubts::settle_doubts;
use crate::session::after::insert_id::keep_insert_id_of_held;
use crate::session::lease::put_away::{is_wanted_by_hold, put_back};
use crate::session::parts::{Account, Context, Dealings, Fate, Ground, Held, InsertId, Results};
use crate::session::statement::Facts;
use crate::stats::pins::Pins;

/// Before a statement: forgets what it does not leave alone, and lets go of what was held for that. Returns whether
/// [`forget_what_is_held`] is to do the rest.
#[must_use]
pub(crate) fn begin_after_the_last(
    ground: &Ground,
    dealings: &mut Dealings,
    fate: Fate,
    facts: &Facts,
) -> MustForget {
    settle_doubts(ground, &mut dealings.hands);
    dealings.diagnostics.set_fate(fate);
    let asks_of_the_last = facts.asks_of_the_last();
    if fate != Fate::Forgotten || asks_of_the_last && facts.asks.diagnostics {
        if !facts.asks_of_its_connection() {
            give_back_to_holds(ground, dealings);
        }
        return MustForget::Nothing;
    }
    dealings.diagnostics.forget();
    match asks_of_the_last || dealings.hands.held.is_empty() {
        true => MustForget::Nothing,
        false => MustForget::WhatIsHeld,
    }
}

/// What is left to be done before a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MustForget {
    Nothing,
    /// Connections are held that may have been kept for what the last statement left only.
    WhatIsHeld,
}

/// Lets go of what was kept only so that the statement just before could be asked about.
pub(crate) async fn forget_diagnostics(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<(), SessionEnd> {
    dealings.diagnostics.forget();
    forget_what_is_held(ground, account, context, dealings).await
}

/// Whether [`forget_what_is_held`] must ask a connection first.
pub(crate) fn must_ask_before_forgetting(dealings: &Dealings) -> bool {
    matches!(dealings.results.insert_id(), InsertId::At(_)) && !dealings.hands.held.is_empty()
}

/// The same of the connections alone.
pub(crate) async fn forget_what_is_held(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<(), SessionEnd> {
    if must_ask_before_forgetting(dealings) {
        Box::pin(keep_insert_id_of_held(ground, account, context, dealings)).await?;
    }
    forget_what_is_held_at_once(ground, dealings);
    Ok(())
}

/// The same where nothing must be asked.
pub(crate) fn forget_what_is_held_at_once(ground: &Ground, dealings: &mut Dealings) {
    dealings.hands.held.iter_mut().for_each(|held| held.unpin(Pins::PASSING));
    give_back(ground, dealings, |_, held| held.pins().is_empty() && !held.in_transaction());
    give_back_to_holds(ground, dealings);
}

/// Of the connections that the session keeps because that is configured only, gives back those of hostgroups that are held: the
/// statement waits like all others. Not those with warnings or a row count that may be asked for, nor the one that alone knows the
/// session's `LAST_INSERT_ID()`.
fn give_back_to_holds(ground: &Ground, dealings: &mut Dealings) {
    give_back(ground, dealings, |results, held| {
        is_wanted_by_hold(ground, held)
            && held.pins().without(Pins::PASSING) == held.pins()
            && !results.is_state_of(held)
    });
}

/// Puts those back, without a pin.
fn give_back(ground: &Ground, dealings: &mut Dealings, goes: impl Fn(&Results, &Held) -> bool) {
    let Dealings { hands, results, diagnostics, .. } = dealings;
    while let Some(place) = hands.held.iter().position(|held| goes(results, held)) {
        let mut held = hands.held.swap_remove(place);
        diagnostics.leave(held.connection.thread_id);
        held.unpin(Pins::CONFIGURED);
        put_back(ground, held);
    }
}
