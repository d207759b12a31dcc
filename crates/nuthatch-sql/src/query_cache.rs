//! What statements say to the query cache in MySQL's words, and in comments of our own.
//!
//! A proxy answers these, for the cache is its own: its variables and status (`show`, `variable`), what a SET says to it (`set`), orders to
//! flush or empty it (`order`), a question what it would do (`explain`); and a SELECT may say whether it wants to be cached (`hint`). What is not surely such a statement is none.

mod explain;
mod hint;
mod like;
mod order;
mod set;
mod show;
mod variable;

pub use explain::{CacheQuestion, cache_question};
pub use hint::{CacheHint, CacheWish, cache_hint};
pub use order::{CacheOrder, CachePart, cache_order};
pub use set::{CacheSetting, CacheSettings, cache_settings};
pub use show::{CacheShow, cache_show};
pub use variable::{CacheStatus, CacheVariable};
