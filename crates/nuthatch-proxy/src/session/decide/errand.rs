//! The [`Errand`] of the statement at hand.

use std::sync::Arc;

use nuthatch_sql::Kind;

use crate::session::parts::{Context, Transaction};
use crate::session::statement::{Change, Facts, Given, Setting, Step};
use crate::state::{Aim, Errand, OF_NAMES, SchemaNeed, SessionState};

/// That of a statement that is read alike in whatever state its connection is.
fn aim_of(change: &Change, own: &SessionState) -> Option<Aim> {
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
    Some(Aim { state, sets_charset, sets_role, sets })
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

/// The same of one that came as text.
pub(crate) fn errand_of_text(
    context: &Context,
    transaction: &Transaction,
    facts: &Facts,
    text: &[u8],
) -> Errand {
    let usual = context.errand_of(facts);
    // What reads tables may leave a reason to hold the connection (a view that calls stored code, a transaction), and then whatever
    // comes next must be able to run there.
    let opens_nothing = facts.kind != Kind::Select || facts.tables.none;
    if !facts.tables.need_no_schema || !opens_nothing || transaction.beginning().is_held_back() {
        return usual;
    }
    if let Change::Schema(schema) = &facts.change {
        let Errand { schema, aim, .. } = Errand::into_schema(&context.state, schema);
        return Errand { schema, aim, ..usual };
    }
    let schema = match context.state.schema.is_empty() {
        true => SchemaNeed::Any,
        false => SchemaNeed::Own,
    };
    let is_alike = text.is_ascii() && !text.iter().any(|byte| matches!(byte, b'"' | b'\\'));
    let aim = if is_alike { aim_of(&facts.change, &context.state) } else { None };
    Errand { schema, aim: aim.map(Box::new), ..usual }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Charset, ConnectionState};

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
        Errand { aim: aim_of(change, &own()).map(Box::new), ..Errand::default() }
    }

    #[test]
    fn what_a_statement_sets_is_not_brought_before_it() {
        let charset = Charset::Names("SET NAMES latin2".into());
        let errand_of_names = errand(&Change::Charset(charset.clone()));
        assert_eq!(errand_of_names.nearest(&own()).charset, charset);
        let (own_state, there_state) = (own(), there());
        let before = errand_of_names.state_before(&own_state, &there_state);
        assert_eq!((&before.charset, &before.schema[..]), (&there().charset, &b"mine"[..]));
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
}
