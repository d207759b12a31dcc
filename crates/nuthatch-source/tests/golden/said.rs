//! What comes out of a stream, as text: a line for each event, and one for each row.

use std::fmt::Write as _;

use nuthatch_source::{
    Event, EventReader, Image, Place, QueryEvent, Rows, TableMap, TransactionStart, Value, Xid,
};

use crate::captured::Stream;

/// Longer values are shown by their length and their first bytes.
const SHOWN_BYTES: usize = 24;

pub(crate) fn say(stream: &Stream) -> String {
    let mut said = String::new();
    let mut reader = EventReader::new(stream.flavor);
    for event in &stream.events {
        let outcome = reader.read(event, &mut |place, event| line(&mut said, place, &event));
        if let Err(error) = outcome {
            writeln!(said, "failed to {error}").unwrap();
        }
    }
    said
}

fn line(said: &mut String, place: Place, event: &Event<'_>) {
    let artificial = if place.is_artificial() { " artificial" } else { "" };
    write!(said, "{}{artificial} ", place.end).unwrap();
    match event {
        Event::Format => said.push_str("format"),
        Event::Rotate { file, position } => write!(said, "rotate to {} {position}", text(file)).unwrap(),
        Event::Heartbeat { file, position } => write!(said, "heartbeat {} {position}", text(file)).unwrap(),
        Event::Gtid(start) => begin(said, place, start),
        Event::Query(query) => self::query(said, "query", query),
        Event::LoadQuery(query) => self::query(said, "load query", query),
        Event::TableMap(table) => map(said, table),
        Event::Rows { table, kind, rows, is_statement_end } => {
            let end = if *is_statement_end { ", end of statement" } else { "" };
            write!(said, "{kind:?} in {}{end}", name(table)).unwrap();
            match rows {
                Some(rows) => changes(said, rows.clone()),
                None => said.push_str(": not readable"),
            }
        }
        Event::Xid(number) => write!(said, "commit {number}").unwrap(),
        Event::XaPrepare { xid, is_one_phase } => {
            let what = if *is_one_phase { "commit in one phase" } else { "prepare" };
            write!(said, "{what} {}", self::xid(xid)).unwrap();
        }
        other => write!(said, "{other:?}").unwrap(),
    }
    said.push('\n');
}

fn begin(said: &mut String, place: Place, start: &TransactionStart<'_>) {
    match start {
        TransactionStart::MySql { uuid, tag, number, order } => {
            write!(said, "transaction {}:{}:{number} {order:?}", hex(uuid), text(tag)).unwrap();
        }
        TransactionStart::Anonymous { order } => {
            write!(said, "transaction without a number {order:?}").unwrap();
        }
        TransactionStart::MariaDb(start) => {
            write!(said, "transaction {}-{}-{}", start.domain, place.server_id, start.sequence).unwrap();
            for (is, word) in [
                (start.is_standalone(), "standalone"),
                (start.is_transactional(), "transactional"),
                (start.is_ddl(), "ddl"),
                (start.is_prepared_xa(), "prepared"),
                (start.is_completed_xa(), "completed"),
            ] {
                if is {
                    write!(said, " {word}").unwrap();
                }
            }
            if let Some(xid) = &start.xid {
                write!(said, " xid {}", self::xid(xid)).unwrap();
            }
            if let Some(alter) = start.alter {
                write!(said, " {alter:?}").unwrap();
            }
            if let Some(thread) = start.thread_id {
                write!(said, " thread {thread}").unwrap();
            }
        }
    }
}

fn xid(xid: &Xid<'_>) -> String {
    format!("{}:{}:{}", xid.format_id, text(xid.gtrid), text(xid.bqual))
}

fn query(said: &mut String, word: &str, query: &QueryEvent<'_>) {
    let QueryEvent { thread_id, error, schema, sql_mode, client_collation, .. } = query;
    let mode = sql_mode.map_or("-".into(), |mode| format!("{mode:x}"));
    write!(
        said,
        "{word} of {thread_id} in {} error {error} mode {mode} collation {client_collation:?}: {}",
        text(schema),
        text(query.text)
    )
    .unwrap();
}

fn map(said: &mut String, table: &TableMap) {
    write!(said, "table {}", name(table)).unwrap();
    if !table.is_readable() {
        said.push_str(": not readable");
    }
    for (place, column) in table.columns().iter().enumerate() {
        write!(said, "\n    {place} {:?}", column.kind).unwrap();
        if column.is_nullable {
            said.push_str(" null");
        }
        if let Some(is_unsigned) = column.is_unsigned {
            said.push_str(if is_unsigned { " unsigned" } else { " signed" });
        }
        if let Some(collation) = column.collation {
            write!(said, " collation {collation}").unwrap();
        }
        if let Some(name) = &column.name {
            write!(said, " named {}", text(name)).unwrap();
        }
    }
    if let Some(key) = table.primary_key() {
        write!(said, "\n    key {:?}", key.iter().map(|part| (part.column, part.prefix)).collect::<Vec<_>>())
            .unwrap();
    }
}

fn changes(said: &mut String, rows: Rows<'_>) {
    for row in rows {
        match row {
            Ok(row) => {
                for (word, image) in [("before", row.before), ("after", row.after)] {
                    if let Some(image) = image {
                        write!(said, "\n    {word}{}", self::image(&image)).unwrap();
                    }
                }
            }
            Err(error) => write!(said, "\n    failed to {error}").unwrap(),
        }
    }
}

fn image(image: &Image<'_>) -> String {
    let mut said = String::new();
    for (place, value) in image.values() {
        assert_eq!(image.value(place), Some(value));
        write!(said, " {place}={}", self::value(&value)).unwrap();
    }
    said
}

fn value(value: &Value<'_>) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer { .. } => format!("{}", value.as_integer(false).unwrap()),
        Value::Float(number) => format!("{number:?}"),
        Value::Double(number) => format!("{number:?}"),
        Value::Bytes(bytes) => text(bytes),
        Value::Decimal { bytes, .. } => format!("decimal {}", hex(bytes)),
        Value::DateTime { packed, .. } => format!("DateTime({packed})"),
        Value::Bit(bytes) => format!("bit {}", hex(bytes)),
        Value::Json(bytes) => format!("json {}", shortened(bytes)),
        Value::Partial(bytes) => format!("partial {}", shortened(bytes)),
        Value::Opaque(bytes) => format!("opaque {}", shortened(bytes)),
        other => format!("{other:?}"),
    }
}

/// As in an SQL string; what is long or binary, shortened.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => format!("'{}'", clip(text)),
        _ => format!("x'{}'", shortened(bytes)),
    }
}

fn clip(text: &str) -> String {
    let shown: String = text.chars().take(200).collect();
    if shown.len() < text.len() { format!("{shown}… of {}", text.len()) } else { shown }
}

fn shortened(bytes: &[u8]) -> String {
    match bytes.get(..SHOWN_BYTES) {
        Some(first) if bytes.len() > SHOWN_BYTES => format!("{}… of {}", hex(first), bytes.len()),
        _ => hex(bytes),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |said, byte| said + &format!("{byte:02x}"))
}

fn name(table: &TableMap) -> String {
    format!("{}.{}", text(table.schema()), text(table.name()))
}
