//! What a statement has done to its session, once its answer is there.

pub(crate) mod delay;
pub(crate) mod diagnostics;
pub(crate) mod found_rows;
pub(crate) mod handlers;
pub(crate) mod insert_id;
pub(crate) mod learn;
pub(crate) mod named_locks;
pub(crate) mod own_values;
pub(crate) mod reset;
pub(crate) mod temporary;
pub(crate) mod tracker;
