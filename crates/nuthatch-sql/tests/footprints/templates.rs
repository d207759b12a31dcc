//! A template's footprint is the one that is found without it, whatever literals and parameters the next statement has.

use std::sync::LazyLock;

use nuthatch_sql::{Class, Parameter, WriteFootprint, WriteTemplate, classify};
use proptest::prelude::*;

use super::super::{Session, parameter, shown_write};
use super::catalogue::Shop;

static SHOP: LazyLock<Shop> = LazyLock::new(Shop::new);

impl Session {
    fn template(&self, text: &[u8]) -> Option<WriteTemplate> {
        let class = Class::of(&classify(text, self.lexing));
        WriteTemplate::of(text, class, self.lexing, &self.schema, &SHOP.catalogue, &self.parameters)
    }

    fn by(&self, template: &WriteTemplate, text: &[u8]) -> Option<WriteFootprint> {
        let class = Class::of(&classify(text, self.lexing));
        template.footprint(text, class, self.lexing, &self.schema, &self.parameters)
    }
}

fn with(parameters: &str) -> Session {
    Session { parameters: parameters.split_whitespace().map(parameter).collect(), ..Session::default() }
}

#[test]
fn keys_of_the_next_statement_are_those_that_stand_in_it() {
    for (one, next, expected) in [
        ("UPDATE orders SET a=a+1 WHERE id=7", "UPDATE orders SET a=a+2 WHERE id=8", "orders[8]"),
        ("UPDATE orders SET a=0, b='x' WHERE id=7", "UPDATE orders SET a=8, b='' WHERE id=9", "orders[9]"),
        (
            "UPDATE orders SET a=1 WHERE 7=id",
            "UPDATE orders SET a=1 WHERE 2147483647=id",
            "orders[2147483647]",
        ),
        ("UPDATE orders SET a=1 WHERE b=7", "UPDATE orders SET a=1 WHERE b=8", "orders"),
        ("UPDATE orders SET a=1 WHERE id>7", "UPDATE orders SET a=1 WHERE id>8", "orders"),
        (
            "UPDATE users SET a=1 WHERE id=7",
            "UPDATE users SET a=1 WHERE id=9223372036854775807",
            "users[9223372036854775807]",
        ),
        ("DELETE FROM orders WHERE id IN (3,1,2)", "DELETE FROM orders WHERE id IN (9,9,8)", "orders[8,9]"),
        ("DELETE FROM orders WHERE id=7 AND id=8", "DELETE FROM orders WHERE id=9 AND id=9", "orders[9]"),
        ("DELETE FROM legacy WHERE id=7 AND a=1", "DELETE FROM legacy WHERE id=07 AND a=3", "legacy[7]~"),
        ("INSERT INTO orders (a, id) VALUES (1, 7)", "INSERT INTO orders (a, id) VALUES (0, 9)", "orders[9]"),
        (
            "INSERT INTO orders VALUES (7,'a'),(8,'b')",
            "INSERT INTO orders VALUES (2,'a'),(1,'b')",
            "orders[1,2]",
        ),
        ("INSERT INTO orders (a) VALUES (1)", "INSERT INTO orders (a) VALUES (2)", "orders[given]"),
        (
            "INSERT INTO orders VALUES (NULL,1),(NULL,2)",
            "INSERT INTO orders VALUES (NULL,3),(NULL,4)",
            "orders[new]",
        ),
        ("INSERT INTO tiny VALUES ('a',7)", "INSERT INTO tiny VALUES ('é.b',127)", "tiny[127]"),
        ("REPLACE INTO orders VALUES (7,1)", "REPLACE INTO orders VALUES (8,2)", "orders[8]"),
        ("UPDATE orders SET a='x' WHERE id='7'", "UPDATE orders SET a='8' WHERE id='-9'", "orders[-9]"),
        ("UPDATE orders SET a=1 WHERE id=-7", "UPDATE orders SET a=2 WHERE id=-8", "orders[-8]"),
        (
            "INSERT INTO orders VALUES ('7','a'),('8','b')",
            "INSERT INTO orders VALUES ('2','a'),('1','07')",
            "orders[1,2]",
        ),
        (
            "DELETE FROM orders WHERE (id IN ((1),'2',-3))",
            "DELETE FROM orders WHERE (id IN ((4),'-5',-6))",
            "orders[4,-6,-5]",
        ),
        ("REPLACE INTO lines VALUES (7,1)", "REPLACE INTO lines VALUES (8,2)", "lines"),
        ("INSERT INTO audited VALUES (7)", "INSERT INTO audited VALUES (8)", "audited log"),
        ("UPDATE orders, users SET a=1 WHERE b=2", "UPDATE orders, users SET a=3 WHERE b=4", "orders users"),
    ] {
        let session = Session::default();
        let template = session.template(one.as_bytes()).unwrap_or_else(|| panic!("no template of {one}"));
        let found =
            session.by(&template, next.as_bytes()).unwrap_or_else(|| panic!("{next} is not like {one}"));
        assert_eq!(shown_write(&SHOP, &found, ""), expected, "{next}");
        assert_eq!(found, session.write(&SHOP, next.as_bytes()), "{next}");
    }
}

