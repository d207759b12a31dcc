//! The translation of answers from one form into another.
//!
//! Four capabilities change how an answer looks and not what it says: `CLIENT_DEPRECATE_EOF` (result sets end with OK packets,
//! and nothing stands between columns and rows), `CLIENT_SESSION_TRACK` (OK packets tell of the session's state),
//! `CLIENT_OPTIONAL_RESULTSET_METADATA` (a byte says whether columns follow) and `MARIADB_CLIENT_EXTENDED_METADATA` (a text in each
//! column's definition tells more of its type). So a client of one form can be answered over a
//! connection of another: [`Translator`] takes packets out, puts packets in and numbers the rest anew. Rows are copied, never
//! parsed, and need not be whole.
//!
//! What cannot be known is filled in: the EOF packet between columns and rows has the status that the caller gives, without
//! warnings, and says that another result follows if the end of the rows is here already; a client of `CLIENT_SESSION_TRACK` is told of no changes by a connection without it, one of
//! `MARIADB_CLIENT_EXTENDED_METADATA` that there is no more to tell.

use mysql_common::constants::StatusFlags;

use crate::answer::{EOF_BYTES, Packet, Stage};
use crate::{
    AnswerKind, AnswerScanner, Definition, ErrPacket, Form, FrameHeader, HEADER_LEN, Hidden, OkPacket,
    Progress, Reader, TrackedOk, WireError, append_eof, append_packet,
};

/// What servers say of a result before its rows, and clients may act upon there.
const OF_RESULT: StatusFlags =
    StatusFlags::SERVER_MORE_RESULTS_EXISTS.union(StatusFlags::SERVER_PS_OUT_PARAMS);

/// Turns one answer of one form into one of another. See the module's doc.
#[derive(Debug)]
pub struct Translator {
    scanner: AnswerScanner,
    from: Form,
    to: Form,
    /// Of packets that have to be made up.
    status: StatusFlags,
    /// What is added to a packet's number.
    shift: u8,
    /// Definitions have ended, and the client has not been told so.
    owes_eof: bool,
    /// What was said of the rows at hand in an EOF packet that is left out, and must be said behind them.
    said_before: StatusFlags,
    /// What the client did not ask for.
    hidden: Hidden,
}

impl Translator {
    /// Begins before the first byte of the answer to a command of `kind`, `scanner` being for the form `from`. Packets that have to be
    /// made up carry `status`.
    #[must_use]
    pub const fn new(scanner: AnswerScanner, from: Form, to: Form, status: StatusFlags) -> Self {
        let said_before = StatusFlags::empty();
        let scanner = scanner.with_whole_definitions(from.extended_metadata != to.extended_metadata);
        Self {
            scanner,
            from,
            to,
            status,
            shift: 0,
            owes_eof: false,
            said_before,
            hidden: Hidden { state: false, gtids: false },
        }
    }

    /// The same for a client that is not to hear of that.
    #[must_use]
    pub const fn hiding(mut self, hidden: Hidden) -> Self {
        self.hidden = hidden;
        self
    }

    /// What walks over the server's bytes.
    #[must_use]
    pub const fn scanner(&self) -> &AnswerScanner {
        &self.scanner
    }

    /// The same, to be told that a file was sent.
    pub const fn scanner_mut(&mut self) -> &mut AnswerScanner {
        &mut self.scanner
    }

    /// How much higher the client's numbers are than the server's.
    #[must_use]
    pub const fn shift(&self) -> u8 {
        self.shift
    }

