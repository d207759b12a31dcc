//! Users whose schema is locked.

use crate::session::parts::{Account, Context, Ground};

/// What is said against leaving the schema for `schema`, if the user's is locked.
pub(crate) fn refused_by_lock(
    ground: &Ground,
    account: &Account,
    context: &Context,
    schema: &[u8],
) -> Option<String> {
    let may_not = account.user().schema_locked && *context.state.schema != *schema;
    may_not.then(|| locked_message(ground, account, schema))
}

pub(crate) fn locked_message(ground: &Ground, account: &Account, schema: &[u8]) -> String {
    let (user, host) = (account.name(), &ground.handle.address().host);
    let schema = String::from_utf8_lossy(schema);
    format!("Access denied for user '{user}'@'{host}' to database '{schema}': mysql_users.schema_locked is 1")
}
