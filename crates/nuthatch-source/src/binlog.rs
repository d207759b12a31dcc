//! The events of a binlog, as a server sends them to a replica: bytes in, [`Event`]s out, without socket or clock.
//!
//! **The stream.** A file's events follow a format ([`Event::Format`]), which says whether checksums stand behind them. A
//! transaction is a start with its number, then either one statement (DDL) or rows, each statement's behind the maps of its
//! tables, then a commit. [`EventReader`] keeps no more of it than that: the checksums, and the tables up to the end of a
//! statement.
//!
//! **What it bears with.** An event that is not known is told as such, a table with a type that is not known as not readable: its
//! rows are not looked at. What a server could not have sent is an error, and the stream ends. Nothing panics, and no memory is
//! taken for a length that is only claimed.
//!
//! **Two families.** MariaDB has events of its own from the number 160 on, and MySQL's since 5.6 it never sends, but XA PREPARE.
//! `mysql_common` decodes none of MariaDB's, and copies.
//!
//! Cost: one checksum over each event, and one pass over a row for each time that it is read; tables are copied, rows are not.

mod column_type;
mod cursor;
mod decimal;
mod error;
mod event;
mod header;
mod kind;
mod query;
mod rows;
mod table_map;
mod tagged;
mod transaction_start;
mod unpack;
mod value;
mod xid;

use std::collections::HashMap;

use nuthatch_sql::ServerFlavor;

use cursor::Cursor;
use header::{Checksum, Framed};
use rows::{DUMMY_TABLE, Form, RowsHead};
use unpack::{Next, Payload, unpack_mariadb};

pub use column_type::ColumnType;
pub use error::BinlogError;
pub use event::Event;
pub use header::Place;
pub use query::QueryEvent;
pub use rows::{Image, RowChange, Rows, RowsKind};
pub use table_map::{Column, KeyPart, TableMap};
pub use transaction_start::{AlterPhase, CommitOrder, MariaDbStart, TransactionStart};
pub use value::Value;
pub use xid::Xid;

/// How many tables one statement may name.
const TABLES_MAX: usize = 1 << 16;
/// What is kept for the next event of what one has been unpacked to.
const SCRATCH_BYTES_MAX: usize = 1 << 20;
/// The format's version since MySQL 5.0, and the length that a header has since.
const FORMAT_VERSION: u16 = 4;
const FIRST_MARIADB: u8 = kind::ANNOTATE_ROWS;

/// The events of one connection, in their order.
#[derive(Debug, Clone)]
pub struct EventReader {
    flavor: ServerFlavor,
    checksum: Checksum,
    /// Of the statement that is being read.
    tables: HashMap<u64, TableMap>,
    /// Where compressed events are unpacked to.
    scratch: Vec<u8>,
}

impl EventReader {
    /// For a connection to a server of this family.
    #[must_use]
    pub fn new(flavor: ServerFlavor) -> Self {
        Self { flavor, checksum: Checksum::Unknown, tables: HashMap::new(), scratch: Vec::new() }
    }

