//! What statements read and write: footprints keep their types' promises, and only what is understood is narrowed.
//!
//! That no OR stands beside the condition on a key is asked a second time, of the words as they stand.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{
    Catalogue, Class, Kind, Lexing, Parameter, PrimaryKey, ReadRows, RowKey, SideEffects, Table, TableId,
    WriteFootprint, WriteTemplate, WrittenRows, classify, read_footprint, write_footprint,
};

const PARAMETERS: [Parameter; 4] =
    [Parameter::Unsigned(7), Parameter::Negative(-3), Parameter::Time, Parameter::Other];

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let mut catalogue = Catalogue::default();
    for (id, name) in (0..).zip(["orders", "users", "t"]) {
        let key = PrimaryKey {
            column: b"id".as_slice().into(),
            min: -128,
            max: 127,
            position: Some(0),
            is_auto_increment: true,
            is_only_unique: true,
        };
        let table = Table {
            id: TableId(id),
            is_view: false,
            time_columns: [Box::from(&b"begins"[..])].into(),
            compared: nuthatch_sql::ComparedColumns::default(),
            key: Some(key),
            reads: [TableId(id)].into(),
            unsuitable: None,
            side_effects: SideEffects::Tables([].into()),
            is_transactional: true,
            definition: 0,
        };
        catalogue.insert(b"shop", name.as_bytes(), table);
    }
    catalogue
});

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    check_read(query, lexing);
    check_write(query, lexing);
});

fn check_read(query: &[u8], lexing: Lexing) {
    let statement = classify(query, lexing);
    let class = Class::of(&statement);
    let Ok(read) = read_footprint(query, class, lexing, b"shop", &CATALOGUE, &PARAMETERS) else { return };
    assert!(statement.cache.is_ok() && statement.volatile.is_none());
    assert!(read.tables.is_sorted_by(|one, next| one.table < next.table));
    for table in &read.tables {
        match &table.rows {
            ReadRows::Any => continue,
            ReadRows::Keys { keys, .. } => check_keys(keys),
            ReadRows::Equal(_) => {}
            ReadRows::Range { from, to } => assert!(from <= to),
        }
        check_condition(query);
    }
}

fn check_write(query: &[u8], lexing: Lexing) {
    let statement = classify(query, lexing);
    let class = Class::of(&statement);
    let write = write_footprint(query, class, lexing, b"shop", &CATALOGUE, &PARAMETERS);
    if statement.effects.runs_unseen_code || lexing.ascii_in_characters {
        assert_eq!(write, WriteFootprint::Everything);
    }
    if let Some(template) = WriteTemplate::of(query, class, lexing, b"shop", &CATALOGUE, &PARAMETERS) {
        assert_eq!(template.footprint(query, class, lexing, b"shop", &PARAMETERS).as_ref(), Some(&write));
    }
    let WriteFootprint::Tables(tables) = write else { return };
    for table in &tables {
        match &table.rows {
            WrittenRows::Any => {}
            WrittenRows::Given | WrittenRows::New => assert_eq!(statement.kind, Kind::Insert),
            WrittenRows::Keys(keys) => {
                assert!(matches!(statement.kind, Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete));
                check_keys(keys);
                if matches!(statement.kind, Kind::Update | Kind::Delete) {
                    check_condition(query);
                }
            }
        }
    }
}

fn check_keys(keys: &[RowKey]) {
    let is_held = |key: &RowKey| (-128..=127).contains(&key.0.cast_signed()) && key.0 != 0;
    assert!(!keys.is_empty() && keys.is_sorted_by(|one, next| one < next) && keys.iter().all(is_held));
}

/// What stands behind WHERE has no OR, if there is nothing in it but words and symbols that hide none.
fn check_condition(query: &[u8]) {
    let is_plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"_,=<>;?".contains(byte);
    if !query.iter().all(is_plain) {
        return;
    }
    let text = query.to_ascii_uppercase();
    let words: Vec<&[u8]> = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').collect();
    let condition = words.iter().skip_while(|word| **word != b"WHERE");
    let ends = |word: &&&[u8]| !matches!(**word, b"GROUP" | b"HAVING" | b"ORDER" | b"LIMIT");
    let has_or = condition.take_while(ends).any(|word| matches!(*word, b"OR" | b"XOR"));
    assert!(!has_or, "{}", String::from_utf8_lossy(query));
}
