//! Where a server's answer ends.
//!
//! A proxy passes most bytes of an answer on without looking at them, but must know where its last packet ends, which
//! status it carries and where the status flags stand. [`AnswerScanner`] is fed the bytes as they come, in pieces of any
//! size, and walks from frame header to frame header: rows are never parsed and never have to be whole in memory. Only
//! the small packets that steer the exchange (OK, ERR, EOF, column counts) must be whole in one piece.
//!
//! Source: "COM_QUERY Response", "ProtocolText::Resultset", "COM_STMT_PREPARE Response", "ProtocolBinary::Resultset".
//!
//! Cost: a few comparisons for each frame; no allocation.

use mysql_common::constants::StatusFlags;

use crate::frame::{FRAME_PAYLOAD_MAX, FrameHeader, HEADER_LEN};
use crate::session_track::LAST_GTID;
use crate::{ErrPacket, OkPacket, Reader, StateChange, TrackedOk, WireError};

/// How many places of status flags are remembered: those of one result set.
pub const STATUS_OFFSETS_MAX: usize = 2;

/// The largest packet that must be whole in memory to be understood.
const STEERING_PACKET_BYTES_MAX: usize = 1 << 20;

/// The size of an EOF packet's payload. A binlog ends with one in every form of answers.
pub(crate) const EOF_BYTES: usize = 5;

/// Which answer the command gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// OK, ERR or result sets, maybe several: `COM_QUERY`, `COM_STMT_EXECUTE`.
    ResultSets,
    /// The same, or one result set whose rows wait in a cursor: a `COM_STMT_EXECUTE` that asks for one. Elsewhere the flag that tells of a
    /// cursor means nothing: MariaDB leaves it behind where a procedure used one.
    Cursor,
    /// Definitions of parameters and columns: `COM_STMT_PREPARE`.
    Prepare,
    /// Packets up to an EOF or ERR: `COM_STMT_FETCH`, `COM_BINLOG_DUMP`.
    Rows,
    /// The same, each packet a column's definition: `COM_FIELD_LIST`.
    Fields,
    /// One OK, EOF or ERR: `COM_INIT_DB`, `COM_RESET_CONNECTION`, `COM_STMT_RESET`.
    Single,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// With an OK packet.
    #[default]
    Ok,
    /// With the end of a result set.
    ResultSet,
    /// With an ERR packet of this number.
    Err(u16),
}

/// What a finished answer told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerEnd {
    /// The last packet's kind.
    pub ending: Ending,
    /// Status flags of the last OK or EOF; an ERR carries none and leaves those from before.
    pub status: StatusFlags,
    /// Those of all OK and EOF packets together.
    pub status_seen: StatusFlags,
    /// Whether one of them had warnings.
    pub has_warned: bool,
    /// What OK packets told of the session, on a connection with `CLIENT_SESSION_TRACK`.
    pub told: Told,
    /// Affected rows, insert id and warnings of the last OK or EOF.
    pub ok: OkPacket,
    /// Rows of all result sets.
    pub rows: u64,
    /// Those of them that came before the last result set.
    pub rows_before: u64,
    /// OK packets and result sets, of which a multi-statement has several.
    pub results: u32,
    /// Where status flags stand, in bytes from the start of the answer: valid for a single result set.
    pub status_offsets: [Option<u32>; STATUS_OFFSETS_MAX],
    /// The statement's number, in an answer to `COM_STMT_PREPARE`.
    pub statement_id: Option<u32>,
}

/// Kinds of changes that OK packets told of, and that an EOF packet did not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Told {
    /// That something changed: [`StateChange::State`].
    pub state: bool,
    /// The default schema: [`StateChange::Schema`].
    pub schema: bool,
    /// That something changed, in an EOF packet: it has no room for what.
    pub in_eof: bool,
}

/// What one call of [`AnswerScanner::scan`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are understood and can go to the client. The rest must be given again, with more behind it.
    pub consumed: usize,
    /// Whether the answer ended with these bytes.
    pub finished: bool,
    /// The server asks for a local file with the last of these bytes: the client's packets up to an empty one go to the
    /// server, [`AnswerScanner::file_was_sent`] is told, and the answer goes on.
    pub wants_file: bool,
}

