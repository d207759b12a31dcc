//! What a session's statements are read by and run in.

use nuthatch_config::{QueryCacheType, Snapshot};
use nuthatch_sql::Lexing;
use nuthatch_wire::CapabilityFlags;

use crate::exact::Isolation;
use crate::session::parts::{Begun, Held};
use crate::session::statement::Facts;
use crate::state::{Behind, Errand, SessionState};

/// See the module's doc.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) state: SessionState,
    /// What it began with.
    pub(crate) begun: Begun,
    /// How its server reads its statements.
    pub(crate) lexing: Lexing,
    /// It has set `session_track_state_change`.
    pub(crate) is_told_of_changes: bool,
    /// Its own `query_cache_type`, if it has set one.
    pub(crate) query_cache_type: Option<QueryCacheType>,
    /// Those of the client's capabilities that shape answers.
    pub(crate) shape: CapabilityFlags,
    /// Number of all that of it which answers go by; `None` when the table of environments is full.
    pub(crate) environment: Option<u32>,
}

impl Context {
    /// The isolation that the session has set for its transactions, if it has.
    pub(crate) fn own_isolation(&self) -> Option<Isolation> {
        let names = [&b"transaction_isolation"[..], b"tx_isolation"];
        // Which of two counts is the later one, which is not known: the odd one does.
        names
            .iter()
            .filter_map(|name| self.state.settings.get(name))
            .map(isolation)
            .reduce(|a, b| if a == b { a } else { Isolation::Other })
    }

    /// What is cached for the session by itself.
    pub(crate) fn query_cache_type_in(&self, snapshot: &Snapshot) -> QueryCacheType {
        self.query_cache_type.unwrap_or(snapshot.mysql.query_cache_type)
    }

    /// Whether the SQL mode that it has set, or begun with, makes `"x"` a name.
    pub(crate) fn has_ansi_quotes(&self) -> bool {
        // ANSI stands for ANSI_QUOTES and more.
        match self.state.settings.get(b"sql_mode") {
            Some(mode) => mode.windows(4).any(|part| part.eq_ignore_ascii_case(b"ANSI")),
            None => self.begun.ansi_quotes().unwrap_or_default(),
        }
    }

    /// Whether transactions see what the cache must not answer with, or answers must be of now.
    pub(crate) fn has_odd_isolation(&self) -> bool {
        match self.own_isolation() {
            Some(own) => own == Isolation::Other,
            None => self.begun.has_odd_isolation(),
        }
    }

    /// Whether sessions that begin on this server now begin with something else than this session, as far as is known.
    pub(crate) fn is_older_than_defaults(&self, held: &Held) -> bool {
        held.connection.server().defaults.is_later_than(self.begun.era())
    }

    /// Whether the SQL mode that it has set is known to be MariaDB's ORACLE.
    pub(crate) fn has_set_oracle_mode(&self) -> bool {
        let mode = self.state.settings.get(b"sql_mode").unwrap_or_default();
        mode.windows(6).any(|part| part.eq_ignore_ascii_case(b"ORACLE"))
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

impl Context {
    /// What a statement asks of its connection, however it came.
    #[inline]
    pub(crate) fn errand_of(&self, facts: &Facts) -> Errand {
        let behind = if facts.writes { Behind::Sets } else { Behind::All };
        let is_tracked =
            facts.must_be_tracked(self.lexing.server) || facts.may_load_view_of_server(&self.state.schema);
        let asks_of_the_last = facts.asks_of_the_last();
        Errand { is_tracked, behind, asks_of_the_last, ..Errand::default() }
    }
}

#[cfg(test)]
mod tests;
