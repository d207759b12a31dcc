//! A value of a row, as it is stored: what it means is the column's matter.

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
    /// DECIMAL, in the form of `decimal2bin`: groups of nine digits, the highest bit inverted.
    Decimal(&'e [u8]),
    /// BIT, the highest byte first.
    Bit(&'e [u8]),
    /// Since 1900; 0 is the year 0.
    Year(u8),
    /// The day in 5 bits, the month in 4, the year.
    Date(u64),
    /// All bytes as one number, with those of the fraction, whose number is the column's.
    Time(u64),
    /// The same.
    DateTime(u64),
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
}
