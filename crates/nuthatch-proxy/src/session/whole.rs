//! A session as a whole: its parts.
//!
//! Only `life/` is handed one; steps are handed the parts that they need.

use crate::session::inquiry::Unfinished;
use crate::session::lease::put_away::let_go;
use crate::session::parts::{Account, CacheUse, Client, Context, Dealings, Ground, Statements};

/// A logged-in client. See the doc of [`session`](crate::session).
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) ground: Ground,
    pub(crate) client: Client,
    pub(crate) account: Account,
    pub(crate) context: Context,
    pub(crate) cache: CacheUse,
    pub(crate) dealings: Dealings,
    pub(crate) statements: Statements,
    /// The command of which not everything is done yet, while the session waits on its seat.
    pub(crate) unfinished: Option<Unfinished>,
}

impl Session {
    /// Whether nothing ties the statement at hand to the ones before it: neither a transaction nor a connection.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.context.state.autocommit
            && !self.dealings.are_in_transaction()
            && self.dealings.hands.held.is_empty()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let_go(&self.ground, &mut self.dealings.hands, &mut self.statements);
    }
}
