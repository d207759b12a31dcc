//! What sessions did and were told, and what is there in the end: the log that is held against what was promised.
//!
//! Each writer has a register of its own, and numbers what it tries to write from 1 on: as the register's version, as a row, or as both in
//! one transaction. A version replaces lower ones only, so that a write whose outcome is not known, and which a server does later, takes
//! nothing back.

use std::collections::HashMap;
use std::time::Duration;

/// Since the run began.
pub(crate) type Time = Duration;

/// Who writes; also the register that it writes.
pub(crate) type Writer = u32;

/// What a writer tries, numbered.
pub(crate) type Number = u64;

/// What a write leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    Row,
    Version,
    /// In one transaction.
    Both,
}

/// What the client knows of its write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Acknowledged,
    /// It was told that it was not done.
    Refused,
    Unknown,
}

#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) writer: Writer,
    pub(crate) number: Number,
    pub(crate) leaves: Leaves,
    pub(crate) outcome: Outcome,
    pub(crate) sent: Time,
    pub(crate) ended: Time,
}

/// How new what a session is shown must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// As anything that was acknowledged, or shown to such a session, before the read began.
    Current,
    /// As what the session itself has written and seen.
    Session,
}

/// An answered read of a register, outside of transactions.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    pub(crate) register: Writer,
    pub(crate) version: Number,
    pub(crate) sent: Time,
    pub(crate) ended: Time,
}

/// What one session did, in its order. A writer's reads are of its own register too.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) name: String,
    pub(crate) promise: Promise,
    pub(crate) events: Vec<Event>,
}

#[derive(Debug, Clone)]
pub(crate) enum Event {
    Write(Write),
    Read(Read),
    /// A read that failed.
    Failed {
        sent: Time,
        ended: Time,
    },
    /// The session's connection was lost: another one begins, which has seen nothing.
    Anew,
}

/// A time in which another server took the place of the primary, from the fault to when all was well again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failover {
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

/// A time in which a server may have waited for room on its disk, and for when it looks again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FullDisk {
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

/// What became of what was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing may be lost: commits wait for a replica.
    None,
    /// So many transactions were told as lost.
    Told(u64),
    /// It was told that what was lost is not known.
    Unknown,
}

/// What is there in the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Left {
    /// How often each row is there.
    pub(crate) rows: HashMap<(Writer, Number), u64>,
    pub(crate) versions: HashMap<Writer, Number>,
}

/// All of a run.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) logs: Vec<Log>,
    pub(crate) failovers: Vec<Failover>,
    pub(crate) full_disks: Vec<FullDisk>,
    pub(crate) loss: Loss,
    pub(crate) left: Left,
    /// The longest that a statement may take.
    pub(crate) statement_max: Duration,
    /// And how much longer where its server has a full disk: it has the statement, and answers when there is room.
    pub(crate) room_max: Duration,
}

impl Write {
    pub(crate) fn leaves_row(&self) -> bool {
        self.leaves != Leaves::Version
    }

    pub(crate) fn leaves_version(&self) -> bool {
        self.leaves != Leaves::Row
    }
}

impl Event {
    pub(crate) fn times(&self) -> Option<(Time, Time)> {
        match self {
            Self::Write(Write { sent, ended, .. })
            | Self::Read(Read { sent, ended, .. })
            | Self::Failed { sent, ended } => Some((*sent, *ended)),
            Self::Anew => None,
        }
    }
}

impl History {
    pub(crate) fn writes(&self) -> impl Iterator<Item = &Write> {
        self.events().filter_map(|(_, event)| match event {
            Event::Write(write) => Some(write),
            _ => None,
        })
    }

    pub(crate) fn reads(&self) -> impl Iterator<Item = (&Log, &Read)> {
        self.events().filter_map(|(log, event)| match event {
            Event::Read(read) => Some((log, read)),
            _ => None,
        })
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = (&Log, &Event)> {
        self.logs.iter().flat_map(|log| log.events.iter().map(move |event| (log, event)))
    }
}
