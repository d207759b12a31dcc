//! What a statement has done to its session, once its answer is there.

pub(crate) mod diagnostics;
pub(crate) mod doubts;
pub(crate) mod errors;
pub(crate) mod fate;
pub(crate) mod forget;
pub(crate) mod found_rows;
pub(crate) mod insert_id;
pub(crate) mod learn;
pub(crate) mod more;
pub(crate) mod pins;
pub(crate) mod plain;
pub(crate) mod schema;
pub(crate) mod set;
pub(crate) mod stored_code;
pub(crate) mod tracker;
