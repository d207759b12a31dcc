//! The codes, SQLSTATEs and wordings of the errors that the proxy itself gives.
//!
//! Codes below 9000 are MySQL's ("Server Error Message Reference"); those from 9000 on are ProxySQL's.

/// An error code with its SQLSTATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode {
    /// What the client's library reports as `errno`.
    pub code: u16,
    /// Five characters of SQLSTATE.
    pub sql_state: [u8; 5],
}

/// Defines the constants, one a line.
macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $state:literal;)*) => {
        impl ErrorCode { $($(#[$doc])* pub const $name: Self = Self { code: $code, sql_state: *$state };)* }
    };
}

error_codes! {
    /// The server has no room for another connection.
    CON_COUNT_ERROR = 1040, b"08004";
    /// A packet of the login is not what the protocol wants.
    HANDSHAKE_ERROR = 1043, b"08S01";
    /// A schema that the user may not use.
    DB_ACCESS_DENIED = 1044, b"42000";
    /// User, password or account state refused.
    ACCESS_DENIED = 1045, b"28000";
    /// No default schema is chosen.
    NO_DB_ERROR = 1046, b"3D000";
    /// A command that is not supported.
    UNKNOWN_COM_ERROR = 1047, b"08S01";
    /// The server is going down.
    SERVER_SHUTDOWN = 1053, b"08S01";
    /// SQL that cannot be parsed.
    PARSE_ERROR = 1064, b"42000";
    /// A statement without text.
    EMPTY_QUERY = 1065, b"42000";
    /// A thread id that is not there.
    NO_SUCH_THREAD = 1094, b"HY000";
    /// An error without a code of its own.
    UNKNOWN_ERROR = 1105, b"HY000";
    /// A packet over `max_allowed_packet`.
    NET_PACKET_TOO_LARGE = 1153, b"08S01";
    /// Frames in the wrong order.
    NET_PACKETS_OUT_OF_ORDER = 1156, b"08S01";
    /// A limit of the user is reached.
    USER_LIMIT_REACHED = 1226, b"42000";
    /// KILL of another user's connection.
    KILL_DENIED = 1095, b"HY000";
    /// A privilege is missing.
    SPECIFIC_ACCESS_DENIED = 1227, b"42000";
    /// A variable of sessions that is none.
    GLOBAL_VARIABLE = 1229, b"HY000";
    /// A value that a variable does not take.
    WRONG_VALUE_FOR_VARIABLE = 1231, b"42000";
    /// A value of another type than the variable's.
    WRONG_TYPE_FOR_VARIABLE = 1232, b"42000";
    /// A value that was cut.
    TRUNCATED_WRONG_VALUE = 1292, b"22007";
    /// A feature that is not there yet.
    NOT_SUPPORTED_YET = 1235, b"42000";
    /// The account may only be used over TLS.
    SECURE_TRANSPORT_REQUIRED = 3159, b"HY000";
    /// A packet that ends early.
    MALFORMED_PACKET = 1835, b"HY000";
    /// COM_STMT_FETCH without a cursor.
    NO_OPEN_CURSOR = 1421, b"HY000";
    /// The connection cannot go on.
    ABORTED_CONNECTION = 1184, b"08S01";
    /// The statement was killed.
    QUERY_INTERRUPTED = 1317, b"70100";
    /// The statement took longer than it may; ProxySQL's code for it.
    QUERY_TIMEOUT = 1907, b"70100";
    /// The connection was killed by an administrator.
    CONNECTION_KILLED = 1927, b"70100";
    /// The backend connection was lost while the statement ran.
    SERVER_LOST = 2013, b"HY000";
    /// A rule's `error_msg`; ProxySQL's code for it.
    RULE_ERROR = 1148, b"42000";
    /// No more prepared statements.
    TOO_MANY_STATEMENTS = 1461, b"42000";
    /// A statement that cannot be prepared.
    UNSUPPORTED_PS = 1295, b"HY000";
    /// A prepared statement that is not there.
    UNKNOWN_STMT_HANDLER = 1243, b"HY000";
    /// No server of the hostgroup could be reached in time.
    MAX_CONNECT_TIMEOUT = 9001, b"HY000";
    /// The server was taken offline while the statement ran.
    SERVER_OFFLINE = 9004, b"HY000";
}
