//! What a session and a connection have in common, as values: schema, character sets, autocommit, variables, role.
//!
//! A session's statements run over connections that others have used before. What differs between [`SessionState`] and [`ConnectionState`] is sent ahead
//! of them. No sockets here, and no servers.

mod charset;
mod collation;
mod connection;
mod errand;
mod found_rows;
mod session;
mod settings;

pub(crate) use charset::Charset;
pub(crate) use charset::is_read_alike;
pub(crate) use collation::ResultCollation;
pub(crate) use connection::ConnectionState;
pub(crate) use errand::Aim;
pub(crate) use errand::Behind;
pub(crate) use errand::Errand;
pub(crate) use errand::SchemaNeed;
pub(crate) use found_rows::Found;
pub(crate) use session::SessionState;
pub(crate) use settings::CHARACTER_SET_CONNECTION;
pub(crate) use settings::CHARACTER_SET_RESULTS;
pub(crate) use settings::COLLATION_CONNECTION;
pub(crate) use settings::OF_NAMES;
pub(crate) use settings::Settings;
pub(crate) use settings::is_plain;
pub(crate) use settings::literal_of;