#[test]
fn parameters_are_keys_as_literals_are() {
    for (text, one, next, expected) in [
        ("UPDATE orders SET a=? WHERE id=?", "1 7", "time 8", Some("orders[8]")),
        ("UPDATE orders SET a=? WHERE id=?", "1 7", "1 -8", Some("orders[-8]")),
        ("UPDATE orders SET a=? WHERE id=?", "1 7", "1 0", None),
        ("UPDATE orders SET a=? WHERE id=?", "1 7", "1 3000000000", None),
        ("UPDATE orders SET a=? WHERE id=?", "1 7", "1 other", None),
        ("UPDATE orders SET a=? WHERE id=?", "1 7", "1", None),
        ("UPDATE orders SET a=?", "other", "", Some("orders")),
        ("DELETE FROM orders WHERE id IN (?, 5, ?)", "7 8", "9 2", Some("orders[2,5,9]")),
        ("INSERT INTO orders VALUES (?, ?)", "7 other", "9 1", Some("orders[9]")),
    ] {
        let (one, next) = (with(one), with(next));
        let template = one.template(text.as_bytes()).unwrap_or_else(|| panic!("no template of {text}"));
        let found = next.by(&template, text.as_bytes());
        assert_eq!(found.as_ref().map(|found| shown_write(&SHOP, found, "")).as_deref(), expected, "{text}");
        assert!(found.is_none_or(|found| found == next.write(&SHOP, text.as_bytes())), "{text}");
    }
}

#[test]
fn what_a_value_may_decide_has_no_template() {
    for text in [
        // Zero, out of range, no integer.
        "UPDATE orders SET a=1 WHERE id=0",
        "UPDATE orders SET a=1 WHERE id=2147483648",
        "UPDATE orders SET a=1 WHERE id=7.0",
        "UPDATE orders SET a=1 WHERE id=0x7",
        "UPDATE orders SET a=1 WHERE id=7 AND id>0",
        "DELETE FROM orders WHERE id IN (1, 99999999999999999999)",
        "UPDATE orders SET a=1 WHERE id='07'",
        "UPDATE orders SET a=1 WHERE id='0'",
        "UPDATE orders SET a=1 WHERE id='x'",
        "INSERT INTO users VALUES ('9007199254740992')",
        "INSERT INTO orders VALUES ('7'), (7)",
        // Whose the key is cannot be told.
        "DELETE FROM orders WHERE id IN (7, 7)",
        "DELETE FROM orders WHERE id=7 AND id>=7",
        // Digits that are a name.
        "DELETE FROM shop. 255",
        // No shape.
        "UPDATE orders SET a='it''s' WHERE id=7",
        "UPDATE orders SET a=1 /* b */ WHERE id=7",
        "UPDATE orders SET a=1 WHERE id=7 -- b",
        // More than rows, or anything.
        "UPDATE nosuch SET a=1 WHERE id=7",
        "UPDATE hooked SET a=1 WHERE id=7",
        "TRUNCATE orders",
        "CREATE TABLE t (id INT)",
        "SELECT 1",
        "CALL p(7)",
    ] {
        assert!(Session::default().template(text.as_bytes()).is_none(), "{text}");
    }
    let long = format!("UPDATE orders SET a='{}' WHERE id=7", "x".repeat(2048));
    assert!(Session::default().template(long.as_bytes()).is_none());
}

