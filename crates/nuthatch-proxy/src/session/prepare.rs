//! Statements that are prepared on connections, by number and by name.

pub(crate) mod preparation_state;
pub(crate) mod prepared;
pub(crate) mod statement_room;
pub(crate) mod text_prepared;
