//! What is found out of a statement by its text alone.

mod caching;
mod change;
mod code_run;
mod facts;
mod look;
mod memo;
mod named;
mod plan;
mod request;
mod said_by_rules;
mod said_to_cache;
mod set;
mod template;
mod words;

pub(crate) use caching::Caching;
pub(crate) use change::Change;
pub(crate) use code_run::{CodeRun, LEAVES_BITS, Seen, Told, memo_tag, of_bits, to_bits};
pub(crate) use facts::{Asks, Facts, TextFacts, may_be_bulk, outlasts_reset};
pub(crate) use look::{heed_hint, look};
pub(crate) use memo::{Known, Looked, Memo};
pub(crate) use named::{Named, may_use_names};
pub(crate) use plan::Plan;
pub(crate) use request::{Asked, Request};
pub(crate) use said_by_rules::SaidByRules;
pub(crate) use said_to_cache::{SaidToCache, said_to_cache};
pub(crate) use set::{
    FOREIGN_KEY_CHECKS, Given, SetOutcome, Setting, Step, UNIQUE_CHECKS, is_profiled, seconds, set_outcome,
};
pub(crate) use template::{Template, Written};
pub(crate) use words::{
    BEFORE_STORED_CODE, INFORMATION_SCHEMA, NEVER_RAN, OWN_SCHEMAS, TRACKER, VOUCHED, VOUCHES, asks_for_gtid,
    asks_for_internal_session, asks_for_numbers, is_off, names, reads_tracker, sequences_in,
    surely_names_a_table,
};