/// Ids of transactions, separated by commas. Nearly no answer has any.
#[derive(Debug, Clone, Default)]
struct Gtids(Vec<u8>);

/// Walks over one answer. See the module's doc.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a walk")]
pub struct AnswerScanner {
    state: State,
    /// Of definitions at hand, how many are to come.
    definitions_left: u64,
    /// What comes behind definitions, or their EOF, at hand.
    then: AfterDefinitions,
    kind: AnswerKind,
    deprecate_eof: bool,
    /// `CLIENT_OPTIONAL_RESULTSET_METADATA`.
    optional_metadata: bool,
    /// Definitions follow their count.
    has_metadata: bool,
    may_ask_for_files: bool,
    /// Definitions are taken only when all their bytes are there.
    whole_definitions: bool,
    /// `CLIENT_SESSION_TRACK`.
    is_told_of_changes: bool,
    wants_file: bool,
    /// The rows at hand are a procedure's OUT parameters.
    out_parameters: bool,
    frame_left: usize,
    packet_continues: bool,
    offset: u64,
    next_sequence: u8,
    end: AnswerEnd,
    refusal: Option<Box<ErrPacket>>,
    /// What OK packets told of transactions that were committed.
    gtids: Option<Box<Gtids>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    Definitions,
    DefinitionsEof,
    Rows,
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterDefinitions {
    Rows,
    PreparedColumns(u16),
    Finish,
}

/// What is to come of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its first packet, or that of the next result.
    First,
    Definition,
    LastDefinition,
    /// The EOF packet behind definitions.
    DefinitionsEnd,
    /// Rows, or their end.
    Rows,
    /// More of a frame.
    InFrame,
    /// Another frame of the same packet.
    InPacket,
}

/// What the packet at hand is to the state that it meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packet {
    /// Goes by, whole or not.
    Passing,
    /// Must be whole to be understood.
    Steering,
}

impl AnswerScanner {
    /// Begins before the first byte of the answer to a command of `kind` on a connection with or without
    /// `CLIENT_DEPRECATE_EOF`.
    #[must_use]
    pub fn new(kind: AnswerKind, deprecate_eof: bool) -> Self {
        let state = match kind {
            AnswerKind::Rows | AnswerKind::Fields => State::Rows,
            _ => State::First,
        };
        let end = AnswerEnd::default();
        Self {
            state,
            definitions_left: 0,
            then: AfterDefinitions::Rows,
            kind,
            deprecate_eof,
            optional_metadata: false,
            has_metadata: true,
            may_ask_for_files: false,
            whole_definitions: false,
            is_told_of_changes: false,
            wants_file: false,
            out_parameters: false,
            frame_left: 0,
            packet_continues: false,
            offset: 0,
            next_sequence: 1,
            end,
            refusal: None,
            gtids: None,
        }
    }