#[test]
fn statements_that_the_template_is_not_of_have_to_be_looked_at() {
    let session = Session::default();
    let text = b"UPDATE orders SET a=1 WHERE id=7";
    let template = session.template(text).expect("a template");
    assert!(session.by(&template, text).is_some());
    for other in [
        "UPDATE orders SET a=1 WHERE id=0",
        "UPDATE orders SET a=1 WHERE id=2147483648",
        "UPDATE orders SET a=1 WHERE id=18446744073709551616",
        "UPDATE orders SET a=1 WHERE id=7.0",
        "UPDATE orders SET a=1 WHERE id=-7",
        "UPDATE orders SET a=1 WHERE id='7'",
        "UPDATE orders SET a=1 WHERE id=7 OR 1",
        "UPDATE orders SET a=1 WHERE id=7 ",
        "UPDATE orders SET a='1' WHERE id=7",
        "UPDATE users SET a=1 WHERE id=7",
    ] {
        assert_eq!(session.by(&template, other.as_bytes()), None, "{other}");
    }
    let text_quoted = b"UPDATE orders SET a=1 WHERE id='7'";
    let quoted = session.template(text_quoted).expect("a template");
    assert!(session.by(&quoted, text_quoted).is_some());
    for other in ["07", " 7", "7 ", "+7", "-0", "0", "7.0", "7e0", "x", "", "2147483648"] {
        let other = format!("UPDATE orders SET a=1 WHERE id='{other}'");
        assert_eq!(session.by(&quoted, other.as_bytes()), None, "{other}");
    }
    let of_schema = Session { schema: b"depot".to_vec(), ..Session::default() };
    assert_eq!(of_schema.by(&template, text), None);
    let mut read_otherwise = Session::default();
    read_otherwise.lexing.ansi_quotes = true;
    assert_eq!(read_otherwise.by(&template, text), None);
}

/// Stands where a literal goes.
const GAP: char = '\u{a7}';

/// Numbers that stand alone, by which statements have one shape.
const NUMBERS: &str = "[1-9]|[1-9]|0|00|007|12[78]|255|256|214748364[78]|4294967295|9223372036854775807|\
    9223372036854775808|18446744073709551615|18446744073709551616|99999999999999999999999";

/// Strings that are one token whatever is in them, by which statements have one shape.
const STRINGS: &str = "'x'|''|'7'|'8'|'-9'|'12'|'07'|'-0'|'9007199254740991'|'9007199254740992'|'0'|'a.b'|'é'|'WHERE id=7'|'2020-01-01'|'\"'|'`'|'--'|'/\\*'|'\\?'|'#'|';'";

/// What else may stand there.
const OTHERS: &str = "-7|- 7|7\\.0|\\.7|7e0|0x7|x'07'|0b1|NULL|DEFAULT|'it''s'|'a\\\\'b'|DATE'2020-01-01'|\\?|\"7\"|7 \\+ 1|\\(7\\)|@a|\
    7 -- 7\n|/\\* 7 \\*/ 7|'7' '8'|TRUE|id|shop\\. 255|7;|7 OR 1";

