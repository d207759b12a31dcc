//! Columns whose values can be told apart, by what is written in statements and by what is read in a binlog.

use nuthatch_sql::{ComparedColumn, ComparedColumns, Holds, fold};

use crate::definitions::ColumnShape;
use crate::primary_key::{position, range};

type Names = &'static [&'static [u8]];

/// Character sets, and collations of them, in which strings of bytes from 0x20 to 0x7E that are equal differ in the case of letters and in
/// spaces at the end only. Tested over all of up to two characters and contractions of three (`tests/soundness/collations.rs`), on each server
/// that has them. Known not to be so: lithuanian and roman ones, Hungarian ones of MySQL's 0900, Latvian `0900_ai_ci`, and character sets in
/// which such bytes are other characters.
const COLLATIONS: [(Names, Names); 3] = [
    (
        &[b"utf8mb4_", b"utf8mb3_", b"utf8_"],
        &[
            b"bin",
            b"nopad_bin",
            b"general_ci",
            b"general_nopad_ci",
            b"general_mysql500_ci",
            b"unicode_ci",
            b"unicode_nopad_ci",
            b"unicode_520_ci",
            b"unicode_520_nopad_ci",
            b"uca1400_ai_ci",
            b"uca1400_ai_cs",
            b"uca1400_as_ci",
            b"uca1400_as_cs",
            b"uca1400_nopad_ai_ci",
            b"uca1400_nopad_ai_cs",
            b"uca1400_nopad_as_ci",
            b"uca1400_nopad_as_cs",
            b"0900_ai_ci",
            b"0900_as_ci",
            b"0900_as_cs",
            b"0900_bin",
            b"croatian_ci",
            b"czech_ci",
            b"danish_ci",
            b"esperanto_ci",
            b"estonian_ci",
            b"german2_ci",
            b"hungarian_ci",
            b"icelandic_ci",
            b"latvian_ci",
            b"persian_ci",
            b"polish_ci",
            b"romanian_ci",
            b"sinhala_ci",
            b"slovak_ci",
            b"slovenian_ci",
            b"spanish_ci",
            b"spanish2_ci",
            b"swedish_ci",
            b"turkish_ci",
            b"vietnamese_ci",
        ],
    ),
    (
        &[b"latin1_"],
        &[
            b"bin",
            b"nopad_bin",
            b"swedish_ci",
            b"swedish_nopad_ci",
            b"general_ci",
            b"general_cs",
            b"german1_ci",
            b"german2_ci",
            b"danish_ci",
            b"spanish_ci",
        ],
    ),
    (&[b"ascii_"], &[b"bin", b"nopad_bin", b"general_ci", b"general_nopad_ci"]),
];

/// Strings, in types that a binlog has as bytes. Of the last ones bytes are compared.
const STRINGS: [&[u8]; 6] = [b"char", b"varchar", b"tinytext", b"text", b"mediumtext", b"longtext"];
const BYTES: [&[u8]; 6] = [b"binary", b"varbinary", b"tinyblob", b"blob", b"mediumblob", b"longblob"];

/// An ENUM with more members is not told apart.
const MEMBERS_MAX: usize = 256;

/// What may be another in a binlog than a statement that names the column says: not all are there, or in another order.
const UNCERTAIN: [&[u8]; 3] = [b"STORED GENERATED", b"VIRTUAL GENERATED", b"INVISIBLE"];

/// What is known so far of a table's columns, which come in any order.
#[derive(Default)]
pub(crate) struct Columns {
    all: u16,
    compared: Vec<ComparedColumn>,
    names: Vec<(Option<u16>, Box<[u8]>)>,
    are_uncertain: bool,
}

impl Columns {
    pub(crate) fn add(&mut self, shape: &ColumnShape) {
        self.all = self.all.saturating_add(1);
        self.are_uncertain |= UNCERTAIN.iter().any(|words| shape.column.is(words));
        self.compared.extend(compared(shape));
        self.names.push((position(&shape.column), fold(&shape.column.name)));
    }

    pub(crate) fn compared(&self) -> ComparedColumns {
        let mut columns = if self.are_uncertain { Vec::new() } else { self.compared.clone() };
        columns.sort_unstable_by_key(|column| column.position);
        ComparedColumns { all: self.all, columns: columns.into(), names: self.names().unwrap_or_default() }
    }

    /// In order; none where a statement may name one otherwise than it is written here, or a place is not known.
    fn names(&self) -> Option<Box<[Box<[u8]>]>> {
        let mut names = self.names.clone();
        names.sort_unstable();
        let are_all =
            names.iter().zip(0..).all(|((place, name), at)| *place == Some(at) && is_plain_name(name));
        (are_all && !self.are_uncertain).then(|| names.into_iter().map(|(_, name)| name).collect())
    }
}

