//! SET statements: what they give values to, and what the session learns of it.

use nuthatch_sql::Lexing;
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

/// What a SET gives values to, if all of it can be set again on another connection with the same outcome.
pub(super) fn settings_of(_text: &[u8], _lexing: Lexing) -> Option<Vec<Setting>> {
    None
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
        self.state.settings.get(b"transaction_isolation").is_some_and(|level| {
            let is_like = |name: &[u8]| level.windows(name.len()).any(|part| part.eq_ignore_ascii_case(name));
            is_like(b"UNCOMMITTED") || is_like(b"SERIALIZABLE")
        })
    }
}
