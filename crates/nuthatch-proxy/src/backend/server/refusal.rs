//! What a failed connect proves: that the server is ill, that it has no room, or nothing but that this login is not to its liking.
//!
//! Only what proves the server ill counts towards shunning it, which keeps everybody off: no answer, an answer that is none, and the
//! errors that a server gives to anybody who comes. All others are about an account, a password or the name of a schema, and are the
//! client's to hear. A server without room is neither ill nor wrong: its connections are waited for.

use nuthatch_net::NetError;
use nuthatch_wire::ErrPacket;

/// See the module's doc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Proof {
    /// Nobody can use it now.
    Ill,
    /// It lets in nobody more.
    Full,
    /// It lets in no more of this account.
    FullForUser,
    /// It takes this login from nobody.
    OfAccount,
    /// It does not take what the login asks for: a schema, nearly always.
    OfLogin,
}

/// `ER_USER_LIMIT_REACHED`: of connections at one time, or of something that an hour brings back.
const USER_LIMIT_REACHED: u16 = 1226;

impl Proof {
    /// What a server's ERR packet in the place of a login proves.
    pub(in crate::backend) fn of(refusal: &ErrPacket) -> Self {
        match refusal.code {
            1040 => Self::Full,
            1203 => Self::FullForUser,
            USER_LIMIT_REACHED if is_of_connections(&refusal.message) => Self::FullForUser,
            // Out of memory or threads, no handshake, a node outside its cluster (1047), a shutdown, this host blocked or not let in, whoever
            // comes from it (1129, 1130), the network, killed, offline mode (3032), not available.
            1037
            | 1038
            | 1041..=1043
            | 1047
            | 1053
            | 1077..=1079
            | 1129
            | 1130
            | 1135
            | 1152..=1161
            | 1184
            | 1927
            | 3032
            | 3168 => Self::Ill,
            // Access denied, by a plugin or without TLS, an expired or unset password, a locked account.
            1045 | 1251 | 1275 | 1524 | 1698 | 1820 | 1862 | 3118 | 3159 | 3955 | 4151
            | USER_LIMIT_REACHED => Self::OfAccount,
            _ => Self::OfLogin,
        }
    }
}

fn is_of_connections(message: &[u8]) -> bool {
    const RESOURCE: &[u8] = b"max_user_connections";
    message.windows(RESOURCE.len()).any(|part| part == RESOURCE)
}

/// Why a server could not be reached, for the log and for who waits.
pub(in crate::backend) fn told(error: &NetError) -> String {
    match error {
        NetError::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            "no answer within mysql-connect_timeout_server".to_owned()
        }
        NetError::Io(error) => error.to_string(),
        NetError::Refused(refusal) => told_of(refusal),
        NetError::Wire(error) => format!("{}: {error}", NetError::Wire(*error)),
        error => error.to_string(),
    }
}

/// The number and the words of a server's error.
pub(in crate::backend) fn told_of(refusal: &ErrPacket) -> String {
    format!("error {} ({})", refusal.code, String::from_utf8_lossy(&refusal.message))
}

/// The number that clients' libraries give to such a failure, where the server has said none.
pub(in crate::backend) const fn number_of(error: &NetError) -> u16 {
    match error {
        NetError::Refused(refusal) | NetError::Goodbye(refusal) => refusal.code,
        NetError::Tls(_) | NetError::NoTls => 2026,
        NetError::Closed => 2013,
        NetError::Wire(_) | NetError::PacketTooLarge { .. } => 2027,
        NetError::UnknownPassword(_) | NetError::ClearPasswordRefused(_) | NetError::UnsupportedPlugin(_) => {
            2059
        }
        NetError::Io(_) => 2003,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(code: u16, message: &str) -> Proof {
        Proof::of(&ErrPacket { code, sql_state: *b"HY000", message: message.into() })
    }

    #[test]
    fn only_what_a_server_says_to_anybody_proves_it_ill() {
        for code in [1053, 1129, 1130, 1135, 1047, 3032] {
            assert_eq!(proof(code, ""), Proof::Ill, "{code}");
        }
        for code in [1044, 1049, 1059, 1102, 1115, 1300, 1305, 9999] {
            assert_eq!(proof(code, ""), Proof::OfLogin, "{code}");
        }
        for code in [1045, 1698, 1820, 1862, 3118, 4151] {
            assert_eq!(proof(code, ""), Proof::OfAccount, "{code}");
        }
        assert_eq!(proof(1040, "Too many connections"), Proof::Full);
        assert_eq!(proof(1203, ""), Proof::FullForUser);
        let reached =
            |resource| format!("User 'a' has exceeded the '{resource}' resource (current value: 2)");
        assert_eq!(proof(1226, &reached("max_user_connections")), Proof::FullForUser);
        assert_eq!(proof(1226, &reached("max_connections_per_hour")), Proof::OfAccount);
    }
}
