//! Attributes of a statement, which MySQL's clients send with it under `CLIENT_QUERY_ATTRIBUTES`: taken off what a client sent, put
//! onto what a server gets.
//!
//! Without attributes a COM_QUERY is the command byte and the text, and an execution what it was before MySQL 8. Under the capability both
//! say how many attributes there are, also where there are none. No length that a peer sent is trusted.
//!
//! Source: "COM_QUERY", "COM_STMT_EXECUTE".

use crate::{Command, FrameHeader, HEADER_LEN, Reader, WireError, append_lenenc_int, append_packet};

/// What stands between the command byte and the text of a statement that has none.
pub const NO_ATTRIBUTES: [u8; 2] = [0, 1];

/// Place of an execution's flags: behind command and number.
const FLAGS_PLACE: usize = 5;

/// Of an execution: it says how many parameters and attributes it has, also if the statement has no parameters. With parameters it says
/// so in any case, whatever the flag (MySQL 9.7; mysql-connector-python leaves the flag out).
const PARAMETER_COUNT_AVAILABLE: u8 = 0x08;

/// Command, number, flags, iterations.
const EXECUTION_HEAD: usize = 1 + 4 + 1 + 4;

/// Attributes of one statement, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    /// For each, whether it is NULL.
    nulls: Vec<bool>,
    /// Their types and names, as they came.
    names: Vec<u8>,
    /// The values of those that are not NULL.
    values: Vec<u8>,
}

/// Values that a statement binds: its parameters, then its attributes.
struct Bound<'a> {
    nulls: Vec<bool>,
    /// Types and names, one each. None where they were left out.
    types: Vec<([u8; 2], &'a [u8])>,
    /// What stands behind: the values.
    values: Reader<'a>,
}

impl<'a> Bound<'a> {
    /// Reads bits of NULLs, the flag, and types with names.
    fn read(reader: &mut Reader<'a>, count: usize) -> Result<Self, WireError> {
        let bits = reader.bytes(count.div_ceil(8))?;
        let is_null = |number: usize| bits.get(number / 8).is_some_and(|byte| byte >> (number % 8) & 1 == 1);
        let nulls = (0..count).map(is_null).collect();
        let mut types = Vec::new();
        if reader.u8()? == 1 {
            for _ in 0..count {
                let mut of_type = [0; 2];
                of_type.copy_from_slice(reader.bytes(2)?);
                let before = reader.rest();
                reader.lenenc_bytes()?;
                let name = before.get(..before.len() - reader.rest().len()).ok_or(WireError::Truncated)?;
                types.push((of_type, name));
            }
        }
        Ok(Self { nulls, types, values: *reader })
    }

    /// The attributes, which stand behind so many parameters.
    fn attributes_behind(&self, parameters: usize, values: &[u8]) -> Option<Attributes> {
        let nulls = self.nulls.get(parameters..).filter(|nulls| !nulls.is_empty())?.to_vec();
        let types = self.types.get(parameters..).unwrap_or_default();
        let names = types.iter().flat_map(|(of_type, name)| of_type.iter().chain(*name).copied()).collect();
        Some(Attributes { nulls, names, values: values.to_vec() })
    }
}

impl Attributes {
    /// Reads what stands behind the command byte of a COM_QUERY: the attributes, if there are any, and the text's place.
    ///
    /// # Errors
    /// When it ends early, or says what no client says.
    pub fn parse_query(behind_command: &[u8]) -> Result<(Option<Self>, usize), WireError> {
        if behind_command.starts_with(&NO_ATTRIBUTES) {
            return Ok((None, NO_ATTRIBUTES.len()));
        }
        let mut reader = Reader::new(behind_command);
        let count = read_count(&mut reader)?;
        if reader.lenenc_int()? != 1 {
            return Err(WireError::Malformed("number of sets of attributes"));
        }
        let mut attributes = None;
        if count > 0 {
            let mut bound = Bound::read(&mut reader, count)?;
            if bound.types.is_empty() {
                return Err(WireError::Malformed("attributes without names"));
            }
            let values = bound.values.rest();
            skip_values(&mut bound.values, &bound.types, &bound.nulls, |_| false)?;
            let len = values.len() - bound.values.rest().len();
            attributes = bound.attributes_behind(0, values.get(..len).unwrap_or_default());
            reader = bound.values;
        }
        Ok((attributes, behind_command.len() - reader.rest().len()))
    }

