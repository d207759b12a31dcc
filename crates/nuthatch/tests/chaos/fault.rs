//! What befalls servers, the network and the proxy: drawn from a seed, before anything happens.
//!
//! Servers are named by what they are at that time: which one that is depends on the faults before.

use std::time::Duration;

use nuthatch_lab::Direction;

use crate::random::Random;

/// A server, as it stands when the fault comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whom {
    Primary,
    /// The first or the second of the others.
    Replica(usize),
}

/// From whom a server is parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    All,
    /// Clients and proxies.
    Outside,
    /// One of the others.
    Other(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    /// SIGKILL.
    Kill(Whom),
    /// SIGTERM.
    Stop(Whom),
    /// SIGSTOP.
    Freeze(Whom),
    Part(Whom, From, Direction),
    /// Connections to it are reset, each behind some byte.
    Cut(Whom),
    /// `read_only` is set by hand.
    ReadOnly,
    /// A replica's `read_only` is lifted by hand; nobody writes there.
    Writable(usize),
    /// It applies nothing that is younger than some seconds.
    Delay(usize),
    /// It applies nothing.
    Apply(usize),
    /// Nothing more fits on its disk.
    FullDisk {
        whom: Whom,
        then: Relief,
    },
    /// SIGKILL of the proxy, which is started again.
    KillProxy,
    /// SIGTERM of it.
    StopProxy,
    /// The proxy is killed so long after the primary: in the middle of what it does about that.
    KillBoth {
        after_ms: u64,
    },
}

/// How a full disk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relief {
    /// Somebody makes room, and the server goes on when it looks again.
    Room,
    /// Somebody does not wait for that: the server is killed, with what it could write of a transaction, and started where there is room.
    Kill,
}

/// One fault, and how long it lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) harm: Harm,
    pub(crate) lasts: Duration,
    /// How long all goes well before it.
    pub(crate) quiet: Duration,
}

/// Draws the next one. Half of them end before, or while, somebody does something about it.
pub(crate) fn draw(random: &mut Random) -> Fault {
    let ms = |random: &mut Random, (from, to): (usize, usize)| {
        Duration::from_millis((from + random.below(to - from)) as u64)
    };
    let whom = [Whom::Primary, Whom::Primary, Whom::Primary, Whom::Replica(0), Whom::Replica(1)];
    let direction = [Direction::Both, Direction::In, Direction::Out];
    let replica = random.below(2);
    let harm = match random.below(21) {
        0..=3 => Harm::Kill(*random.pick(&whom)),
        4 => Harm::Stop(*random.pick(&whom)),
        5..=6 => Harm::Freeze(*random.pick(&whom)),
        7..=10 => {
            let from = [From::All, From::All, From::Outside, From::Other(0), From::Other(1)];
            Harm::Part(*random.pick(&whom), *random.pick(&from), *random.pick(&direction))
        }
        11..=13 => Harm::Cut(*random.pick(&whom)),
        14 => Harm::ReadOnly,
        15 => Harm::Writable(replica),
        16 => Harm::Delay(replica),
        17 => Harm::Apply(replica),
        18 => *random.pick(&[Harm::KillProxy, Harm::StopProxy]),
        19 => Harm::KillBoth { after_ms: random.below(400) as u64 },
        _ => {
            // A server takes a minute to see that there is room.
            let then = if random.below(8) == 0 { Relief::Room } else { Relief::Kill };
            Harm::FullDisk { whom: *random.pick(&whom), then }
        }
    };
    let range = *random.pick(&[(50, 700), (700, 4000)]);
    Fault { harm, lasts: ms(random, range), quiet: ms(random, (50, 400)) }
}
