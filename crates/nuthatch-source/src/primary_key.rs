//! Keys by which rows can be told apart: one column, of an integer type.

use nuthatch_sql::{PrimaryKey, fold};

use crate::definitions::ColumnDefinition;

/// The key made of this column alone, if it is one. Its position is that among all columns, invisible ones too. `is_only_unique`: the
/// table has no other unique index.
pub(crate) fn primary_key(column: &ColumnDefinition, is_only_unique: bool) -> Option<PrimaryKey> {
    // Another column's new value would change it.
    if column.is(b"STORED GENERATED") || column.is(b"VIRTUAL GENERATED") {
        return None;
    }
    let (min, max) = range(column)?;
    Some(PrimaryKey {
        column: fold(&column.name),
        min,
        max,
        position: position(column),
        is_auto_increment: column.is(b"auto_increment"),
        is_only_unique,
    })
}

/// The values that the type holds; `None` if it is no integer type. ZEROFILL columns are unsigned.
pub(crate) fn range(column: &ColumnDefinition) -> Option<(i64, u64)> {
    let bits: u32 = match column.data_type.to_ascii_lowercase().as_slice() {
        b"tinyint" => 8,
        b"smallint" => 16,
        b"mediumint" => 24,
        b"int" => 32,
        b"bigint" => 64,
        _ => return None,
    };
    let is_unsigned =
        column.column_type.split(|byte| *byte == b' ').any(|word| word.eq_ignore_ascii_case(b"unsigned"));
    let unused = 64 - bits;
    Some(if is_unsigned {
        (0, u64::MAX >> unused)
    } else {
        (i64::MIN >> unused, i64::MAX.unsigned_abs() >> unused)
    })
}

pub(crate) fn position(column: &ColumnDefinition) -> Option<u16> {
    let ordinal: u16 = std::str::from_utf8(&column.ordinal).ok()?.parse().ok()?;
    ordinal.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::TableRef;

    fn column(column_type: &str, extra: &str) -> ColumnDefinition {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let data_type = column_type.split(['(', ' ']).next().unwrap_or_default();
        ColumnDefinition {
            table: TableRef { schema: bytes("s"), name: bytes("t") },
            name: bytes("Id"),
            ordinal: bytes("2"),
            data_type: bytes(data_type),
            column_type: bytes(column_type),
            extra: bytes(extra),
            generated_by: Vec::new(),
        }
    }

    #[test]
    fn range_is_that_of_the_type() {
        for (column_type, expected) in [
            ("tinyint(1)", Some((-128, 127))),
            ("tinyint unsigned", Some((0, 255))),
            ("smallint(6)", Some((-32_768, 32_767))),
            ("mediumint(8) unsigned zerofill", Some((0, 16_777_215))),
            ("mediumint", Some((-8_388_608, 8_388_607))),
            ("int(11)", Some((-2_147_483_648, 2_147_483_647))),
            ("int(10) unsigned", Some((0, 4_294_967_295))),
            ("bigint", Some((i64::MIN, 9_223_372_036_854_775_807))),
            ("bigint(20) unsigned", Some((0, u64::MAX))),
            ("bit(8)", None),
            ("decimal(10,0)", None),
            ("varchar(10)", None),
            ("year(4)", None),
        ] {
            let key = primary_key(&column(column_type, ""), true);
            assert_eq!(key.map(|key| (key.min, key.max)), expected, "{column_type}");
        }
    }

    #[test]
    fn position_and_auto_increment_are_told() {
        let key = primary_key(&column("int", "auto_increment"), true).unwrap();
        assert_eq!((&*key.column, key.position, key.is_auto_increment), (&b"id"[..], Some(1), true));
        assert!(!primary_key(&column("int", ""), true).unwrap().is_auto_increment);
        assert_eq!(primary_key(&column("int", "STORED GENERATED"), true), None);
    }
}
