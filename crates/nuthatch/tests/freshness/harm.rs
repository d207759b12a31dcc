//! What befalls a server that is followed, the proxy that follows it, and what lies between them: drawn from a seed.

use std::time::Duration;

use nuthatch_lab::Direction;

use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    /// SIGSTOP.
    FreezeProxy,
    FreezeServer,
    /// SIGKILL; it is started again.
    KillProxy,
    KillServer,
    KillBoth,
    /// SIGTERM; it is started again.
    StopServer,
    /// What goes that way between proxy and server does not arrive.
    Part(Direction),
    /// The same again and again, for some milliseconds: a slow network.
    Slow,
    /// All connections between them are reset.
    Reset,
    /// One is reset, so many bytes later.
    Cut(Direction, u64),
    /// The server's thread that sends the binlog is killed.
    KillFeed,
    /// One of those that answer the follower.
    KillAsker,
    /// All of them.
    KillAll,
    /// The binlog goes on in another file.
    Rotate,
    /// Files are removed, some of which the proxy that stands still has not read.
    Purge,
    /// The binlog begins anew while the proxy is parted from the server.
    BeginAnew,
    /// Somebody else writes to the server's disk, and waits for it.
    SlowDisk,
    /// The server is told not to wait for replicas, and then to wait: during a lease a hole that is documented.
    NoWaiting,
}

impl Harm {
    /// What it is counted under.
    pub(crate) fn kind(self, lasts: Duration) -> String {
        let words = format!("{self:?}");
        let kind = words.split(['(', ' ']).next().unwrap_or_default();
        match self {
            Self::FreezeProxy | Self::FreezeServer | Self::Part(_) if lasts < TIMEOUT => {
                format!("{kind}, short")
            }
            Self::FreezeProxy | Self::FreezeServer | Self::Part(_) => format!("{kind}, long"),
            _ => kind.to_owned(),
        }
    }

    /// Whether the server itself holds its clients up, or its disk.
    pub(crate) const fn is_of_server(self) -> bool {
        matches!(
            self,
            Self::FreezeServer | Self::KillServer | Self::KillBoth | Self::StopServer | Self::SlowDisk
        )
    }
}

/// How long the server waits for the proxy.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);

/// How long a fault is that the server waits out, that it does not, and that nobody does.
const SHORT_MS: (usize, usize) = (20, 800);
const LONG_MS: (usize, usize) = (1050, 2500);
const VERY_LONG_MS: (usize, usize) = (5200, 6500);

/// One fault, and how long it lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) harm: Harm,
    pub(crate) lasts: Duration,
    /// How long all goes well before it.
    pub(crate) quiet: Duration,
    /// The next one comes when the server is followed again; otherwise perhaps in the middle of that.
    pub(crate) is_waited_out: bool,
}

/// Draws the next one.
pub(crate) fn draw(random: &mut Random) -> Fault {
    let direction = *random.pick(&[Direction::Both, Direction::In, Direction::Out]);
    let harm = match random.below(40) {
        0..=6 => Harm::FreezeProxy,
        7..=8 => Harm::FreezeServer,
        9..=10 => Harm::KillProxy,
        11 => Harm::KillServer,
        12 => *random.pick(&[Harm::KillBoth, Harm::StopServer]),
        13..=18 => Harm::Part(direction),
        19..=20 => Harm::Slow,
        21..=22 => Harm::Reset,
        23..=25 => Harm::Cut(*random.pick(&[Direction::In, Direction::Out]), 1 + random.below(4000) as u64),
        26..=27 => Harm::KillFeed,
        28..=30 => Harm::KillAsker,
        31 => Harm::KillAll,
        32..=34 => Harm::Rotate,
        35 => Harm::Purge,
        36 => Harm::BeginAnew,
        37..=38 => Harm::SlowDisk,
        _ => Harm::NoWaiting,
    };
    let range = match random.below(50) {
        0..=27 => SHORT_MS,
        28..=48 => LONG_MS,
        _ => VERY_LONG_MS,
    };
    let mut ms = |(from, to): (usize, usize)| Duration::from_millis((from + random.below(to - from)) as u64);
    let (lasts, quiet) = (ms(range), ms((20, 600)));
    Fault { harm, lasts, quiet, is_waited_out: random.below(4) > 0 }
}