    /// Takes the attributes off an execution of a statement with so many parameters: appends to `plain` what a client without the
    /// capability sends. Parameters of which `is_long` holds have come before.
    ///
    /// # Errors
    /// When it ends early, or says what no client says.
    pub fn take_off_execution(
        payload: &[u8],
        parameters: usize,
        is_long: impl Fn(usize) -> bool,
        plain: &mut Vec<u8>,
    ) -> Result<Option<Self>, WireError> {
        let flags = *payload.get(FLAGS_PLACE).ok_or(WireError::Truncated)?;
        let head = payload.get(..EXECUTION_HEAD).ok_or(WireError::Truncated)?;
        if parameters == 0 && flags & PARAMETER_COUNT_AVAILABLE == 0 {
            plain.extend_from_slice(payload);
            return Ok(None);
        }
        plain.extend_from_slice(head);
        if let Some(flags) = plain.get_mut(FLAGS_PLACE) {
            *flags &= !PARAMETER_COUNT_AVAILABLE;
        }
        let mut reader = Reader::new(payload.get(EXECUTION_HEAD..).unwrap_or_default());
        let count = read_count(&mut reader)?;
        if count < parameters {
            return Err(WireError::Malformed("number of parameters"));
        }
        if count == 0 {
            return Ok(None);
        }
        let mut bound = Bound::read(&mut reader, count)?;
        if count > parameters && bound.types.is_empty() {
            return Err(WireError::Malformed("attributes without names"));
        }
        let values = bound.values.rest();
        let (types, nulls) = (bound.types.get(..parameters), bound.nulls.get(..parameters));
        let (types, nulls) = (types.unwrap_or_default(), nulls.unwrap_or_default());
        let mut of_parameters = values;
        if count > parameters {
            skip_values(&mut bound.values, types, nulls, is_long)?;
            let len = values.len() - bound.values.rest().len();
            of_parameters = values.get(..len).unwrap_or_default();
        }
        let of_attributes = values.get(of_parameters.len()..).unwrap_or_default();
        if parameters > 0 {
            append_nulls(plain, nulls.iter().copied());
            plain.push(u8::from(!bound.types.is_empty()));
            plain.extend(types.iter().flat_map(|(of_type, _)| of_type));
            plain.extend_from_slice(of_parameters);
        }
        Ok(bound.attributes_behind(parameters, of_attributes))
    }
}

/// A COM_QUERY as a whole packet for a connection with the capability.
#[must_use]
pub fn query_packet(text: &[u8], attributes: Option<&Attributes>) -> Vec<u8> {
    let mut payload = Vec::with_capacity(text.len() + 16);
    payload.push(Command::Query as u8);
    match attributes {
        None => payload.extend(NO_ATTRIBUTES),
        Some(attributes) => {
            append_lenenc_int(&mut payload, attributes.nulls.len() as u64);
            payload.push(1);
            append_nulls(&mut payload, attributes.nulls.iter().copied());
            payload.push(1);
            payload.extend_from_slice(&attributes.names);
            payload.extend_from_slice(&attributes.values);
        }
    }
    payload.extend_from_slice(text);
    whole_packet(&payload)
}

/// A packet of the proxy's own, or of a client without the capability, for a connection with it: `None` where it is the same.
#[must_use]
pub fn packet_with_attributes(packet: &[u8]) -> Option<Vec<u8>> {
    if packet.get(HEADER_LEN) != Some(&(Command::Query as u8)) {
        return None;
    }
    let mut payload = Vec::with_capacity(packet.len());
    let mut rest = packet;
    while let Some(header) = FrameHeader::parse(rest) {
        let (frame, later) = rest.split_at_checked(HEADER_LEN + header.payload_len)?;
        payload.extend_from_slice(frame.get(HEADER_LEN..)?);
        rest = later;
    }
    Some(query_packet(payload.get(1..)?, None))
}

/// An execution of a statement with so many parameters, as a client without the capability sends it, as a packet for a connection with
/// it: there MySQL 9.7 refuses parameters of which it is not told how many there are. Types that are left out stay so, unless there are
/// attributes.
#[must_use]
pub fn execution_with_attributes(
    plain: &[u8],
    parameters: usize,
    attributes: Option<&Attributes>,
) -> Vec<u8> {
    let is_the_same = parameters == 0 && attributes.is_none();
    let joined = if is_the_same { None } else { join_execution(plain, parameters, attributes) };
    whole_packet(joined.as_deref().unwrap_or(plain))
}

