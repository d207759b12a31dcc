//! Where the warnings and errors of the last statement are.

mod list;

pub(crate) use list::{List, Recipient, Rows};

use crate::session::parts::Left;
use crate::state::Charset;

/// What the last statement left of warnings and errors, and where.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    /// The server's thread that has them, if the session holds it.
    pub(crate) on: Option<u32>,
    /// Where the session left them, having fetched them.
    pub(crate) left_on: Option<Left>,
    /// The statement at hand leaves those of the one before alone, unless it has some.
    pub(crate) leaves: bool,
    /// What a SET CHARACTER SET made of the results' character set.
    pub(crate) results_charset: Option<Charset>,
    /// All that there are, if the session has them itself.
    pub(crate) list: Option<Box<List>>,
}
