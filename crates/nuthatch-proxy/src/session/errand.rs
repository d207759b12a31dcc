//! What the statement at hand asks of a connection besides the session's state.
//!
//! A statement that sets a part of the state that travels (SET NAMES, a SET of plain values, USE) does not need that part on its connection:
//! the connection that has best already the state *behind* the statement is asked for, and nothing is brought there that the statement
//! itself overwrites. So a client that builds up its state after each login (WordPress: SET NAMES, sql_mode, schema) finds the
//! connections that the one before it has left. And a session without a default schema may use a connection that has one for a
//! statement that does not depend on it.

use std::borrow::Cow;
use std::sync::Arc;

use nuthatch_sql::Kind;

use crate::backend::{ConnectionState, SchemaNeed};

use super::plan::{Change, Facts};
use super::set::{Given, OF_NAMES, Setting, Step};
use super::{Session, SessionState};

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Errand {
    /// Its server must tell of changes at the end of rows too.
    pub(super) is_tracked: bool,
    pub(super) behind: Behind,
    /// It asks what the statement before has left on its connection.
    pub(super) asks_of_the_last: bool,
    pub(crate) schema: SchemaNeed,
    pub(crate) aim: Option<Box<Aim>>,
}

/// What a statement may be sent right behind, before the server has accepted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Behind {
    /// Nothing.
    #[default]
    Nothing,
    /// SETs, which a server accepts again once it has.
    Sets,
    /// A change of schema too, which somebody may have dropped: the statement only reads, and can be sent again.
    All,
}

/// The state that a statement leads to.
#[derive(Debug)]
pub(crate) struct Aim {
    state: SessionState,
    sets_charset: bool,
    sets_role: bool,
    /// The session variables that it gives values.
    sets: Vec<Box<[u8]>>,
}

impl Errand {
    /// Nothing besides.
    pub(crate) const USUAL: Self = Self {
        is_tracked: false,
        behind: Behind::Nothing,
        asks_of_the_last: false,
        schema: SchemaNeed::Own,
        aim: None,
    };

    /// That of a command that leads from the state `own` into a schema.
    pub(super) fn into_schema(own: &SessionState, schema: &[u8]) -> Self {
        let mut state = own.clone();
        if own.charset.reads_as_utf8(schema) {
            state.schema = schema.to_vec();
        }
        let aim = Aim { state, sets_charset: false, sets_role: false, sets: Vec::new() };
        Self { schema: SchemaNeed::Any, aim: Some(Box::new(aim)), ..Self::default() }
    }

    /// The state that a connection had best be in already.
    pub(crate) fn nearest<'a>(&'a self, own: &'a SessionState) -> &'a SessionState {
        self.aim.as_ref().map_or(own, |aim| &aim.state)
    }

    /// The state that a connection must be brought into: the session's, but for what does not matter, which stays as it is there.
    pub(crate) fn state_before<'a>(
        &self,
        own: &'a SessionState,
        there: &ConnectionState,
    ) -> Cow<'a, SessionState> {
        let (is_any, aim) = (self.schema == SchemaNeed::Any, self.aim.as_deref());
        if !is_any && aim.is_none() {
            return Cow::Borrowed(own);
        }
        let mut state = own.clone();
        if is_any {
            state.schema.clone_from(&there.schema);
        }
        let Some(aim) = aim else { return Cow::Owned(state) };
        let mut keep = |name: &[u8]| state.settings.set(name, there.settings.get(name));
        if aim.sets_charset {
            OF_NAMES.iter().for_each(|name| keep(name));
        }
        aim.sets.iter().for_each(|name| keep(name));
        if aim.sets_role {
            state.role.clone_from(&there.role);
        }
        if aim.sets_charset {
            state.charset = there.charset.clone();
        }
        Cow::Owned(state)
    }
}

impl Aim {
    /// Of a statement that is read alike in whatever state its connection is.
    fn of(change: &Change, own: &SessionState) -> Option<Self> {
        let (mut state, mut sets_charset, mut sets_role, mut sets) = (own.clone(), false, false, Vec::new());
        match change {
            Change::Charset(charset) => {
                state.charset = charset.clone();
                state.settings.forget_names();
                sets_charset = true;
            }
            Change::Steps(steps) => {
                for step in steps {
                    match step {
                        Step::Variable(setting) => {
                            let value = plain_value(setting)?;
                            state.settings.set(&setting.name, value);
                            sets.push(setting.name.clone());
                        }
                        Step::Charset(charset) => {
                            state.charset = charset.clone();
                            state.settings.forget_names();
                            sets_charset = true;
                        }
                        Step::Autocommit { .. } => return None,
                    }
                }
            }
            // The one before may have been taken away.
            Change::Role(statement) => {
                state.role = Some(Arc::clone(statement));
                sets_role = true;
            }
            Change::None | Change::Schema(_) | Change::Autocommit(_) => return None,
        }
        Some(Self { state, sets_charset, sets_role, sets })
    }
}

