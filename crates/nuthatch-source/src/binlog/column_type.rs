//! What a column's values look like in a row: how long one is, and what it holds.
//!
//! A table map has a byte for each column's type and, of most types, one or two more. Of a type that is not known, neither these
//! nor the values can be measured: the table is not readable then.

use nuthatch_sql::ServerFlavor;

use super::BinlogError;
use super::cursor::Cursor;
use super::decimal;
use super::value::Value;

/// The most digits behind the point of a second.
const FRACTION_MAX: u8 = 6;
/// The most digits of a decimal.
const DECIMAL_DIGITS_MAX: u8 = 65;

/// A column's type, as far as its values differ in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names and the types of SQL say it")]
pub enum ColumnType {
    /// TINYINT to BIGINT.
    Integer {
        bytes: u8,
    },
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Bit {
        bits: u16,
    },
    Year,
    Date,
    Time {
        fraction: u8,
    },
    DateTime {
        fraction: u8,
    },
    Timestamp {
        fraction: u8,
    },
    /// As MySQL before 5.6 had them.
    OldTime,
    OldDateTime,
    OldTimestamp,
    /// CHAR and BINARY, and MariaDB's UUID, INET4 and INET6.
    Char {
        bytes_max: u16,
    },
    /// VARCHAR and VARBINARY; MariaDB's VECTOR.
    Varchar {
        bytes_max: u16,
    },
    Enum {
        bytes: u8,
    },
    Set {
        bytes: u8,
    },
    /// TEXT and BLOB of each size.
    Blob {
        length_bytes: u8,
    },
    Json {
        length_bytes: u8,
    },
    Geometry {
        length_bytes: u8,
    },
    /// MySQL's.
    Vector {
        length_bytes: u8,
    },
    /// MariaDB's VARCHAR … COMPRESSED.
    CompressedVarchar {
        bytes_max: u16,
    },
    /// MariaDB's TEXT and BLOB … COMPRESSED.
    CompressedBlob {
        length_bytes: u8,
    },
}

impl ColumnType {
    /// The type of this number, whose own bytes come next in `metadata`. None if it is not known.
    ///
    /// MariaDB's TIME, DATETIME and TIMESTAMP as they were before MySQL 5.6 may have fractions of seconds, which change their
    /// length, and the binlog does not tell (measured with 10.11 and 11.8): they are not known there.
    pub(super) fn parse(
        number: u8,
        metadata: &mut Cursor<'_>,
        flavor: ServerFlavor,
    ) -> Result<Option<Self>, BinlogError> {
        let is_mysql = matches!(flavor, ServerFlavor::MySql(_));
        Ok(Some(match number {
            1 => Self::Integer { bytes: 1 },
            2 => Self::Integer { bytes: 2 },
            9 => Self::Integer { bytes: 3 },
            3 => Self::Integer { bytes: 4 },
            8 => Self::Integer { bytes: 8 },
            4 => Self::sized(metadata.u8()?, 4, Self::Float)?,
            5 => Self::sized(metadata.u8()?, 8, Self::Double)?,
            7 if is_mysql => Self::OldTimestamp,
            11 if is_mysql => Self::OldTime,
            12 if is_mysql => Self::OldDateTime,
            10 | 14 => Self::Date,
            13 => Self::Year,
            15 | 253 => Self::Varchar { bytes_max: metadata.u16()? },
            16 => Self::bit(metadata.u8()?, metadata.u8()?)?,
            17 => Self::Timestamp { fraction: fraction(metadata)? },
            18 => Self::DateTime { fraction: fraction(metadata)? },
            19 => Self::Time { fraction: fraction(metadata)? },
            140 if !is_mysql => Self::CompressedBlob { length_bytes: length_bytes(metadata)? },
            141 if !is_mysql => Self::CompressedVarchar { bytes_max: metadata.u16()? },
            242 if is_mysql => Self::Vector { length_bytes: length_bytes(metadata)? },
            245 => Self::Json { length_bytes: length_bytes(metadata)? },
            246 => Self::decimal(metadata.u8()?, metadata.u8()?)?,
            249..=252 => Self::Blob { length_bytes: length_bytes(metadata)? },
            247 | 248 | 254 => Self::string(metadata.u8()?, metadata.u8()?)?,
            255 => Self::Geometry { length_bytes: length_bytes(metadata)? },
            _ => return Ok(None),
        }))
    }

