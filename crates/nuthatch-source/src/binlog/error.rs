//! What can be wrong with the bytes of a binlog.

use thiserror::Error;

/// Why an event cannot be read. The stream is of no use after it: what follows may rest on what was not understood.
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum BinlogError {
    #[error("read a binlog event that ends too early")]
    Truncated,
    #[error("read a binlog event with an impossible field: {0}")]
    Malformed(&'static str),
    #[error("read a binlog event whose checksum is not that of its bytes")]
    Checksum,
    #[error("read a binlog whose checksums are of an unknown kind: {0}")]
    UnknownChecksum(u8),
    #[error("read rows of a table that the binlog has not named before")]
    UnknownTable,
    #[error("unpack a compressed binlog event")]
    Compression,
    #[error("read a binlog event that is above the limit: {0}")]
    TooLarge(&'static str),
}
