//! A copy of an answer on its way to the client, for the cache; or only its print, for a transaction that may be done again.

use nuthatch_wire::{AnswerEnd, Ending, FrameHeader, HEADER_LEN, Reader, StatusFlags};

use crate::session::way::{Print, Reading};
use crate::shared::answers::{CaptureShare, UNCOUNTED_BYTES};
use crate::stats::not_cached::{Full, NotCached};

/// What is stored as the status flags of every entry: what most readers have, so that most are sent what is stored.
pub(crate) const STORED_STATUS: StatusFlags = StatusFlags::SERVER_STATUS_AUTOCOMMIT;

/// Bytes of an answer, up to a limit. Past the limit it holds nothing more.
#[derive(Debug)]
pub(crate) struct Capture {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Of an answer that may be stored.
    share: Option<CaptureShare>,
    /// Why it will not be stored, as far as that is known already.
    given_up: Option<NotCached>,
    /// What the answer depends on is to be found out when the statement is sent.
    is_exact: bool,
    pub(crate) reading: Option<Reading>,
    print: Option<Box<Print>>,
}

impl Capture {
    pub(crate) const fn new(bytes_max: usize, share: CaptureShare, is_exact: bool) -> Self {
        let share = Some(share);
        Self { bytes: Vec::new(), bytes_max, share, given_up: None, is_exact, reading: None, print: None }
    }

    /// Of an answer that is not stored, for that reason.
    pub(crate) const fn of_nothing(why: NotCached) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max: 0,
            share: None,
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
        let length = self.bytes.len() + bytes.len();
        let refused = match length {
            _ if length > self.bytes_max => Some(NotCached::TooLarge),
            _ if length > self.bytes.capacity() && !self.grow(length) => Some(NotCached::Full(Full::Copies)),
            _ => None,
        };
        if refused.is_some() {
            self.given_up = refused;
            self.bytes = Vec::new();
            self.share = None;
            return;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Makes room for so many bytes, if there is any.
    fn grow(&mut self, length: usize) -> bool {
        let wanted = match length {
            ..=UNCOUNTED_BYTES => length,
            _ => length.next_power_of_two().min(self.bytes_max),
        };
        let is_given = self.share.as_mut().is_some_and(|share| share.grow_to(wanted));
        if is_given {
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        is_given
    }

    /// The packets to store, if `end` is that of one whole result set without warnings. The server's own flags have been replaced.
    pub(crate) fn finish(mut self, end: &AnswerEnd) -> Result<Captured, NotCached> {
        if let Some(why) = unfit(end).or(self.given_up) {
            return Err(why);
        }
        for offset in end.status_offsets.iter().flatten() {
            let start = *offset as usize;
            let flags = self.bytes.get_mut(start..start + 2).ok_or(NotCached::NotOneResultSet)?;
            flags.copy_from_slice(&STORED_STATUS.bits().to_le_bytes());
        }
        let head_bytes = match end.status_offsets {
            [None, _] => return Err(NotCached::NotOneResultSet),
            // Behind the flags in the EOF after the columns.
            [Some(columns), Some(_)] => columns as usize + 2,
            [Some(_), None] => column_bytes(&self.bytes).unwrap_or(0),
        };
        Ok(Captured { bytes: self.bytes, head_bytes })
    }
}

/// The packets of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Captured {
    bytes: Vec<u8>,
    head_bytes: usize,
}

impl Captured {
    /// Those before the first row, and the others.
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.head_bytes)
    }
}

/// How long the count of columns and their packets are, in an answer without an EOF behind them.
fn column_bytes(answer: &[u8]) -> Option<usize> {
    let packet = |from: usize| {
        let header = FrameHeader::parse(answer.get(from..)?)?;
        let start = from + HEADER_LEN;
        Some((start + header.payload_len, answer.get(start..start + header.payload_len)?))
    };
    let (mut end, count) = packet(0)?;
    for _ in 0..Reader::new(count).lenenc_int().ok()? {
        (end, _) = packet(end)?;
    }
    Some(end)
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
    use std::sync::Arc;

    use nuthatch_wire::OkPacket;

    use super::*;
    use crate::shared::answers::CaptureRoom;

    fn end(ending: Ending, results: u32, warnings: u16) -> AnswerEnd {
        AnswerEnd {
            ending,
            results,
            ok: OkPacket { warnings, ..OkPacket::default() },
            status_offsets: [Some(1), None],
            ..AnswerEnd::default()
        }
    }

    fn share() -> CaptureShare {
        let room = CaptureRoom::default();
        room.keep_to(1 << 20, 1 << 20);
        CaptureShare::new(Arc::new(room))
    }

    #[test]
    fn copy_that_finds_no_room_is_given_up_and_gives_back_what_it_had() {
        let room = Arc::new(CaptureRoom::default());
        room.keep_to(64 << 10, 64 << 10);
        let of = || Capture::new(1 << 20, CaptureShare::new(Arc::clone(&room)), false);
        let (mut first, mut second) = (of(), of());
        first.take(&[0; 40 << 10]);
        second.take(&[0; 10 << 10]);
        second.take(&[0; 10 << 10]);
        assert_eq!(second.finish(&end(Ending::ResultSet, 1, 0)), Err(NotCached::Full(Full::Copies)));
        assert_eq!((room.usage().bytes, room.usage().refused), (64 << 10, 1));
        first.take(&[0; 30 << 10]);
        assert_eq!(room.usage().bytes, 0);
        assert_eq!(first.finish(&end(Ending::ResultSet, 1, 0)), Err(NotCached::Full(Full::Copies)));
    }

    #[test]
    fn only_one_whole_result_set_without_warnings_is_kept() {
        let finish = |bytes_max, end| {
            let mut capture = Capture::new(bytes_max, share(), false);
            capture.take(b"ab");
            capture.take(b"cd");
            capture.finish(&end)
        };
        assert_eq!(
            finish(4, end(Ending::ResultSet, 1, 0)),
            Ok(Captured { bytes: b"a\x02\x00d".to_vec(), head_bytes: 0 })
        );
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

    #[test]
    fn head_ends_where_the_rows_begin() {
        let columns = b"\x01\0\0\x01\x02\x03\0\0\x02abc\x01\0\0\x03d";
        let eof = b"\x05\0\0\x04\xfe\0\0\x02\0";
        let rest = b"\x02\0\0\x05\x01x\x05\0\0\x06\xfe\0\0\x02\0";
        let check = |head: &[u8], offsets: [Option<usize>; 2]| {
            let mut capture = Capture::new(1 << 10, share(), false);
            capture.take(head);
            capture.take(rest);
            let status_offsets = offsets.map(|offset| offset.and_then(|offset| u32::try_from(offset).ok()));
            let captured = capture
                .finish(&AnswerEnd { status_offsets, ..end(Ending::ResultSet, 1, 0) })
                .expect("it is whole");
            assert_eq!(captured.parts(), (head, &rest[..]));
        };
        let last = rest.len() - 2;
        check(&columns[..], [Some(columns.len() + last), None]);
        let with_eof = [&columns[..], eof].concat();
        check(&with_eof, [Some(with_eof.len() - 2), Some(with_eof.len() + last)]);
    }
}
