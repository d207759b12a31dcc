//! A change of the session's state that a statement makes if it succeeds.

use std::sync::Arc;

use nuthatch_sql::SetEffect;

use crate::session::statement::Step;
use crate::state::Charset;

/// A change of the session's state that a statement makes if it succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    Autocommit(bool),
    Charset(Charset),
    Schema(Vec<u8>),
    /// Several things, in this order.
    Steps(Vec<Step>),
    /// The role, by this statement.
    Role(Arc<str>),
}

impl Change {
    pub(crate) fn sets_autocommit(&self) -> bool {
        match self {
            Self::Autocommit(_) => true,
            Self::Steps(steps) => steps.iter().any(|step| matches!(step, Step::Autocommit { .. })),
            _ => false,
        }
    }

    pub(crate) fn of(effect: &SetEffect<'_>) -> Self {
        match effect {
            SetEffect::Autocommit(on) => Self::Autocommit(*on),
            SetEffect::Schema(name) => Self::Schema(name.text().into_owned()),
            SetEffect::Names { charset, collation } => {
                let text =
                    |name: nuthatch_sql::Name<'_>| String::from_utf8_lossy(&name.text()).to_lowercase();
                let charset = text(*charset);
                Self::Charset(Charset::set_names(&charset, collation.map(text).as_deref()))
            }
            SetEffect::None | SetEffect::CharacterSet(_) | SetEffect::Unknown => Self::None,
        }
    }
}