    /// Appends to `out` what the next bytes of the answer become, as far as they are understood: see
    /// [`AnswerScanner::scan`].
    ///
    /// # Errors
    /// When they cannot be an answer.
    pub fn translate(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, WireError> {
        let mut rest = bytes;
        while !self.scanner.is_finished() && !self.scanner.wants_file() {
            let stage = self.scanner.stage();
            let (packet, begins) = (self.scanner.next_packet(rest), rest);
            let Some(taken) = self.scanner.step(rest)? else { break };
            let (piece, later) = rest.split_at_checked(taken).ok_or(WireError::Truncated)?;
            rest = later;
            match (stage, packet) {
                (Stage::InFrame, _) => out.extend_from_slice(piece),
                (Stage::InPacket, _) | (_, None) => self.copy(piece, out),
                (_, Some(Packet::Passing)) => {
                    if stage == Stage::Rows && self.would_end_rows(begins) {
                        return Err(WireError::Malformed("a short row that begins like the end of rows"));
                    }
                    if self.owes_eof {
                        let said = self.said_behind(rest);
                        self.pay_eof(piece, said, out);
                    }
                    self.copy(piece, out);
                    self.owe_eof_behind(stage);
                }
                (stage, Some(Packet::Steering)) => self.steer(stage, piece, out)?,
            }
        }
        let finished = self.scanner.is_finished();
        if finished && self.owes_eof {
            let mut sequence = self.scanner.next_sequence().unwrap_or_default().wrapping_add(self.shift);
            self.make_eof(&mut sequence, StatusFlags::empty(), out);
        }
        Ok(Progress { consumed: bytes.len() - rest.len(), finished, wants_file: self.scanner.wants_file() })
    }

    /// Whether the client would take the row that begins so for the end of rows.
    fn would_end_rows(&self, begins: &[u8]) -> bool {
        let is_short =
            FrameHeader::parse(begins).is_some_and(|header| header.payload_len > 0 && !header.is_continued());
        self.to.deprecate_eof && is_short && begins.get(HEADER_LEN) == Some(&0xFE)
    }

    /// Copies a piece that begins with a frame's header.
    fn copy(&self, piece: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(piece);
        if let Some(sequence) = out.get_mut(start + HEADER_LEN - 1) {
            *sequence = sequence.wrapping_add(self.shift);
        }
    }

    /// Before the packet that begins with `piece`: the EOF packet that is owed, which says that besides.
    fn pay_eof(&mut self, piece: &[u8], said: StatusFlags, out: &mut Vec<u8>) {
        if self.owes_eof {
            let mut sequence = self.sequence_of(piece);
            self.make_eof(&mut sequence, said, out);
        }
    }

    /// What the end of the rows at hand says of the result, if it stands in `rest`. Cost: a walk over the rows there.
    fn said_behind(&self, mut rest: &[u8]) -> StatusFlags {
        let mut scanner = self.scanner.clone();
        loop {
            let is_end =
                scanner.stage() == Stage::Rows && scanner.next_packet(rest) == Some(Packet::Steering);
            let Ok(Some(taken)) = scanner.step(rest) else { return StatusFlags::empty() };
            if is_end {
                let payload = rest.get(HEADER_LEN..taken).unwrap_or_default();
                return self.said_of_result(payload);
            }
            rest = rest.get(taken..).unwrap_or_default();
        }
    }

    /// What the end of rows says of the result.
    fn said_of_result(&self, payload: &[u8]) -> StatusFlags {
        match self.read_end(payload) {
            Ok((end, _)) if payload.first() != Some(&ErrPacket::MARKER) => end.status & OF_RESULT,
            _ => StatusFlags::empty(),
        }
    }

    const fn owe_eof_behind(&mut self, stage: Stage) {
        self.owes_eof =
            matches!(stage, Stage::LastDefinition) && self.from.deprecate_eof && !self.to.deprecate_eof;
    }

    fn make_eof(&mut self, sequence: &mut u8, said: StatusFlags, out: &mut Vec<u8>) {
        append_eof(out, sequence, self.status | said, 0);
        self.shift = self.shift.wrapping_add(1);
        self.owes_eof = false;
    }

    fn sequence_of(&self, piece: &[u8]) -> u8 {
        FrameHeader::parse(piece).map_or(0, |header| header.sequence).wrapping_add(self.shift)
    }

    /// A packet that is whole and means something.
    fn steer(&mut self, stage: Stage, piece: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let payload = piece.get(HEADER_LEN..).unwrap_or_default();
        let first = payload.first().copied().unwrap_or_default();
        match (stage, first) {
            (_, ErrPacket::MARKER) => {
                self.pay_eof(piece, StatusFlags::empty(), out);
                self.copy(piece, out);
            }
            (Stage::Definition | Stage::LastDefinition, _) => {
                self.pay_eof(piece, StatusFlags::empty(), out);
                self.definition(piece, payload, out)?;
                self.owe_eof_behind(stage);
            }
            (Stage::Rows, _) if self.scanner.is_field(first) => self.definition(piece, payload, out)?,
            (Stage::First, 0x00) if self.scanner.kind() == AnswerKind::Prepare => {
                self.prepared(piece, payload, out)?;
            }
            (Stage::First, 0x00) => self.ok(piece, payload, out)?,
            (Stage::First, 0xFE) if self.scanner.kind() == AnswerKind::Single => {
                self.end(piece, payload, out)?;
            }
            (Stage::First, 0xFB) => self.copy(piece, out),
            (Stage::First, _) => self.column_count(piece, payload, out)?,
            (Stage::DefinitionsEnd, _) => self.definitions_end(piece, payload, out)?,
            _ => {
                let (ok, _) = self.read_end(payload)?;
                // The one EOF packet of a result whose rows wait in a cursor.
                let has_cursor = ok.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS)
                    && self.scanner.kind() == AnswerKind::Cursor;
                if has_cursor {
                    self.owes_eof = false;
                }
                let said = self.said_of_result(payload);
                self.pay_eof(piece, said, out);
                self.end(piece, payload, out)?;
            }
        }
        Ok(())
    }

