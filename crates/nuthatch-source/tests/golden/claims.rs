//! What must hold of the captured streams, whatever else they say.

use nuthatch_source::{BinlogError, Event, EventReader, RowsKind, TransactionStart, Value};

use crate::captured::{Stream, all, one};

const SERVERS: [&str; 3] = ["mariadb-10.11", "mariadb-11.8", "mysql-9.7"];
const MARIADB: [&str; 2] = ["mariadb-10.11", "mariadb-11.8"];

fn visit(stream: &Stream, mut visitor: impl FnMut(&Event<'_>)) {
    let mut reader = EventReader::new(stream.flavor);
    for event in &stream.events {
        reader.read(event, &mut |_, event| visitor(&event)).unwrap();
    }
}

/// How many rows were inserted, updated and deleted in tables of this name.
fn rows_of(stream: &Stream, name: &str) -> [usize; 3] {
    let mut counts = [0; 3];
    visit(stream, |event| {
        let Event::Rows { table, kind, rows: Some(rows), .. } = event else { return };
        if table.name() == name.as_bytes() {
            counts[*kind as usize] += rows.clone().map(Result::unwrap).count();
        }
    });
    counts
}

#[test]
fn every_event_of_every_server_is_known_and_every_row_read() {
    for stream in all() {
        visit(&stream, |event| match event {
            Event::Unknown { kind } => panic!("{kind} in {:?}", stream.path),
            Event::Rows { rows: Some(rows), .. } => assert!(rows.clone().all(|row| row.is_ok())),
            _ => {}
        });
    }
}

#[test]
fn last_columns_are_where_all_types_before_them_say() {
    for (server, last) in [("mariadb-10.11", 77), ("mariadb-11.8", 78), ("mysql-9.7", 77)] {
        for scenario in ["types", "types_metadata"] {
            let mut seen = Vec::new();
            visit(&one(server, scenario), |event| {
                let Event::Rows { table, kind: RowsKind::Insert, rows: Some(rows), .. } = event else {
                    return;
                };
                if table.name() != b"every" {
                    return;
                }
                for row in rows.clone() {
                    let after = row.unwrap().after.unwrap();
                    let integer = |column| match after.value(column) {
                        Some(Value::Null) => None,
                        value => value.unwrap().as_integer(false),
                    };
                    seen.push((integer(0), integer(table.columns().len() - 1)));
                    assert_eq!(after.value(table.columns().len()), None);
                }
            });
            assert_eq!(seen, [(Some(1), Some(last)), (Some(2), Some(-last)), (Some(3), None)], "{server}");
        }
    }
}

#[test]
fn signs_and_collations_are_those_of_the_definition() {
    for server in SERVERS {
        let (mut signs, mut collations) = (Vec::new(), Vec::new());
        visit(&one(server, "types_metadata"), |event| match event {
            Event::TableMap(table) if table.name() == b"signs" => {
                signs = table.columns().iter().map(|column| column.is_unsigned).collect();
            }
            Event::TableMap(table) if table.name() == b"charsets" => {
                collations = [0, 2, 5, 8].map(|column| table.columns()[column].collation).to_vec();
                let key: Vec<_> = table.primary_key().unwrap().iter().map(|p| (p.column, p.prefix)).collect();
                assert_eq!(key, [(7, 0), (0, 2)]);
                assert_eq!(table.columns()[7].name.as_deref(), Some(&b"n"[..]));
            }
            _ => {}
        });
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(signs, [yes, yes, None, no, None, yes, no, yes], "{server}");
        assert_eq!(collations, [Some(8), Some(63), Some(63), Some(11)], "{server}");
    }
}

#[test]
fn compressed_rows_are_all_there() {
    for server in SERVERS {
        assert_eq!(rows_of(&one(server, "compressed"), "keyed"), [53, 2, 3], "{server}");
    }
}

#[test]
fn long_statement_has_several_events_and_ends_once() {
    for server in SERVERS {
        let mut ends = Vec::new();
        visit(&one(server, "several_tables"), |event| {
            if let Event::Rows { table, rows: Some(rows), is_statement_end, .. } = event
                && table.name() == b"one"
                && rows.clone().count() > 10
            {
                ends.push(*is_statement_end);
            }
        });
        assert_eq!(ends, [false, true], "{server}");
    }
}

#[test]
fn foreign_key_action_of_mariadb_names_its_table_without_rows_and_mysql_has_them() {
    for server in MARIADB {
        assert_eq!(rows_of(&one(server, "several_tables"), "child"), [3, 0, 0]);
        let mut named = 0;
        visit(&one(server, "several_tables"), |event| {
            if let Event::TableMap(table) = event {
                named += usize::from(table.name() == b"child");
            }
        });
        assert!(named > 1, "{server}");
    }
    assert_eq!(rows_of(&one("mysql-9.7", "several_tables"), "child"), [3, 1, 2]);
}

#[test]
fn names_of_files_never_end_with_a_checksum() {
    for stream in all() {
        visit(&stream, |event| {
            if let Event::Rotate { file, .. } | Event::Heartbeat { file, .. } = event {
                assert!(file.starts_with(b"bin.0") && file.len() == 10, "{file:?} in {:?}", stream.path);
            }
        });
    }
}

#[test]
fn xa_transactions_are_named_where_they_are_prepared_and_in_mariadb_where_they_end() {
    for server in SERVERS {
        let (mut prepared, mut completed) = (Vec::new(), Vec::new());
        visit(&one(server, "xa"), |event| match event {
            Event::XaPrepare { xid, is_one_phase: false } => prepared.push(xid.gtrid.to_vec()),
            Event::Gtid(TransactionStart::MariaDb(start)) if start.is_completed_xa() => {
                completed.push(start.xid.unwrap().gtrid.to_vec());
            }
            _ => {}
        });
        assert_eq!(prepared, [b"one", b"two"], "{server}");
        assert_eq!(completed.len(), if MARIADB.contains(&server) { 2 } else { 0 });
    }
}

#[test]
fn differences_of_documents_are_told_apart_from_whole_ones() {
    let (mut differences, mut whole) = (0, 0);
    visit(&one("mysql-9.7", "partial_json"), |event| {
        let Event::Rows { kind: RowsKind::Update, rows: Some(rows), .. } = event else { return };
        for row in rows.clone() {
            let row = row.unwrap();
            assert!(row.before.unwrap().values().all(|(_, value)| !matches!(value, Value::Partial(_))));
            for (_, value) in row.after.unwrap().values() {
                differences += usize::from(matches!(value, Value::Partial(_)));
                whole += usize::from(matches!(value, Value::Json(_)));
            }
        }
    });
    assert!(differences > 0 && whole > 0);
}

#[test]
fn tag_and_number_of_a_gtid_are_those_of_the_session() {
    let mut seen = Vec::new();
    visit(&one("mysql-9.7", "tagged"), |event| {
        if let Event::Gtid(TransactionStart::MySql { tag, number, .. }) = event
            && !tag.is_empty()
        {
            seen.push((String::from_utf8_lossy(tag).into_owned(), *number));
        }
    });
    let long = "a_tag_of_exactly_thirty_two_char".to_owned();
    assert_eq!(seen, [("blue".to_owned(), 1), ("blue".to_owned(), 2), (long, 1_234_567_890_123)]);
}

#[test]
fn bit_that_fell_over_is_found_by_the_checksum() {
    for server in SERVERS {
        let stream = one(server, "xa");
        let mut reader = EventReader::new(stream.flavor);
        for event in &stream.events {
            let is_made_up = event[4] == 4;
            let mut fallen = event.clone();
            *fallen.last_mut().unwrap() ^= 1;
            if !is_made_up {
                assert_eq!(reader.read(&fallen, &mut |_, _| {}), Err(BinlogError::Checksum));
            }
            reader.read(event, &mut |_, _| {}).unwrap();
        }
    }
}