    /// Reads one event as it came, without the protocol's OK byte and without what semi-synchronous replication puts before it.
    /// `sink` is given each event in it: a compressed transaction has several.
    ///
    /// # Errors
    /// When the bytes are none that a server could have sent, or more than the limits allow. `sink` may have been given some events.
    pub fn read(&mut self, event: &[u8], sink: &mut impl FnMut(Place, Event<'_>)) -> Result<(), BinlogError> {
        if event.get(4) == Some(&kind::FORMAT_DESCRIPTION) {
            let place = self.format(event)?;
            sink(place, Event::Format);
            return Ok(());
        }
        let framed = Framed::parse(self.checksum.strip(event)?)?;
        match framed.kind {
            kind::TRANSACTION_PAYLOAD if !self.is_foreign(framed.kind) => self.payload(framed, sink),
            _ => self.plain(framed, sink),
        }
    }

    /// Takes over what the format says. Its own checksum is always there, but only true if others have one.
    fn format(&mut self, event: &[u8]) -> Result<Place, BinlogError> {
        let (_, len, place) = header::header(event)?;
        if len != event.len() {
            return Err(BinlogError::Malformed("an event's length"));
        }
        let (stripped, is_true) = header::split(event).ok_or(BinlogError::Truncated)?;
        let mut fields = Cursor::new(Framed::parse(stripped)?.body);
        let version = fields.u16()?;
        fields.bytes(50 + 4)?; // The server's version, and when it started.
        let header_bytes = fields.u8()?;
        if version != FORMAT_VERSION || usize::from(header_bytes) != header::HEADER_BYTES {
            return Err(BinlogError::Malformed("the version of the binlog's format"));
        }
        // How long each event's head is, then how checksums are made.
        let checksum = Checksum::parse(*fields.rest().last().ok_or(BinlogError::Truncated)?)?;
        if checksum == Checksum::Crc32 && !is_true {
            return Err(BinlogError::Checksum);
        }
        self.checksum = checksum;
        self.tables.clear();
        Ok(place)
    }

    /// An event that holds a transaction's events. They have no checksums.
    fn payload(
        &mut self,
        framed: Framed<'_>,
        sink: &mut impl FnMut(Place, Event<'_>),
    ) -> Result<(), BinlogError> {
        let mut payload = Payload::parse(framed.body)?;
        let mut event = Vec::new();
        while let Next::Event = payload.next_into(&mut event)? {
            let inner = Framed::parse(&event)?;
            if matches!(inner.kind, kind::TRANSACTION_PAYLOAD | kind::FORMAT_DESCRIPTION | kind::ROTATE) {
                return Err(BinlogError::Malformed("an event inside a payload"));
            }
            let place = Place { end: framed.place.end, ..inner.place };
            self.plain(Framed { place, ..inner }, sink)?;
        }
        Ok(())
    }

    fn plain(
        &mut self,
        framed: Framed<'_>,
        sink: &mut impl FnMut(Place, Event<'_>),
    ) -> Result<(), BinlogError> {
        let Framed { kind: number, place, body } = framed;
        if self.is_foreign(number) {
            sink(place, unknown(number, place));
            return Ok(());
        }
        if let Some(meaning) = rows::meaning(number) {
            return self.rows(place, RowsHead::parse(body, meaning)?, sink);
        }
        match number {
            kind::TABLE_MAP => self.table_map(place, body, sink),
            kind::QUERY_COMPRESSED => {
                let mut text = std::mem::take(&mut self.scratch);
                let query = QueryEvent::parse(body)?;
                unpack_mariadb(query.text, &mut text)?;
                sink(place, Event::Query(QueryEvent { text: &text, ..query }));
                self.keep(text);
                Ok(())
            }
            _ => {
                if matches!(
                    number,
                    kind::GTID | kind::ANONYMOUS_GTID | kind::GTID_TAGGED | kind::MARIADB_GTID
                ) {
                    self.tables.clear();
                }
                sink(place, small(number, place, body)?);
                Ok(())
            }
        }
    }

    fn table_map(
        &mut self,
        place: Place,
        body: &[u8],
        sink: &mut impl FnMut(Place, Event<'_>),
    ) -> Result<(), BinlogError> {
        let table = TableMap::parse(body, self.flavor)?;
        if self.tables.len() >= TABLES_MAX {
            return Err(BinlogError::TooLarge("a statement's tables"));
        }
        sink(place, Event::TableMap(&table));
        self.tables.insert(table.id(), table);
        Ok(())
    }

    fn rows(
        &mut self,
        place: Place,
        head: RowsHead<'_>,
        sink: &mut impl FnMut(Place, Event<'_>),
    ) -> Result<(), BinlogError> {
        if head.table_id == DUMMY_TABLE {
            sink(place, Event::StatementEnd);
        } else {
            let table = self.tables.get(&head.table_id).ok_or(BinlogError::UnknownTable)?;
            let is_packed = head.form == Form::Compressed;
            if is_packed {
                unpack_mariadb(head.rows, &mut self.scratch)?;
            }
            let rows = head.rows_of(table, if is_packed { &self.scratch } else { head.rows })?;
            let RowsHead { kind, is_statement_end, .. } = head;
            sink(place, Event::Rows { table, kind, rows, is_statement_end });
        }
        if head.is_statement_end {
            self.tables.clear();
        }
        self.scratch.shrink_to(SCRATCH_BYTES_MAX);
        Ok(())
    }

    fn keep(&mut self, mut scratch: Vec<u8>) {
        scratch.clear();
        scratch.shrink_to(SCRATCH_BYTES_MAX);
        self.scratch = scratch;
    }

    /// Whether only servers of the other family have events of this number.
    const fn is_foreign(&self, number: u8) -> bool {
        match self.flavor {
            ServerFlavor::MySql(_) => number >= FIRST_MARIADB,
            ServerFlavor::MariaDb(_) => {
                matches!(number, kind::GTID..=kind::VIEW_CHANGE | kind::PARTIAL_UPDATE_ROWS..=kind::GTID_TAGGED)
            }
        }
    }
}

/// The events that stand for themselves.
fn small(number: u8, place: Place, body: &[u8]) -> Result<Event<'_>, BinlogError> {
    let mut fields = Cursor::new(body);
    Ok(match number {
        kind::QUERY => Event::Query(QueryEvent::parse(body)?),
        kind::XID => Event::Xid(fields.u64()?),
        kind::GTID => Event::Gtid(TransactionStart::parse(body, false)?),
        kind::ANONYMOUS_GTID => Event::Gtid(TransactionStart::parse(body, true)?),
        kind::GTID_TAGGED => Event::Gtid(TransactionStart::parse_tagged(body)?),
        kind::MARIADB_GTID => Event::Gtid(TransactionStart::parse_mariadb(body)?),
        kind::HEARTBEAT => Event::Heartbeat { file: body, position: place.end },
        kind::HEARTBEAT_V2 => heartbeat(fields)?,
        kind::ROTATE => Event::Rotate { position: fields.u64()?, file: fields.rest() },
        kind::XA_PREPARE => {
            Event::XaPrepare { is_one_phase: fields.u8()? != 0, xid: Xid::parse(&mut fields)? }
        }
        kind::EXECUTE_LOAD_QUERY => Event::LoadQuery(QueryEvent::parse_load(body)?),
        kind::BEGIN_LOAD_QUERY
        | kind::APPEND_BLOCK
        | kind::DELETE_FILE
        | kind::LOAD
        | kind::CREATE_FILE
        | kind::EXEC_LOAD
        | kind::NEW_LOAD => Event::LoadData,
        kind::INTVAR | kind::RAND | kind::USER_VAR => Event::Operand,
        kind::INCIDENT => Event::Incident,
        kind::STOP => Event::Stop,
        kind::IGNORABLE
        | kind::ROWS_QUERY
        | kind::PREVIOUS_GTIDS
        | kind::TRANSACTION_CONTEXT
        | kind::VIEW_CHANGE
        | kind::ANNOTATE_ROWS
        | kind::BINLOG_CHECKPOINT
        | kind::GTID_LIST
        | kind::START_ENCRYPTION => Event::Ignorable,
        _ => unknown(number, place),
    })
}

/// MySQL's second kind of heartbeats: a list of fields, each with its kind and length, up to one of the kind 0.
fn heartbeat(mut fields: Cursor<'_>) -> Result<Event<'_>, BinlogError> {
    let (mut file, mut position) = (&[][..], 0);
    loop {
        let kind = fields.packed()?;
        if kind == 0 {
            return Ok(Event::Heartbeat { file, position });
        }
        let field = fields.packed_bytes()?;
        match kind {
            1 => file = field,
            2 => position = Cursor::new(field).packed()?,
            _ => {}
        }
    }
}

const fn unknown(number: u8, place: Place) -> Event<'static> {
    if place.is_ignorable() { Event::Ignorable } else { Event::Unknown { kind: number } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);
    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(110_806);

    fn event(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
        let len = u32::try_from(header::HEADER_BYTES + body.len()).unwrap().to_le_bytes();
        [&[0, 0, 0, 0, kind, 7, 0, 0, 0][..], &len, &[9, 0, 0, 0, flags, 0], body].concat()
    }

    /// What comes of each event, by the names of the variants.
    fn read(flavor: ServerFlavor, events: &[Vec<u8>]) -> Result<Vec<String>, BinlogError> {
        let mut reader = EventReader::new(flavor);
        let mut seen = Vec::new();
        for event in events {
            reader.read(event, &mut |place, event| {
                assert_eq!((place.end, place.server_id), (9, 7));
                let text = format!("{event:?}");
                seen.push(text.split([' ', '(']).next().unwrap_or_default().to_owned());
            })?;
        }
        Ok(seen)
    }

    /// A table of one INT, its map under the number 5, and a row of it.
    fn table_and_row() -> [Vec<u8>; 2] {
        let map = [&[5, 0, 0, 0, 0, 0, 1, 0][..], b"\x01s\0\x01t\0", &[1, 3, 0, 0]].concat();
        let row = [5, 0, 0, 0, 0, 0, 1, 0, 2, 0, 1, 1, 0, 1, 2, 3, 4];
        [event(kind::TABLE_MAP, 0, &map), event(kind::WRITE_ROWS, 0, &row)]
    }

    #[test]
    fn what_is_not_known_is_told_unless_it_may_be_passed_over() {
        for (flavor, number, flags, expected) in [
            (MYSQL, kind::INCIDENT, 0, "Incident"),
            (MYSQL, kind::STOP, 0, "Stop"),
            (MYSQL, 43, 0, "Unknown"),
            (MYSQL, 43, 0x80, "Ignorable"),
            (MYSQL, kind::ANNOTATE_ROWS, 0, "Unknown"),
            (MARIADB, kind::ANNOTATE_ROWS, 0, "Ignorable"),
            (MARIADB, kind::GTID, 0, "Unknown"),
            (MARIADB, kind::TRANSACTION_PAYLOAD, 0, "Unknown"),
            (MARIADB, 172, 0, "Unknown"),
        ] {
            assert_eq!(read(flavor, &[event(number, flags, &[])]), Ok(vec![expected.to_owned()]), "{number}");
        }
    }

    #[test]
    fn rows_are_of_a_table_that_was_named_in_their_statement() {
        let [map, row] = table_and_row();
        assert_eq!(read(MYSQL, &[map.clone(), row.clone()]).unwrap(), ["TableMap", "Rows"]);
        assert_eq!(read(MYSQL, &[map, row.clone(), row.clone()]), Err(BinlogError::UnknownTable));
        assert_eq!(read(MYSQL, &[row]), Err(BinlogError::UnknownTable));
        let dummy = event(kind::WRITE_ROWS_V1, 0, &[0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 0, 0]);
        assert_eq!(read(MARIADB, &[dummy]).unwrap(), ["StatementEnd"]);
    }

    #[test]
    fn payload_without_compression_has_its_events_and_no_payload() {
        let inside = table_and_row().concat();
        let len = u8::try_from(inside.len()).unwrap();
        let payload = |inside: &[u8]| {
            let body = [&[1, 1, len, 2, 3, 0xFC, 255, 0, 0][..], inside].concat();
            event(kind::TRANSACTION_PAYLOAD, 0, &body)
        };
        assert_eq!(read(MYSQL, &[payload(&inside)]).unwrap(), ["TableMap", "Rows"]);
        let shorter = inside.get(1..).unwrap();
        assert_eq!(read(MYSQL, &[payload(shorter)]), Err(BinlogError::Malformed("a payload's length")));
        let nested = event(kind::TRANSACTION_PAYLOAD, 0, &[0]);
        let body = [&[0][..], &nested].concat();
        let error = read(MYSQL, &[event(kind::TRANSACTION_PAYLOAD, 0, &body)]);
        assert_eq!(error, Err(BinlogError::Malformed("an event inside a payload")));
    }

    #[test]
    fn length_that_is_not_the_events_is_refused() {
        let mut stop = event(kind::STOP, 0, &[]);
        stop.push(0);
        assert_eq!(read(MYSQL, &[stop]), Err(BinlogError::Malformed("an event's length")));
        assert_eq!(read(MYSQL, &[vec![0; 5]]), Err(BinlogError::Truncated));
    }
}
