//! A copy of an answer on its way to the client, for the cache; or only its print, for a transaction that may be done again.

use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::session::way::{Print, Reading};
use crate::stats::not_cached::NotCached;

/// What is stored as the status flags of every entry: what most readers have.
const STORED_STATUS: StatusFlags = StatusFlags::SERVER_STATUS_AUTOCOMMIT;

/// Bytes of an answer, up to a limit. Past the limit it holds nothing more.
#[derive(Debug)]
pub(crate) struct Capture {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Why it will not be stored, as far as that is known already.
    given_up: Option<NotCached>,
    /// What the answer depends on is to be found out when the statement is sent.
    is_exact: bool,
    pub(crate) reading: Option<Reading>,
    print: Option<Box<Print>>,
}

impl Capture {
    pub(crate) const fn new(bytes_max: usize, is_exact: bool) -> Self {
        Self { bytes: Vec::new(), bytes_max, given_up: None, is_exact, reading: None, print: None }
    }

    /// Of an answer that is not stored, for that reason.
    pub(crate) const fn of_nothing(why: NotCached) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max: 0,
            given_up: Some(why),
            is_exact: false,
            reading: None,
            print: None,
        }
    }

    /// The same, with the print of its rows.
    pub(crate) fn with_print(self, print: Print) -> Self {
        Self { print: Some(Box::new(print)), ..self }
    }

    /// The print of what has come, if it is wanted.
    pub(crate) fn print(&self) -> Option<&Print> {
        self.print.as_deref()
    }

    /// The statement is sent now.
    pub(crate) fn begin(&mut self, reading: impl FnOnce() -> Result<Reading, NotCached>) {
        if self.is_exact {
            let reading = reading();
            self.given_up = reading.as_ref().err().copied();
            self.reading = reading.ok();
        }
    }

    /// What has come is of no account: the statement is sent again.
    pub(crate) fn begin_again(&mut self) {
        self.bytes.clear();
        if let Some(print) = &mut self.print {
            print.begin_again();
        }
    }

    /// It will not be stored.
    pub(crate) const fn give_up(&mut self, why: NotCached) {
        self.given_up = Some(why);
    }

    /// Takes the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if let Some(print) = &mut self.print {
            print.take(bytes);
        }
        if self.given_up.is_some() {
            return;
        }
        if self.bytes.len() + bytes.len() > self.bytes_max {
            self.given_up = Some(NotCached::TooLarge);
            self.bytes = Vec::new();
            return;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The packets to store and where their status flags stand, if `end` is that of one whole result set without
    /// warnings. The server's own flags have been replaced.
    pub(crate) fn finish(mut self, end: &AnswerEnd) -> Result<(Vec<u8>, Vec<u32>), NotCached> {
        if let Some(why) = unfit(end).or(self.given_up) {
            return Err(why);
        }
        let offsets: Vec<u32> = end.status_offsets.iter().flatten().copied().collect();
        for offset in &offsets {
            let start = *offset as usize;
            let flags = self.bytes.get_mut(start..start + 2).ok_or(NotCached::NotOneResultSet)?;
            flags.copy_from_slice(&STORED_STATUS.bits().to_le_bytes());
        }
        if offsets.is_empty() { Err(NotCached::NotOneResultSet) } else { Ok((self.bytes, offsets)) }
    }
}

/// Why no answer with that end is stored.
fn unfit(end: &AnswerEnd) -> Option<NotCached> {
    match end.ending {
        Ending::Err(_) => Some(NotCached::Failed),
        Ending::Ok => Some(NotCached::NotOneResultSet),
        Ending::ResultSet if end.results != 1 => Some(NotCached::NotOneResultSet),
        Ending::ResultSet if end.ok.warnings > 0 => Some(NotCached::Warnings),
        // What changed in one session did not change in another.
        Ending::ResultSet if end.status_seen.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED) => {
            Some(NotCached::SessionChanged)
        }
        Ending::ResultSet => None,
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_wire::OkPacket;

    use super::*;

    fn end(ending: Ending, results: u32, warnings: u16) -> AnswerEnd {
        AnswerEnd {
            ending,
            results,
            ok: OkPacket { warnings, ..OkPacket::default() },
            status_offsets: [Some(1), None],
            ..AnswerEnd::default()
        }
    }

    #[test]
    fn only_one_whole_result_set_without_warnings_is_kept() {
        let finish = |bytes_max, end| {
            let mut capture = Capture::new(bytes_max, false);
            capture.take(b"ab");
            capture.take(b"cd");
            capture.finish(&end)
        };
        assert_eq!(finish(4, end(Ending::ResultSet, 1, 0)), Ok((b"a\x02\x00d".to_vec(), vec![1])));
        assert_eq!(finish(3, end(Ending::ResultSet, 1, 0)), Err(NotCached::TooLarge));
        assert_eq!(finish(4, end(Ending::ResultSet, 2, 0)), Err(NotCached::NotOneResultSet));
        assert_eq!(finish(4, end(Ending::ResultSet, 1, 1)), Err(NotCached::Warnings));
        let changed = AnswerEnd {
            status_seen: StatusFlags::SERVER_SESSION_STATE_CHANGED,
            ..end(Ending::ResultSet, 1, 0)
        };
        assert_eq!(finish(4, changed), Err(NotCached::SessionChanged));
        assert_eq!(finish(4, end(Ending::Ok, 1, 0)), Err(NotCached::NotOneResultSet));
        assert_eq!(finish(4, end(Ending::Err(1064), 0, 0)), Err(NotCached::Failed));
    }
}