    /// One like this that has seen nothing yet.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self {
            optional_metadata: self.optional_metadata,
            may_ask_for_files: self.may_ask_for_files,
            whole_definitions: self.whole_definitions,
            is_told_of_changes: self.is_told_of_changes,
            ..Self::new(self.kind, self.deprecate_eof)
        }
    }

    /// The ids of transactions that OK packets said were committed, separated by commas: of a MySQL with `session_track_gtids` sets, of a
    /// MariaDB that tracks `last_gtid` the last of each statement.
    #[must_use]
    pub fn gtids(&self) -> Option<&[u8]> {
        self.gtids.as_ref().map(|gtids| gtids.0.as_slice())
    }

    /// The same on a connection with `CLIENT_OPTIONAL_RESULTSET_METADATA`, where definitions may be left out.
    #[must_use]
    pub const fn with_optional_metadata(mut self, is_optional: bool) -> Self {
        self.optional_metadata = is_optional;
        self
    }

    /// The same on a connection with `CLIENT_LOCAL_FILES`, where the server may ask for a file in between.
    #[must_use]
    pub const fn with_local_files(mut self, may_ask: bool) -> Self {
        self.may_ask_for_files = may_ask;
        self
    }

    /// The same on a connection with `CLIENT_SESSION_TRACK`, where OK packets tell of changes.
    #[must_use]
    pub const fn with_session_track(mut self, is_told: bool) -> Self {
        self.is_told_of_changes = is_told;
        self
    }

    /// The same where definitions are taken whole, for whoever changes them.
    pub(crate) const fn with_whole_definitions(mut self, are_whole: bool) -> Self {
        self.whole_definitions = are_whole;
        self
    }

    /// The file that the server asked for was sent; its next packet has the number `next_sequence`.
    pub const fn file_was_sent(&mut self, next_sequence: u8) {
        self.wants_file = false;
        self.next_sequence = next_sequence;
    }

    /// What is known so far; whole once `finished` was returned.
    #[must_use]
    pub const fn end(&self) -> &AnswerEnd {
        &self.end
    }

    /// The ERR packet that it ended with.
    #[must_use]
    pub fn refusal(&self) -> Option<&ErrPacket> {
        self.refusal.as_deref()
    }

    /// Whether any byte of the answer has been consumed.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.offset > 0
    }

    /// The number that a packet must have to follow what was consumed; `None` inside a packet, where nothing can.
    #[must_use]
    pub const fn next_sequence(&self) -> Option<u8> {
        if self.frame_left > 0 || self.packet_continues { None } else { Some(self.next_sequence) }
    }

    /// Whether an ERR packet may follow what was consumed: in the place of a row, of the end of rows, or of a result.
    #[must_use]
    pub const fn takes_error(&self) -> bool {
        self.next_sequence().is_some() && matches!(self.state, State::First | State::Rows)
    }

    /// Bytes of the frame at hand that are to come.
    #[must_use]
    pub const fn frame_left(&self) -> usize {
        self.frame_left
    }

    /// Looks at the next bytes of the answer.
    ///
    /// # Errors
    /// When they cannot be an answer. The connection's position is lost then: close it.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<Progress, WireError> {
        let mut rest = bytes;
        let mut finished = self.is_finished();
        while !finished && !self.wants_file {
            if matches!(self.state, State::Rows) {
                rest = self.pass_rows(rest);
            }
            let taken = self.take_piece(rest)?;
            let Some((_, later)) = taken.and_then(|n| rest.split_at_checked(n)) else { break };
            rest = later;
            finished = self.is_finished();
        }
        let consumed = bytes.len() - rest.len();
        Ok(Progress { consumed, finished, wants_file: self.wants_file })
    }

    /// Takes the whole rows that `bytes` begin with, which is what [`Self::step`] does with each. Returns what is behind them.
    fn pass_rows<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.kind == AnswerKind::Fields || self.frame_left > 0 || self.packet_continues {
            return bytes;
        }
        let (mut rest, mut rows, mut sequence) = (bytes, 0, self.next_sequence);
        while let Some((header, [first, ..])) = FrameHeader::parse(rest).zip(rest.get(HEADER_LEN..))
            && *first < 0xFE
            && header.payload_len > 0
            && !header.is_continued()
            && let Some(later) = rest.get(HEADER_LEN + header.payload_len..)
        {
            (rest, rows, sequence) = (later, rows + 1, header.sequence.wrapping_add(1));
        }
        self.end.rows += rows;
        self.offset += (bytes.len() - rest.len()) as u64;
        self.next_sequence = sequence;
        rest
    }

    /// Whether all of it has been consumed.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        matches!(self.state, State::Finished) && self.frame_left == 0 && !self.packet_continues
    }

    /// Whether the server waits for a local file.
    #[must_use]
    pub const fn wants_file(&self) -> bool {
        self.wants_file
    }

    pub(crate) const fn kind(&self) -> AnswerKind {
        self.kind
    }

    pub(crate) const fn stage(&self) -> Stage {
        match self.state {
            _ if self.frame_left > 0 => Stage::InFrame,
            _ if self.packet_continues => Stage::InPacket,
            State::First => Stage::First,
            State::Definitions if self.definitions_left > 1 => Stage::Definition,
            State::Definitions => Stage::LastDefinition,
            State::DefinitionsEof => Stage::DefinitionsEnd,
            State::Rows | State::Finished => Stage::Rows,
        }
    }

    /// What the packet is whose header and first byte `rest` begins with, if no packet is under way.
    pub(crate) fn next_packet(&self, rest: &[u8]) -> Option<Packet> {
        let header = FrameHeader::parse(rest)?;
        let first = if header.payload_len == 0 { 0 } else { *rest.get(HEADER_LEN)? };
        Some(self.look_at(header, first))
    }

    /// Takes the next piece: part of a payload, or a packet's beginning. `None`: more bytes are needed.
    pub(crate) fn step(&mut self, rest: &[u8]) -> Result<Option<usize>, WireError> {
        self.take_piece(rest)
    }

    #[inline(always)]
    fn take_piece(&mut self, rest: &[u8]) -> Result<Option<usize>, WireError> {
        if self.frame_left > 0 {
            let taken = self.frame_left.min(rest.len());
            self.frame_left -= taken;
            self.offset += taken as u64;
            return Ok((taken > 0).then_some(taken));
        }
        let Some(header) = FrameHeader::parse(rest) else { return Ok(None) };
        if self.packet_continues {
            return Ok(Some(self.pass(header)));
        }
        let Some((_, after_header)) = rest.split_at_checked(HEADER_LEN) else { return Ok(None) };
        // Behind an empty frame stands another's header.
        let first = if header.payload_len == 0 { Some(&0) } else { after_header.first() };
        let Some(&first) = first else { return Ok(None) };
        match self.look_at(header, first) {
            Packet::Passing => {
                self.passing_packet();
                let taken = self.pass(header);
                // Nearly always the whole frame is there.
                if after_header.len() >= self.frame_left {
                    let payload_len = std::mem::take(&mut self.frame_left);
                    self.offset += payload_len as u64;
                    return Ok(Some(taken + payload_len));
                }
                Ok(Some(taken))
            }
            Packet::Steering if header.payload_len > STEERING_PACKET_BYTES_MAX => {
                Err(WireError::Malformed("size of a packet that is not a row"))
            }
            Packet::Steering => {
                let Some((payload, _)) = after_header.split_at_checked(header.payload_len) else {
                    return Ok(None);
                };
                self.steering_packet(first, payload)?;
                self.next_sequence = header.sequence.wrapping_add(1);
                self.offset += (HEADER_LEN + payload.len()) as u64;
                Ok(Some(HEADER_LEN + payload.len()))
            }
        }
    }

    fn pass(&mut self, header: FrameHeader) -> usize {
        self.frame_left = header.payload_len;
        self.packet_continues = header.is_continued();
        self.next_sequence = header.sequence.wrapping_add(1);
        self.offset += HEADER_LEN as u64;
        HEADER_LEN
    }

    fn look_at(&self, header: FrameHeader, first: u8) -> Packet {
        match self.state {
            State::First | State::DefinitionsEof | State::Finished => Packet::Steering,
            State::Definitions if first == ErrPacket::MARKER => Packet::Steering,
            State::Definitions if self.whole_definitions => Packet::Steering,
            State::Definitions => Packet::Passing,
            State::Rows if self.whole_definitions && self.is_field(first) => Packet::Steering,
            State::Rows if first == ErrPacket::MARKER => Packet::Steering,
            State::Rows if first == 0xFE && self.ends_rows(header) => Packet::Steering,
            State::Rows => Packet::Passing,
        }
    }

    /// Whether a packet that begins with `0xFE` is the end of the rows and not a row with a field over 16 MiB.
    const fn ends_rows(&self, header: FrameHeader) -> bool {
        header.payload_len < if self.deprecate_eof { FRAME_PAYLOAD_MAX } else { 9 }
    }

    /// Whether a packet in the place of a row is a definition.
    pub(crate) fn is_field(&self, first: u8) -> bool {
        self.kind == AnswerKind::Fields && !matches!(first, 0xFE | ErrPacket::MARKER)
    }

    fn passing_packet(&mut self) {
        match self.state {
            State::Definitions if self.definitions_left > 1 => self.definitions_left -= 1,
            State::Definitions if self.deprecate_eof => self.after_definitions(self.then),
            State::Definitions => self.state = State::DefinitionsEof,
            _ => self.end.rows += 1,
        }
    }

    fn after_definitions(&mut self, then: AfterDefinitions) {
        self.state = match then {
            AfterDefinitions::Rows => State::Rows,
            AfterDefinitions::PreparedColumns(0) | AfterDefinitions::Finish => State::Finished,
            AfterDefinitions::PreparedColumns(columns) => {
                return self.define(u64::from(columns), AfterDefinitions::Finish);
            }
        };
    }

    /// Definitions come next, unless they are left out; their end comes in any case.
    fn define(&mut self, left: u64, then: AfterDefinitions) {
        (self.definitions_left, self.then) = (left, then);
        match self.has_metadata {
            true => self.state = State::Definitions,
            false if self.deprecate_eof => self.after_definitions(then),
            false => self.state = State::DefinitionsEof,
        }
    }

    fn steering_packet(&mut self, first: u8, payload: &[u8]) -> Result<(), WireError> {
        if first == ErrPacket::MARKER {
            let refusal = ErrPacket::parse(payload)?;
            self.end.ending = Ending::Err(refusal.code);
            self.refusal = Some(Box::new(refusal));
            self.state = State::Finished;
            return Ok(());
        }
        match (self.state, self.kind, first) {
            (State::Definitions, ..) => {
                self.passing_packet();
                Ok(())
            }
            (State::Rows, AnswerKind::Fields, _) if self.is_field(first) => {
                self.passing_packet();
                Ok(())
            }
            (State::First, AnswerKind::Prepare, 0x00) => self.prepared(payload),
            (State::First, _, 0x00) => self.ok(payload, Ending::Ok),
            (State::First, AnswerKind::Single, 0xFE) => self.eof(payload, Ending::Ok),
            (State::First, AnswerKind::ResultSets | AnswerKind::Cursor, 0xFB) if self.may_ask_for_files => {
                self.wants_file = true;
                Ok(())
            }
            (State::First, AnswerKind::ResultSets | AnswerKind::Cursor, 0xFB) => {
                Err(WireError::Malformed("a request for a local file that nobody offered"))
            }
            (State::First, AnswerKind::ResultSets | AnswerKind::Cursor, _) => {
                let mut reader = Reader::new(payload);
                let left = reader.lenenc_int()?;
                self.has_metadata = !self.optional_metadata || reader.u8()? != 0;
                if !reader.rest().is_empty() {
                    return Err(WireError::Malformed("bytes behind a column count"));
                }
                self.end.rows_before = self.end.rows;
                self.define(left, AfterDefinitions::Rows);
                Ok(())
            }
            (State::DefinitionsEof, _, 0xFE) => match self.then {
                AfterDefinitions::Rows => self.columns_eof(payload),
                then => {
                    self.after_definitions(then);
                    Ok(())
                }
            },
            (State::Rows, _, 0xFE) if self.deprecate_eof && payload.len() > EOF_BYTES => {
                self.ok(payload, Ending::ResultSet)
            }
            (State::Rows, _, 0xFE) => self.eof(payload, Ending::ResultSet),
            _ => Err(WireError::Malformed("first byte of a packet in an answer")),
        }
    }

    fn prepared(&mut self, payload: &[u8]) -> Result<(), WireError> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        self.end.statement_id = Some(reader.u32()?);
        let columns = reader.u16()?;
        let parameters = reader.u16()?;
        // A filler and the count of warnings stand before the byte that says whether definitions follow.
        let last = reader.bytes(3).map_or(&[][..], |_| reader.rest());
        if self.optional_metadata && last.len() > 1 {
            return Err(WireError::Malformed("bytes behind the numbers of a prepared statement"));
        }
        self.has_metadata = !(self.optional_metadata && last == [0]);
        self.end.results += 1;
        match parameters {
            0 => self.after_definitions(AfterDefinitions::PreparedColumns(columns)),
            _ => self.define(u64::from(parameters), AfterDefinitions::PreparedColumns(columns)),
        }
        Ok(())
    }

    /// The EOF between columns and rows. With an open cursor no rows follow.
    fn columns_eof(&mut self, payload: &[u8]) -> Result<(), WireError> {
        let (status, _) = parse_eof(payload)?;
        if self.kind == AnswerKind::Cursor && status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS) {
            return self.eof(payload, Ending::ResultSet);
        }
        self.remember_status_at(3);
        self.out_parameters = status.contains(StatusFlags::SERVER_PS_OUT_PARAMS);
        self.state = State::Rows;
        Ok(())
    }

    fn eof(&mut self, payload: &[u8], ending: Ending) -> Result<(), WireError> {
        let (status, warnings) = parse_eof(payload)?;
        self.end.told.in_eof |= status.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        self.remember_status_at(3);
        self.one_result_ended(ending, OkPacket { status, warnings, ..OkPacket::default() });
        Ok(())
    }

    fn ok(&mut self, payload: &[u8], ending: Ending) -> Result<(), WireError> {
        let (_, body) = payload.split_at_checked(1).ok_or(WireError::Truncated)?;
        let mut ids = Reader::new(body);
        ids.lenenc_int()?;
        ids.lenenc_int()?;
        self.remember_status_at(payload.len() - ids.rest().len());
        let ok = OkPacket::parse_body(body)?;
        if self.is_told_of_changes && ok.status.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED) {
            self.hear_changes(payload)?;
        }
        self.one_result_ended(ending, ok);
        Ok(())
    }

    fn hear_changes(&mut self, payload: &[u8]) -> Result<(), WireError> {
        for change in TrackedOk::parse(payload)?.changes {
            match change? {
                StateChange::State(_) => self.end.told.state = true,
                StateChange::Schema(_) => self.end.told.schema = true,
                StateChange::Gtids { gtids, .. }
                | StateChange::SystemVariable { name: LAST_GTID, value: gtids } => self.hear_gtids(gtids),
                _ => {}
            }
        }
        Ok(())
    }

    fn hear_gtids(&mut self, gtids: &[u8]) {
        if !gtids.is_empty() {
            let Gtids(known) = &mut **self.gtids.get_or_insert_default();
            if !known.is_empty() {
                known.push(b',');
            }
            known.extend_from_slice(gtids);
        }
    }

    fn one_result_ended(&mut self, ending: Ending, ok: OkPacket) {
        // MySQL says only before OUT parameters that the CALL's own OK follows them, and takes it back in the EOF behind them.
        let more = std::mem::take(&mut self.out_parameters)
            || ok.status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS);
        let may_be_several = matches!(self.kind, AnswerKind::ResultSets | AnswerKind::Cursor);
        self.state = if more && may_be_several { State::First } else { State::Finished };
        let status_seen = self.end.status_seen | ok.status;
        let results = self.end.results + 1;
        let has_warned = self.end.has_warned || ok.warnings > 0;
        self.end = AnswerEnd { ending, status: ok.status, status_seen, has_warned, ok, results, ..self.end };
    }

    fn remember_status_at(&mut self, place_in_payload: usize) {
        let place = u32::try_from(self.offset)
            .ok()
            .and_then(|offset| offset.checked_add(u32::try_from(HEADER_LEN + place_in_payload).ok()?));
        if let Some(free) = self.end.status_offsets.iter_mut().find(|slot| slot.is_none()) {
            *free = place;
        }
    }
}

fn parse_eof(payload: &[u8]) -> Result<(StatusFlags, u16), WireError> {
    let mut reader = Reader::new(payload);
    reader.u8()?;
    let warnings = reader.u16()?;
    Ok((StatusFlags::from_bits_retain(reader.u16()?), warnings))
}

#[cfg(test)]
mod tests;
