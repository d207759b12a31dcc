//! Prepared statements, by number and by name.

pub(crate) mod bulk;
pub(crate) mod cursor;
pub(crate) mod execute;
pub(crate) mod preparation_state;
pub(crate) mod prepared;
pub(crate) mod statement_room;
pub(crate) mod text_prepared;
