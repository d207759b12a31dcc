//! How sessions end.

use nuthatch_net::NetError;

/// Why a session is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EndReason {
    /// An operator killed it.
    Killed = 1,
    /// `wait_timeout` ran out.
    Idle = 2,
    /// The proxy stops and the session has nothing open.
    Drained = 3,
    /// The proxy stops now.
    Stopped = 4,
    /// Its user is no longer active.
    UserGone = 5,
    /// A client's KILL; it is hung up on, as a server does it.
    KilledByClient = 6,
    /// `mysql-max_transaction_time` ran out.
    LongTransaction = 7,
    /// `mysql-max_transaction_idle_time` did.
    IdleTransaction = 8,
    /// What it held stood in the way of a switchover.
    SwitchedOver = 9,
}

impl EndReason {
    pub(super) const fn of(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Killed),
            2 => Some(Self::Idle),
            3 => Some(Self::Drained),
            4 => Some(Self::Stopped),
            5 => Some(Self::UserGone),
            6 => Some(Self::KilledByClient),
            7 => Some(Self::LongTransaction),
            8 => Some(Self::IdleTransaction),
            9 => Some(Self::SwitchedOver),
            _ => None,
        }
    }
}

/// Why a session ended.
#[derive(Debug)]
pub(crate) enum SessionEnd {
    /// The client said COM_QUIT.
    Quit,
    /// The client was gone.
    Gone,
    /// Somebody told it to end.
    Told(EndReason),
    /// The same in the middle of an answer: what would be said there could be taken for its content.
    InAnswer(EndReason),
    /// The client's socket failed or it broke the protocol.
    Broken(NetError),
}

impl SessionEnd {
    /// The same, where the client may have some of an answer.
    pub(crate) fn in_answer(self) -> Self {
        match self {
            Self::Told(reason) => Self::InAnswer(reason),
            end => end,
        }
    }
}

impl From<NetError> for SessionEnd {
    fn from(error: NetError) -> Self {
        match error {
            NetError::Closed | NetError::Io(_) => Self::Gone,
            error => Self::Broken(error),
        }
    }
}

impl From<EndReason> for SessionEnd {
    fn from(reason: EndReason) -> Self {
        Self::Told(reason)
    }
}