/// Whether a lexer takes it for one word, and for the same one in whatever case.
fn is_plain_name(name: &[u8]) -> bool {
    let is_first = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    name.first().is_some_and(is_first)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

fn compared(ColumnShape { column, collation }: &ColumnShape) -> Option<ComparedColumn> {
    let is_of = |types: &[&[u8]]| types.iter().any(|one| column.data_type.eq_ignore_ascii_case(one));
    let holds = match range(column) {
        Some((min, max)) => Holds::Integers { min, max },
        None if is_of(&BYTES) || is_of(&STRINGS) && has_normal_form(collation) => Holds::Strings,
        None if is_of(&[b"decimal"]) => Holds::Decimals { scale: scale(&column.column_type)? },
        None if is_of(&[b"date"]) => Holds::Dates,
        // With a fraction of seconds it would say of how many digits.
        None if column.column_type.eq_ignore_ascii_case(b"datetime") => Holds::Moments,
        None if is_of(&[b"enum"]) && has_normal_form(collation) => {
            Holds::members(members(&column.column_type)?)?
        }
        None => return None,
    };
    Some(ComparedColumn { name: fold(&column.name), position: position(column)?, holds })
}

/// How many digits a DECIMAL has behind the point, by its type as it is shown: `decimal(9,2) unsigned`.
fn scale(column_type: &[u8]) -> Option<u8> {
    let digits = column_type.get(b"decimal(".len()..)?.split(|byte| *byte == b')').next()?;
    std::str::from_utf8(digits.split(|byte| *byte == b',').nth(1)?).ok()?.parse().ok()
}

/// The members of an ENUM, by its type as it is shown; none if there are many, or one with a quote or a backslash, or with what MariaDB
/// shows in the place of a character that it cannot show.
fn members(column_type: &[u8]) -> Option<Vec<&[u8]>> {
    let inside = column_type.get(b"enum('".len()..)?.strip_suffix(b"')")?;
    let (mut members, mut rest) = (Vec::new(), inside);
    while members.len() < MEMBERS_MAX {
        let end = rest.iter().position(|byte| matches!(byte, b'\'' | b'\\' | b'?'));
        let Some(end) = end else {
            members.push(rest);
            return Some(members);
        };
        members.push(rest.get(..end)?);
        rest = rest.get(end..)?.strip_prefix(b"','")?;
    }
    None
}

/// Whether equal strings of that collation have one normal form (see [`nuthatch_sql::ColumnValue`]).
#[must_use]
pub fn has_normal_form(collation: &[u8]) -> bool {
    let of_set = |set: &&[u8]| {
        let (head, name) = collation.split_at_checked(set.len())?;
        head.eq_ignore_ascii_case(set).then_some(name)
    };
    COLLATIONS.iter().any(|(sets, names)| {
        let is_known = |name: &[u8]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        sets.iter().find_map(of_set).is_some_and(is_known)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{ColumnDefinition, TableRef};

    fn shape(name: &str, ordinal: u16, column_type: &str, collation: &str, extra: &str) -> ColumnShape {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let data_type = column_type.split(['(', ' ']).next().unwrap_or_default();
        let column = ColumnDefinition {
            table: TableRef { schema: bytes("s"), name: bytes("t") },
            name: bytes(name),
            ordinal: ordinal.to_string().into_bytes(),
            data_type: bytes(data_type),
            column_type: bytes(column_type),
            extra: bytes(extra),
            generated_by: Vec::new(),
        };
        ColumnShape { column, collation: bytes(collation) }
    }

    fn told(shapes: &[ColumnShape]) -> (u16, Vec<(u16, Holds)>) {
        let mut columns = Columns::default();
        shapes.iter().for_each(|shape| columns.add(shape));
        let compared = columns.compared();
        (
            compared.all,
            compared.columns.iter().map(|column| (column.position, column.holds.clone())).collect(),
        )
    }

    #[test]
    fn integers_strings_of_known_collations_and_bytes_are_compared() {
        let shapes = [
            shape("d", 4, "text", "utf8mb4_lithuanian_ci", ""),
            shape("a", 1, "tinyint(1)", "", "auto_increment"),
            shape("C", 3, "varchar(20)", "utf8mb4_bin", "DEFAULT_GENERATED"),
            shape("b", 2, "float", "", ""),
            shape("e", 5, "varbinary(9)", "", ""),
            shape("f", 6, "set('a','b')", "utf8mb4_bin", ""),
        ];
        let integers = Holds::Integers { min: -128, max: 127 };
        assert_eq!(told(&shapes), (6, vec![(0, integers), (2, Holds::Strings), (4, Holds::Strings)]));
    }

    #[test]
    fn decimals_dates_and_members_are_compared() {
        let shapes = [
            shape("a", 1, "decimal(9,2) unsigned", "", ""),
            shape("b", 2, "date", "", ""),
            shape("c", 3, "datetime", "", ""),
            shape("d", 4, "datetime(3)", "", ""),
            shape("e", 5, "timestamp", "", ""),
            shape("f", 6, "enum('a','B c','')", "utf8mb4_general_ci", ""),
            shape("g", 7, "enum('it''s','b')", "utf8mb4_general_ci", ""),
            shape("h", 8, "enum('a')", "utf8mb4_lithuanian_ci", ""),
            shape("i", 9, "enum('a','a?')", "utf8mb4_general_ci", ""),
        ];
        let members = Holds::members([&b"a"[..], b"b c", b""]).expect("they are plain");
        assert_eq!(
            told(&shapes).1,
            [(0, Holds::Decimals { scale: 2 }), (1, Holds::Dates), (2, Holds::Moments), (5, members)]
        );
    }

    #[test]
    fn collations_are_known_by_their_whole_names() {
        for known in
            ["utf8mb4_0900_ai_ci", "UTF8_General_ci", "latin1_swedish_ci", "ascii_bin", "utf8mb3_bin"]
        {
            assert!(has_normal_form(known.as_bytes()), "{known}");
        }
        for other in
            ["", "utf8mb4_", "utf8mb4_roman_ci", "utf8mb4_de_pb_0900_ai_ci", "ucs2_bin", "swe7_bin", "bin"]
        {
            assert!(!has_normal_form(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn no_column_is_where_a_binlog_may_have_others() {
        for extra in ["STORED GENERATED", "VIRTUAL GENERATED", "VIRTUAL GENERATED, INVISIBLE", "INVISIBLE"] {
            let shapes = [shape("a", 1, "int", "", ""), shape("b", 2, "int", "", extra)];
            assert_eq!(told(&shapes), (2, vec![]), "{extra}");
        }
    }
}
