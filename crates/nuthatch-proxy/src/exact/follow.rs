//! Writes past the proxy: what the binlog of a primary shows goes through the clocks as if a session had written it.
//!
//! Somebody else reads the binlog (nuthatch-source) and brings each transaction here:
//!
//! 1. **Written** ([`Written`]): what it has written, as clocks: rows by their keys, tables, definitions, everything.
//! 2. **Raise** ([`Written::raise`]): they are pending, as for a write that is in flight. Where the server waits for the follower before
//!    anybody can see the transaction (`exact`), this comes before the follower answers it.
//! 3. **Proven** ([`Carried::settle`]): the server is known to show it; they move. The binlog is written *before* the engine commits: who
//!    reads the server right behind an event may see the row as it was, so what was read before the proof is not stored.
//!
//! Every event moves what it shows, whosever it is: numbers of threads come again and can be forged. A write through the proxy is moved
//! twice, which costs hits and nothing else.
//!
//! # What it shows of writes through the proxy
//!
//! A statement's text seldom tells which rows it changes, and never what these hold. So where the binlog is followed, what is not known of
//! a write stays pending past its answer, and does not move: its event tells what has ([`held`]). That is what lets answers depend on what
//! rows hold in columns that reads compare ([`learnt`]) instead of their whole table.
//!
//! # Up to when
//!
//! What is not carried yet may be served. So every look-up of an entry asks the [`Horizon`] of the server that it is of, behind the reading
//! of its command: until that moment all that counts is carried. It ends by itself, whatever becomes of the follower: a process that was
//! stopped and goes on serves nothing before it has looked.
//!
//! - `bounded`: the moment at which the server was asked for the end of its binlog, which has been carried since, and the bound. A
//!   transaction with a snapshot is served once all is carried that was written before that was opened.
//! - `exact`: a lease, given by a write of the proxy's own that the server acknowledged (nuthatch-source).
//!
//! When a follower begins anew, everything moves once it has its place in the binlog: what is stored from then on is carried or proven.

mod delay;
mod followed;
mod held;
mod horizon;
mod learnt;
mod standing;
mod tenure;
mod written;

use std::sync::Arc;

use arc_swap::ArcSwap;
use nuthatch_config::Follow;

use crate::exact::Domain;
use crate::stats::not_cached::NotCached;

pub use delay::DelayFigures;
pub use followed::Followed;
pub(crate) use horizon::AsOf;
pub use horizon::Horizon;
pub use learnt::LearntFigures;
pub(crate) use learnt::{Known, Learnt, LearntColumns};
pub use standing::{FollowRow, Standing};
pub(crate) use tenure::Tenure;
pub use written::{Carried, Deed, KeyPlace, LearntPlaces, Logged, Places, Prepared, Told, Written};

/// The servers whose binlogs are followed: few.
#[derive(Debug, Default)]
pub(crate) struct Follows(ArcSwap<Vec<Arc<Followed>>>);

impl Follows {
    /// The server's, if its binlog is followed.
    pub(crate) fn of(&self, domain: &Domain) -> Option<Arc<Followed>> {
        self.of_server(&domain.host, domain.port)
    }

    /// All, in no order.
    pub(crate) fn all(&self) -> Arc<Vec<Arc<Followed>>> {
        self.0.load_full()
    }

    /// These are followed from now on, and no others.
    pub(crate) fn set(&self, followed: impl IntoIterator<Item = Arc<Followed>>) {
        self.0.store(Arc::new(followed.into_iter().collect()));
    }

    /// The server, by its host and port, if its binlog is followed. Cost: a load, where none is.
    pub(crate) fn of_server(&self, host: &str, port: u16) -> Option<Arc<Followed>> {
        let is_it = |one: &&Arc<Followed>| one.name().port == port && one.name().host == host;
        self.0.load().iter().find(is_it).map(Arc::clone)
    }

    /// Whose binlog tells until when an answer of the domain may be served that is stored now.
    ///
    /// # Errors
    /// It may not be stored, as the bound would not hold for it.
    pub(crate) fn teller(&self, wanted: Follow, domain: &Domain) -> Result<Option<Arc<Followed>>, NotCached> {
        match wanted {
            Follow::Off => Ok(None),
            Follow::Bounded | Follow::Exact => self.of(domain).map(Some).ok_or(NotCached::NotFollowed),
        }
    }
}