/// What a session variable is given, if that does not depend on what it is; of those that a SET NAMES sets each depends on others.
fn plain_value(setting: &Setting) -> Option<Option<&[u8]>> {
    if setting.is_user_variable || OF_NAMES.contains(&&*setting.name) {
        return None;
    }
    match &setting.value {
        Given::Literal(literal) => Some(Some(literal)),
        Given::Nothing => Some(None),
        Given::WorkedOut => None,
    }
}

impl Session {
    /// What a statement asks of its connection, however it came.
    pub(super) fn errand_of(&self, facts: &Facts) -> Errand {
        let behind = if facts.writes { Behind::Sets } else { Behind::All };
        let is_tracked =
            facts.must_be_tracked(self.lexing.server) || facts.may_load_view_of_server(&self.state.schema);
        let asks_of_the_last = facts.asks_of_the_last();
        Errand { is_tracked, behind, asks_of_the_last, ..Errand::default() }
    }

    /// The same of one that came as text.
    pub(super) fn errand_of_text(&self, facts: &Facts, text: &[u8]) -> Errand {
        let usual = self.errand_of(facts);
        // What reads tables may leave a reason to hold the connection (a view that calls stored code, a transaction), and then whatever
        // comes next must be able to run there.
        let opens_nothing = facts.kind != Kind::Select || facts.names_no_table;
        if !facts.needs_no_schema || !opens_nothing || self.beginning.is_held_back() {
            return usual;
        }
        if let Change::Schema(schema) = &facts.change {
            let Errand { schema, aim, .. } = Errand::into_schema(&self.state, schema);
            return Errand { schema, aim, ..usual };
        }
        let schema = match self.state.schema.is_empty() {
            true => SchemaNeed::Any,
            false => SchemaNeed::Own,
        };
        let is_alike = text.is_ascii() && !text.iter().any(|byte| matches!(byte, b'"' | b'\\'));
        let aim = if is_alike { Aim::of(&facts.change, &self.state) } else { None };
        Errand { schema, aim: aim.map(Box::new), ..usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Charset;

    fn own() -> SessionState {
        let mut own = SessionState::new(b"mine".to_vec(), Charset::Collation(45));
        own.settings.set(b"sql_mode", Some(b"'ANSI'"));
        own.settings.set(b"time_zone", Some(b"'+01:00'"));
        own
    }

    fn there() -> ConnectionState {
        let mut there = ConnectionState::new(b"other".to_vec(), Charset::Collation(8), true);
        there.settings.set(b"sql_mode", Some(b"''"));
        there.settings.set(b"character_set_results", Some(b"NULL"));
        there
    }

    fn errand(change: &Change) -> Errand {
        Errand { aim: Aim::of(change, &own()).map(Box::new), ..Errand::default() }
    }

    #[test]
    fn what_a_statement_sets_is_not_brought_before_it() {
        let charset = Charset::Names("SET NAMES latin2".into());
        let errand_of_names = errand(&Change::Charset(charset.clone()));
        assert_eq!(errand_of_names.nearest(&own()).charset, charset);
        let (own_state, there_state) = (own(), there());
        let before = errand_of_names.state_before(&own_state, &there_state);
        assert_eq!((&before.charset, before.schema.as_slice()), (&there().charset, &b"mine"[..]));
        assert_eq!(before.settings.get(b"character_set_results"), Some(&b"NULL"[..]));
        assert_eq!(before.settings.get(b"sql_mode"), Some(&b"'ANSI'"[..]));
        let value = Given::Literal((*b"'TRADITIONAL'").into());
        let setting = Setting { is_user_variable: false, name: (*b"sql_mode").into(), value };
        let errand_of_mode = errand(&Change::Steps(vec![Step::Variable(setting)]));
        let before = errand_of_mode.state_before(&own_state, &there_state);
        assert_eq!(before.settings.get(b"sql_mode"), Some(&b"''"[..]));
        assert_eq!(before.settings.get(b"time_zone"), Some(&b"'+01:00'"[..]));
        assert_eq!(errand_of_mode.nearest(&own_state).settings.get(b"sql_mode"), Some(&b"'TRADITIONAL'"[..]));
    }

    #[test]
    fn what_depends_on_the_state_before_it_is_given_all_of_it() {
        let setting = |is_user_variable, name: &[u8], value| {
            Change::Steps(vec![Step::Variable(Setting { is_user_variable, name: name.into(), value })])
        };
        for change in [
            setting(false, b"sql_mode", Given::WorkedOut),
            setting(true, b"a", Given::Nothing),
            setting(false, b"collation_connection", Given::Nothing),
            Change::None,
            Change::Autocommit(false),
        ] {
            let own = own();
            let errand = errand(&change);
            assert_eq!(*errand.state_before(&own, &there()), own, "{change:?}");
            assert_eq!(*errand.nearest(&own), own, "{change:?}");
        }
    }

    #[test]
    fn schema_that_is_led_out_of_is_not_brought() {
        let own = own();
        let errand = Errand::into_schema(&own, b"next");
        assert_eq!(errand.nearest(&own).schema, b"next");
        assert_eq!(errand.state_before(&own, &there()).schema, b"other");
        let foreign = Errand::into_schema(&own, b"t\xEBst");
        assert_eq!(foreign.nearest(&own).schema, b"mine", "what it is in UTF-8 only the server knows");
    }
}
