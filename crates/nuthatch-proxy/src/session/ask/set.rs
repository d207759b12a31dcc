//! SET statements: what they change, and what the session learns of it.
//!
//! One SET may change several kinds of things at once. That is all or nothing on a server: measured on MariaDB 10.11 and MySQL 9.7, all values are
//! worked out before the first is set, and what can be wrong is found then. So a SET that failed changed nothing, but for a commit
//! that failed when it turned autocommit on.

use nuthatch_sql::ServerFlavor;

use crate::session::Session;
use crate::session::after::diagnostics::translate_diagnostics;
use crate::session::after::tracker::learn_tracker;
use crate::session::parts::{Context, Ground, Held};
use crate::session::statement::{
    Change, FOREIGN_KEY_CHECKS, Facts, Given, Setting, Step, TRACKER, UNIQUE_CHECKS, seconds,
};
use crate::session::way::Trouble;
use crate::state::{
    CHARACTER_SET_CONNECTION, CHARACTER_SET_RESULTS, COLLATION_CONNECTION, Charset, SessionState, literal_of,
};
use crate::stats::pins::Pins;

/// What gives the variable the value that a new connection has, but for the tracker, which is never off.
fn unset(name: &[u8]) -> &'static [u8] {
    match name {
        TRACKER => b"ON",
        FOREIGN_KEY_CHECKS => b"@@global.foreign_key_checks",
        UNIQUE_CHECKS => b"@@global.unique_checks",
        _ => b"DEFAULT",
    }
}

impl Session {
    /// Sets what differs between the state and the connection's.
    pub(crate) async fn bring_settings(&self, state: &SessionState, held: &mut Held) -> Result<(), Trouble> {
        let there = &held.connection.state;
        let mut statement = b"SET ".to_vec();
        for (name, value) in state.settings.ordered_differences(&there.settings) {
            let value = value.unwrap_or_else(|| unset(name));
            statement.extend([b"@@session.", name, b"=", value, b", "].concat());
        }
        // No server refuses a plain value to a user variable.
        let doubtful = statement.len();
        for (name, value) in state.user_variables.differences(&there.user_variables) {
            // There is none that the session has not: such a connection was reset.
            statement.extend([b"@`", name, b"`=", value.unwrap_or(b"NULL"), b", "].concat());
        }
        let Some(statement) = statement.strip_suffix(b", ") else { return Ok(()) };
        self.ground.worker.counters.backend_set_variables.bump();
        let proof = statement.get(..doubtful).unwrap_or(statement);
        if let Err(trouble) = self.set(held, statement, proof).await {
            return Err(Box::pin(self.blame_inheritance(state, held, trouble)).await);
        }
        let there = &mut held.connection.state;
        there.settings = state.settings.clone();
        there.user_variables = state.user_variables.clone();
        Ok(())
    }

    /// Takes note of what a SET has changed. What was worked out keeps the connection until it was asked for.
    pub(crate) fn learn_steps(&mut self, steps: &[Step], held: &mut Held) {
        for step in steps {
            match step {
                Step::Variable(setting) => learn_setting(&mut self.ground, &mut self.context, setting, held),
                Step::Autocommit { .. } => self.ground.worker.counters.autocommit.bump(),
                Step::Charset(charset) => self.learn_charset(charset, held),
            }
        }
        if steps.iter().any(Step::changes_charset_of_strings) {
            // Strings have the character set of before the statement, wherever in it they stand.
            keep_strings_of_variables(&self.context, held);
        }
        self.renumber_environment();
    }

    /// After a SET NAMES.
    pub(crate) fn learn_charset(&mut self, charset: &Charset, held: &mut Held) {
        self.ground.worker.counters.frontend_set_names.bump();
        keep_strings_of_variables(&self.context, held);
        self.context.state.settings.forget_names();
        held.connection.state.settings.forget_names();
        held.connection.state.charset = charset.clone();
        self.context.state.charset = charset.clone();
        self.diagnostics.results_charset = None;
        translate_diagnostics(&self.context, &mut self.diagnostics);
    }

