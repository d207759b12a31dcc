//! What a SET statement comes to, step by step.

use std::sync::Arc;

use nuthatch_sql::{
    Assignment, Assignments, Carry, Group, Lexing, Role, SystemVariable, UserVariable, Value, assignments,
    render,
};

use crate::session::statement::is_off;
use crate::state::{
    CHARACTER_SET_CONNECTION, CHARACTER_SET_RESULTS, COLLATION_CONNECTION, Charset, OF_NAMES, Settings,
    is_plain,
};

const CHARACTER_SET_CLIENT: &[u8] = b"character_set_client";

const PROFILING: &[u8] = b"profiling";

/// The name that SET NAMES has for the server's own character set.
pub(crate) const DEFAULT: &str = "default";

pub(crate) const FOREIGN_KEY_CHECKS: &[u8] = b"foreign_key_checks";

pub(crate) const UNIQUE_CHECKS: &[u8] = b"unique_checks";

/// A shorter `wait_timeout` is the server's to watch over: the session keeps its connection for it.
const WAIT_TIMEOUT_SECONDS_MIN: u64 = 60;

/// One thing that a SET changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A variable, as this list has it.
    Variable(Setting),
    /// Autocommit. What it is then the server's flags tell.
    Autocommit {
        /// It may be turned on, which commits.
        may_turn_on: bool,
    },
    /// Character sets and collation, as SET NAMES does.
    Charset(Charset),
}

/// A variable that is given something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) is_user_variable: bool,
    pub(crate) name: Box<[u8]>,
    pub(crate) value: Given,
}

/// What a variable is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// A value as SQL writes it.
    Literal(Box<[u8]>),
    /// The server's own, or none of a user variable.
    Nothing,
    /// What the server works out, and has to be asked for.
    WorkedOut,
}

/// What a SET does to the session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SetOutcome {
    /// It changes these, in this order.
    Steps {
        /// None where it is only about the next transaction.
        steps: Vec<Step>,
        /// The next transaction runs as it says.
        is_of_next_transaction: bool,
    },
    /// Another role, by this statement.
    Role(Arc<str>),
}

/// What a SET does, if all of it can be done again on another connection with the same outcome, or ends by itself.
pub(crate) fn set_outcome(text: &[u8], lexing: Lexing) -> Option<SetOutcome> {
    let list = match assignments(text, lexing)? {
        Assignments::List(list) => list,
        Assignments::Role(role) => return role_statement(&role).map(SetOutcome::Role),
        _ => return None,
    };
    let is_servers = |assignment: &&Assignment| matches!(assignment, Assignment::Server { .. });
    let of_server = list.iter().filter(is_servers).count();
    if of_server > 0 && of_server < list.len() {
        // A value that a server takes for good may be refused when it is set, behind what has been set for the session.
        return None;
    }
    let (mut steps, mut is_of_next_transaction) = (Vec::with_capacity(list.len()), false);
    for assignment in &list {
        match assignment {
            Assignment::NextTransaction { .. } => is_of_next_transaction = true,
            Assignment::Server { .. } => {}
            Assignment::Session { variable, value } if variable.carry() == Carry::Autocommit => {
                steps.push(Step::Autocommit { may_turn_on: !is_surely_off(value) });
            }
            Assignment::Session { variable, value } if variable.name().as_bytes() == CHARACTER_SET_CLIENT => {
                steps.extend(client_charset(value)?);
            }
            Assignment::Session { variable, value } => {
                let step = match variable.whole() {
                    Some(whole) => Step::asked(whole),
                    None => {
                        let value = given(assignment, variable, value, lexing)?;
                        Step::session_variable(variable.name_on(lexing.server).as_bytes(), value)
                    }
                };
                steps.push(step);
            }
            Assignment::User { variable, value } => {
                steps.push(user_variable(assignment, variable, value, lexing)?);
            }
            Assignment::Names { charset, collation } => {
                steps.push(Step::Charset(Charset::set_names(
                    charset.as_deref().unwrap_or(DEFAULT),
                    collation.as_deref(),
                )));
            }
            Assignment::CharacterSet(charset) => steps.extend(character_set(charset.as_deref()?)),
        }
    }
    Some(SetOutcome::Steps { steps, is_of_next_transaction })
}

fn is_surely_off(value: &Value) -> bool {
    matches!(value, Value::Number(_) | Value::Word(_) | Value::Text(_))
        && value.literal().is_some_and(|literal| {
            [&b"0"[..], b"off", b"false"].iter().any(|off| literal.eq_ignore_ascii_case(off))
        })
}

fn user_variable(
    assignment: &Assignment,
    variable: &UserVariable,
    value: &Value,
    lexing: Lexing,
) -> Option<Step> {
    let value = match value {
        Value::Number(_) | Value::Text(_) => Given::Literal(source(assignment, lexing)?),
        Value::Word(word) if word.eq_ignore_ascii_case("NULL") => Given::Nothing,
        _ => return None,
    };
    let name = variable.name().as_bytes().into();
    Some(Step::Variable(Setting { is_user_variable: true, name, value }))
}

