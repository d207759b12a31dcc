//! What a COM_STMT_EXECUTE says, byte by byte. No length that a client sent is trusted; what is cut is left as it is.
//!
//! Format: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>.

use std::ops::Range;

use nuthatch_sql::Parameter;
use nuthatch_wire::{
    Attributes, Command, FRAME_PAYLOAD_MAX, FrameHeader, HEADER_LEN, Reader, WireError, append_packet,
    execution_with_attributes,
};

use crate::session::parts::prepared::parameters;

/// Place of a statement's number in a command: behind the command byte.
const ID_PLACE: Range<usize> = 1..5;

/// Place of the flags: behind command and number.
const FLAGS_PLACE: usize = 5;

/// Those that ask for a cursor.
const CURSOR_FLAGS: u8 = 0x07;

/// Where the bits of NULL parameters begin: behind command, number, flags and iterations.
const NULLS_PLACE: usize = 1 + 4 + 1 + 4;

/// Place of the flags of an execution of many sets of parameters, and where its types begin if it has them.
///
/// Source: MariaDB's "COM_STMT_BULK_EXECUTE".
const BULK_FLAGS_PLACE: Range<usize> = 5..7;

/// Of those flags: the types follow.
const BULK_SENDS_TYPES: u8 = 128;

/// Whether the command executes a statement for many sets of parameters.
pub(crate) fn is_bulk(payload: &[u8]) -> bool {
    payload.first() == Some(&(Command::StmtBulkExecute as u8))
}

/// The number of a statement that a command names.
pub(crate) fn named_id(payload: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(payload.get(ID_PLACE)?.try_into().ok()?))
}

/// Whether an execution asks for a cursor.
pub(crate) fn asks_for_cursor(payload: &[u8]) -> bool {
    !is_bulk(payload) && payload.get(FLAGS_PLACE).is_some_and(|flags| flags & CURSOR_FLAGS != 0)
}

/// A command's payload with another number of the statement.
fn with_id(payload: &[u8], id: u32) -> Vec<u8> {
    let mut out = payload.to_vec();
    if let Some(place) = out.get_mut(ID_PLACE) {
        place.copy_from_slice(&id.to_le_bytes());
    }
    out
}

/// The same as a whole packet.
pub(crate) fn packet_with_id(payload: &[u8], id: u32) -> Vec<u8> {
    packet(&with_id(payload, id))
}

fn packet(payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(payload.len() + 4);
    append_packet(&mut packet, &mut 0, payload);
    packet
}

/// A whole packet of a payload that has room for a header before it.
fn behind_header(mut out: Vec<u8>) -> Vec<u8> {
    let Some((room, payload)) = out.split_first_chunk_mut::<HEADER_LEN>() else { return packet(&[]) };
    if payload.len() >= FRAME_PAYLOAD_MAX {
        return packet(payload);
    }
    *room = FrameHeader { payload_len: payload.len(), sequence: 0 }.encode();
    out
}

/// How many parameters a statement has, and their types as the client bound them last: two bytes for each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Binding {
    parameters: usize,
    types: Vec<u8>,
}

impl Binding {
    pub(crate) const fn new(parameters: u16) -> Self {
        Self { parameters: parameters as usize, types: Vec::new() }
    }

    /// Where an execution says whether types follow, and where those are.
    const fn place_of_types(&self) -> (usize, Range<usize>) {
        let flag_place = NULLS_PLACE + self.parameters.div_ceil(8);
        (flag_place, flag_place + 1..flag_place + 1 + 2 * self.parameters)
    }

