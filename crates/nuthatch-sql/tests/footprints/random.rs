//! Random statements: none panics, what widens a WHERE widens its footprint, and no row that a WHERE leaves is missed.

use std::sync::LazyLock;

use nuthatch_sql::{Parameter, ReadFootprint, ReadRows, RowKey, TableRead, WriteFootprint, WrittenRows};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::super::Session;
use super::catalogue::Shop;

/// Pieces of statements, a few of which are wrong wherever they stand.
const PIECES: &str = "SELECT|FROM|WHERE|orders|users|shop|nosuch|recent_orders|id|7|8|0|'x'|`id`|=|<|>|\\(|\\)|,|\\.|;|AND|OR|\
    BETWEEN|IN|NOT|CASE|END|INTERVAL|UNION|WITH|RECURSIVE|x|AS|JOIN|ON|USING|UPDATE|SET|DELETE|INSERT|INTO|VALUES|REPLACE|\
    DUPLICATE|KEY|CREATE|TABLE|DROP|VIEW|TRUNCATE|LOAD|DATA|\\*|\\?|@a|@@b|/\\*!|/\\*|\\*/|-- |#|\n|\"|'|`|\\{|\\}|:|\\||é";

/// Pieces of conditions without parentheses and comments.
const WORDS: &str = "id|orders|7|8|0|'x'|`id`|a|b|=|<|>|-|,|\\.|:|\\{|\\}|\\?|@a|AND|OR|BETWEEN|IN|IS|NOT|NULL|LIKE|\
    CASE|WHEN|THEN|END|INTERVAL|DAY|RETURNING|QUALIFY|id = 7|AND id = 7|a BETWEEN 1";

/// Terms that say nothing of the key.
const TERMS: &str = "a|a = 1|a BETWEEN 1 AND 2|a IN \\(1, 2\\)|NOT a|\\(a OR b\\)|a IS NOT NULL|b LIKE 'x%'|CONCAT\\(a, b\\) = 'x'|-a < 3";

static SHOP: LazyLock<Shop> = LazyLock::new(Shop::new);

fn soup(pieces: &'static str) -> impl Strategy<Value = String> {
    prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.join(" "))
}

fn parameters() -> Vec<Parameter> {
    vec![Parameter::Unsigned(7), Parameter::Negative(-3), Parameter::Other]
}

fn is_narrowed(read: &ReadFootprint) -> bool {
    read.tables.iter().any(|table| table.rows != ReadRows::Any)
}

fn is_of_keys(write: &WriteFootprint) -> bool {
    let WriteFootprint::Tables(tables) = write else { return false };
    tables.iter().any(|table| matches!(table.rows, WrittenRows::Keys(_)))
}

/// Checks that neither the SELECT nor the DELETE with this condition is narrowed.
fn check_wide(condition: &str) -> Result<(), TestCaseError> {
    let session = Session { parameters: parameters(), ..Session::default() };
    let read = session.read(&SHOP, format!("SELECT a FROM orders WHERE {condition}").as_bytes());
    prop_assert!(!read.is_ok_and(|read| is_narrowed(&read)), "{}", condition);
    let write = session.write(&SHOP, format!("DELETE FROM orders WHERE {condition}").as_bytes());
    prop_assert!(!is_of_keys(&write), "{}", condition);
    Ok(())
}

/// A term about the key, as text and as what it leaves.
#[derive(Clone, Debug)]
enum OfKey {
    In(Vec<u64>),
    Between(u64, u64),
    AtLeast(u64),
    Below(u64),
}

impl OfKey {
    fn text(&self) -> String {
        match self {
            Self::In(keys) => {
                // Each in another spelling.
                let spelled = |(at, key): (usize, &u64)| match at % 3 {
                    0 => key.to_string(),
                    1 => format!("'{key}'"),
                    _ => format!("({key})"),
                };
                format!("id IN ({})", keys.iter().enumerate().map(spelled).collect::<Vec<_>>().join(","))
            }
            Self::Between(least, greatest) => format!("id BETWEEN {least} AND {greatest}"),
            Self::AtLeast(least) => format!("{least} <= orders.id"),
            Self::Below(least) => format!("id < {least}"),
        }
    }

    fn leaves(&self, id: u64) -> bool {
        match self {
            Self::In(keys) => keys.contains(&id),
            Self::Between(least, greatest) => (least..=greatest).contains(&&id),
            Self::AtLeast(least) => id >= *least,
            Self::Below(greatest) => id < *greatest,
        }
    }
}

fn of_key() -> impl Strategy<Value = OfKey> {
    prop_oneof![
        prop::collection::vec(0_u64..12, 1..4).prop_map(OfKey::In),
        (0_u64..12, 0_u64..12).prop_map(|(least, greatest)| OfKey::Between(least, greatest)),
        (0_u64..12).prop_map(OfKey::AtLeast),
        (0_u64..12).prop_map(OfKey::Below),
    ]
}

fn covers(table: &TableRead, id: u64) -> bool {
    match &table.rows {
        ReadRows::Any => true,
        ReadRows::Keys { keys, .. } => keys.contains(&RowKey(id)),
        // Columns of `orders` are not told apart.
        ReadRows::Equal(_) => false,
        ReadRows::Range { from, to } => (*from..=*to).contains(&RowKey(id)),
    }
}