/// What SET CHARACTER SET does: SET NAMES, and the collation of the connection becomes that of the default schema, which is asked for.
fn character_set(charset: &str) -> [Step; 2] {
    [Step::Charset(Charset::set_names(charset, None)), Step::asked(COLLATION_CONNECTION)]
}

/// What a change of `character_set_client` alone does: SET NAMES, and the others are what they were, which is asked for.
fn client_charset(value: &Value) -> Option<[Step; 3]> {
    let (Value::Text(_) | Value::Word(_)) = value else { return None };
    let is_name = |name: &&[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
    let charset = String::from_utf8_lossy(value.literal().filter(is_name)?).to_lowercase();
    let [names, collation] = character_set(&charset);
    Some([names, collation, Step::asked(CHARACTER_SET_RESULTS)])
}

impl Setting {
    /// Whether a session variable gets what sessions begin with.
    pub(crate) fn takes_default(&self) -> bool {
        self.value == Given::Nothing && !self.is_user_variable
    }
}

impl Step {
    fn session_variable(name: &[u8], value: Given) -> Self {
        Self::Variable(Setting { is_user_variable: false, name: name.into(), value })
    }

    /// The variable gets what the server will tell.
    fn asked(name: &[u8]) -> Self {
        Self::session_variable(name, Given::WorkedOut)
    }

    /// The variable whose value the server is to tell: also of a default that is not the session's own any more.
    pub(crate) fn asks_for(&self, is_older: bool) -> Option<&[u8]> {
        match self {
            Self::Variable(setting)
                if setting.value == Given::WorkedOut || is_older && setting.takes_default() =>
            {
                Some(&setting.name)
            }
            _ => None,
        }
    }

    /// Whether a string that a user variable had before would have another character set or collation if it were set again behind it.
    pub(crate) fn changes_charset_of_strings(&self) -> bool {
        match self {
            Self::Charset(_) => true,
            Self::Variable(setting) => {
                [CHARACTER_SET_CONNECTION, COLLATION_CONNECTION].contains(&&*setting.name)
            }
            Self::Autocommit { .. } => false,
        }
    }

    /// Whether it is sure to commit nothing.
    pub(crate) const fn commits_nothing(&self) -> bool {
        !matches!(self, Self::Autocommit { may_turn_on: true })
    }
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
        Carry::Value | Carry::SqlMode | Carry::Only(_) | Carry::Ordered(Group::SelectSize) => true,
        Carry::Ordered(_) => OF_NAMES.contains(&variable.name().as_bytes()),
        Carry::Idle => value.literal().is_some_and(is_patient) || *value == Value::Default,
        _ => false,
    };
    match value {
        _ if !may_be_carried => None,
        // Of these, the server's own value is not the connection's after a login.
        Value::Default if carry == Carry::Ordered(Group::SelectSize) => Some(Given::WorkedOut),
        Value::Default if matches!(carry, Carry::Ordered(_)) => None,
        // What it came to is asked for.
        Value::Default if has_odd_default(variable.name().as_bytes()) => Some(Given::WorkedOut),
        Value::Default => Some(Given::Nothing),
        Value::Number(_) | Value::Text(_) | Value::Word(_) => {
            let is_allowed = carry.allows(value) || carry == Carry::Idle;
            if is_allowed { Some(Given::Literal(source(assignment, lexing)?)) } else { None }
        }
        _ => {
            let may_be_asked =
                matches!(carry, Carry::Value | Carry::SqlMode | Carry::Ordered(Group::SelectSize));
            may_be_asked.then_some(Given::WorkedOut)
        }
    }
}

fn is_patient(literal: &[u8]) -> bool {
    seconds(literal).is_some_and(|seconds| seconds >= WAIT_TIMEOUT_SECONDS_MIN)
}

pub(crate) fn seconds(literal: &[u8]) -> Option<u64> {
    std::str::from_utf8(literal).ok()?.parse().ok()
}

/// The value as SQL writes it, if it is read alike under every SQL mode and character set.
fn source(assignment: &Assignment, lexing: Lexing) -> Option<Box<[u8]>> {
    let statement = render(std::slice::from_ref(assignment), lexing)?;
    let place = statement.windows(3).position(|part| part == b" = ")?;
    let value = statement.get(place + 3..)?;
    is_plain(value).then(|| value.into())
}

/// Whether MySQL's DEFAULT is the opposite of the variable's global value (also in 9.7); MariaDB's is not.
fn has_odd_default(name: &[u8]) -> bool {
    matches!(name, FOREIGN_KEY_CHECKS | UNIQUE_CHECKS)
}

/// Whether a connection with these keeps a profile of each statement: it alone has it, and shows it with those of before.
pub(crate) fn is_profiled(settings: &Settings) -> bool {
    settings.get(PROFILING).is_some_and(|value| !is_off(value))
}