/// `None` if the execution is cut: the server will say so.
fn join_execution(plain: &[u8], parameters: usize, attributes: Option<&Attributes>) -> Option<Vec<u8>> {
    let (nulls, names, values) = match attributes {
        Some(Attributes { nulls, names, values }) => (&nulls[..], &names[..], &values[..]),
        None => (&[][..], &[][..], &[][..]),
    };
    let mut reader = Reader::new(plain);
    let mut payload = reader.bytes(EXECUTION_HEAD).ok()?.to_vec();
    *payload.get_mut(FLAGS_PLACE)? |= PARAMETER_COUNT_AVAILABLE;
    append_lenenc_int(&mut payload, (parameters + nulls.len()) as u64);
    let mut bits: &[u8] = &[];
    let mut types: &[u8] = &[];
    let mut has_types = true;
    if parameters > 0 {
        bits = reader.bytes(parameters.div_ceil(8)).ok()?;
        has_types = reader.u8().ok()? == 1;
        if has_types {
            types = reader.bytes(2 * parameters).ok()?;
        } else if !nulls.is_empty() {
            return None;
        }
    }
    let is_null = |number: usize| bits.get(number / 8).is_some_and(|byte| byte >> (number % 8) & 1 == 1);
    append_nulls(&mut payload, (0..parameters).map(is_null).chain(nulls.iter().copied()));
    payload.push(u8::from(has_types));
    for of_type in types.chunks(2) {
        payload.extend_from_slice(of_type);
        payload.push(0);
    }
    payload.extend_from_slice(names);
    payload.extend_from_slice(reader.rest());
    payload.extend_from_slice(values);
    Some(payload)
}

fn whole_packet(payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(payload.len() + HEADER_LEN);
    append_packet(&mut packet, &mut 0, payload);
    packet
}

/// A number of things, of which each takes a byte at least.
fn read_count(reader: &mut Reader<'_>) -> Result<usize, WireError> {
    let count = usize::try_from(reader.lenenc_int()?).map_err(|_too_many| WireError::Truncated)?;
    if count > reader.rest().len() { Err(WireError::Truncated) } else { Ok(count) }
}

fn append_nulls(out: &mut Vec<u8>, nulls: impl Iterator<Item = bool>) {
    let start = out.len();
    for (number, is_null) in nulls.enumerate() {
        if number % 8 == 0 {
            out.push(0);
        }
        if let Some(byte) = out.get_mut(start + number / 8) {
            *byte |= u8::from(is_null) << (number % 8);
        }
    }
}

fn skip_values(
    values: &mut Reader<'_>,
    types: &[([u8; 2], &[u8])],
    nulls: &[bool],
    has_come_before: impl Fn(usize) -> bool,
) -> Result<(), WireError> {
    for (number, ((of_type, _), is_null)) in types.iter().zip(nulls).enumerate() {
        if !is_null && !has_come_before(number) {
            skip_value(values, of_type[0])?;
        }
    }
    Ok(())
}

