//! What can go wrong on one connection.

use std::io;

use nuthatch_wire::{ErrPacket, WireError};
use thiserror::Error;

/// Why a packet could not be read or written, or a login failed.
#[derive(Debug, Error)]
pub enum NetError {
    /// The peer closed the connection between two packets.
    #[error("the peer closed the connection")]
    Closed,
    /// The socket failed, or the peer left in the middle of a packet.
    #[error("the connection failed")]
    Io(#[from] io::Error),
    /// The peer's bytes are not the protocol.
    #[error("the peer broke the protocol")]
    Wire(#[from] WireError),
    /// A packet is larger than the limit in force.
    #[error("a packet of more than {limit_bytes} bytes came")]
    PacketTooLarge {
        /// The limit, `max_allowed_packet`.
        limit_bytes: usize,
    },
    /// The server refused the login with this answer.
    #[error("the server refused the login with error {}: {}", .0.code, String::from_utf8_lossy(&.0.message))]
    Refused(ErrPacket),
    /// The server said this in the place of an answer, and serves the connection no more.
    #[error("the server ended the connection with error {}: {}", .0.code, String::from_utf8_lossy(&.0.message))]
    Goodbye(ErrPacket),
    /// The configuration wants TLS, and the server has none.
    #[error("the server offers no TLS, which `use_ssl` asks for")]
    NoTls,
    /// TLS could not be agreed on.
    #[error("TLS failed: {0}")]
    Tls(io::Error),
    /// The server wants the password itself, of which only a hash is known.
    #[error(
        "the server wants the password by {0}, and mysql_users holds only a hash of it: put the clear password \
         into the row, or have a client log in by the same plugin first"
    )]
    UnknownPassword(String),
    /// The server wants the password in clear text, and must not have it.
    #[error("the server wants the password in clear text (mysql_clear_password): {0}")]
    ClearPasswordRefused(&'static str),
    /// The server wants an authentication that is not supported.
    #[error(
        "the server wants the authentication plugin {0}, which is not supported (MySQL asks for one by chance where it has no \
         such account)"
    )]
    UnsupportedPlugin(String),
}

impl NetError {
    /// Whether the server itself answered, so that trying again the same way is useless.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Refused(_)
                | Self::UnsupportedPlugin(_)
                | Self::UnknownPassword(_)
                | Self::ClearPasswordRefused(_)
        )
    }
}