/// Pieces of statements behind their first words.
const PIECES: &str = "orders|users|tiny|shop|depot|legacy|id|a|b|`id`|SET|WHERE|AND|AND|OR|IN|BETWEEN|VALUES|\\(|\\(|\\)|\\)|,|,|=|=|=|<|>|\\.|-|\\+|;|\
    AS|ON|DUPLICATE|KEY|UPDATE|RETURNING|LIMIT|ORDER|BY|SELECT|FROM|JOIN|NULL|CASE|END|INTERVAL|IGNORE|INTO|'x'|\\?|é|nosuch|\
    \u{a7}|\u{a7}|\u{a7}|id=\u{a7}|id=\u{a7}|orders\\.id=\u{a7}|id IN \\(\u{a7}, \u{a7}\\)|\\(\u{a7}, \u{a7}, b\\)|shop\\. \u{a7}|a=\u{a7}|id>\u{a7}";

const HEADS: &str = "UPDATE |UPDATE orders SET a=\u{a7} WHERE |UPDATE orders SET |DELETE FROM |DELETE FROM orders WHERE |INSERT INTO |\
    INSERT INTO orders VALUES \\(\u{a7}, |INSERT INTO users \\(id, a\\) VALUES |INSERT INTO orders SET |REPLACE INTO |REPLACE orders VALUES |\
    WITH x AS \\(SELECT \u{a7}\\) UPDATE orders SET ";

/// Terms of a condition, most of them of the key.
const TERMS: &str = "id=\u{a7}|id=\u{a7}|orders\\.id = \u{a7}|\u{a7}=id|id IN \\(\u{a7}, \u{a7}\\)|id IN \\(\u{a7}\\)|\\(id=\u{a7}\\)|\\(\\(id\\) = \\(\u{a7}\\) AND a=\u{a7}\\)|id=-\u{a7}|id>\u{a7}|\u{a7} > id|id>=\u{a7}|\
    id BETWEEN \u{a7} AND \u{a7}|id = \u{a7} \\+ \u{a7}|a=\u{a7}|a BETWEEN \u{a7} AND \u{a7}|\\(a OR b = \u{a7}\\)|NOT a|id = -\u{a7}|id = \\?|id IN \\(\\?, \u{a7}, \\?\\)";

/// Rows of new values.
const ROWS: &str = "\\(\u{a7}\\)|\\(\u{a7}, \u{a7}\\)|\\(\u{a7}, 'x'\\)|\\(NULL, \u{a7}\\)|\\(\u{a7}\\+\u{a7}, \u{a7}\\)|\\(\\?, \u{a7}\\)|\\(\u{a7}, \\?\\)|\\(\\)";

/// The statements of `writes.txt`, with gaps for their literals.
static WRITES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let lines = include_str!("writes.txt").lines().filter_map(|line| line.rsplit_once(" => "));
    let kinds = ["INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"];
    let begins = |text: &&str| kinds.iter().any(|kind| text.to_ascii_uppercase().starts_with(kind));
    lines.map(|(text, _)| text).filter(begins).map(with_gaps).collect()
});

/// Numbers and strings are left out.
fn with_gaps(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_in_word = out.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let string = rest.strip_prefix('\'').and_then(|inside| inside.find('\'')).map_or(0, |end| end + 2);
        let gap = if is_in_word { 0 } else { digits.max(string) };
        out.push(if gap > 0 { GAP } else { first });
        rest = &rest[if gap > 0 { gap } else { first.len_utf8() }..];
    }
    out
}

fn filled(pattern: &str, literals: &[String]) -> String {
    let mut literals = literals.iter().cycle();
    pattern.chars().fold(String::new(), |mut text, next| {
        match literals.next() {
            Some(literal) if next == GAP => text.push_str(literal),
            _ => text.push(next),
        }
        text
    })
}

