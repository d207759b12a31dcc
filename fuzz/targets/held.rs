//! What statements do to what a connection is held for: temporary tables, handlers, named locks; and whom a KILL means.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::split_lexing;
use nuthatch_sql::{
    Handler, Kind, Lexing, TableName, TemporaryTables, classify, handler, kill, locks, temporary_tables,
};

fuzz_target!(|input: &[u8]| {
    let Some((lexing, query)) = split_lexing(input) else { return };
    let kind = |query: &[u8], lexing: Lexing| classify(query, lexing).kind;
    let stands_there = |table: &TableName| {
        assert!(table.name.len() + table.schema.as_ref().map_or(0, Vec::len) <= query.len());
    };
    match temporary_tables(query, lexing) {
        Some(TemporaryTables::Made(table)) => {
            // Behind a semicolon more may follow; whoever asks has looked for that.
            assert!(matches!(kind(query, lexing), Kind::Ddl(_) | Kind::Multi));
            stands_there(&table);
        }
        Some(TemporaryTables::Dropped(tables)) => {
            assert!(matches!(kind(query, lexing), Kind::Ddl(_)) && !tables.is_empty());
            tables.iter().for_each(stands_there);
        }
        None => {}
    }
    if let Some(Handler::Opened(name) | Handler::Closed(name)) = handler(query, lexing) {
        assert_eq!(kind(query, lexing), Kind::Handler);
        assert!(name.len() <= query.len());
    }
    if kill(query, lexing).is_some() {
        assert_eq!(kind(query, lexing), Kind::Kill);
    }
    let locks = locks(query, lexing);
    for name in &locks.taken {
        assert!(query.windows(name.len()).any(|part| part == *name));
    }
});