/// What `.cargo/config.toml` says, which tests are given only where cargo starts them from the repository.
#[test]
fn properties_run_from_a_given_seed() {
    assert_ne!(ProptestConfig::default().rng_seed, RngSeed::Random);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn any_statement_has_a_footprint_or_none(text in soup(PIECES), ansi_quotes in any::<bool>()) {
        let mut session = Session { parameters: parameters(), ..Session::default() };
        session.lexing.ansi_quotes = ansi_quotes;
        drop(session.read(&SHOP, text.as_bytes()));
        drop(session.write(&SHOP, text.as_bytes()));
    }

    #[test]
    fn any_bytes_have_a_footprint_or_none(text in any::<Vec<u8>>()) {
        let session = Session::default();
        drop(session.read(&SHOP, &text));
        drop(session.write(&SHOP, &text));
    }

    #[test]
    fn what_is_joined_by_or_is_never_narrowed(
        terms in prop::collection::vec(TERMS, 0..4),
        key in of_key(),
        or in "OR|XOR|\\|\\||or|/\\*!OR\\*/",
    ) {
        let condition = [terms, vec![key.text()]].concat().join(" AND ");
        check_wide(&format!("{condition} {or} 1"))?;
        check_wide(&format!("a {or} {condition}"))?;
        check_wide(&format!("({condition} {or} 1)"))?;
        check_wide(&format!("({condition}) {or} 1"))?;
        check_wide(&format!("((a {or} {condition}) AND b)"))?;
    }

    #[test]
    fn what_follows_a_value_widens(key in 1_u64..100, operator in "\\+|-|\\*|/|%|\\^|\\||=|<|>|<=>|<>|IS|DIV|LIKE|IN|COLLATE|REGEXP|'x'|1|@a|b|\\.") {
        check_wide(&format!("a AND id = {key} {operator}"))?;
        check_wide(&format!("a AND id = {key} {operator} (b)"))?;
        check_wide(&format!("a AND id = {key} {operator} b AND c"))?;
        check_wide(&format!("(a AND id = '{key}' {operator} b AND c)"))?;
        check_wide(&format!("a AND (id = -{key} AND b) {operator} b AND c"))?;
    }

    #[test]
    fn nothing_hides_an_or(before in soup(WORDS), after in soup(WORDS)) {
        // Behind a dot they are names, or the server refuses the statement.
        prop_assume!(!before.trim_end().ends_with('.'));
        check_wide(&format!("{before} OR {after} AND id = 7"))?;
        check_wide(&format!("id = 7 AND {before} OR {after}"))?;
        check_wide(&format!("{before} RETURNING a AND id = 7"))?;
        check_wide(&format!("({before} OR {after} AND id = 7)"))?;
        check_wide(&format!("(id = 7 AND {before} OR {after}) AND b"))?;
        check_wide(&format!("(id = 7 AND b) OR {before}"))?;
    }

    #[test]
    fn every_row_that_a_conjunction_leaves_is_covered(
        keys in prop::collection::vec(of_key(), 1..4),
        terms in prop::collection::vec(TERMS, 0..4),
        turn in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let mut all: Vec<String> = keys.iter().map(OfKey::text).chain(terms).collect();
        let at = turn.index(all.len());
        all.rotate_left(at);
        // Some of them, together, in parentheses.
        let (from, to) = (from.index(all.len()), to.index(all.len()));
        if let Some(first) = all.get_mut(from.min(to)) {
            first.insert(0, '(');
        }
        if let Some(last) = all.get_mut(from.max(to)) {
            last.push(')');
        }
        let text = format!("SELECT a FROM orders WHERE {}", all.join(" AND "));
        let session = Session::default();
        let read = session.read(&SHOP, text.as_bytes()).expect("a plain SELECT");
        let left = (0..20).filter(|id| keys.iter().all(|key| key.leaves(*id)));
        for id in left {
            prop_assert!(read.tables.iter().all(|table| covers(table, id)), "{} in {}", id, text);
        }
        // Narrowing is not given up either, where a list of keys stands.
        let has_list = keys.iter().any(|key| matches!(key, OfKey::In(keys) if !keys.contains(&0)));
        prop_assert!(!has_list || is_narrowed(&read), "{}", text);
    }
}

#[test]
fn long_runs_of_anything_need_no_stack_and_little_time() {
    let session = Session::default();
    for piece in [
        "(",
        ")",
        "orders,",
        "orders.",
        "AND ",
        "id = 7 AND ",
        "(1),",
        "(id = 7 AND ",
        "((a) AND ",
        "x AS (SELECT 1),",
        "a = 1,",
        "é",
        "BETWEEN ",
    ] {
        for head in [
            "",
            "SELECT a FROM ",
            "SELECT a FROM orders WHERE ",
            "WITH ",
            "INSERT INTO orders VALUES ",
            "UPDATE orders SET ",
        ] {
            let text = format!("{head}{}", piece.repeat(20_000));
            drop(session.read(&SHOP, text.as_bytes()));
            drop(session.write(&SHOP, text.as_bytes()));
        }
    }
}
