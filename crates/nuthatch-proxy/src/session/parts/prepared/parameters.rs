//! Values that a COM_STMT_EXECUTE binds, as far as they can be keys or told apart from others.
//!
//! Format: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>.

use nuthatch_sql::Parameter;
use nuthatch_wire::Reader;

/// The flag of an unsigned type, in the second byte of it.
const UNSIGNED: u8 = 0x80;

/// The values of `types`, two bytes each, in `payload`, which has them behind `values_place` and says which are NULL from
/// `nulls_place` on. From the first that is not understood on, no value is known, but its type is.
pub(crate) fn parameters(
    payload: &[u8],
    nulls_place: usize,
    values_place: usize,
    types: &[u8],
) -> Vec<Parameter> {
    let is_null = |number: usize| {
        payload.get(nulls_place + number / 8).is_some_and(|byte| byte >> (number % 8) & 1 == 1)
    };
    let mut values = Reader::new(payload.get(values_place..).unwrap_or_default());
    let mut is_understood = true;
    let value = |(number, of_type): (usize, &[u8; 2])| {
        if is_null(number) {
            return Parameter::Other;
        }
        let taken = if is_understood { take(&mut values, *of_type) } else { None };
        is_understood &= taken.is_some();
        taken.unwrap_or(of_its_type(*of_type))
    };
    types.as_chunks().0.iter().enumerate().map(value).collect()
}

/// Takes one value; `None` where its end is not known.
fn take(values: &mut Reader<'_>, [of_type, flags]: [u8; 2]) -> Option<Parameter> {
    let is_unsigned = flags & UNSIGNED != 0;
    let integer = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        let unused = 64 - 8 * u32::try_from(bytes.len()).ok()?;
        let signed = (bits << unused).cast_signed() >> unused;
        Some(match u64::try_from(signed) {
            Ok(value) => Parameter::Unsigned(value),
            Err(_) if is_unsigned => Parameter::Unsigned(bits),
            Err(_) => Parameter::Negative(signed),
        })
    };
    let passed_over = match of_type {
        1 => return integer(values.bytes(1).ok()?),
        2 => return integer(values.bytes(2).ok()?),
        3 | 9 => return integer(values.bytes(4).ok()?),
        8 => return integer(values.bytes(8).ok()?),
        6 => Ok(&[][..]),
        13 => values.bytes(2),
        4 => values.bytes(4),
        5 => values.bytes(8),
        7 | 10 | 11 | 12 => {
            let len = values.u8().ok()?;
            values.bytes(len.into())
        }
        15 | 249..=254 => return values.lenenc_bytes().ok().map(Parameter::of_string),
        0 | 16 | 245..=248 | 255 => values.lenenc_bytes(),
        _ => return None,
    };
    passed_over.ok().map(|_| of_its_type([of_type, flags]))
}

/// What is known of a value that is no integer.
const fn of_its_type([of_type, _]: [u8; 2]) -> Parameter {
    match of_type {
        11 => Parameter::Time,
        7 | 10 | 12 => Parameter::Date,
        _ => Parameter::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: [u8; 2] = [3, 0];
    const LONGLONG: [u8; 2] = [8, 0];
    const LONGLONG_UNSIGNED: [u8; 2] = [8, UNSIGNED];
    const STRING: [u8; 2] = [253, 0];

    #[test]
    fn integers_are_read_and_others_passed_over() {
        let types = [STRING, LONG, LONGLONG, LONG, LONGLONG_UNSIGNED, [1, UNSIGNED]].concat();
        let payload = [
            &[0b1000][..],
            &[2, b'a', b'b'],
            &7_u32.to_le_bytes(),
            &(-3_i64).to_le_bytes(),
            &u64::MAX.to_le_bytes(),
            &[200],
        ]
        .concat();
        use Parameter::{Negative, Other, Unsigned};
        let text = Parameter::of_string(b"ab");
        let expected = [text, Unsigned(7), Negative(-3), Other, Unsigned(u64::MAX), Unsigned(200)];
        assert_eq!(parameters(&payload, 0, 1, &types), expected);
    }

    #[test]
    fn times_and_dates_are_told_apart_unless_they_are_null() {
        let types = [[11, 0], [12, 0], [11, 0], [99, 0], [11, 0]].concat();
        let payload = [0b100, 1, 0, 4, 0, 0, 0, 0];
        use Parameter::{Date, Other, Time};
        assert_eq!(parameters(&payload, 0, 1, &types), [Time, Date, Other, Other, Time]);
    }

    #[test]
    fn behind_what_is_not_understood_or_cut_nothing_is_known() {
        let types = [LONG, [99, 0], LONG].concat();
        let payload = [&[0][..], &7_u32.to_le_bytes(), &8_u32.to_le_bytes()].concat();
        assert_eq!(
            parameters(&payload, 0, 1, &types),
            [Parameter::Unsigned(7), Parameter::Other, Parameter::Other]
        );
        assert_eq!(parameters(&[0, 7], 0, 1, &LONG), [Parameter::Other]);
    }
}
