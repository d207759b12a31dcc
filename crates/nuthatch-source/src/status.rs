//! What a server's status tells: for how long it has been running, and how much of what it reads it has in memory.

use crate::PictureError;
use crate::question::{Question, Server};
use crate::settings::Settings;
use crate::variables::Variables;

const FIGURES: Question = Question {
    what: "status",
    sql: "SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'Innodb_buffer_pool_reads', 'Innodb_buffer_pool_read_requests')",
};

/// InnoDB's buffer pool, as its server told when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPool {
    /// `innodb_buffer_pool_size`.
    pub size_bytes: u64,
    /// Pages that were asked for since the server began.
    pub read_requests: u64,
    /// Of these, those that had to be read from storage.
    pub reads: u64,
}

/// The figures that were asked for, as far as the server has them.
pub(crate) struct Status(Variables);

impl Status {
    /// Asks for all of them at once.
    ///
    /// # Errors
    /// When the server does not answer, or otherwise than expected.
    pub(crate) async fn read(server: &mut impl Server) -> Result<Self, PictureError> {
        Variables::read(server, FIGURES).await.map(Self)
    }

    /// For how many seconds it has been running.
    pub(crate) fn uptime_s(&self) -> Option<u64> {
        self.0.number("Uptime")
    }

    /// Of a server that has one, and counts.
    pub(crate) fn buffer_pool(&self, settings: &Settings) -> Option<BufferPool> {
        Some(BufferPool {
            size_bytes: settings.buffer_pool_size()?,
            read_requests: self.0.number("Innodb_buffer_pool_read_requests")?,
            reads: self.0.number("Innodb_buffer_pool_reads")?,
        })
    }
}
