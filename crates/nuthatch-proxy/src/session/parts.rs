//! The parts that a session is made of.

mod account;
mod begun;
mod cache_use;
mod client;
mod context;
mod dealings;
mod diagnostics;
mod ground;
mod hands;
pub(crate) mod held;
pub(crate) mod names;
mod prepared;
mod results;
mod statements;
mod transaction;

pub(crate) use account::{Account, UserPlace};
pub(crate) use begun::Begun;
pub(crate) use cache_use::{CacheUse, Off, caching};
pub(crate) use client::{Client, Unsent};
pub(crate) use context::Context;
pub(crate) use dealings::Dealings;
pub(crate) use diagnostics::{Diagnostics, Fate, List, MARK, Recipient, Rows};
pub(crate) use ground::Ground;
pub(crate) use hands::{Hands, Left};
pub(crate) use held::{Around, CODE, Doubt, Entry, Given, Held, IdsBefore, Journal, Outcome, Told, What};
pub(crate) use names::Names;
pub(crate) use prepared::{
    Prepared, STATEMENTS_MAX, Statement, asks_for_cursor, is_bulk, named_id, packet_with_id,
};
pub(crate) use results::{InsertId, Results};
pub(crate) use statements::Statements;
pub(crate) use transaction::{Beginning, Transaction};
