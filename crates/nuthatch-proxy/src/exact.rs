//! The exact cache's part in the data plane: which clocks statements depend on, which they move, and when.
//!
//! An answer may be stored with the clocks that it depends on (see [`nuthatch_cache::Clocks`]) and is served while none of them
//! has moved or is pending. That holds if every write goes through four steps, in this order:
//!
//! 1. **Intent** ([`Intent`]): what the statement may write, by its text and the catalogue; anything where that is not known.
//! 2. **Raise** ([`Flight::start`]): its clocks, and those of the whole transaction if it may commit, are pending from before it is
//!    sent. What is surely written inside of an open transaction is pending only while that may commit.
//! 3. **Hear** ([`Flight::hear`]): the server's last packet tells what became of it. What is committed moves its clocks before the
//!    client gets that packet; what is not is added to what the transaction has [`Touched`].
//! 4. **Lost** ([`Lost`]): a flight that never hears of its end stays pending until the server's thread is gone, and moves its
//!    clocks then.
//!
//! Changes of definitions ([`Catalogues`]) make their tables unknown before they are sent; they stay pending until no statement is
//! in flight that was looked at before.
//!
//! While nobody has wanted anything cached as exact yet, no write takes these steps: it holds the turn of the picture that it was sent under,
//! and that is all ([`Flight::start_unwatched`]). Whoever wants it first ([`Exact::want_catalogues`]) says so, *then* ends the turn and
//! parks a mark of everything there, *then* lets anything be stored. A write takes its picture first and asks then whether anybody watches: if
//! not, its picture is of that turn or one before, so everything is pending until it has landed. And everything moves: an answer
//! that began before shows none of what was written unwatched. What a transaction has written by then counts as everything, when it commits.
//!
//! Reads may go to replicas of the server that takes the writes: what they answer is stored if it is proven that they have applied what the
//! clocks stand for ([`replica`]).
//!
//! Writes past the proxy are seen in the binlog, where that is followed, and go the same way ([`follow`]).
//!
//! What it does not do: parse (nuthatch-sql), ask servers for their tables (nuthatch-source), store (nuthatch-cache).

mod catalogue_store;
mod catalogues;
mod clocks_of;
mod definitions;
mod delayed;
mod flight;
mod follow;
mod intent;
mod judge;
mod lost;
mod program;
mod replica;
mod stored_code;
mod touched;
mod turn;

pub(crate) use catalogue_store::CatalogueStore;
pub use catalogue_store::Replaced;
pub(crate) use catalogues::Catalogues;
pub use catalogues::{Began, BufferPool, Domain, Domains, Isolation};
pub(crate) use clocks_of::{are_told_by_what_they_hold, dependencies, of_definition, standing};
pub(crate) use definitions::Makes;
pub(crate) use delayed::{Delayed, is_transactional};
pub(crate) use flight::{After, Flight, Inside};
pub(crate) use follow::{AsOf, Follows, Learnt, LearntColumns, Tenure};
pub use follow::{
    Carried, Deed, DelayFigures, FollowRow, Followed, Horizon, KeyPlace, LearntFigures, LearntPlaces, Logged,
    Places, Prepared, Standing, Told, Written,
};
pub(crate) use intent::{Commits, Intent};
pub use judge::Judge;
pub(crate) use lost::Lost;
pub use program::{Exact, ExactLevels};
pub(crate) use replica::Binlogs;
pub use replica::{Evidence, Moment, NoDomain, Replica, Vouched};
pub(crate) use stored_code::CodeOf;
pub use stored_code::StoredCodes;
pub(crate) use touched::Touched;
