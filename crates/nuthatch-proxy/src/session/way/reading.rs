//! What an answer that is to be stored will depend on.

use std::sync::Arc;

use nuthatch_cache::{Clock, Sequence};
use nuthatch_sql::{Parameter, ReadFootprint};

use crate::exact::{Followed, Tenure};

/// A read on its way: what its answer will depend on, and since when it may have changed.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) since: Sequence,
    /// When it was sent: later than that of which a replica is known to show all.
    pub(crate) sent: Sequence,
    pub(crate) footprint: ReadFootprint,
    /// Who tells what is written on its server, and until when the answer may be served, if its binlog is followed.
    pub(crate) teller: Option<Arc<Followed>>,
    /// It goes to a replica of that server.
    pub(crate) is_of_replica: bool,
    /// The snapshot of the session's transaction is open once the answer has a row.
    pub(crate) row_opens_snapshot: bool,
}

/// What a server is to execute, of which the plan tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) text: &'a [u8],
    /// In which the names of its tables are looked for.
    pub(crate) schema: &'a [u8],
    /// The values of its `?`; none for a statement that came as text.
    pub(crate) parameters: &'a [Parameter],
    /// It was looked at under another SQL mode or character set than the session's own now.
    pub(crate) is_read_otherwise: bool,
    /// It is executed for many sets of parameters, of which none are known.
    pub(crate) is_repeated: bool,
}

/// The clocks that an answer depends on, wide ones first, and since when none of them may have moved.
#[derive(Debug, Default)]
pub(crate) struct Depends {
    pub(crate) clocks: Vec<Clock>,
    pub(crate) since: Sequence,
    /// Until when the answer may be served, if the binlog of its server is followed.
    pub(crate) tenure: Option<Tenure>,
}
