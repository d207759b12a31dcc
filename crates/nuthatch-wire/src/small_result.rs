//! Text result sets that the proxy itself has asked for, whole in memory, taken apart.
//!
//! Source: "ProtocolText::Resultset".

use std::borrow::Cow;

use crate::{Definition, ErrPacket, Form, FrameHeader, HEADER_LEN, Reader};

/// One result set. Nothing is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallResult<'a> {
    /// Payloads of the columns' definitions, without what only some clients are told.
    pub definitions: Vec<Cow<'a, [u8]>>,
    /// Payloads of rows.
    pub rows: Vec<&'a [u8]>,
}

impl<'a> SmallResult<'a> {
    /// Takes the packets of an answer apart; `None` if they are no result set with definitions, or not one that came to its end.
    #[must_use]
    pub fn parse(answer: &'a [u8], form: Form) -> Option<Self> {
        let packets = payloads(answer)?;
        let ([count, packets @ ..], Some([0xFE, ..])) = (packets.as_slice(), packets.last()) else {
            return None;
        };
        let mut count = Reader::new(count);
        let columns = usize::try_from(count.lenenc_int().ok()?).ok()?;
        // With optional metadata a byte says whether they follow.
        let has_definitions = !form.optional_metadata || count.u8() == Ok(1);
        let (definitions, rest) = packets.split_at_checked(columns)?;
        let eofs = usize::from(!form.deprecate_eof);
        let rows = rest.get(eofs..rest.len().checked_sub(1)?)?;
        let is_whole = has_definitions && columns > 0 && count.rest().is_empty();
        if !is_whole {
            return None;
        }
        let definitions = definitions.iter().map(|payload| plain(payload, form)).collect::<Option<_>>()?;
        Some(Self { definitions, rows: rows.to_vec() })
    }

    /// The only value, if there is one row of one column, and it is not NULL.
    #[must_use]
    pub fn only_value(&self) -> Option<&'a [u8]> {
        let ([_], [row]) = (self.definitions.as_slice(), self.rows.as_slice()) else { return None };
        text_values(row).map(|[value]| value)
    }
}

/// The values of a text row with exactly so many; `None` if one is NULL.
#[must_use]
pub fn text_values<const N: usize>(row: &[u8]) -> Option<[&[u8]; N]> {
    let mut reader = Reader::new(row);
    let mut values = [&[][..]; N];
    for value in &mut values {
        *value = reader.lenenc_bytes().ok()?;
    }
    reader.rest().is_empty().then_some(values)
}

/// The definition in the form of a connection without extended metadata.
fn plain(payload: &[u8], form: Form) -> Option<Cow<'_, [u8]>> {
    if !form.extended_metadata {
        return Some(payload.into());
    }
    let mut plain = Vec::with_capacity(payload.len());
    Definition::parse(payload, form).ok()?.encode(Form::default(), &mut plain);
    Some(plain.into())
}

/// The payloads of packets of one frame each, none of which is an error.
fn payloads(mut answer: &[u8]) -> Option<Vec<&[u8]>> {
    let mut payloads = Vec::new();
    while !answer.is_empty() {
        let header = FrameHeader::parse(answer).filter(|header| !header.is_continued())?;
        let (payload, rest) = answer.get(HEADER_LEN..)?.split_at_checked(header.payload_len)?;
        if payload.first() == Some(&ErrPacket::MARKER) {
            return None;
        }
        payloads.push(payload);
        answer = rest;
    }
    Some(payloads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapabilityFlags, Column, ResultSetWriter, StatusFlags, append_packet};

    fn answer(capabilities: CapabilityFlags, columns: &[Column], rows: &[&[Option<&[u8]>]]) -> Vec<u8> {
        let (mut out, mut sequence) = (Vec::new(), 1);
        let mut writer =
            ResultSetWriter::begin(&mut out, &mut sequence, capabilities, StatusFlags::empty(), columns);
        rows.iter().for_each(|row| writer.row(row.iter().copied()));
        writer.end(StatusFlags::empty(), 0);
        out
    }

    #[test]
    fn rows_are_those_that_were_written() {
        let columns = [Column::text("a"), Column::text("b")];
        let rows: [&[Option<&[u8]>]; 2] = [&[Some(b"x"), Some(b"")], &[None, Some(b"yz")]];
        for capabilities in [CapabilityFlags::empty(), CapabilityFlags::CLIENT_DEPRECATE_EOF] {
            let answer = answer(capabilities, &columns, &rows);
            let result = SmallResult::parse(&answer, Form::of(capabilities)).unwrap();
            assert_eq!(result.definitions, columns.each_ref().map(|column| column.encoded()));
            assert_eq!(text_values(result.rows[0]), Some([&b"x"[..], b""]));
            assert_eq!(text_values::<2>(result.rows[1]), None, "NULL");
            assert_eq!(text_values::<1>(result.rows[0]), None, "more values");
            assert_eq!(result.only_value(), None);
            for cut in 0..answer.len() {
                assert_eq!(SmallResult::parse(&answer[..cut], Form::of(capabilities)), None);
            }
        }
    }

    #[test]
    fn only_value_is_of_one_row_and_one_column() {
        let value = |rows: &[&[Option<&[u8]>]]| {
            let answer = answer(CapabilityFlags::empty(), &[Column::text("a")], rows);
            let result = SmallResult::parse(&answer, Form::default()).unwrap();
            result.only_value().map(<[u8]>::to_vec)
        };
        assert_eq!(value(&[&[Some(b"7")]]), Some(b"7".to_vec()));
        assert_eq!(value(&[]), None);
        assert_eq!(value(&[&[None]]), None);
        assert_eq!(value(&[&[Some(b"7")], &[Some(b"8")]]), None);
    }

    #[test]
    fn what_is_no_result_set_is_none() {
        let mut ok = Vec::new();
        append_packet(&mut ok, &mut 1, &[0, 0, 0, 2, 0, 0, 0]);
        let mut err = Vec::new();
        append_packet(&mut err, &mut 1, &[0xFF, 0x28, 0x04]);
        for bytes in [&ok[..], &err[..], &[][..], &[1, 0, 0][..]] {
            assert_eq!(SmallResult::parse(bytes, Form::default()), None);
        }
    }
}