/// Passes over one value. Source: "Binary Protocol Value".
fn skip_value(values: &mut Reader<'_>, of_type: u8) -> Result<(), WireError> {
    match of_type {
        1 => values.bytes(1),
        2 | 13 => values.bytes(2),
        3 | 4 | 9 => values.bytes(4),
        5 | 8 => values.bytes(8),
        6 => Ok(&[][..]),
        7 | 10 | 11 | 12 => {
            let len = values.u8()?;
            values.bytes(len.into())
        }
        0 | 15 | 16 | 242 | 245..=255 => values.lenenc_bytes(),
        _ => return Err(WireError::Malformed("type of a value")),
    }
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"SELECT 1";
    /// Two attributes: `who` is a text, `n` is NULL.
    const TWO: &[u8] = b"\x02\x01\x02\x01\xfd\0\x03who\x08\0\x01n\x06golden";

    #[test]
    fn text_begins_behind_the_attributes_whatever_they_are() {
        for (prefix, has_any) in
            [(&NO_ATTRIBUTES[..], false), (TWO, true), (b"\x01\x01\x00\x01\x03\0\0\x07\0\0\0", true)]
        {
            let payload = [prefix, TEXT].concat();
            let (attributes, place) = Attributes::parse_query(&payload).unwrap();
            assert_eq!((attributes.is_some(), &payload[place..]), (has_any, TEXT));
            let again = query_packet(TEXT, attributes.as_ref());
            assert_eq!(again[HEADER_LEN + 1..], payload);
        }
    }

    #[test]
    fn what_is_cut_or_counts_too_far_is_refused() {
        let overflow = b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        for malformed in [
            &b""[..],
            b"\x01",
            b"\0\x02x",
            b"\x01\x02",
            overflow,
            b"\xff\x01",
            b"\x01\x01\0\0\xfd\0\0",
            b"\x01\x01\0\x01\x63\0\0x",
        ] {
            assert!(Attributes::parse_query(malformed).is_err(), "{malformed:?}");
        }
        for cut in 0..TWO.len() {
            assert!(Attributes::parse_query(&TWO[..cut]).is_err(), "{cut}");
        }
    }

    const HEAD: [u8; 10] = [0x17, 1, 0, 0, 0, 8, 1, 0, 0, 0];

    #[test]
    fn execution_without_its_attributes_is_what_other_clients_send() {
        let plain_head = [0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0];
        // A parameter, and an attribute.
        let payload = [&HEAD[..], b"\x02\0\x01\xfd\0\0\xfd\0\x03who\x01p\x01a"].concat();
        let mut plain = Vec::new();
        let attributes = Attributes::take_off_execution(&payload, 1, |_| false, &mut plain).unwrap().unwrap();
        assert_eq!(plain, [&plain_head[..], b"\0\x01\xfd\0\x01p"].concat());
        assert_eq!(execution_with_attributes(&plain, 1, Some(&attributes))[HEADER_LEN..], payload);
        // Only an attribute.
        let payload = [&HEAD[..], b"\x01\0\x01\xfd\0\x03who\x01a"].concat();
        let mut plain = Vec::new();
        let attributes = Attributes::take_off_execution(&payload, 0, |_| false, &mut plain).unwrap().unwrap();
        assert_eq!(plain, plain_head);
        assert_eq!(execution_with_attributes(&plain, 0, Some(&attributes))[HEADER_LEN..], payload);
        // Types that were left out.
        let payload = [&HEAD[..], b"\x01\0\0\x01p"].concat();
        let mut plain = Vec::new();
        assert_eq!(Attributes::take_off_execution(&payload, 1, |_| false, &mut plain), Ok(None));
        assert_eq!(plain, [&plain_head[..], b"\0\0\x01p"].concat());
        assert_eq!(execution_with_attributes(&plain, 1, None)[HEADER_LEN..], payload);
        assert_eq!(execution_with_attributes(&plain_head, 0, None)[HEADER_LEN..], plain_head);
        // Without the flag, and with parameters all the same.
        let payload = [&plain_head[..], b"\x01\0\x01\xfd\0\0\x01p"].concat();
        let mut plain = Vec::new();
        assert_eq!(Attributes::take_off_execution(&payload, 1, |_| false, &mut plain), Ok(None));
        assert_eq!(plain, [&plain_head[..], b"\0\x01\xfd\0\x01p"].concat());
        // A value that came before.
        let payload = [&HEAD[..], b"\x02\0\x01\xfc\0\0\xfd\0\x03who\x01a"].concat();
        let mut plain = Vec::new();
        let attributes = Attributes::take_off_execution(&payload, 1, |_| true, &mut plain).unwrap().unwrap();
        assert_eq!(plain, [&plain_head[..], b"\0\x01\xfc\0"].concat());
        assert_eq!(execution_with_attributes(&plain, 1, Some(&attributes))[HEADER_LEN..], payload);
    }

    #[test]
    fn statements_of_16_mib_keep_their_text() {
        let text = vec![b'x'; crate::FRAME_PAYLOAD_MAX + 7];
        let mut packet = Vec::new();
        append_packet(&mut packet, &mut 0, &[&[3], &text[..]].concat());
        let mut expected = Vec::new();
        append_packet(&mut expected, &mut 0, &[&[3, 0, 1], &text[..]].concat());
        assert!(packet_with_attributes(&packet) == Some(expected));
        assert_eq!(packet_with_attributes(b"\x01\0\0\0\x0e"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_taken_for_attributes_without_panic(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80),
            parameters in 0_usize..20,
        ) {
            if let Ok((attributes, place)) = Attributes::parse_query(&bytes) {
                let again = query_packet(&bytes[place..], attributes.as_ref());
                proptest::prop_assert_eq!(Attributes::parse_query(&again[HEADER_LEN + 1..]).map(|found| found.0), Ok(attributes));
            }
            let execution = [&HEAD[..], &bytes].concat();
            let mut plain = Vec::new();
            let found = Attributes::take_off_execution(&execution, parameters, |number| number == 3, &mut plain);
            if let Ok(attributes) = found {
                let _packet = execution_with_attributes(&plain, parameters, attributes.as_ref());
            }
        }
    }
}
