//! A value of a row, as it is stored: what it means is the column's matter.

use super::decimal;

/// One column's value in an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'e> {
    /// NULL.
    Null,
    /// The bits of a number of so many bytes, the lowest first; those above are 0. Its sign is the column's.
    Integer {
        /// See above.
        bits: u64,
        /// 1, 2, 3, 4 or 8.
        bytes: u8,
    },
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL; its digits are told by [`Value::decimal_text`].
    Decimal {
        /// In the form of `decimal2bin`: groups of nine digits, the highest bit inverted.
        bytes: &'e [u8],
        /// How many digits there are.
        precision: u8,
        /// Of these, those behind the point.
        scale: u8,
    },
    /// BIT, the highest byte first.
    Bit(&'e [u8]),
    /// Since 1900; 0 is the year 0.
    Year(u8),
    /// The day in 5 bits, the month in 4, the year.
    Date(u64),
    /// All bytes as one number, with those of the fraction, whose number is the column's.
    Time(u64),
    /// The same.
    DateTime {
        /// See above: the year and month as one number, the day, hour, minute and second, then the fraction.
        packed: u64,
        /// The digits of the fraction.
        fraction: u8,
    },
    /// The same: seconds since 1970, then the fraction.
    Timestamp(u64),
    /// Of the types that MySQL had before 5.6.
    OldTemporal(u64),
    /// The bytes of a string in its column's character set. CHAR comes without its spaces at the end.
    Bytes(&'e [u8]),
    /// ENUM: the member's number, from 1 on. SET: a bit for each.
    Members(u64),
    /// JSON in MySQL's binary form.
    Json(&'e [u8]),
    /// What changed in a JSON value, where the server has written no more than that.
    Partial(&'e [u8]),
    /// GEOMETRY, MySQL's VECTOR, and what MariaDB has compressed: as stored.
    Opaque(&'e [u8]),
}

impl Value<'_> {
    /// An integer with the sign that its column has.
    #[must_use]
    pub fn as_integer(&self, is_unsigned: bool) -> Option<i128> {
        let Self::Integer { bits, bytes } = *self else { return None };
        let spare = 64 - u32::from(bytes.clamp(1, 8)) * 8;
        Some(match is_unsigned {
            true => i128::from(bits),
            false => i128::from((bits << spare).cast_signed() >> spare),
        })
    }

    /// A DECIMAL's digits, with a minus and a point.
    #[must_use]
    pub fn decimal_text(&self) -> Option<String> {
        let Self::Decimal { bytes, precision, scale } = *self else { return None };
        decimal::text(bytes, precision, scale)
    }

    /// Year, month and day of a DATE.
    #[must_use]
    pub fn as_date(&self) -> Option<[u16; 3]> {
        let Self::Date(packed) = *self else { return None };
        small([packed >> 9, bits(packed, 5, 4), bits(packed, 0, 5)])
    }

    /// Date and time of day of a DATETIME of whole seconds.
    #[must_use]
    pub fn as_moment(&self) -> Option<([u16; 3], [u16; 3])> {
        let Self::DateTime { packed, fraction: 0 } = *self else { return None };
        // Its highest bit is a sign, which all have.
        let months = bits(packed, 22, 17);
        let date = small([months / 13, months % 13, bits(packed, 17, 5)])?;
        let time = small([bits(packed, 12, 5), bits(packed, 6, 6), bits(packed, 0, 6)])?;
        (packed >> 39 & 1 == 1).then_some((date, time))
    }
}

/// So many bits of it, above so many others.
const fn bits(packed: u64, above: u32, count: u32) -> u64 {
    packed >> above & ((1 << count) - 1)
}

fn small(numbers: [u64; 3]) -> Option<[u16; 3]> {
    let [a, b, c] = numbers.map(u16::try_from);
    Some([a.ok()?, b.ok()?, c.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_of_an_integer_is_its_columns() {
        for (bits, bytes, signed, unsigned) in [
            (0xFF, 1, -1, 255),
            (0x7F, 1, 127, 127),
            (0xFF_FFFD, 3, -3, 16_777_213),
            (u64::MAX, 8, -1, i128::from(u64::MAX)),
        ] {
            let value = Value::Integer { bits, bytes };
            assert_eq!((value.as_integer(false), value.as_integer(true)), (Some(signed), Some(unsigned)));
        }
        assert_eq!(Value::Null.as_integer(true), None);
    }

    #[test]
    fn dates_are_packed() {
        assert_eq!(Value::Date(2026 << 9 | 11 << 5 | 27).as_date(), Some([2026, 11, 27]));
        let months = 2026 * 13 + 11;
        let packed = 1 << 39 | months << 22 | 27 << 17 | 9 << 12 | 30 << 6 | 5;
        let moment = Value::DateTime { packed, fraction: 0 };
        assert_eq!(moment.as_moment(), Some(([2026, 11, 27], [9, 30, 5])));
        assert_eq!(Value::DateTime { packed, fraction: 3 }.as_moment(), None);
        assert_eq!(Value::DateTime { packed: 0, fraction: 0 }.as_moment(), None);
    }
}