    /// The types in an execution of many sets of parameters; `None` if it leaves them out.
    fn types_in_bulk<'p>(&self, payload: &'p [u8]) -> Option<&'p [u8]> {
        let sends = payload.get(BULK_FLAGS_PLACE.start).is_some_and(|flags| flags & BULK_SENDS_TYPES != 0);
        let (from, len) = (BULK_FLAGS_PLACE.end, 2 * self.parameters);
        sends.then(|| payload.get(from..from + len).unwrap_or_default())
    }

    /// The types that an execution binds, or those bound before.
    pub(crate) fn types_of<'a>(&'a self, payload: &'a [u8]) -> &'a [u8] {
        if is_bulk(payload) {
            return self.types_in_bulk(payload).unwrap_or(&self.types);
        }
        let (flag_place, types) = self.place_of_types();
        match payload.get(flag_place) {
            Some(1) if self.parameters > 0 => payload.get(types).unwrap_or_default(),
            _ => &self.types,
        }
    }

    /// The values that an execution binds; none are known of one of many sets.
    pub(crate) fn values_of(&self, payload: &[u8]) -> Vec<Parameter> {
        if is_bulk(payload) {
            return Vec::new();
        }
        let (flag_place, types) = self.place_of_types();
        let values_place = if payload.get(flag_place) == Some(&1) { types.end } else { flag_place + 1 };
        parameters(payload, NULLS_PLACE, values_place, self.types_of(payload))
    }

    /// The number that an execution binds, if it is the only value: as an integer or as text.
    pub(crate) fn only_number(&self, payload: &[u8]) -> Option<u64> {
        match self.values_of(payload).as_slice() {
            [Parameter::Unsigned(number)] => Some(*number),
            [Parameter::Text { .. } | Parameter::Other] => {
                let (flag_place, types) = self.place_of_types();
                let place = if payload.get(flag_place) == Some(&1) { types.end } else { flag_place + 1 };
                let mut value = Reader::new(payload.get(place..)?);
                let text = value.lenenc_bytes().ok().filter(|_| value.rest().is_empty())?;
                std::str::from_utf8(text).ok()?.parse().ok()
            }
            _ => None,
        }
    }

    /// Appends what an execution binds, with its types even if the client left them out; learns them. Nothing is allocated that is not
    /// kept.
    pub(crate) fn write_down(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.append_from(NULLS_PLACE, payload, out);
    }

    /// The execution as a packet, under another number of the statement, with types even if the client left them out; learns them.
    pub(crate) fn packet_of(&mut self, payload: &[u8], id: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_LEN + payload.len() + self.types.len());
        out.extend_from_slice(&[0; HEADER_LEN]);
        self.append_whole(payload, id, &mut out);
        behind_header(out)
    }

    /// The same for a connection where executions come with attributes.
    pub(crate) fn packet_with_attributes(
        &mut self,
        payload: &[u8],
        id: u32,
        attributes: Option<&Attributes>,
    ) -> Vec<u8> {
        let mut whole = Vec::with_capacity(payload.len() + self.types.len());
        self.append_whole(payload, id, &mut whole);
        execution_with_attributes(&whole, self.parameters, attributes)
    }

    fn append_whole(&mut self, payload: &[u8], id: u32, out: &mut Vec<u8>) {
        let begin = out.len();
        match is_bulk(payload) {
            true => self.append_bulk(payload, out),
            false => self.append_from(0, payload, out),
        }
        if let Some(place) = out.get_mut(begin..).and_then(|whole| whole.get_mut(ID_PLACE)) {
            place.copy_from_slice(&id.to_le_bytes());
        }
    }

    /// Takes the attributes off an execution: see [`Attributes::take_off_execution`].
    pub(crate) fn take_off_attributes(
        &self,
        payload: &[u8],
        is_long: impl Fn(usize) -> bool,
        plain: &mut Vec<u8>,
    ) -> Result<Option<Attributes>, WireError> {
        Attributes::take_off_execution(payload, self.parameters, is_long, plain)
    }

    fn append_bulk(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        if let Some(bound) = self.types_in_bulk(payload) {
            if self.types != bound {
                bound.clone_into(&mut self.types);
            }
        } else if !self.types.is_empty()
            && let Some((head, values)) = payload.split_at_checked(BULK_FLAGS_PLACE.end)
        {
            let flags_place = out.len() + BULK_FLAGS_PLACE.start;
            out.extend_from_slice(head);
            if let Some(flags) = out.get_mut(flags_place) {
                *flags |= BULK_SENDS_TYPES;
            }
            out.extend_from_slice(&self.types);
            out.extend_from_slice(values);
            return;
        }
        out.extend_from_slice(payload);
    }

    fn append_from(&mut self, from: usize, payload: &[u8], out: &mut Vec<u8>) {
        let (flag_place, types) = self.place_of_types();
        match payload.get(flag_place) {
            Some(1) if self.parameters > 0 => {
                let bound = payload.get(types).unwrap_or_default();
                if self.types != bound {
                    bound.clone_into(&mut self.types);
                }
            }
            Some(0) if !self.types.is_empty() => {
                let (head, values) = payload.split_at(flag_place);
                out.extend_from_slice(head.get(from..).unwrap_or_default());
                out.push(1);
                out.extend_from_slice(&self.types);
                out.extend_from_slice(&values[1..]);
                return;
            }
            _ => {}
        }
        out.extend_from_slice(payload.get(from..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [u8; 11] = [0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0];

    fn written_down(binding: &mut Binding, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        binding.write_down(payload, &mut out);
        out
    }

    #[test]
    fn types_that_a_client_sent_once_are_repeated() {
        let mut binding = Binding::new(2);
        let with_types = [HEAD.as_slice(), &[1, 3, 0, 253, 0, 7, 0, 0, 0, 1, b'x']].concat();
        assert_eq!(binding.packet_of(&with_types, 1)[4..], with_types);
        let without = [HEAD.as_slice(), &[0, 7, 0, 0, 0, 1, b'x']].concat();
        assert_eq!(binding.packet_of(&without, 1)[4..], with_types);
        assert_eq!(written_down(&mut binding, &without), written_down(&mut Binding::new(2), &with_types));
    }

    #[test]
    fn what_is_bound_is_all_that_is_written_down() {
        let mut binding = Binding::new(1);
        let bound = [0, 1, 3, 0, 7, 0, 0, 0];
        let payload = [&HEAD[..10], &bound].concat();
        assert_eq!(written_down(&mut binding, &payload), bound);
        let of_another_number = [&[0x17, 9, 9, 9, 9, 0, 1, 0, 0, 0], bound.as_slice()].concat();
        assert_eq!(written_down(&mut binding, &of_another_number), bound);
        assert_eq!(written_down(&mut Binding::new(0), &HEAD[..10]), b"");
    }

    #[test]
    fn types_of_many_sets_are_those_of_one_and_repeated_alike() {
        let mut binding = Binding::new(1);
        let bulk =
            |flags: u8, types: &[u8]| [&[0xFA, 1, 0, 0, 0, flags, 0], types, &[0, 1, b'x', 1]].concat();
        let with_types = bulk(128, &[253, 0]);
        assert_eq!(binding.packet_of(&with_types, 1)[4..], with_types);
        assert_eq!(binding.packet_of(&bulk(64, &[]), 1)[4..], bulk(64 | 128, &[253, 0]));
        assert_eq!(binding.types_of(&bulk(0, &[])), [253, 0]);
        let one = [&HEAD[..10], &[0, 0, 1, b'x']].concat();
        assert_eq!(binding.packet_of(&one, 1)[4..], [&HEAD[..10], &[0, 1, 253, 0, 1, b'x']].concat());
        assert_eq!(binding.values_of(&with_types), []);
        assert!(!asks_for_cursor(&bulk(1, &[])));
        for cut in 6..with_types.len() {
            assert_eq!(binding.packet_of(&with_types[..cut], 1)[4..], with_types[..cut]);
        }
    }

    #[test]
    fn a_cut_execution_is_left_as_it_is() {
        let mut binding = Binding::new(9);
        let cut = &HEAD[..10];
        assert_eq!(binding.packet_of(cut, 1)[4..], *cut);
        assert_eq!(written_down(&mut binding, cut), b"");
        assert_eq!(written_down(&mut binding, &HEAD[..3]), b"");
    }

    #[test]
    fn numbers_are_rewritten_in_place() {
        assert_eq!(with_id(&[0x17, 9, 9, 9, 9, 5], 0x0102), [0x17, 2, 1, 0, 0, 5]);
        assert_eq!(with_id(&[0x17, 9], 1), [0x17, 9]);
        assert_eq!(named_id(&[0x17, 2, 1, 0, 0, 5]), Some(0x0102));
        assert_eq!(named_id(&[0x17, 2, 1]), None);
    }
}
