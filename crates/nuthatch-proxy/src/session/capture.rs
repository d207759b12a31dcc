//! A copy of an answer on its way to the client, for the cache.

use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

/// What is stored as the status flags of every entry: what most readers have.
const STORED_STATUS: StatusFlags = StatusFlags::SERVER_STATUS_AUTOCOMMIT;

/// Bytes of an answer, up to a limit. Past the limit it holds nothing more.
#[derive(Debug)]
pub(super) struct Capture {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_complete: bool,
}

impl Capture {
    pub(super) const fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max, is_complete: true }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        if !self.is_complete {
            return;
        }
        if self.bytes.len() + bytes.len() > self.bytes_max {
            self.is_complete = false;
            self.bytes = Vec::new();
            return;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The packets to store and where their status flags stand, if `end` is that of one whole result set without
    /// warnings. The server's own flags have been replaced.
    pub(super) fn finish(mut self, end: &AnswerEnd) -> Option<(Vec<u8>, Vec<u32>)> {
        let is_one_result_set = end.ending == Ending::ResultSet && end.results == 1 && end.ok.warnings == 0;
        // What changed in one session did not change in another.
        let tells_of_changes = end.status_seen.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        if !self.is_complete || !is_one_result_set || tells_of_changes {
            return None;
        }
        let offsets: Vec<u32> = end.status_offsets.iter().flatten().copied().collect();
        for offset in &offsets {
            let start = *offset as usize;
            self.bytes.get_mut(start..start + 2)?.copy_from_slice(&STORED_STATUS.bits().to_le_bytes());
        }
        (!offsets.is_empty()).then_some((self.bytes, offsets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nuthatch_wire::OkPacket;

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
            let mut capture = Capture::new(bytes_max);
            capture.take(b"ab");
            capture.take(b"cd");
            capture.finish(&end)
        };
        assert_eq!(finish(4, end(Ending::ResultSet, 1, 0)), Some((b"a\x02\x00d".to_vec(), vec![1])));
        assert_eq!(finish(3, end(Ending::ResultSet, 1, 0)), None, "too large");
        assert_eq!(finish(4, end(Ending::ResultSet, 2, 0)), None, "two results");
        assert_eq!(finish(4, end(Ending::ResultSet, 1, 1)), None, "warnings");
        let changed = AnswerEnd {
            status_seen: StatusFlags::SERVER_SESSION_STATE_CHANGED,
            ..end(Ending::ResultSet, 1, 0)
        };
        assert_eq!(finish(4, changed), None, "changes of the session");
        assert_eq!(finish(4, end(Ending::Ok, 1, 0)), None, "no result set");
        assert_eq!(finish(4, end(Ending::Err(1064), 0, 0)), None, "error");
    }
}
