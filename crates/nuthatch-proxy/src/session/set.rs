//! SET statements: what they give values to, and what the session learns of it.

use std::sync::Arc;

use nuthatch_sql::{
    Assignment, Assignments, Carry, Lexing, Role, ServerFlavor, SystemVariable, Value, assignments, render,
};

use crate::exact::Isolation;

use super::lease::Held;
use super::plan::{Change, Facts};
use super::tracker::TRACKER;
use super::trouble::Trouble;
use super::{Pins, Session, SessionState, Settings};

/// Variables of the connection's character sets, besides the one that statements come in. A SET NAMES sets them all.
pub(super) const OF_NAMES: [&[u8]; 3] =
    [COLLATION_CONNECTION, CHARACTER_SET_CONNECTION, b"character_set_results"];

/// These two set each other: the later one counts.
const COLLATION_CONNECTION: &[u8] = b"collation_connection";
const CHARACTER_SET_CONNECTION: &[u8] = b"character_set_connection";

const FOREIGN_KEY_CHECKS: &[u8] = b"foreign_key_checks";
const UNIQUE_CHECKS: &[u8] = b"unique_checks";

/// A shorter `wait_timeout` is the server's to watch over: the session keeps its connection for it.
const WAIT_TIMEOUT_SECONDS_MIN: u64 = 60;

/// A variable that is given something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) is_user_variable: bool,
    pub(super) name: Box<[u8]>,
    pub(super) value: Given,
}

/// What a variable is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    /// A value as SQL writes it.
    Literal(Box<[u8]>),
    /// The server's own, or none of a user variable.
    Nothing,
    /// What the server works out, and has to be asked for.
    WorkedOut,
}

/// What a SET does to the session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SetOutcome {
    /// These get values, and nothing else changes.
    Settings(Vec<Setting>),
    /// The next transaction runs as it says.
    NextTransaction,
    /// Another role, by this statement.
    Role(Arc<str>),
}

/// What a SET does, if all of it can be done again on another connection with the same outcome, or ends by itself.
pub(super) fn set_outcome(text: &[u8], lexing: Lexing) -> Option<SetOutcome> {
    let list = match assignments(text, lexing)? {
        Assignments::List(list) => list,
        Assignments::Role(role) => return role_statement(&role).map(SetOutcome::Role),
        _ => return None,
    };
    if list.iter().all(|assignment| matches!(assignment, Assignment::NextTransaction { .. })) {
        return Some(SetOutcome::NextTransaction);
    }
    let mut settings = Vec::with_capacity(list.len());
    for assignment in &list {
        match assignment {
            Assignment::Session { variable, value } => {
                let value = given(assignment, variable, value, lexing)?;
                let name = variable.name_on(lexing.server).as_bytes().into();
                settings.push(Setting { is_user_variable: false, name, value });
            }
            Assignment::User { variable, value } => {
                let value = match value {
                    Value::Number(_) | Value::Text(_) => Given::Literal(source(assignment, lexing)?),
                    Value::Word(word) if word.eq_ignore_ascii_case("NULL") => Given::Nothing,
                    _ => return None,
                };
                let name = variable.name().as_bytes().into();
                settings.push(Setting { is_user_variable: true, name, value });
            }
            Assignment::Server { .. } => {}
            _ => return None,
        }
    }
    Some(SetOutcome::Settings(settings))
}

/// The statement that sets a role, in one spelling; `None` where names may be read in several ways.
fn role_statement(role: &Role) -> Option<Arc<str>> {
    let role = match role {
        Role::None => "NONE",
        Role::Default => "DEFAULT",
        Role::All => "ALL",
        Role::Named(written) => std::str::from_utf8(written)
            .ok()
            .filter(|name| is_plain(name.as_bytes()) && !name.contains("/*"))?,
    };
    Some(format!("SET ROLE {role}").into())
}

/// What a session variable is given, if it can be carried.
fn given(assignment: &Assignment, variable: &SystemVariable, value: &Value, lexing: Lexing) -> Option<Given> {
    let carry = variable.carry();
    let may_be_carried = match carry {
        Carry::Value | Carry::SqlMode | Carry::Only(_) => true,
        Carry::Ordered(_) => OF_NAMES.contains(&variable.name().as_bytes()),
        Carry::Idle => value.literal().is_some_and(is_patient) || *value == Value::Default,
        _ => false,
    };
    match value {
        _ if !may_be_carried => None,
        // Of these, the server's own value is not the connection's after a login.
        Value::Default if matches!(carry, Carry::Ordered(_)) => None,
        // What it came to is asked for.
        Value::Default if has_odd_default(variable.name().as_bytes()) => Some(Given::WorkedOut),
        Value::Default => Some(Given::Nothing),
        Value::Number(_) | Value::Text(_) | Value::Word(_) => {
            let is_allowed = carry.allows(value) || carry == Carry::Idle;
            if is_allowed { Some(Given::Literal(source(assignment, lexing)?)) } else { None }
        }
        _ => matches!(carry, Carry::Value | Carry::SqlMode).then_some(Given::WorkedOut),
    }
}

