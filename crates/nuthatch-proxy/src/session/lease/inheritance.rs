//! What the session began with, where connections begin with something else by now.
//!
//! A server's session keeps the global values that were in force when it logged in (`backend/server/defaults.rs`). Here its statements run over
//! connections that may be younger: what differs, and the session has not set itself, stands among the state's settings as if it had. It is worked
//! out for each connection, as each server has its own. In the cache's key it stands by its number, and not value by value.
//!
//! What the session may not set keeps it on a connection of its own time, if it holds one; else it ends with an error that names
//! the variable. Where it is not known what a session began with, it takes what there is.

use std::sync::Arc;

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerKind, Command};

use crate::backend::{Connection, Defaults, Era, learn_defaults};
use crate::session::lease::environment::renumber_environment;
use crate::session::lease::question::{order, way};
use crate::session::parts::{Account, Begun, Context, Ground, Held};
use crate::session::way::{Trouble, unless_cut};
use crate::state::{SessionState, Settings};
use crate::stats::pins::Pins;

/// The session begins, or begins anew: with what is in force now.
pub(crate) fn begin_in(ground: &Ground, account: &Account, context: &mut Context, era: Arc<Era>) {
    context.begun = Begun::in_era(era);
    context.lexing = ground.shared.greetings.lexing();
    let hostgroup = account.user().default_hostgroup;
    let Some(defaults) = ground.shared.hostgroups.defaults_of(hostgroup, context.begun.era()) else {
        return;
    };
    context.begun.learn(&defaults);
    context.lexing.no_backslash_escapes = defaults.has_mode(b"NO_BACKSLASH_ESCAPES");
    context.lexing.ansi_quotes = defaults.has_mode(b"ANSI_QUOTES");
    context.state.autocommit = defaults.value(b"autocommit").is_none_or(|value| value != b"OFF");
}

/// What became of the session's state for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inherited {
    /// It is as it was.
    Nothing,
    /// It may have changed.
    Something,
}

/// Has the state's settings be what they must be over this connection.
pub(crate) fn inherit(ground: &Ground, context: &mut Context, held: &Held) -> Result<Inherited, Trouble> {
    match context.begun.is_of_now_as(&held.connection) && context.begun.between().is_none() {
        true => Ok(Inherited::Nothing),
        false => inherit_over(ground, context, &held.connection).map(|()| Inherited::Something),
    }
}

fn inherit_over(ground: &Ground, context: &mut Context, connection: &Connection) -> Result<(), Trouble> {
    if ground.shared.hostgroups.defaults.inheritance(context.begun.era())
        != context.begun.inheritance().cloned()
    {
        // Its values have become known, or the server has begun anew.
        renumber_environment(ground, context);
    }
    let defaults = &connection.server().defaults;
    let (Some(wanted), Some(there)) = (defaults.at(context.begun.era()), defaults.at(&connection.era)) else {
        context.begun.set_between(None);
        context.begun.lend(&mut context.state.settings, &Settings::default());
        return Ok(());
    };
    let is_same = |[one, other]: &[Arc<Defaults>; 2]| Arc::ptr_eq(one, &wanted) && Arc::ptr_eq(other, &there);
    if context.begun.between().is_some_and(is_same) {
        return Ok(());
    }
    context.begun.learn(&wanted);
    let lent = wanted.over(&there, context.lexing.server).map_err(Trouble::Inheritance)?;
    context.begun.lend(&mut context.state.settings, &lent);
    context.begun.set_between((!Arc::ptr_eq(&wanted, &there)).then_some([wanted, there]));
    read_as_inherited(context);
    Ok(())
}

/// A server has refused to set what differs: finds out whether that is something that the session began with.
pub(crate) async fn blame_inheritance(
    ground: &Ground,
    context: &Context,
    state: &SessionState,
    held: &mut Held,
    trouble: Trouble,
) -> Trouble {
    let Trouble::Refused(_) = trouble else { return trouble };
    for (name, value) in context.begun.lent().iter() {
        if state.settings.get(name) != Some(value) {
            continue;
        }
        let statement = [b"SET @@session.", name, b"=", value].concat();
        match order(ground, held, Command::Query, &statement, AnswerKind::Single).await {
            Ok(()) => {}
            Err(Trouble::Refused(_)) => {
                return Trouble::Inheritance(String::from_utf8_lossy(name).into_owned());
            }
            Err(other) => return other,
        }
    }
    trouble
}

/// Asks for what sessions begin with now, over a connection that the session has.
pub(crate) async fn ask_defaults(ground: &Ground, held: &mut Held) -> Result<(), Trouble> {
    way(ground, held).hear_ahead().await?;
    let control = Arc::clone(&held.connection.control);
    let asking = learn_defaults(&mut held.connection);
    unless_cut(&ground.handle, &control, asking).await?.map_err(Trouble::before_any_answer)
}

/// Waits while what sessions begin with is changed.
pub(crate) async fn await_defaults(ground: &Ground) {
    let defaults = &ground.shared.hostgroups.defaults;
    if defaults.is_changing() {
        ground.worker.with_tokio(defaults.settled()).await;
    }
}

/// MySQL never tells of ANSI_QUOTES.
fn read_as_inherited(context: &mut Context) {
    if let ServerFlavor::MySql(_) = context.lexing.server {
        context.lexing.ansi_quotes = context.has_ansi_quotes();
    }
}

/// Why a connection that the session has held is kept that would be closed as of another time: the session may find none on which it
/// has what it began with.
pub(crate) fn pin_of_inheritance(context: &Context, held: &Held) -> Pins {
    let defaults = &held.connection.server().defaults;
    let is_of_another_time =
        || defaults.is_later_than(&held.connection.era) && defaults.is_later_than(context.begun.era());
    if !held.was_held() || !is_of_another_time() {
        return Pins::NONE;
    }
    let Some(wanted) = defaults.at(context.begun.era()) else { return Pins::NONE };
    let is_of_its_time = defaults.at(&held.connection.era).is_some_and(|there| Arc::ptr_eq(&there, &wanted));
    // As long as nobody knows what sessions begin with now, it may be anything.
    let may_be_refused =
        || defaults.now().is_none_or(|now| wanted.may_be_refused_over(&now, context.lexing.server));
    if is_of_its_time && may_be_refused() { Pins::OLDER_DEFAULTS } else { Pins::NONE }
}
