//! A session's state, and how far a connection is from it.

use std::sync::Arc;

use crate::state::{Charset, ConnectionState, Schema, Settings};

/// A session's state, as far as it is a value. See the module's doc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionState {
    pub(crate) schema: Schema,
    /// Character sets and collation.
    pub(crate) charset: Charset,
    /// Whether statements commit by themselves.
    pub(crate) autocommit: bool,
    /// Session variables that it has set.
    pub(crate) settings: Settings,
    /// User variables; all that it has, unless it is pinned for others.
    pub(crate) user_variables: Settings,
    /// The SET ROLE that it sent, if any.
    pub(crate) role: Option<Arc<str>>,
}

impl SessionState {
    /// As after a login.
    pub(crate) fn new(schema: impl Into<Schema>, charset: Charset) -> Self {
        let (settings, user_variables) = (Settings::default(), Settings::default());
        Self { schema: schema.into(), charset, autocommit: true, settings, user_variables, role: None }
    }

    /// Whether it is as after a login with that schema and character set.
    pub(crate) fn has_schema_and_charset_only(&self) -> bool {
        let nothing = Settings::default();
        let has_set_nothing = self.settings.is_same(&nothing) && self.user_variables.is_same(&nothing);
        has_set_nothing && self.autocommit && self.role.is_none()
    }

    /// Whether a connection is there. What [`Self::differences`] finds none of, without counting them.
    pub(crate) fn is_at(&self, there: &ConnectionState) -> bool {
        self.settings.is_same(&there.settings)
            && self.user_variables.is_same(&there.user_variables)
            && Some(self.autocommit) == there.autocommit
            && self.charset == there.charset
            && self.schema == there.schema
            && is_same_role(self.role.as_ref(), there.role.as_ref())
    }

    /// How many statements it takes to bring a connection from `there` to here.
    pub(crate) fn differences(&self, there: &ConnectionState) -> u32 {
        u32::from(self.schema != there.schema)
            + u32::from(self.charset != there.charset)
            + u32::from(Some(self.autocommit) != there.autocommit)
            + u32::from(!self.settings.is_same(&there.settings))
            + u32::from(!self.user_variables.is_same(&there.user_variables))
            + u32::from(!is_same_role(self.role.as_ref(), there.role.as_ref()))
    }
}

/// Most have none.
fn is_same_role(one: Option<&Arc<str>>, other: Option<&Arc<str>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_states_have_no_difference_and_each_part_counts() {
        let state = SessionState::new(b"a".to_vec(), Charset::Collation(45));
        let same = ConnectionState::new(b"a".to_vec(), Charset::Collation(45), true);
        assert_eq!(state.differences(&same), 0);
        assert!(state.is_at(&same));
        let apart: [fn(&mut ConnectionState); 6] = [
            |there| there.schema = b"b".to_vec().into(),
            |there| there.charset = Charset::Collation(8),
            |there| there.autocommit = None,
            |there| there.settings.set(b"sql_mode", Some(b"''")),
            |there| there.user_variables.set(b"a", Some(b"1")),
            |there| there.role = Some("SET ROLE a".into()),
        ];
        for change in apart {
            let mut there = ConnectionState::new(b"a".to_vec(), Charset::Collation(45), true);
            change(&mut there);
            assert_eq!((state.differences(&there), state.is_at(&there)), (1, false), "{there:?}");
        }
        let mut other = ConnectionState::new(Vec::new(), Charset::Collation(8), false);
        other.settings.set(b"sql_mode", Some(b"''"));
        other.user_variables.set(b"a", Some(b"1"));
        other.role = Some("SET ROLE a".into());
        assert_eq!(state.differences(&other), 6);
        assert!(!state.is_at(&other));
    }
}
