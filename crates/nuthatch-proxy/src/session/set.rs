//! SET statements: what they give values to, and what the session learns of it.

use nuthatch_sql::{Assignment, Assignments, Carry, Lexing, Value, assignments, render};
use nuthatch_wire::{AnswerKind, Command};

use super::lease::Held;
use super::trouble::Trouble;
use super::{Pins, Session, SessionState};

/// A variable that gets a value, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) is_user_variable: bool,
    pub(super) name: Box<[u8]>,
    /// As SQL writes it; `None`: the server's own, or none of a user variable.
    pub(super) value: Option<Box<[u8]>>,
}

/// What a SET does to the session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SetOutcome {
    /// These get values, and nothing else changes.
    Settings(Vec<Setting>),
    /// The next transaction runs as it says.
    NextTransaction,
}

/// What a SET does, if all of it can be done again on another connection with the same outcome, or ends by itself.
pub(super) fn set_outcome(text: &[u8], lexing: Lexing) -> Option<SetOutcome> {
    let Assignments::List(list) = assignments(text, lexing)? else { return None };
    if list.iter().all(|assignment| matches!(assignment, Assignment::NextTransaction { .. })) {
        return Some(SetOutcome::NextTransaction);
    }
    let mut settings = Vec::with_capacity(list.len());
    for assignment in &list {
        match assignment {
            Assignment::Session { variable, value } => {
                let carry = variable.carry();
                let is_plain = matches!(carry, Carry::Value | Carry::SqlMode | Carry::Only(_));
                let value = match value {
                    Value::Default if is_plain => None,
                    value if is_plain && carry.allows(value) => Some(source(assignment, lexing)?),
                    _ => return None,
                };
                let name = variable.name_on(lexing.server).as_bytes().into();
                settings.push(Setting { is_user_variable: false, name, value });
            }
            Assignment::User { variable, value: Value::Number(_) | Value::Text(_) } => {
                let (name, value) = (variable.name().as_bytes().into(), Some(source(assignment, lexing)?));
                settings.push(Setting { is_user_variable: true, name, value });
            }
            Assignment::User { variable, value: Value::Word(word) } if word.eq_ignore_ascii_case("NULL") => {
                let name = variable.name().as_bytes().into();
                settings.push(Setting { is_user_variable: true, name, value: None });
            }
            Assignment::Server { .. } => {}
            _ => return None,
        }
    }
    Some(SetOutcome::Settings(settings))
}

/// The value as SQL writes it, if it is read alike under every SQL mode and character set.
fn source(assignment: &Assignment, lexing: Lexing) -> Option<Box<[u8]>> {
    let statement = render(std::slice::from_ref(assignment), lexing)?;
    let place = statement.windows(3).position(|part| part == b" = ")?;
    let value = statement.get(place + 3..)?;
    let is_plain = value.is_ascii() && !value.iter().any(|byte| matches!(byte, b'\\' | b'"'));
    is_plain.then(|| value.into())
}

impl Session {
    /// Sets what differs between the state and the connection's.
    pub(super) async fn bring_settings(&self, state: &SessionState, held: &mut Held) -> Result<(), Trouble> {
        let there = &held.connection.state;
        let mut statement = b"SET ".to_vec();
        for (name, value) in state.settings.differences(&there.settings) {
            statement.extend([b"@@session.", name, b"=", value.unwrap_or(b"DEFAULT"), b", "].concat());
        }
        for (name, value) in state.user_variables.differences(&there.user_variables) {
            statement.extend([b"@`", name, b"`=", value.unwrap_or(b"NULL"), b", "].concat());
        }
        let Some(statement) = statement.strip_suffix(b", ") else { return Ok(()) };
        self.worker.counters.backend_set_variables.bump();
        self.order(held, Command::Query, statement, AnswerKind::ResultSets).await?;
        let there = &mut held.connection.state;
        there.settings = state.settings.clone();
        there.user_variables = state.user_variables.clone();
        Ok(())
    }

    /// Takes note of the values that a SET has given.
    pub(super) fn learn_settings(&mut self, settings: &[Setting], held: &mut Held) {
        for Setting { is_user_variable, name, value } in settings {
            for state in [&mut self.state.settings, &mut held.connection.state.settings] {
                if !is_user_variable {
                    state.set(name, value.as_deref());
                }
            }
            for state in [&mut self.state.user_variables, &mut held.connection.state.user_variables] {
                if *is_user_variable {
                    state.set(name, value.as_deref());
                }
            }
        }
        self.renumber_environment();
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
        let names = [&b"transaction_isolation"[..], b"tx_isolation"];
        names.iter().filter_map(|name| self.state.settings.get(name)).any(|level| {
            let is_like = |name: &[u8]| level.windows(name.len()).any(|part| part.eq_ignore_ascii_case(name));
            is_like(b"UNCOMMITTED") || is_like(b"SERIALIZABLE")
        })
    }
}
