//! What a connection must have before a statement is sent over it, besides the session's state and names.

use nuthatch_sql::DefaultsChange;

use crate::session::before::begin::{bring_transaction, must_bring_transaction};
use crate::session::before::defaults::begin_change_of_defaults;
use crate::session::before::insert_id::must_bring_insert_id;
use crate::session::before::last_results::bring_last_results;
use crate::session::before::tracker::bring_tracker;
use crate::session::parts::{Account, Context, Dealings, Fate, Ground, Held};
use crate::session::statement::Facts;
use crate::session::way::Trouble;

/// What a connection must have before a statement is sent over it, besides the session's state and names: most need nothing of it.
///
/// The futures of the steps are large, and copied where they are awaited: so none is made that is not needed.
pub(crate) fn must_bring_more(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    facts: &Facts,
    text: &[u8],
    held: &Held,
) -> bool {
    facts.asks_of_the_last()
        || dealings.diagnostics.fate() == Fate::Untold
        || facts.asks.sequences.is_some()
        || facts.asks.gtid
        || facts.asks.tracker
        || facts.server.defaults != DefaultsChange::No
        || must_bring_transaction(ground, account, context, dealings, held, facts)
        || must_bring_insert_id(ground, context, &dealings.results, held, facts, text)
}

/// Brings it.
pub(crate) async fn bring_more(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    facts: &Facts,
    text: &[u8],
    held: &mut Held,
) -> Result<(), Trouble> {
    bring_last_results(ground, account, context, dealings, held, facts, text).await?;
    bring_tracker(ground, account, context, dealings, held, facts).await?;
    bring_transaction(ground, account, context, dealings, held, facts).await?;
    begin_change_of_defaults(ground, facts, held).await
}
