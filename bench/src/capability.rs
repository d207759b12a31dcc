//! The capability flags of a MySQL login that matter here.
//!
//! Bits as in the manual's page "Capabilities Flags" of the client/server protocol.

/// What both the floor and the load generator speak.
pub(crate) const BASIC: u32 = LONG_PASSWORD
    | LONG_FLAG
    | CONNECT_WITH_DB
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | PLUGIN_AUTH;

/// Result sets end with an OK packet, and none stands behind the columns.
pub(crate) const DEPRECATE_EOF: u32 = 1 << 24;

/// Also MariaDB's `CLIENT_MYSQL`: without it MariaDB expects its own extensions.
const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