    fn write(&self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) {
        append_packet(out, &mut self.sequence_of(piece), payload);
    }

    fn ok(&self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        if !self.from.session_track && self.to.session_track {
            return self.untold_ok(piece, payload, out);
        }
        let is_hidden = self.hidden != Hidden::default() || !self.to.session_track;
        let says_too_much = self.from.session_track && is_hidden;
        if !says_too_much {
            self.copy(piece, out);
            return Ok(());
        }
        let tracked = TrackedOk::parse(payload)?;
        if self.to.session_track && !tracked.tells_of(self.hidden) {
            self.copy(piece, out);
            return Ok(());
        }
        let mut less = Vec::with_capacity(payload.len());
        match self.to.session_track {
            true => tracked.encode_without(self.hidden, &mut less)?,
            false => tracked.encode_untracked(&mut less),
        }
        self.write(piece, &less, out);
        Ok(())
    }

    /// An OK packet behind which nothing can stand that its flags may promise.
    fn untold_ok(&self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut reader = Reader::new(payload);
        let marker = reader.u8()?;
        let ok = OkPacket::read(&mut reader)?;
        let status = ok.status.difference(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        if status == ok.status {
            self.copy(piece, out);
            return Ok(());
        }
        let mut untold = Vec::with_capacity(payload.len());
        OkPacket { status, ..ok }.encode(&mut untold, marker);
        untold.extend_from_slice(reader.rest());
        self.write(piece, &untold, out);
        Ok(())
    }

    /// What the end of rows, or of a command without another answer, says; and whether it is an OK packet.
    fn read_end(&self, payload: &[u8]) -> Result<(OkPacket, bool), WireError> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        if self.from.deprecate_eof && payload.len() > EOF_BYTES {
            return Ok((OkPacket::parse_body(reader.rest())?, true));
        }
        let warnings = reader.u16()?;
        let status = StatusFlags::from_bits_retain(reader.u16()?);
        Ok((OkPacket { status, warnings, ..OkPacket::default() }, false))
    }