    fn sized(found: u8, expected: u8, found_type: Self) -> Result<Self, BinlogError> {
        if found == expected { Ok(found_type) } else { Err(BinlogError::Malformed("a number's size")) }
    }

    fn bit(bits: u8, bytes: u8) -> Result<Self, BinlogError> {
        match u16::from(bytes) * 8 + u16::from(bits) {
            bits_all @ 1..=64 if bits < 8 => Ok(Self::Bit { bits: bits_all }),
            _ => Err(BinlogError::Malformed("a BIT's size")),
        }
    }

    fn decimal(precision: u8, scale: u8) -> Result<Self, BinlogError> {
        if precision == 0 || precision > DECIMAL_DIGITS_MAX || scale > precision {
            return Err(BinlogError::Malformed("a decimal's digits"));
        }
        Ok(Self::Decimal { precision, scale })
    }

    /// What `MYSQL_TYPE_STRING` stands for: its first byte is the type itself, but for two bits of a CHAR's length, inverted.
    fn string(first: u8, second: u8) -> Result<Self, BinlogError> {
        let high = u16::from((first & 0x30) ^ 0x30) << 4;
        let number = first | 0x30;
        match number {
            247 if high == 0 && matches!(second, 1 | 2) => Ok(Self::Enum { bytes: second }),
            248 if high == 0 && matches!(second, 1..=8) => Ok(Self::Set { bytes: second }),
            254 => Ok(Self::Char { bytes_max: high | u16::from(second) }),
            _ => Err(BinlogError::Malformed("a string's type")),
        }
    }

    /// Takes a value off the row. It is not NULL.
    pub(super) fn take<'e>(self, row: &mut Cursor<'e>) -> Result<Value<'e>, BinlogError> {
        Ok(match self {
            Self::Integer { bytes } => Value::Integer { bits: row.number(usize::from(bytes))?, bytes },
            Self::Float => Value::Float(f32::from_le_bytes(row.array()?)),
            Self::Double => Value::Double(f64::from_le_bytes(row.array()?)),
            Self::Decimal { precision, scale } => {
                Value::Decimal { bytes: row.bytes(decimal::size(precision, scale))?, precision, scale }
            }
            Self::Bit { bits } => Value::Bit(row.bytes(usize::from(bits.div_ceil(8)))?),
            Self::Year => Value::Year(row.u8()?),
            Self::Date => Value::Date(row.number(3)?),
            Self::Time { fraction } => Value::Time(big_endian(row, 3 + fraction_bytes(fraction))?),
            Self::DateTime { fraction } => {
                Value::DateTime { packed: big_endian(row, 5 + fraction_bytes(fraction))?, fraction }
            }
            Self::Timestamp { fraction } => Value::Timestamp(big_endian(row, 4 + fraction_bytes(fraction))?),
            Self::OldTime => Value::OldTemporal(row.number(3)?),
            Self::OldDateTime => Value::OldTemporal(row.number(8)?),
            Self::OldTimestamp => Value::OldTemporal(row.number(4)?),
            Self::Char { bytes_max } | Self::Varchar { bytes_max } => {
                Value::Bytes(row.prefixed(prefix_of(bytes_max))?)
            }
            Self::Enum { bytes } | Self::Set { bytes } => Value::Members(row.number(usize::from(bytes))?),
            Self::Blob { length_bytes } => Value::Bytes(row.prefixed(length_bytes)?),
            Self::Json { length_bytes } => Value::Json(row.prefixed(length_bytes)?),
            Self::Geometry { length_bytes }
            | Self::Vector { length_bytes }
            | Self::CompressedBlob { length_bytes } => Value::Opaque(row.prefixed(length_bytes)?),
            Self::CompressedVarchar { bytes_max } => Value::Opaque(row.prefixed(prefix_of(bytes_max))?),
        })
    }

    /// Whether the table map may tell its sign. A YEAR counts as a number there.
    pub(super) const fn may_have_sign(self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Year | Self::Float | Self::Double | Self::Decimal { .. })
    }

    /// Whether the table map may tell its collation, as one of a string. So it does of a VECTOR; of a GEOMETRY in MariaDB only.
    pub(super) const fn may_have_collation(self, flavor: ServerFlavor) -> bool {
        match self {
            Self::Char { .. }
            | Self::Varchar { .. }
            | Self::Blob { .. }
            | Self::Vector { .. }
            | Self::CompressedVarchar { .. }
            | Self::CompressedBlob { .. } => true,
            Self::Geometry { .. } => matches!(flavor, ServerFlavor::MariaDb(_)),
            _ => false,
        }
    }
}

