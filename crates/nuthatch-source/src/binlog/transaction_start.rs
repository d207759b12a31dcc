//! The event that every transaction begins with: its number, and what the server says of it in advance.

use super::BinlogError;
use super::cursor::Cursor;
use super::tagged;
use super::xid::Xid;

/// `FL_GROUP_COMMIT_ID`, `FL_PREPARED_XA`, `FL_COMPLETED_XA`: what stands behind MariaDB's flags.
const GROUP_COMMIT: u8 = 0x02;
const PREPARED_XA: u8 = 0x40;
const COMPLETED_XA: u8 = 0x80;
/// `FL_EXTRA_MULTI_ENGINE_E1`, `FL_START_ALTER_E1`, `FL_COMMIT_ALTER_E1`, `FL_ROLLBACK_ALTER_E1`, `FL_EXTRA_THREAD_ID`: the same of
/// its second ones.
const SEVERAL_ENGINES: u8 = 0x01;
const ALTER_STARTS: u8 = 0x02;
const ALTER_COMMITS: u8 = 0x04;
const ALTER_ROLLS_BACK: u8 = 0x08;
const HAS_THREAD: u8 = 0x10;

/// Which transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStart<'e> {
    /// MySQL, with a GTID.
    MySql {
        /// The server that has numbered it.
        uuid: [u8; 16],
        /// Empty if it has none.
        tag: &'e [u8],
        /// From 1 on.
        number: u64,
        /// None if the event does not tell it.
        order: Option<CommitOrder>,
    },
    /// MySQL, without a GTID.
    Anonymous {
        /// None if the event does not tell it.
        order: Option<CommitOrder>,
    },
    /// MariaDB. The server of its number is that of the event's place.
    MariaDb(MariaDbStart<'e>),
}

/// MySQL's logical clock: of a later transaction whose `last_committed` is not below this one's `sequence_number`, this one was
/// committed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the server's")]
pub struct CommitOrder {
    pub last_committed: i64,
    pub sequence_number: i64,
}

/// What MariaDB says of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MariaDbStart<'e> {
    /// The first number of its GTID.
    pub domain: u32,
    /// The third.
    pub sequence: u64,
    flags: u8,
    /// Of an XA transaction that is prepared here, or ended.
    pub xid: Option<Xid<'e>>,
    /// Of `binlog_alter_two_phase`.
    pub alter: Option<AlterPhase>,
    /// The session's, which only some servers tell: 11.8 does.
    pub thread_id: Option<u32>,
}

/// Which part of an ALTER TABLE this is, where a server writes its beginning before it is done. The number is the beginning's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AlterPhase {
    Start,
    Commit(u64),
    RollBack(u64),
}

impl MariaDbStart<'_> {
    /// One event makes it up, and no commit follows: a DDL statement, or the end of a prepared XA transaction.
    #[must_use]
    pub const fn is_standalone(&self) -> bool {
        self.flags & 0x01 != 0
    }

    /// All that it changes can be rolled back.
    #[must_use]
    pub const fn is_transactional(&self) -> bool {
        self.flags & 0x04 != 0
    }

    /// It is a DDL statement.
    #[must_use]
    pub const fn is_ddl(&self) -> bool {
        self.flags & 0x20 != 0
    }

    /// It ends with XA PREPARE: what it changes is not visible after it.
    #[must_use]
    pub const fn is_prepared_xa(&self) -> bool {
        self.flags & PREPARED_XA != 0
    }

    /// It is the XA COMMIT or XA ROLLBACK of a prepared transaction.
    #[must_use]
    pub const fn is_completed_xa(&self) -> bool {
        self.flags & COMPLETED_XA != 0
    }
}

impl<'e> TransactionStart<'e> {
    /// MySQL's `GTID_LOG_EVENT` and `ANONYMOUS_GTID_LOG_EVENT`.
    pub(super) fn parse(body: &'e [u8], is_anonymous: bool) -> Result<Self, BinlogError> {
        let mut fields = Cursor::new(body);
        fields.u8()?; // Whether there may be statements in it: always, where it is not known.
        let uuid = fields.array()?;
        let number = fields.u64()?;
        let order = match fields.u8() {
            Ok(2) => Some(CommitOrder {
                last_committed: i64::from_le_bytes(fields.array()?),
                sequence_number: i64::from_le_bytes(fields.array()?),
            }),
            _ => None,
        };
        Ok(match is_anonymous {
            true => Self::Anonymous { order },
            false => Self::MySql { uuid, tag: &[], number, order },
        })
    }

    /// MySQL's `GTID_TAGGED_LOG_EVENT`, since 8.4.
    pub(super) fn parse_tagged(body: &'e [u8]) -> Result<Self, BinlogError> {
        let fields = tagged::parse(body)?;
        Ok(Self::MySql {
            uuid: fields.uuid,
            tag: fields.tag,
            number: u64::try_from(fields.number)
                .map_err(|_negative| BinlogError::Malformed("a GTID's number"))?,
            order: match (fields.last_committed, fields.sequence_number) {
                (Some(last_committed), Some(sequence_number)) => {
                    Some(CommitOrder { last_committed, sequence_number })
                }
                _ => None,
            },
        })
    }

    /// MariaDB's `GTID_EVENT`.
    pub(super) fn parse_mariadb(body: &'e [u8]) -> Result<Self, BinlogError> {
        let mut fields = Cursor::new(body);
        let sequence = fields.u64()?;
        let domain = fields.u32()?;
        let flags = fields.u8()?;
        if flags & GROUP_COMMIT != 0 {
            fields.u64()?;
        }
        let xid = match flags & (PREPARED_XA | COMPLETED_XA) {
            0 => None,
            _ => Some(Xid::parse_short(&mut fields)?),
        };
        // An event that has little to say is filled up with zeros.
        let more = if fields.is_empty() { 0 } else { fields.u8()? };
        if more & SEVERAL_ENGINES != 0 {
            fields.u8()?;
        }
        let alter = match more {
            more if more & ALTER_COMMITS != 0 => Some(AlterPhase::Commit(fields.u64()?)),
            more if more & ALTER_ROLLS_BACK != 0 => Some(AlterPhase::RollBack(fields.u64()?)),
            more if more & ALTER_STARTS != 0 => Some(AlterPhase::Start),
            _ => None,
        };
        let thread_id = (more & HAS_THREAD != 0).then(|| fields.u32()).transpose()?;
        Ok(Self::MariaDb(MariaDbStart { domain, sequence, flags, xid, alter, thread_id }))
    }
}