    fn end(&mut self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        match self.read_end(payload)? {
            (_, true) if self.to.deprecate_eof => return self.ok(piece, payload, out),
            // The end of a binlog.
            (_, false) if self.from.deprecate_eof => self.copy(piece, out),
            (ok, false) if !self.to.deprecate_eof => {
                // MariaDB says so in EOF packets too.
                let says_too_much = self.hidden.state || !self.to.session_track;
                if says_too_much && ok.status.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED) {
                    let status = ok.status.difference(StatusFlags::SERVER_SESSION_STATE_CHANGED);
                    append_eof(out, &mut self.sequence_of(piece), status, ok.warnings);
                } else {
                    self.copy(piece, out);
                }
            }
            (ok, true) => {
                let status = ok.status.difference(StatusFlags::SERVER_SESSION_STATE_CHANGED);
                append_eof(out, &mut self.sequence_of(piece), status, ok.warnings);
            }
            (ok, false) => {
                // Where nothing can follow.
                let status = ok.status.difference(StatusFlags::SERVER_SESSION_STATE_CHANGED)
                    | std::mem::replace(&mut self.said_before, StatusFlags::empty());
                let mut payload = Vec::with_capacity(8);
                OkPacket { status, ..ok }.encode(&mut payload, 0xFE);
                self.write(piece, &payload, out);
            }
        }
        Ok(())
    }

    /// The EOF packet between columns and rows, or behind a statement's parameters or columns.
    fn definitions_end(&mut self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let (eof, _) = self.read_end(payload)?;
        let ends_answer = self.scanner.kind() == AnswerKind::Cursor
            && eof.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS);
        if ends_answer || !self.to.deprecate_eof {
            return self.end(piece, payload, out);
        }
        // MySQL takes it back behind the rows, where others say it.
        if eof.status.contains(StatusFlags::SERVER_PS_OUT_PARAMS) {
            self.said_before =
                StatusFlags::SERVER_PS_OUT_PARAMS.union(StatusFlags::SERVER_MORE_RESULTS_EXISTS);
        }
        self.shift = self.shift.wrapping_sub(1);
        Ok(())
    }

    fn definition(&self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut told = Vec::with_capacity(payload.len() + 1);
        Definition::parse(payload, self.from)?.encode(self.to, &mut told);
        self.write(piece, &told, out);
        Ok(())
    }

    fn column_count(&mut self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut reader = Reader::new(payload);
        reader.lenenc_int()?;
        let (count, has_metadata) = self.metadata_byte(payload, reader.rest())?;
        self.with_metadata_byte(piece, count, has_metadata, out)?;
        // Without columns, nothing tells of their end but this.
        self.owes_eof = !has_metadata && self.from.deprecate_eof && !self.to.deprecate_eof;
        Ok(())
    }

    fn prepared(&mut self, piece: &[u8], payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut reader = Reader::new(payload);
        // OK byte and number.
        reader.bytes(5)?;
        let (columns, parameters) = (reader.u16()?, reader.u16()?);
        // A filler and the count of warnings.
        let rest = reader.bytes(3).map_or(&[][..], |_| reader.rest());
        let (fixed, has_metadata) = self.metadata_byte(payload, rest)?;
        self.with_metadata_byte(piece, fixed, has_metadata, out)?;
        if !has_metadata && self.from.deprecate_eof && !self.to.deprecate_eof {
            // Nothing but the EOF packets tells of parameters and columns.
            let mut sequence = self.sequence_of(piece).wrapping_add(1);
            for _ in [columns, parameters].into_iter().filter(|count| *count > 0) {
                self.make_eof(&mut sequence, StatusFlags::empty(), out);
            }
        }
        Ok(())
    }

    /// The payload without its `rest`, and whether metadata follow, as the first byte of the rest may say.
    fn metadata_byte<'p>(&self, payload: &'p [u8], rest: &[u8]) -> Result<(&'p [u8], bool), WireError> {
        let fixed = payload.get(..payload.len() - rest.len()).ok_or(WireError::Truncated)?;
        Ok((fixed, !(self.from.optional_metadata && rest.first() == Some(&0))))
    }

    fn with_metadata_byte(
        &self,
        piece: &[u8],
        payload: &[u8],
        has_metadata: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let mut payload = payload.to_vec();
        match (self.to.optional_metadata, has_metadata) {
            (true, _) => payload.push(u8::from(has_metadata)),
            (false, true) => {}
            (false, false) => return Err(WireError::Malformed("definitions that are left out")),
        }
        self.write(piece, &payload, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
