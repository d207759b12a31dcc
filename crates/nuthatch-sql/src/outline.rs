//! A shape to which statements are held: whether one has it, and where its literals stand.
//!
//! Cost: a comparison of the bytes between the literals, and about a nanosecond a byte of these; no allocation.

use crate::shape::{NUMBER, STRING, digits_len, end_of_quoted, shape};
use crate::token::Lexing;

/// The shape of a statement, cut at its literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    /// What stands before each literal, one behind the other, then what stands behind the last.
    kept: Box<[u8]>,
    literals: Box<[Gap]>,
}

/// A literal, and how many bytes are kept before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    kept: u32,
    kind: Literal,
}

/// What a literal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    /// Digits.
    Number,
    /// A string in single quotes.
    String,
}

impl Outline {
    /// The shape of `statement`, if it has one.
    pub(crate) fn of(statement: &[u8], lexing: Lexing) -> Option<Self> {
        let mut shaped = Vec::new();
        shape(statement, lexing, &mut shaped).then_some(())?;
        let (mut kept, mut literals, mut from) = (Vec::with_capacity(shaped.len()), Vec::new(), 0);
        for &byte in &shaped {
            let kind = match byte {
                NUMBER => Literal::Number,
                STRING => Literal::String,
                byte => {
                    kept.push(byte);
                    continue;
                }
            };
            literals.push(Gap { kept: u32::try_from(kept.len() - from).ok()?, kind });
            from = kept.len();
        }
        Some(Self { kept: kept.into(), literals: literals.into() })
    }

    /// Goes through the literals of `statement`, from first to last, with their kinds and where they begin; none if it has another shape,
    /// or one is not to `take`.
    pub(crate) fn read<'q>(
        &self,
        statement: &'q [u8],
        mut take: impl FnMut(Literal, usize, &'q [u8]) -> Option<()>,
    ) -> Option<()> {
        let (mut kept, mut at) = (&*self.kept, 0);
        for gap in &self.literals {
            let (before, behind) = kept.split_at_checked(gap.kept as usize)?;
            let rest = statement.get(at..)?.strip_prefix(before)?;
            at += before.len();
            let len = gap.kind.len(rest)?;
            take(gap.kind, at, rest.get(..len)?)?;
            (kept, at) = (behind, at + len);
        }
        (statement.get(at..)? == kept).then_some(())
    }

    /// Whether digits may stand behind a dot, where they are a name.
    pub(crate) fn may_name_by_digits(&self) -> bool {
        let mut at = 0;
        self.literals.iter().any(|gap| {
            at += gap.kept as usize;
            let before = self.kept.get(..at).unwrap_or_default();
            gap.kind == Literal::Number && before.trim_ascii_end().ends_with(b".")
        })
    }
}

impl Literal {
    /// How long the literal of this kind is that `rest` begins with. What follows it is for who reads on to look at.
    fn len(self, rest: &[u8]) -> Option<usize> {
        match self {
            Self::Number => Some(digits_len(rest)).filter(|len| *len > 0),
            Self::String => rest.first().filter(|byte| **byte == b'\'').and_then(|_| end_of_quoted(rest, 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::token::ServerFlavor;

    const LEXING: Lexing = Lexing::of(ServerFlavor::MariaDb(101_119));

    fn literals(of: &str, read: &str) -> Option<Vec<(Literal, usize, String)>> {
        let mut found = Vec::new();
        let outline = Outline::of(of.as_bytes(), LEXING).expect("a shape");
        outline.read(read.as_bytes(), |kind, at, text| {
            found.push((kind, at, String::from_utf8_lossy(text).into_owned()));
            Some(())
        })?;
        Some(found)
    }

    #[test]
    fn literals_are_found_in_what_has_the_shape_and_in_nothing_else() {
        let of = "SELECT 1,'a' FROM t WHERE id=2";
        let number = |at, text: &str| (Literal::Number, at, text.to_owned());
        assert_eq!(
            literals(of, "SELECT 77,'' FROM t WHERE id=8"),
            Some(vec![number(7, "77"), (Literal::String, 10, "''".to_owned()), number(29, "8")])
        );
        for other in [
            "",
            "SELECT 1,'a' FROM t WHERE id=2 ",
            "SELECT 1,'a' FROM t WHERE id=",
            "SELECT 1,'a' FROM t WHERE id=x",
            "SELECT 1,'a' FROM t WHERE id=2.5",
            "SELECT 1,'a''' FROM t WHERE id=2",
            "SELECT 1,'\\' FROM t WHERE id=2",
            "SELECT 1,\"a\" FROM t WHERE id=2",
            "select 1,'a' FROM t WHERE id=2",
            "SELECT 'a',1 FROM t WHERE id=2",
            "SELECT 1,'a",
        ] {
            assert_eq!(literals(of, other), None, "{other}");
        }
    }

    #[test]
    fn digits_behind_a_dot_may_be_a_name() {
        let may = |text: &str| Outline::of(text.as_bytes(), LEXING).expect("a shape").may_name_by_digits();
        assert!(may("UPDATE shop. 5 SET a = 1") && may("UPDATE shop . \n 5 SET a = 1"));
        assert!(!may("UPDATE shop.t5 SET a = 5.5, b = '.', c = 1 WHERE d = '5' AND id = 5"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

        #[test]
        fn two_statements_have_one_shape_exactly_if_one_is_read_by_the_outline_of_the_other(
            one in prop::collection::vec("1|20|'a'|''|x| |,|\\.|-|'|\"|`|=|/|\\*|@|:|\\\\|#|é", 0..12),
            other in prop::collection::vec("1|20|'a'|''|x| |,|\\.|-|'|\"|`|=|/|\\*|@|:|\\\\|#|é", 0..12),
            numbers in prop::collection::vec("[0-9]{1,20}|'b'", 0..4),
        ) {
            let (one, mut other) = (one.concat(), other.concat());
            if let Some(number) = numbers.first() {
                // Often the same but for its literals.
                other = numbers.iter().fold(one.clone(), |text, by| text.replacen('1', by, 1).replacen("'a'", number, 1));
            }
            let mut shapes = (Vec::new(), Vec::new());
            let have = shape(one.as_bytes(), LEXING, &mut shapes.0) && shape(other.as_bytes(), LEXING, &mut shapes.1);
            let reads = Outline::of(one.as_bytes(), LEXING)
                .is_some_and(|outline| outline.read(other.as_bytes(), |_, _, _| Some(())).is_some());
            prop_assert_eq!(have && shapes.0 == shapes.1, reads, "{} {}", one, other);
        }
    }
}
