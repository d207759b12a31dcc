//! What client and server agree on at the login: MySQL's 32 flags, and MariaDB's own in the upper half.
//!
//! On the wire the two halves stand apart: MariaDB's are among what MySQL keeps reserved, and count only while
//! `CLIENT_LONG_PASSWORD`, which MariaDB calls `CLIENT_MYSQL`, is cleared. [`CapabilityFlags::of_halves`] and
//! [`CapabilityFlags::halves`] hold to that.
//!
//! Source: "Capabilities Flags"; MariaDB's "Connection", "Capabilities".

use bitflags::bitflags;

bitflags! {
    /// Flags of a greeting, of a login, or of what both agreed on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
    pub struct CapabilityFlags: u64 {
        /// Every server since 4.1. Cleared: the peer speaks MariaDB's dialect.
        const CLIENT_LONG_PASSWORD = 1;
        /// Rows found are told where rows changed would be.
        const CLIENT_FOUND_ROWS = 1 << 1;
        /// Column flags have two bytes.
        const CLIENT_LONG_FLAG = 1 << 2;
        /// The login names a schema.
        const CLIENT_CONNECT_WITH_DB = 1 << 3;
        /// `schema.table.column` is refused.
        const CLIENT_NO_SCHEMA = 1 << 4;
        /// Packets go through zlib.
        const CLIENT_COMPRESS = 1 << 5;
        /// ODBC's habits.
        const CLIENT_ODBC = 1 << 6;
        /// `LOAD DATA LOCAL`.
        const CLIENT_LOCAL_FILES = 1 << 7;
        /// A space may stand before a function's parenthesis.
        const CLIENT_IGNORE_SPACE = 1 << 8;
        /// The protocol since 4.1.
        const CLIENT_PROTOCOL_41 = 1 << 9;
        /// `interactive_timeout` counts.
        const CLIENT_INTERACTIVE = 1 << 10;
        /// TLS.
        const CLIENT_SSL = 1 << 11;
        /// The client's own affair.
        const CLIENT_IGNORE_SIGPIPE = 1 << 12;
        /// Status flags are told.
        const CLIENT_TRANSACTIONS = 1 << 13;
        /// Of no meaning.
        const CLIENT_RESERVED = 1 << 14;
        /// Nonces of 20 bytes.
        const CLIENT_SECURE_CONNECTION = 1 << 15;
        /// Several statements in one text.
        const CLIENT_MULTI_STATEMENTS = 1 << 16;
        /// Several results of one text.
        const CLIENT_MULTI_RESULTS = 1 << 17;
        /// The same of executions.
        const CLIENT_PS_MULTI_RESULTS = 1 << 18;
        /// Plugins have names.
        const CLIENT_PLUGIN_AUTH = 1 << 19;
        /// The login tells of the client.
        const CLIENT_CONNECT_ATTRS = 1 << 20;
        /// The answer to the nonce may be long.
        const CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA = 1 << 21;
        /// An expired password lets in, to be changed.
        const CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS = 1 << 22;
        /// OK packets tell of changes.
        const CLIENT_SESSION_TRACK = 1 << 23;
        /// OK packets where EOF packets were.
        const CLIENT_DEPRECATE_EOF = 1 << 24;
        /// MySQL: a byte says whether columns follow.
        const CLIENT_OPTIONAL_RESULTSET_METADATA = 1 << 25;
        /// MySQL: packets go through zstd.
        const CLIENT_ZSTD_COMPRESSION_ALGORITHM = 1 << 26;
        /// MySQL: statements come with attributes.
        const CLIENT_QUERY_ATTRIBUTES = 1 << 27;
        /// MySQL: several passwords.
        const MULTI_FACTOR_AUTHENTICATION = 1 << 28;
        /// MySQL keeps it for more flags; once MariaDB's progress reports.
        const CLIENT_CAPABILITY_EXTENSION = 1 << 29;
        /// The client's own affair.
        const CLIENT_SSL_VERIFY_SERVER_CERT = 1 << 30;
        /// The client's own affair.
        const CLIENT_REMEMBER_OPTIONS = 1 << 31;
        /// MariaDB: reports of how far a statement is.
        const MARIADB_CLIENT_PROGRESS = 1 << 32;
        /// MariaDB, once: several commands in one packet.
        const MARIADB_CLIENT_COM_MULTI = 1 << 33;
        /// MariaDB: `COM_STMT_BULK_EXECUTE`.
        const MARIADB_CLIENT_STMT_BULK_OPERATIONS = 1 << 34;
        /// MariaDB: columns tell more of their types.
        const MARIADB_CLIENT_EXTENDED_METADATA = 1 << 35;
        /// MariaDB: a byte says whether columns follow, which are left out where the client has them.
        const MARIADB_CLIENT_CACHE_METADATA = 1 << 36;
        /// MariaDB: `COM_STMT_BULK_EXECUTE` may tell of each row.
        const MARIADB_CLIENT_BULK_UNIT_RESULTS = 1 << 37;
    }
}

impl CapabilityFlags {
    /// All that are MariaDB's own.
    pub const MARIADB: Self = Self::from_bits_truncate(u64::MAX << 32);

    /// Of what stands in a greeting or login: MySQL's half, and what MySQL keeps reserved. Flags that nobody knows are dropped.
    #[must_use]
    pub const fn of_halves(mysql: u32, reserved: u32) -> Self {
        // A flag is a flag in both.
        let [m0, m1, m2, m3] = mysql.to_le_bytes();
        let [r0, r1, r2, r3] = reserved.to_le_bytes();
        let whole = Self::from_bits_truncate(u64::from_le_bytes([m0, m1, m2, m3, r0, r1, r2, r3]));
        match whole.contains(Self::CLIENT_LONG_PASSWORD) {
            true => whole.difference(Self::MARIADB),
            false => whole,
        }
    }

    /// What stands in a greeting or login: MySQL's half, and what MySQL keeps reserved.
    #[must_use]
    pub const fn halves(self) -> ([u8; 4], [u8; 4]) {
        let [m0, m1, m2, m3, r0, r1, r2, r3] = self.bits().to_le_bytes();
        match self.contains(Self::CLIENT_LONG_PASSWORD) {
            true => ([m0, m1, m2, m3], [0; 4]),
            false => ([m0, m1, m2, m3], [r0, r1, r2, r3]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mariadbs_half_counts_only_where_the_peer_speaks_its_dialect() {
        let extended = CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA;
        assert_eq!(CapabilityFlags::of_halves(0, 8), extended);
        assert_eq!(CapabilityFlags::of_halves(1, 8), CapabilityFlags::CLIENT_LONG_PASSWORD);
        assert_eq!(extended.halves(), ([0; 4], [8, 0, 0, 0]));
        let both = extended | CapabilityFlags::CLIENT_LONG_PASSWORD;
        assert_eq!(both.halves(), ([1, 0, 0, 0], [0; 4]));
    }
}
