//! A statement that changes what sessions begin with.

use nuthatch_sql::DefaultsChange;

use crate::session::lease::inheritance::ask_defaults;
use crate::session::parts::{Ground, Held};
use crate::session::statement::Facts;
use crate::session::way::Trouble;

/// Goes before a statement that is to be sent: if it changes what sessions begin with, the values of before are known, and what begins
/// waits.
pub(crate) async fn begin_change_of_defaults(
    ground: &Ground,
    facts: &Facts,
    held: &mut Held,
) -> Result<(), Trouble> {
    if facts.server.defaults == DefaultsChange::No {
        return Ok(());
    }
    if held.connection.server().defaults.lacks_values() {
        ask_defaults(ground, held).await?;
    }
    let is_at_once = facts.server.defaults == DefaultsChange::Set;
    if is_at_once {
        held.seldom_mut().changing = Some(held.connection.server().defaults.begin_change());
    }
    Ok(())
}
