//! SET statements: what they change, and what the session learns of it.
//!
//! One SET may change several kinds of things at once. That is all or nothing on a server: measured on MariaDB 10.11 and MySQL 9.7, all values are
//! worked out before the first is set, and what can be wrong is found then. So a SET that failed changed nothing, but for a commit
//! that failed when it turned autocommit on.

use std::sync::Arc;

use nuthatch_sql::{
    Assignment, Assignments, Carry, Group, Lexing, Role, ServerFlavor, SystemVariable, UserVariable, Value,
    assignments, render,
};

use crate::exact::Isolation;
use crate::pins::Pins;

use crate::state::{
    CHARACTER_SET_CONNECTION, CHARACTER_SET_RESULTS, COLLATION_CONNECTION, Charset, OF_NAMES, SessionState,
    Settings, is_plain, literal_of,
};

use super::Session;
use super::lease::Held;
use super::plan::{Change, Facts};
use super::tracker::{TRACKER, is_off};
use super::trouble::Trouble;

const CHARACTER_SET_CLIENT: &[u8] = b"character_set_client";

const PROFILING: &[u8] = b"profiling";

/// The name that SET NAMES has for the server's own character set.
const DEFAULT: &str = "default";

const FOREIGN_KEY_CHECKS: &[u8] = b"foreign_key_checks";
const UNIQUE_CHECKS: &[u8] = b"unique_checks";

/// A shorter `wait_timeout` is the server's to watch over: the session keeps its connection for it.
const WAIT_TIMEOUT_SECONDS_MIN: u64 = 60;

