//! What the session began with, where connections begin with something else by now.
//!
//! A server's session keeps the global values that were in force when it logged in (`backend/server/defaults.rs`). Here its statements run over
//! connections that may be younger: what differs, and the session has not set itself, stands among the state's settings as if it had. It is worked
//! out for each connection, as each server has its own. In the cache's key it stands by its number, and not value by value.
//!
//! What the session may not set keeps it on a connection of its own time, if it holds one; else it ends with an error that names
//! the variable. Where it is not known what a session began with, it takes what there is.

use std::sync::Arc;

use nuthatch_sql::{DefaultsChange, ServerFlavor};
use nuthatch_wire::{AnswerEnd, AnswerKind, Command};

use crate::backend::{Changing, Connection, Defaults, Era};
use crate::session::Session;
use crate::session::parts::{Begun, Context, Ground, Held};
use crate::session::statement::Facts;
use crate::session::way::Trouble;
use crate::state::{SessionState, Settings};
use crate::stats::pins::Pins;

impl Session {
    /// The session begins, or begins anew: with what is in force now.
    pub(crate) fn begin_in(&mut self, era: Arc<Era>) {
        self.context.begun = Begun::in_era(era);
        self.context.lexing = self.ground.shared.greetings.lexing();
        let hostgroup = self.account.user.default_hostgroup;
        let Some(defaults) = self.ground.shared.hostgroups.defaults_of(hostgroup, &self.context.begun.era)
        else {
            return;
        };
        self.context.begun.learn(&defaults);
        self.context.lexing.no_backslash_escapes = defaults.has_mode(b"NO_BACKSLASH_ESCAPES");
        self.context.lexing.ansi_quotes = defaults.has_mode(b"ANSI_QUOTES");
        self.context.state.autocommit = defaults.value(b"autocommit").is_none_or(|value| value != b"OFF");
    }

    /// Has the state's settings be what they must be over this connection.
    pub(crate) fn inherit(&mut self, held: &Held) -> Result<(), Trouble> {
        match held.connection.is_of_now_as(&self.context.begun.era) && self.context.begun.between.is_none() {
            true => Ok(()),
            false => self.inherit_over(&held.connection),
        }
    }

    fn inherit_over(&mut self, connection: &Connection) -> Result<(), Trouble> {
        if self.ground.shared.hostgroups.defaults.inheritance(&self.context.begun.era)
            != self.context.begun.inheritance
        {
            // Its values have become known, or the server has begun anew.
            self.renumber_environment();
        }
        let defaults = &connection.server().defaults;
        let (Some(wanted), Some(there)) =
            (defaults.at(&self.context.begun.era), defaults.at(&connection.era))
        else {
            self.context.begun.between = None;
            self.context.begun.lend(&mut self.context.state.settings, &Settings::default());
            return Ok(());
        };
        let is_same =
            |[one, other]: &[Arc<Defaults>; 2]| Arc::ptr_eq(one, &wanted) && Arc::ptr_eq(other, &there);
        if self.context.begun.between.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        self.context.begun.learn(&wanted);
        let lent = wanted.over(&there, self.context.lexing.server).map_err(Trouble::Inheritance)?;
        self.context.begun.lend(&mut self.context.state.settings, &lent);
        self.context.begun.between = (!Arc::ptr_eq(&wanted, &there)).then_some([wanted, there]);
        read_as_inherited(&mut self.context);
        Ok(())
    }

    /// A server has refused to set what differs: finds out whether that is something that the session began with.
    pub(crate) async fn blame_inheritance(
        &self,
        state: &SessionState,
        held: &mut Held,
        trouble: Trouble,
    ) -> Trouble {
        let Trouble::Refused(_) = trouble else { return trouble };
        for (name, value) in self.context.begun.lent.iter() {
            if state.settings.get(name) != Some(value) {
                continue;
            }
            let statement = [b"SET @@session.", name, b"=", value].concat();
            match self.order(held, Command::Query, &statement, AnswerKind::Single).await {
                Ok(()) => {}
                Err(Trouble::Refused(_)) => {
                    return Trouble::Inheritance(String::from_utf8_lossy(name).into_owned());
                }
                Err(other) => return other,
            }
        }
        trouble
    }

    /// Goes before a statement that is to be sent: if it changes what sessions begin with, the values of before are known, and what begins
    /// waits.
    pub(crate) async fn begin_change_of_defaults(
        &self,
        facts: &Facts,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if facts.changes_defaults == DefaultsChange::No {
            return Ok(());
        }
        if held.connection.server().defaults.lacks_values() {
            self.way(held).hear_ahead().await?;
            self.ground
                .handle
                .unless_ended(held.connection.learn_defaults())
                .await?
                .map_err(Trouble::before_any_answer)?;
        }
        let is_at_once = facts.changes_defaults == DefaultsChange::Set;
        held.changing = is_at_once.then(|| held.connection.server().defaults.begin_change());
        Ok(())
    }

    /// Asks for what sessions begin with now, if the statement has changed that: before the session takes its next command.
    pub(crate) async fn learn_changed_defaults(
        &mut self,
        facts: &Facts,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if facts.changes_defaults == DefaultsChange::No {
            return Ok(());
        }
        let changing: Option<Changing> = held.changing.take();
        if held.pins.contains(Pins::DIAGNOSTICS) && !self.ground.snapshot.mysql.hold_for_diagnostics {
            Box::pin(self.fetch_diagnostics(end, held)).await?;
        }
        // What is asked would take their place; then the next connection asks.
        if !held.pins.contains(Pins::DIAGNOSTICS) {
            (self.hands.last_ran_on, self.diagnostics.left_on) = (None, None);
            self.way(held).hear_ahead().await?;
            self.ground
                .handle
                .unless_ended(held.connection.learn_defaults())
                .await?
                .map_err(Trouble::before_any_answer)?;
        }
        drop(changing);
        Ok(())
    }
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
        || defaults.is_later_than(&held.connection.era) && defaults.is_later_than(&context.begun.era);
    if !held.was_held || !is_of_another_time() {
        return Pins::NONE;
    }
    let Some(wanted) = defaults.at(&context.begun.era) else { return Pins::NONE };
    let is_of_its_time = defaults.at(&held.connection.era).is_some_and(|there| Arc::ptr_eq(&there, &wanted));
    // As long as nobody knows what sessions begin with now, it may be anything.
    let may_be_refused =
        || defaults.now().is_none_or(|now| wanted.may_be_refused_over(&now, context.lexing.server));
    if is_of_its_time && may_be_refused() { Pins::OLDER_DEFAULTS } else { Pins::NONE }
}