fn is_patient(literal: &[u8]) -> bool {
    seconds(literal).is_some_and(|seconds| seconds >= WAIT_TIMEOUT_SECONDS_MIN)
}

fn seconds(literal: &[u8]) -> Option<u64> {
    std::str::from_utf8(literal).ok()?.parse().ok()
}

/// The value as SQL writes it, if it is read alike under every SQL mode and character set.
fn source(assignment: &Assignment, lexing: Lexing) -> Option<Box<[u8]>> {
    let statement = render(std::slice::from_ref(assignment), lexing)?;
    let place = statement.windows(3).position(|part| part == b" = ")?;
    let value = statement.get(place + 3..)?;
    is_plain(value).then(|| value.into())
}

fn is_plain(value: &[u8]) -> bool {
    value.is_ascii() && !value.iter().any(|byte| matches!(byte, b'\\' | b'"' | 0))
}

/// A value that a server told, as SQL writes it.
fn literal_of(told: &[u8]) -> Option<Box<[u8]>> {
    let digits = told.strip_prefix(b"-").unwrap_or(told);
    let (whole, part) = digits.split_at(digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len()));
    let is_run = |run: &[u8]| !run.is_empty() && run.iter().all(u8::is_ascii_digit);
    // MariaDB takes no decimal in quotes.
    if is_run(whole) && (part.is_empty() || is_run(part.get(1..).unwrap_or_default())) {
        return Some(told.into());
    }
    let is_plain = is_plain(told) && !told.contains(&b'\'');
    is_plain.then(|| [b"'", told, b"'"].concat().into())
}

impl Settings {
    /// Whether both agree in what a SET NAMES sets.
    pub(super) fn agrees_in_names(&self, other: &Self) -> bool {
        OF_NAMES.iter().all(|name| self.get(name) == other.get(name))
    }

    fn has_names(&self) -> bool {
        OF_NAMES.iter().any(|name| self.get(name).is_some())
    }

    /// After a SET NAMES.
    pub(super) fn forget_names(&mut self) {
        for name in OF_NAMES {
            if self.get(name).is_some() {
                self.set(name, None);
            }
        }
    }

    fn learn(&mut self, name: &[u8], value: Option<&[u8]>) {
        self.set(name, value);
        let other = match name {
            COLLATION_CONNECTION => CHARACTER_SET_CONNECTION,
            CHARACTER_SET_CONNECTION => COLLATION_CONNECTION,
            _ => return,
        };
        if self.get(other).is_some() {
            self.set(other, None);
        }
    }
}

