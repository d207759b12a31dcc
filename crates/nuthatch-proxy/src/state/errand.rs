//! What the statement at hand asks of a connection besides the session's state.
//!
//! A statement that sets a part of the state that travels (SET NAMES, a SET of plain values, USE) does not need that part on its connection:
//! the connection that has best already the state *behind* the statement is asked for, and nothing is brought there that the statement
//! itself overwrites. So a client that builds up its state after each login (WordPress: SET NAMES, sql_mode, schema) finds the
//! connections that the one before it has left. And a session without a default schema may use a connection that has one for a
//! statement that does not depend on it.

use std::borrow::Cow;

use crate::state::settings::OF_NAMES;
use crate::state::{ConnectionState, SessionState};

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Errand {
    /// Its server must tell of changes at the end of rows too.
    pub(crate) is_tracked: bool,
    pub(crate) behind: Behind,
    /// It asks what the statement before has left on its connection.
    pub(crate) asks_of_the_last: bool,
    pub(crate) schema: SchemaNeed,
    /// A connection was lost under it: another server is asked first, where there is any.
    pub(crate) is_again: bool,
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
    pub(crate) state: SessionState,
    pub(crate) sets_charset: bool,
    pub(crate) sets_role: bool,
    /// The session variables that it gives values.
    pub(crate) sets: Vec<Box<[u8]>>,
}

impl Errand {
    /// Nothing besides.
    pub(crate) const USUAL: Self = Self {
        is_tracked: false,
        behind: Behind::Nothing,
        asks_of_the_last: false,
        schema: SchemaNeed::Own,
        is_again: false,
        aim: None,
    };

    /// That of a command that leads from the state `own` into a schema.
    pub(crate) fn into_schema(own: &SessionState, schema: &[u8]) -> Self {
        let mut state = own.clone();
        if own.charset.reads_as_utf8(schema) {
            state.schema = schema.into();
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

/// Which default schema a connection must be in, or be brought into.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SchemaNeed {
    /// The session's, or none if it has none.
    #[default]
    Own,
    /// Whichever it is in.
    Any,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Charset;

    #[test]
    fn schema_that_is_led_out_of_is_not_brought() {
        let own = SessionState::new(b"mine".to_vec(), Charset::Collation(45));
        let there = ConnectionState::new(b"other".to_vec(), Charset::Collation(8), true);
        let errand = Errand::into_schema(&own, b"next");
        assert_eq!(*errand.nearest(&own).schema, *b"next");
        assert_eq!(*errand.state_before(&own, &there).schema, *b"other");
        let foreign = Errand::into_schema(&own, b"t\xEBst");
        assert_eq!(*foreign.nearest(&own).schema, *b"mine", "what it is in UTF-8 only the server knows");
    }
}
