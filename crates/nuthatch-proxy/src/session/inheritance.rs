//! What the session began with, where connections begin with something else by now.
//!
//! A server's session keeps the global values that were in force when it logged in (`backend/defaults.rs`). Here its statements run over
//! connections that may be younger: what differs, and the session has not set itself, stands among the state's settings as if it had. It is worked
//! out for each connection, as each server has its own. In the cache's key it stands by its number, and not value by value.
//!
//! What the session may not set keeps it on a connection of its own time, if it holds one; else it ends with an error that names
//! the variable. Where it is not known what a session began with, it takes what there is.

use std::sync::Arc;

use nuthatch_sql::{DefaultsChange, ServerFlavor};
use nuthatch_wire::{AnswerEnd, AnswerKind, Command};

use crate::backend::{Changing, Connection, Defaults, Era, Inheritance};
use crate::pins::Pins;

use crate::state::{SessionState, Settings};

use super::Session;
use super::lease::Held;
use super::plan::Facts;
use super::trouble::Trouble;

/// See the module's doc.
#[derive(Debug)]
pub(super) struct Begun {
    /// When the session began.
    pub(super) era: Arc<Era>,
    /// What tells it from others in the cache's key.
    pub(super) inheritance: Option<Inheritance>,
    /// What it began with, and the connection; of these two sets the difference has been taken.
    between: Option<[Arc<Defaults>; 2]>,
    /// What the state's settings have besides the session's own.
    lent: Settings,
    /// By what it began with, `"x"` is a name; where that is known.
    pub(super) ansi_quotes: Option<bool>,
    /// By what it began with, as far as is known, its transactions see what the cache must not answer with.
    pub(super) has_odd_isolation: bool,
}

impl Begun {
    pub(super) fn in_era(era: Arc<Era>) -> Self {
        Self {
            era,
            inheritance: None,
            between: None,
            lent: Settings::default(),
            ansi_quotes: None,
            has_odd_isolation: false,
        }
    }

    /// The settings without those that are not the session's own.
    pub(super) fn own(&self, settings: &Settings) -> Settings {
        let mut own = settings.clone();
        self.lent.names().for_each(|name| own.set(name, None));
        own
    }

    /// The session sets a variable itself.
    pub(super) fn let_go_of(&mut self, name: &[u8]) {
        if self.lent.get(name).is_some() {
            self.lent.set(name, None);
        }
    }

    fn learn(&mut self, defaults: &Defaults) {
        self.ansi_quotes = Some(defaults.has_mode(b"ANSI_QUOTES"));
        let isolation = defaults.value(b"transaction_isolation").or_else(|| defaults.value(b"tx_isolation"));
        self.has_odd_isolation =
            isolation.is_some_and(|isolation| matches!(isolation, b"READ-UNCOMMITTED" | b"SERIALIZABLE"));
    }

    /// Has the state's settings be the session's own and these.
    fn lend(&mut self, settings: &mut Settings, wanted: &Settings) {
        let mut all = self.own(settings);
        let mut lent = Settings::default();
        for (name, value) in wanted.iter().filter(|(name, _)| all.get(name).is_none()).collect::<Vec<_>>() {
            all.set(name, Some(value));
            lent.set(name, Some(value));
        }
        (*settings, self.lent) = (all, lent);
    }
}

impl Connection {
    /// Whether it and a session of that era began with the same, and so would they now.
    fn is_of_now_as(&self, era: &Era) -> bool {
        let defaults = &self.server().defaults;
        !defaults.is_later_than(&self.era) && !defaults.is_later_than(era)
    }
}

impl Session {
    /// The session begins, or begins anew: with what is in force now.
    pub(super) fn begin_in(&mut self, era: Arc<Era>) {
        self.begun = Begun::in_era(era);
        self.lexing = self.shared.greetings.lexing();
        let hostgroup = self.account.user.default_hostgroup;
        let Some(defaults) = self.shared.hostgroups.defaults_of(hostgroup, &self.begun.era) else { return };
        self.begun.learn(&defaults);
        self.lexing.no_backslash_escapes = defaults.has_mode(b"NO_BACKSLASH_ESCAPES");
        self.lexing.ansi_quotes = defaults.has_mode(b"ANSI_QUOTES");
        self.state.autocommit = defaults.value(b"autocommit").is_none_or(|value| value != b"OFF");
    }

    /// Waits while what sessions begin with is changed.
    pub(super) async fn await_defaults(&self) {
        let defaults = &self.shared.hostgroups.defaults;
        if defaults.is_changing() {
            self.worker.with_tokio(defaults.settled()).await;
        }
    }

    /// Whether sessions that begin on this server now begin with something else than this session, as far as is known.
    pub(super) fn is_older_than_defaults(&self, held: &Held) -> bool {
        held.connection.server().defaults.is_later_than(&self.begun.era)
    }

