//! The cache's key of a statement, and whether an entry stands for the session.

use nuthatch_cache::{Entry, Key, Protocol, Standing};

use crate::exact::standing;
use crate::session::parts::{Account, Context, Ground, Transaction};
use crate::shared::answers::HitPlan;

/// What became of what the entry depends on, since it was read or since the snapshot of the open transaction. Cost: a load for each clock.
pub(crate) fn standing_of(ground: &Ground, transaction: &Transaction, entry: &Entry<HitPlan>) -> Standing {
    standing(&ground.shared.exact.clocks, entry, transaction.beginning().snapshot())
}

/// The cache's key of `statement`.
pub(crate) fn key<'a>(account: &'a Account, context: &'a Context, statement: &'a [u8]) -> Option<Key<'a>> {
    key_in(account, context, Protocol::Text, statement)
}

/// The same of what comes over that protocol.
pub(crate) fn key_in<'a>(
    account: &'a Account,
    context: &'a Context,
    protocol: Protocol,
    statement: &'a [u8],
) -> Option<Key<'a>> {
    let (user, schema) = (account.name().as_name(), context.state.schema.as_name());
    Some(Key::named(user, schema, context.environment?, protocol, statement))
}
