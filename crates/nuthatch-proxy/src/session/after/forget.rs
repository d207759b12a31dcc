//! What the next statement does not leave alone of what the last one left.

use crate::roster::SessionEnd;
use crate::session::after::doubts::settle_doubts;
use crate::session::after::insert_id::keep_insert_id_of_held;
use crate::session::parts::{Account, Context, Dealings, Ground, InsertId};
use crate::session::statement::Facts;
use crate::stats::pins::Pins;

/// Before a statement: forgets what it does not leave alone, and lets go of what was held for that.
pub(crate) async fn begin_after_the_last(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    leaves: bool,
    facts: &Facts,
) -> Result<(), SessionEnd> {
    settle_doubts(ground, &mut dealings.hands);
    dealings.diagnostics.leaves = leaves;
    if leaves {
        return Ok(());
    }
    if !facts.asks_of_the_last() {
        forget_diagnostics(ground, account, context, dealings).await?;
    } else if !facts.asks.diagnostics {
        (dealings.diagnostics.list, dealings.diagnostics.on) = (None, None);
    }
    Ok(())
}

/// Lets go of what was kept only so that the statement just before could be asked about.
pub(crate) async fn forget_diagnostics(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<(), SessionEnd> {
    (dealings.diagnostics.list, dealings.diagnostics.on) = (None, None);
    if !dealings.hands.held.is_empty() {
        forget_diagnostics_of_held(ground, account, context, dealings).await?;
    }
    Ok(())
}

async fn forget_diagnostics_of_held(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<(), SessionEnd> {
    if matches!(dealings.results.insert_id, InsertId::At(_)) {
        Box::pin(keep_insert_id_of_held(ground, account, context, dealings)).await?;
    }
    let mut place = 0;
    while let Some(held) = dealings.hands.held.get_mut(place) {
        held.pins = held.pins.without(Pins::PASSING);
        if held.pins.is_empty() && !held.in_transaction {
            let held = dealings.hands.held.swap_remove(place);
            ground.shared.hostgroups.check_in(held.connection, ground.latest_us / 1000);
        } else {
            place += 1;
        }
    }
    Ok(())
}