fn fraction(metadata: &mut Cursor<'_>) -> Result<u8, BinlogError> {
    match metadata.u8()? {
        digits @ 0..=FRACTION_MAX => Ok(digits),
        _ => Err(BinlogError::Malformed("the digits of a second")),
    }
}

fn length_bytes(metadata: &mut Cursor<'_>) -> Result<u8, BinlogError> {
    match metadata.u8()? {
        bytes @ 1..=4 => Ok(bytes),
        _ => Err(BinlogError::Malformed("the size of a length")),
    }
}

const fn prefix_of(bytes_max: u16) -> u8 {
    if bytes_max > 255 { 2 } else { 1 }
}

const fn fraction_bytes(digits: u8) -> usize {
    digits.div_ceil(2) as usize
}

fn big_endian(row: &mut Cursor<'_>, bytes: usize) -> Result<u64, BinlogError> {
    Ok(row.bytes(bytes)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_measured_as_their_metadata_says() {
        const NEW: ServerFlavor = ServerFlavor::MySql(90_704);
        for (number, metadata, value_bytes) in [
            (3, &[][..], 4),
            (246, &[20, 6], 10),
            (246, &[65, 30], 30),
            (246, &[3, 3], 2),
            (16, &[5, 1], 2),
            (17, &[4], 6),
            (18, &[6], 8),
            (19, &[1], 4),
            (12, &[], 8),
            (254, &[247, 2], 2),
            (254, &[248, 3], 3),
        ] {
            let mut metadata = Cursor::new(metadata);
            let column = ColumnType::parse(number, &mut metadata, NEW).unwrap().unwrap();
            assert!(metadata.is_empty());
            let mut row = Cursor::new(&[0; 40]);
            column.take(&mut row).unwrap();
            assert_eq!(40 - row.rest().len(), value_bytes, "{column:?}");
        }
    }

    #[test]
    fn long_char_hides_its_length_in_the_type() {
        let mut metadata = Cursor::new(&[0xCE, 0xFC]);
        let flavor = ServerFlavor::MariaDb(101_119);
        let column = ColumnType::parse(254, &mut metadata, flavor).unwrap();
        assert_eq!(column, Some(ColumnType::Char { bytes_max: 1020 }));
    }

    #[test]
    fn impossible_metadata_is_refused_and_unknown_types_are_told() {
        let flavor = ServerFlavor::MariaDb(110_806);
        for (number, metadata) in [
            (246, [66, 0]),
            (246, [3, 4]),
            (16, [9, 0]),
            (19, [7, 0]),
            (252, [5, 0]),
            (254, [1, 1]),
            (4, [8, 0]),
        ] {
            assert!(ColumnType::parse(number, &mut Cursor::new(&metadata), flavor).is_err(), "{number}");
        }
        for number in [0, 6, 7, 11, 12, 20, 242, 243] {
            assert_eq!(ColumnType::parse(number, &mut Cursor::new(&[]), flavor), Ok(None));
        }
    }
}