    /// Has the state's settings be what they must be over this connection.
    pub(super) fn inherit(&mut self, held: &Held) -> Result<(), Trouble> {
        match held.connection.is_of_now_as(&self.begun.era) && self.begun.between.is_none() {
            true => Ok(()),
            false => self.inherit_over(&held.connection),
        }
    }

    fn inherit_over(&mut self, connection: &Connection) -> Result<(), Trouble> {
        if self.shared.hostgroups.defaults.inheritance(&self.begun.era) != self.begun.inheritance {
            // Its values have become known, or the server has begun anew.
            self.renumber_environment();
        }
        let defaults = &connection.server().defaults;
        let (Some(wanted), Some(there)) = (defaults.at(&self.begun.era), defaults.at(&connection.era)) else {
            self.begun.between = None;
            self.begun.lend(&mut self.state.settings, &Settings::default());
            return Ok(());
        };
        let is_same =
            |[one, other]: &[Arc<Defaults>; 2]| Arc::ptr_eq(one, &wanted) && Arc::ptr_eq(other, &there);
        if self.begun.between.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        self.begun.learn(&wanted);
        let lent = wanted.over(&there, self.lexing.server).map_err(Trouble::Inheritance)?;
        self.begun.lend(&mut self.state.settings, &lent);
        self.begun.between = (!Arc::ptr_eq(&wanted, &there)).then_some([wanted, there]);
        self.read_as_inherited();
        Ok(())
    }

    /// MySQL never tells of ANSI_QUOTES.
    fn read_as_inherited(&mut self) {
        if let ServerFlavor::MySql(_) = self.lexing.server {
            self.lexing.ansi_quotes = self.has_ansi_quotes();
        }
    }

    /// A server has refused to set what differs: finds out whether that is something that the session began with.
    pub(super) async fn blame_inheritance(
        &self,
        state: &SessionState,
        held: &mut Held,
        trouble: Trouble,
    ) -> Trouble {
        let Trouble::Refused(_) = trouble else { return trouble };
        for (name, value) in self.begun.lent.iter() {
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

    /// Why a connection that the session has held is kept that would be closed as of another time: the session may find none on which it
    /// has what it began with.
    pub(super) fn pin_of_inheritance(&self, held: &Held) -> Pins {
        let defaults = &held.connection.server().defaults;
        let is_of_another_time =
            || defaults.is_later_than(&held.connection.era) && defaults.is_later_than(&self.begun.era);
        if !held.was_held || !is_of_another_time() {
            return Pins::NONE;
        }
        let Some(wanted) = defaults.at(&self.begun.era) else { return Pins::NONE };
        let is_of_its_time =
            defaults.at(&held.connection.era).is_some_and(|there| Arc::ptr_eq(&there, &wanted));
        // As long as nobody knows what sessions begin with now, it may be anything.
        let may_be_refused =
            || defaults.now().is_none_or(|now| wanted.may_be_refused_over(&now, self.lexing.server));
        if is_of_its_time && may_be_refused() { Pins::OLDER_DEFAULTS } else { Pins::NONE }
    }

    /// Goes before a statement that is to be sent: if it changes what sessions begin with, the values of before are known, and what begins
    /// waits.
    pub(super) async fn begin_change_of_defaults(
        &self,
        facts: &Facts,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if facts.changes_defaults == DefaultsChange::No {
            return Ok(());
        }
        if held.connection.server().defaults.lacks_values() {
            self.way(held).hear_ahead().await?;
            self.handle
                .unless_ended(held.connection.learn_defaults())
                .await?
                .map_err(Trouble::before_any_answer)?;
        }
        let is_at_once = facts.changes_defaults == DefaultsChange::Set;
        held.changing = is_at_once.then(|| held.connection.server().defaults.begin_change());
        Ok(())
    }

    /// Asks for what sessions begin with now, if the statement has changed that: before the session takes its next command.
    pub(super) async fn learn_changed_defaults(
        &mut self,
        facts: &Facts,
        end: &AnswerEnd,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        if facts.changes_defaults == DefaultsChange::No {
            return Ok(());
        }
        let changing: Option<Changing> = held.changing.take();
        if held.pins.contains(Pins::DIAGNOSTICS) && !self.snapshot.mysql.hold_for_diagnostics {
            Box::pin(self.fetch_diagnostics(end, held)).await?;
        }
        // What is asked would take their place; then the next connection asks.
        if !held.pins.contains(Pins::DIAGNOSTICS) {
            (self.last_ran_on, self.left_on) = (None, None);
            self.way(held).hear_ahead().await?;
            self.handle
                .unless_ended(held.connection.learn_defaults())
                .await?
                .map_err(Trouble::before_any_answer)?;
        }
        drop(changing);
        Ok(())
    }
}