fn pattern() -> impl Strategy<Value = String> {
    let of_pieces = (HEADS, prop::collection::vec(PIECES, 0..14))
        .prop_map(|(head, pieces)| format!("{head}{}", pieces.join(" ")));
    let of_terms = (
        "UPDATE orders SET a=\u{a7} WHERE |DELETE FROM orders WHERE |UPDATE users SET a=\\? WHERE |DELETE FROM tiny WHERE ",
        prop::collection::vec(TERMS, 1..4),
    )
        .prop_map(|(head, terms)| format!("{head}{}", terms.join(" AND ")));
    let of_rows = (
        "(INSERT|REPLACE) INTO (orders|users|tiny|odd|doubly|legacy) VALUES ",
        prop::collection::vec(ROWS, 1..4),
    )
        .prop_map(|(head, rows)| format!("{head}{}", rows.join(", ")));
    let of_file = any::<prop::sample::Index>().prop_map(|at| at.get(&WRITES).clone());
    prop_oneof![of_pieces, of_terms, of_rows, of_file]
}

fn literals() -> impl Strategy<Value = Vec<String>> {
    let literal = prop_oneof![8 => NUMBERS, 2 => STRINGS, 1 => OTHERS];
    prop_oneof![
        4 => prop::collection::vec(NUMBERS, 1..8),
        1 => prop::collection::vec("[1-9][0-9]{0,2}", 1..8),
        2 => prop::collection::vec(literal, 1..8),
        2 => prop::collection::vec(STRINGS, 1..8),
    ]
}

fn parameters() -> impl Strategy<Value = Vec<Parameter>> {
    let parameter = prop_oneof![
        (0..10_u64).prop_map(Parameter::Unsigned),
        any::<u64>().prop_map(Parameter::Unsigned),
        (-200..0_i64).prop_map(Parameter::Negative),
        Just(Parameter::Other),
        Just(Parameter::Time),
    ];
    prop::collection::vec(parameter, 0..4)
}

/// What became of two statements.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    NoTemplate,
    Declined,
    Same(WriteFootprint),
}

fn check(
    session: &mut Session,
    one: (&str, Vec<Parameter>),
    next: (&str, Vec<Parameter>),
) -> Result<Outcome, TestCaseError> {
    session.parameters = one.1;
    let Some(template) = session.template(one.0.as_bytes()) else { return Ok(Outcome::NoTemplate) };
    let own = session.by(&template, one.0.as_bytes());
    prop_assert_eq!(own, Some(session.write(&SHOP, one.0.as_bytes())), "{}", one.0);
    session.parameters = next.1;
    let Some(found) = session.by(&template, next.0.as_bytes()) else { return Ok(Outcome::Declined) };
    prop_assert_eq!(&found, &session.write(&SHOP, next.0.as_bytes()), "{} by {}", next.0, one.0);
    Ok(Outcome::Same(found))
}

/// Whether the property is of anything.
#[test]
fn most_statements_of_one_shape_have_one_template() {
    let fill = |number: usize| -> Vec<String> { (1..9).map(|n| (n * 11 + number).to_string()).collect() };
    let mut same = 0;
    for pattern in WRITES.iter() {
        let (one, next) = (filled(pattern, &fill(1)), filled(pattern, &fill(2)));
        let outcome =
            check(&mut Session::default(), (&one, Vec::new()), (&next, Vec::new())).expect("one footprint");
        same += usize::from(matches!(outcome, Outcome::Same(_)));
    }
    assert!(same >= 100 && same * 3 >= WRITES.len(), "{same} of {}", WRITES.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16 * ProptestConfig::default().cases))]

    #[test]
    fn template_gives_the_footprint_that_is_found_without_it(
        pattern in pattern(),
        one in literals(),
        next in literals(),
        of_one in parameters(),
        of_next in parameters(),
        ansi_quotes in any::<bool>(),
        has_schema in prop::bool::weighted(0.9),
    ) {
        let mut session = Session::default();
        session.lexing.ansi_quotes = ansi_quotes;
        if !has_schema {
            session.schema.clear();
        }
        let (one, next) = (filled(&pattern, &one), filled(&pattern, &next));
        check(&mut session, (&one, of_one), (&next, of_next))?;
    }
}