    /// Asks for the values that the server has worked out.
    pub(crate) async fn learn_worked_out(&mut self, facts: &Facts, held: &mut Held) -> Result<(), Trouble> {
        let Change::Steps(steps) = &facts.change else { return Ok(()) };
        if !std::mem::take(&mut held.is_to_be_asked) {
            return Ok(());
        }
        self.forget_what_a_question_changes();
        let is_older = self.context.is_older_than_defaults(held);
        for name in steps.iter().filter_map(|step| step.asks_for(is_older)) {
            let query = format!("SELECT @@session.{}", String::from_utf8_lossy(name));
            let told = self.way(held).ask_value(&query).await?;
            let literal = match told.as_deref() {
                Some(told) => literal_of(told),
                // It may be NULL, and be set to it.
                None if *name == *CHARACTER_SET_RESULTS => Some(b"NULL"[..].into()),
                None => None,
            };
            let Some(literal) = literal else { return Ok(()) };
            if *name == *TRACKER {
                learn_tracker(&mut self.context, Some(&literal), held);
                continue;
            }
            self.context.state.settings.set(name, Some(&literal));
            held.connection.state.settings.set(name, Some(&literal));
        }
        held.pins = held.pins.without(Pins::SESSION_VARIABLE);
        if let ServerFlavor::MySql(_) = self.context.lexing.server {
            self.context.lexing.ansi_quotes = self.context.has_ansi_quotes();
        }
        translate_diagnostics(&self.context, &mut self.diagnostics);
        self.renumber_environment();
        Ok(())
    }
}

/// Whether a SET NAMES must take something back on the connection before settings are brought there.
pub(crate) fn must_set_names_again(state: &SessionState, held: &Held) -> bool {
    let there = &held.connection.state.settings;
    there.has_names() && !state.settings.agrees_in_names(there)
}

fn learn_setting(ground: &mut Ground, context: &mut Context, setting: &Setting, held: &mut Held) {
    let Setting { is_user_variable, name, value } = setting;
    if !is_user_variable {
        context.begun.let_go_of(name);
    }
    // It is what sessions begin with now, and not what this one has begun with.
    let is_of_now = setting.takes_default() && context.is_older_than_defaults(held);
    let value = match value {
        _ if is_of_now => &Given::WorkedOut,
        value => value,
    };
    let value = match value {
        Given::Literal(literal) => Some(&**literal),
        Given::Nothing => {
            if !is_user_variable && held.connection.has_init_connect() {
                // That is not what a new connection begins with.
                held.pins = held.pins.with(Pins::SESSION_VARIABLE);
            }
            None
        }
        Given::WorkedOut => {
            held.is_to_be_asked |= !held.pins.contains(Pins::SESSION_VARIABLE);
            held.pins = held.pins.with(Pins::SESSION_VARIABLE);
            context.state.settings.forget_overwritten(name);
            held.connection.state.settings.forget_overwritten(name);
            return;
        }
    };
    let there = &mut held.connection.state;
    if *is_user_variable && value.is_none() {
        // It stays what it was before, a number or a string, and only this connection knows.
        if context.state.user_variables.get(name).is_some() {
            held.pins = held.pins.with(Pins::USER_VARIABLE);
        }
        return;
    }
    if *is_user_variable {
        context.state.user_variables.set(name, value);
        there.user_variables.set(name, value);
        return;
    }
    if **name == *TRACKER {
        learn_tracker(context, value, held);
        return;
    }
    context.state.settings.learn(name, value);
    there.settings.learn(name, value);
    match &**name {
        b"wait_timeout" => ground.handle.set_wait_timeout(value.and_then(seconds)),
        CHARACTER_SET_CONNECTION | COLLATION_CONNECTION => keep_strings_of_variables(context, held),
        _ => {}
    }
}

/// A string in a user variable keeps the character set of the session: under another it could not be set again.
fn keep_strings_of_variables(context: &Context, held: &mut Held) {
    if context.state.user_variables.has_strings() {
        held.pins = held.pins.with(Pins::USER_VARIABLE);
    }
}
