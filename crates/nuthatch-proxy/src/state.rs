//! What a session and a connection have in common, as values: schema, character sets, autocommit, variables, role.
//!
//! A session's statements run over connections that others have used before. What differs between [`SessionState`] and [`ConnectionState`] is sent ahead
//! of them. No sockets here, and no servers.

pub(crate) mod capability;
mod charset;
mod collation;
mod connection;
mod errand;
mod found_rows;
mod schema;
mod session;
mod settings;

pub(crate) use charset::{Charset, is_read_alike};
pub(crate) use collation::ResultCollation;
pub(crate) use connection::ConnectionState;
pub(crate) use errand::{Aim, Behind, Errand, SchemaNeed};
pub(crate) use found_rows::Found;
pub(crate) use schema::Schema;
pub(crate) use session::SessionState;
pub(crate) use settings::{
    CHARACTER_SET_CONNECTION, CHARACTER_SET_RESULTS, COLLATION_CONNECTION, OF_NAMES, Settings, is_plain,
    literal_of,
};