/// One thing that a SET changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
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
pub(super) fn set_outcome(text: &[u8], lexing: Lexing) -> Option<SetOutcome> {
    let list = match assignments(text, lexing)? {
        Assignments::List(list) => list,
        Assignments::Role(role) => return role_statement(&role).map(SetOutcome::Role),
        _ => return None,
    };
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
    fn takes_default(&self) -> bool {
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
    fn asks_for(&self, is_older: bool) -> Option<&[u8]> {
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
    fn changes_charset_of_strings(&self) -> bool {
        match self {
            Self::Charset(_) => true,
            Self::Variable(setting) => {
                [CHARACTER_SET_CONNECTION, COLLATION_CONNECTION].contains(&&*setting.name)
            }
            Self::Autocommit { .. } => false,
        }
    }

    /// Whether it is sure to commit nothing.
    pub(super) const fn commits_nothing(&self) -> bool {
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

/// Whether MySQL's DEFAULT is the opposite of the variable's global value (also in 9.7); MariaDB's is not.
fn has_odd_default(name: &[u8]) -> bool {
    matches!(name, FOREIGN_KEY_CHECKS | UNIQUE_CHECKS)
}

/// Whether a connection with these keeps a profile of each statement: it alone has it, and shows it with those of before.
pub(super) fn is_profiled(settings: &Settings) -> bool {
    settings.get(PROFILING).is_some_and(|value| !is_off(value))
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
        self.worker.counters.backend_set_variables.bump();
        let proof = statement.get(..doubtful).unwrap_or(statement);
        if let Err(trouble) = self.set(held, statement, proof).await {
            return Err(Box::pin(self.blame_inheritance(state, held, trouble)).await);
        }
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

    /// Takes note of what a SET has changed. What was worked out keeps the connection until it was asked for.
    pub(super) fn learn_steps(&mut self, steps: &[Step], held: &mut Held) {
        for step in steps {
            match step {
                Step::Variable(setting) => self.learn_setting(setting, held),
                Step::Autocommit { .. } => self.worker.counters.autocommit.bump(),
                Step::Charset(charset) => self.learn_charset(charset, held),
            }
        }
        if steps.iter().any(Step::changes_charset_of_strings) {
            // Strings have the character set of before the statement, wherever in it they stand.
            self.keep_strings_of_variables(held);
        }
        self.renumber_environment();
    }

    /// After a SET NAMES.
    pub(super) fn learn_charset(&mut self, charset: &Charset, held: &mut Held) {
        self.worker.counters.frontend_set_names.bump();
        self.keep_strings_of_variables(held);
        self.state.settings.forget_names();
        held.connection.state.settings.forget_names();
        held.connection.state.charset = charset.clone();
        self.state.charset = charset.clone();
        self.results_charset = None;
        self.translate_diagnostics();
    }

    fn learn_setting(&mut self, setting: &Setting, held: &mut Held) {
        let Setting { is_user_variable, name, value } = setting;
        if !is_user_variable {
            self.begun.let_go_of(name);
        }
        // It is what sessions begin with now, and not what this one has begun with.
        let is_of_now = setting.takes_default() && self.is_older_than_defaults(held);
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
                self.state.settings.forget_overwritten(name);
                held.connection.state.settings.forget_overwritten(name);
                return;
            }
        };
        let there = &mut held.connection.state;
        if *is_user_variable && value.is_none() {
            // It stays what it was before, a number or a string, and only this connection knows.
            if self.state.user_variables.get(name).is_some() {
                held.pins = held.pins.with(Pins::USER_VARIABLE);
            }
            return;
        }
        if *is_user_variable {
            self.state.user_variables.set(name, value);
            there.user_variables.set(name, value);
            return;
        }
        if **name == *TRACKER {
            self.learn_tracker(value, held);
            return;
        }
        self.state.settings.learn(name, value);
        there.settings.learn(name, value);
        match &**name {
            b"wait_timeout" => self.handle.set_wait_timeout(value.and_then(seconds)),
            CHARACTER_SET_CONNECTION | COLLATION_CONNECTION => self.keep_strings_of_variables(held),
            _ => {}
        }
    }

    /// Asks for the values that the server has worked out.
    pub(super) async fn learn_worked_out(&mut self, facts: &Facts, held: &mut Held) -> Result<(), Trouble> {
        let Change::Steps(steps) = &facts.change else { return Ok(()) };
        if !std::mem::take(&mut held.is_to_be_asked) {
            return Ok(());
        }
        self.forget_what_a_question_changes();
        let is_older = self.is_older_than_defaults(held);
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
                self.learn_tracker(Some(&literal), held);
                continue;
            }
            self.state.settings.set(name, Some(&literal));
            held.connection.state.settings.set(name, Some(&literal));
        }
        held.pins = held.pins.without(Pins::SESSION_VARIABLE);
        if let ServerFlavor::MySql(_) = self.lexing.server {
            self.lexing.ansi_quotes = self.has_ansi_quotes();
        }
        self.translate_diagnostics();
        self.renumber_environment();
        Ok(())
    }

    /// A string in a user variable keeps the character set of the session: under another it could not be set again.
    pub(super) fn keep_strings_of_variables(&self, held: &mut Held) {
        if self.state.user_variables.has_strings() {
            held.pins = held.pins.with(Pins::USER_VARIABLE);
        }
    }

    /// Whether the SQL mode that it has set, or begun with, makes `"x"` a name.
    pub(super) fn has_ansi_quotes(&self) -> bool {
        // ANSI stands for ANSI_QUOTES and more.
        match self.state.settings.get(b"sql_mode") {
            Some(mode) => mode.windows(4).any(|part| part.eq_ignore_ascii_case(b"ANSI")),
            None => self.begun.ansi_quotes.unwrap_or_default(),
        }
    }

    /// Whether the SQL mode that it has set is known to be MariaDB's ORACLE.
    pub(super) fn has_set_oracle_mode(&self) -> bool {
        let mode = self.state.settings.get(b"sql_mode").unwrap_or_default();
        mode.windows(6).any(|part| part.eq_ignore_ascii_case(b"ORACLE"))
    }

    /// Whether transactions see what the cache must not answer with, or answers must be of now.
    pub(super) fn has_odd_isolation(&self) -> bool {
        match self.own_isolation() {
            Some(own) => own == Isolation::Other,
            None => self.begun.has_odd_isolation,
        }
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