/// Whether MySQL's DEFAULT is the opposite of the variable's global value (also in 9.7); MariaDB's is not.
fn has_odd_default(name: &[u8]) -> bool {
    matches!(name, FOREIGN_KEY_CHECKS | UNIQUE_CHECKS)
}

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
    pub(super) async fn bring_settings(&self, state: &SessionState, held: &mut Held) -> Result<(), Trouble> {
        let there = &held.connection.state;
        let mut statement = b"SET ".to_vec();
        for (name, value) in state.settings.differences(&there.settings) {
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
        self.worker.counters.backend_set_variables.bump();
        let proof = statement.get(..doubtful).unwrap_or(statement);
        self.set(held, statement, proof).await?;
        let there = &mut held.connection.state;
        there.settings = state.settings.clone();
        there.user_variables = state.user_variables.clone();
        Ok(())
    }

    /// Whether a SET NAMES must take something back on the connection before settings are brought there.
    pub(super) fn must_set_names_again(state: &SessionState, held: &Held) -> bool {
        let there = &held.connection.state.settings;
        there.has_names() && !state.settings.agrees_in_names(there)
    }

    /// Takes note of the values that a SET has given. What was worked out keeps the connection until it was asked for.
    pub(super) fn learn_settings(&mut self, settings: &[Setting], held: &mut Held) {
        for Setting { is_user_variable, name, value } in settings {
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
                    continue;
                }
            };
            let there = &mut held.connection.state;
            if *is_user_variable && value.is_none() {
                // It stays what it was before, a number or a string, and only this connection knows.
                if self.state.user_variables.get(name).is_some() {
                    held.pins = held.pins.with(Pins::USER_VARIABLE);
                }
                continue;
            }
            if *is_user_variable {
                self.state.user_variables.set(name, value);
                there.user_variables.set(name, value);
                continue;
            }
            if **name == *TRACKER {
                self.learn_tracker(value, held);
                continue;
            }
            self.state.settings.learn(name, value);
            there.settings.learn(name, value);
            match &**name {
                b"wait_timeout" => self.handle.set_wait_timeout(value.and_then(seconds)),
                CHARACTER_SET_CONNECTION | COLLATION_CONNECTION => self.keep_strings_of_variables(held),
                _ => {}
            }
        }
        self.renumber_environment();
    }

    /// Asks for the values that the server has worked out.
    pub(super) async fn learn_worked_out(&mut self, facts: &Facts, held: &mut Held) -> Result<(), Trouble> {
        let Change::Settings(settings) = &facts.change else { return Ok(()) };
        if !std::mem::take(&mut held.is_to_be_asked) {
            return Ok(());
        }
        self.last_ran_on = None;
        self.forget_what_a_question_clears();
        for Setting { name, .. } in settings.iter().filter(|setting| setting.value == Given::WorkedOut) {
            let query = format!("SELECT @@session.{}", String::from_utf8_lossy(name));
            let told = self.way(held).ask_value(&query).await?;
            let Some(literal) = told.as_deref().and_then(literal_of) else { return Ok(()) };
            if **name == *TRACKER {
                self.learn_tracker(Some(&literal), held);
                continue;
            }
            self.state.settings.learn(name, Some(&literal));
            held.connection.state.settings.learn(name, Some(&literal));
        }
        held.pins = held.pins.without(Pins::SESSION_VARIABLE);
        if let ServerFlavor::MySql(_) = self.lexing.server {
            self.lexing.ansi_quotes = self.has_ansi_quotes();
        }
        self.renumber_environment();
        Ok(())
    }

    /// A string in a user variable keeps the character set of the session: under another it could not be set again.
    pub(super) fn keep_strings_of_variables(&self, held: &mut Held) {
        if self.state.user_variables.has_strings() {
            held.pins = held.pins.with(Pins::USER_VARIABLE);
        }
    }

    /// Whether the SQL mode that it has set makes `"x"` a name.
    pub(super) fn has_ansi_quotes(&self) -> bool {
        // ANSI stands for ANSI_QUOTES and more.
        let mode = self.state.settings.get(b"sql_mode").unwrap_or_default();
        mode.windows(4).any(|part| part.eq_ignore_ascii_case(b"ANSI"))
    }

    /// Whether transactions see what the cache must not answer with, or answers must be of now.
    pub(super) fn has_odd_isolation(&self) -> bool {
        self.own_isolation() == Some(Isolation::Other)
    }

    /// The isolation that the session has set for its transactions, if it has.
    pub(super) fn own_isolation(&self) -> Option<Isolation> {
        let names = [&b"transaction_isolation"[..], b"tx_isolation"];
        // Which of two counts is the later one, which is not known: the odd one does.
        names
            .iter()
            .filter_map(|name| self.state.settings.get(name))
            .map(isolation)
            .reduce(|a, b| if a == b { a } else { Isolation::Other })
    }
}

fn isolation(level: &[u8]) -> Isolation {
    let is_like = |name: &[u8]| level.windows(name.len()).any(|part| part.eq_ignore_ascii_case(name));
    match () {
        () if is_like(b"UNCOMMITTED") || is_like(b"SERIALIZABLE") => Isolation::Other,
        () if is_like(b"COMMITTED") => Isolation::ReadCommitted,
        () if is_like(b"REPEATABLE") => Isolation::RepeatableRead,
        () => Isolation::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_tells_is_written_as_it_takes_it() {
        for (told, expected) in [
            ("10", Some("10")),
            ("-1", Some("-1")),
            ("10.000000", Some("10.000000")),
            ("ANSI_QUOTES", Some("'ANSI_QUOTES'")),
            ("", Some("''")),
            ("1.2.3", Some("'1.2.3'")),
            ("10.", Some("'10.'")),
            ("-", Some("'-'")),
            ("it's", None),
            ("a\\b", None),
        ] {
            assert_eq!(literal_of(told.as_bytes()).as_deref(), expected.map(str::as_bytes), "{told}");
        }
    }
}
