//! The tracker of changes as the session has set it, for a statement that reads it.

use crate::session::lease::bring_into::bring_into;
use crate::session::parts::{Account, Context, Dealings, Ground, Held};
use crate::session::statement::{Facts, TRACKER};
use crate::session::way::Trouble;

/// Has a statement that reads the session's variables find the tracker as the session has it.
pub(crate) async fn bring_tracker(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    held: &mut Held,
    facts: &Facts,
) -> Result<(), Trouble> {
    if !facts.asks.tracker || context.is_told_of_changes || !held.is_tracked() {
        return Ok(());
    }
    let mut state = context.state.clone();
    state.settings.set(TRACKER, Some(b"OFF"));
    bring_into(ground, account, context, dealings, &state, held).await
}
