//! What has been carried of a server's binlog: where that is, what it has written, and what the server is not proven to show yet.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_proxy::{Carried, Deed, Exact, Followed, Logged, Prepared, Told, Written};
use nuthatch_source::follow::{End, Marker, Place, Shown, Start};
use nuthatch_source::{Event, MariaDbStart, QueryEvent, TableIds, TableMap, TransactionStart, Xid};
use nuthatch_sql::{GtidPositions, Lexing, ServerFlavor};
use tokio::sync::Notify;

use crate::following::transaction::{Name, Transaction};
use crate::following::unproven::{Proof, Unproven};
use crate::following::xa::{OwnedXid, owned, xid_of};

/// XA transactions that are remembered between their two halves; the COMMIT of another is of anything.
const PREPARED_MAX: usize = 1000;

/// Character sets whose characters may hold what looks like a backslash or a back quote, by the numbers of their collations: big5, sjis, gbk,
/// cp932, gb18030. MariaDB's without padding are 1,024 more.
const COLLATIONS_WITH_ASCII: [u16; 11] = [1, 84, 13, 88, 28, 87, 95, 96, 248, 249, 250];

/// Bits of `sql_mode` in a binlog: "MySQL source code, system_variables.h".
const MODE_ANSI_QUOTES: u64 = 1 << 2;
const MODE_NO_BACKSLASH_ESCAPES: u64 = 1 << 20;

/// Tables of the server's own that tell nothing that anybody caches.
const OWN_TABLES_WITHOUT_MEANING: [&[u8]; 7] = [
    b"gtid_slave_pos",
    b"gtid_executed",
    b"innodb_table_stats",
    b"innodb_index_stats",
    b"general_log",
    b"slow_log",
    b"transaction_registry",
];

/// What is shared by those who read, prove and lease. One thread has it.
pub(super) struct Carry {
    state: RefCell<State>,
    /// Something was carried, or the place is another.
    pub(super) news: Notify,
}

struct State {
    exact: Arc<Exact>,
    followed: Arc<Followed>,
    ids: Arc<TableIds>,
    flavor: ServerFlavor,
    /// As the server says it.
    file: Vec<u8>,
    place: Option<Place>,
    /// MariaDB's transactions that were carried.
    seen: GtidPositions,
    /// How the marker is written, and how often it was carried.
    marker: Option<Marker>,
    markers: u64,
    /// The same when the server was answered last.
    markers_answered: u64,
    /// For how long the marker is not answered yet when it has come.
    marker_rests: Duration,
    transaction: Option<Transaction>,
    /// Of a transaction whose events go on though it seemed over.
    last_name: Option<Name>,
    prepared: HashMap<OwnedXid, Prepared>,
    unproven: Unproven,
    /// Of the picture of that number it is known that it is of the events at hand.
    proven_look: u64,
    /// Something was raised by the event at hand.
    has_raised: bool,
    trouble: Option<&'static str>,
}

impl Carry {
    pub(super) fn begin(
        exact: &Arc<Exact>,
        followed: &Arc<Followed>,
        ids: &Arc<TableIds>,
        flavor: ServerFlavor,
        (marker, timeout_ns): (Option<Marker>, u64),
        start: &Start,
    ) -> Self {
        let seen = match start {
            Start::Position(_, position) => position.clone(),
            Start::Set(_) => GtidPositions::default(),
        };
        let state = State {
            exact: Arc::clone(exact),
            followed: Arc::clone(followed),
            ids: Arc::clone(ids),
            flavor,
            file: Vec::new(),
            place: None,
            seen,
            marker,
            markers: 0,
            markers_answered: 0,
            marker_rests: Duration::ZERO,
            transaction: None,
            last_name: None,
            prepared: HashMap::new(),
            unproven: Unproven::new(timeout_ns),
            proven_look: 0,
            has_raised: false,
            trouble: None,
        };
        Self { state: RefCell::new(state), news: Notify::new() }
    }

    /// Holds what is not shown until that is proven.
    pub(super) fn hold(&self, carried: Carried, proof: Proof) {
        self.state.borrow_mut().unproven.hold(carried, proof);
        self.news.notify_one();
    }

    /// Carries an event, which ends there; its clocks are raised when this returns.
    ///
    /// # Errors
    /// Why nothing can be carried any more.
    pub(super) fn carry(&self, end: u64, event: &Event<'_>) -> Result<(), &'static str> {
        let mut state = self.state.borrow_mut();
        state.carry(end, event);
        if let Event::Rotate { .. } | Event::Heartbeat { .. } = event {
            self.news.notify_one();
        }
        state.trouble.map_or(Ok(()), Err)
    }

    /// What its transactions change of definitions is not known any more: behind the answer to the server, which must not wait.
    pub(super) fn begin_changes(&self) {
        let mut state = self.state.borrow_mut();
        if std::mem::take(&mut state.has_raised) {
            state.unproven.begin_changes_of_last();
            self.news.notify_one();
        }
    }

    /// Up to where all has come, as the server is told: the file as it says it, and the byte. None while that is not known.
    pub(super) fn answer(&self) -> Option<(Vec<u8>, u64)> {
        let state = self.state.borrow();
        state.place.map(|place| (state.file.clone(), place.offset))
    }

    /// For how long the server is to wait before it is answered, since the marker has come.
    pub(super) fn rest(&self) -> Option<Duration> {
        let mut state = self.state.borrow_mut();
        let has_come = state.markers_answered != state.markers;
        state.markers_answered = state.markers;
        Some(state.marker_rests).filter(|rest| has_come && !rest.is_zero())
    }

    /// From now on the server is to wait for so long when the marker has come.
    pub(super) fn rest_before_the_marker(&self, rest: Duration) {
        self.state.borrow_mut().marker_rests = rest;
    }

    /// How often the marker was carried.
    pub(super) fn markers(&self) -> u64 {
        self.state.borrow().markers
    }

    /// Where it is: where the binlog ends that is asked for now, it cannot be before.
    pub(super) fn here(&self) -> Option<End> {
        let state = self.state.borrow();
        match state.flavor {
            ServerFlavor::MySql(_) => state.place.map(End::Place),
            ServerFlavor::MariaDb(_) => Some(End::Position(state.seen.clone())),
        }
    }

    /// Whether all that was written up to there is carried.
    pub(super) fn has_reached(&self, end: &End) -> bool {
        let state = self.state.borrow();
        match end {
            End::Place(end) => state.place.is_some_and(|place| place >= *end),
            End::Position(end) => state.seen.is_up_to(end),
        }
    }

    /// How many transactions the server is not proven to show.
    pub(super) fn unproven(&self) -> usize {
        self.state.borrow().unproven.len()
    }

    /// Whether what is prepared by XA has to be asked for to prove something.
    pub(super) fn awaits_finished(&self) -> bool {
        self.state.borrow().unproven.awaits_finished()
    }

    /// The server shows that: the clocks of what it is proven to show move. `prepared`: what is prepared there by XA, if that was asked for,
    /// and when.
    pub(super) fn settle(&self, shown: Shown, prepared: Option<(u64, &[OwnedXid])>) {
        // What it showed before may be carried only now.
        self.settle_again();
        let mut state = self.state.borrow_mut();
        state.unproven.note_shown(shown);
        state.settle(prepared);
    }

    /// The same by what the server said last: what it showed then may be carried only now.
    pub(super) fn settle_again(&self) {
        self.state.borrow_mut().settle(None);
    }

    /// Up to which generation all that is read and not settled shows what is learnt.
    pub(super) fn learnt(&self) -> u64 {
        let state = self.state.borrow();
        let open = state.transaction.as_ref().map(|open| open.written.learnt());
        let unproven = state.unproven.learnt();
        open.into_iter().chain(unproven).min().unwrap_or_else(|| state.exact.learnt())
    }

    /// The picture of that number is of all events from here on.
    pub(super) fn note_look(&self, look: u64) {
        self.state.borrow_mut().proven_look = look;
    }
}

impl State {
    fn settle(&mut self, prepared: Option<(u64, &[OwnedXid])>) {
        self.unproven.settle(prepared);
        self.followed.note_unproven(self.unproven.len());
    }

    fn carry(&mut self, end: u64, event: &Event<'_>) {
        match event {
            Event::Rotate { file, position } => self.go_to(file, *position, false),
            Event::Heartbeat { file, position } => self.go_to(file, *position, true),
            Event::Gtid(start) => self.begin(start),
            Event::Query(query) => self.query(end, query),
            Event::LoadQuery(query) => self.statement(query),
            Event::TableMap(table) => self.transaction().note_named(table),
            Event::Rows { table, kind, rows, is_statement_end } => {
                self.rows(table, *kind, rows.clone());
                if *is_statement_end {
                    self.end_statement();
                }
            }
            Event::StatementEnd => self.end_statement(),
            Event::Xid(_) | Event::XaPrepare { is_one_phase: true, .. } => self.end(end),
            Event::XaPrepare { xid, is_one_phase: false } => self.prepare(end, xid),
            Event::Incident => {
                self.trouble = Some("the server says that its binlog lacks something (INCIDENT)");
            }
            Event::Unknown { .. } if self.transaction.is_none() => self.exact.forget_entries(),
            Event::Unknown { .. } => self.transaction().written.add_everything(),
            Event::Format | Event::LoadData | Event::Operand | Event::Stop | Event::Ignorable => {
                self.pass(end);
            }
        }
    }

    /// `is_sent`: all up to there has been sent.
    fn go_to(&mut self, file: &[u8], position: u64, is_sent: bool) {
        if file != self.file {
            self.file = file.to_vec();
        }
        let Some(place) = Place::of(file, position) else {
            self.trouble = Some("the names of its binlog files are not understood");
            return;
        };
        if self.place.is_some_and(|known| place < known) && place.offset > 4 {
            return;
        }
        if self.place.is_some_and(|known| place.file < known.file) {
            self.trouble = Some("its binlog has begun anew (RESET MASTER)");
            return;
        }
        self.place = Some(place);
        if is_sent {
            self.unproven.note_first(place);
        }
        self.tell_place();
    }

    /// An event that ends there has passed.
    fn pass(&mut self, end: u64) {
        let Some(place) = self.place.as_mut().filter(|_| end > 0) else { return };
        // Events say it in 32 bits; within a file they only go on.
        let upper = place.offset >> 32;
        let upper = if end < place.offset & u64::from(u32::MAX) { upper + 1 } else { upper };
        place.offset = upper << 32 | end;
    }

    fn begin(&mut self, start: &TransactionStart<'_>) {
        if self.transaction.is_some() {
            self.trouble = Some("a transaction began before the one before was over");
        }
        let (name, has_begun) = match start {
            TransactionStart::MySql { uuid, tag, number, .. } => {
                let tag = String::from_utf8_lossy(tag).into_owned();
                (Name::MySql { uuid: u128::from_be_bytes(*uuid), tag, number: *number }, false)
            }
            TransactionStart::MariaDb(start) => (name_of(start), !start.is_standalone()),
            TransactionStart::Anonymous { .. } => {
                self.trouble = Some("the server writes transactions without GTIDs");
                return;
            }
        };
        self.last_name = Some(name.clone());
        self.transaction = Some(Transaction::begin(name, self.written(), has_begun));
    }

    /// The one that is open; should none be, one that may be of anything.
    fn transaction(&mut self) -> &mut Transaction {
        let (exact, server, last) = (&self.exact, self.followed.name(), &self.last_name);
        self.transaction.get_or_insert_with(|| {
            let name = last.clone().unwrap_or(Name::MariaDb { domain: 0, sequence: 0 });
            Transaction::begin(name, exact.begin_written(server), true)
        })
    }

    fn written(&self) -> Written {
        self.exact.begin_written(self.followed.name())
    }

    fn query(&mut self, end: u64, query: &QueryEvent<'_>) {
        let text = query.text.trim_ascii();
        let begins = |words: &str| {
            text.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words.as_bytes()))
        };
        if text.eq_ignore_ascii_case(b"BEGIN") || begins("START TRANSACTION") || begins("XA START") {
            self.transaction().has_begun = true;
        } else if text.eq_ignore_ascii_case(b"COMMIT") || text.eq_ignore_ascii_case(b"ROLLBACK") {
            // A ROLLBACK undoes nothing of tables without transactions.
            self.end(end);
        } else if begins("XA COMMIT") || begins("XA ROLLBACK") {
            self.finish_xa(end, text, begins("XA COMMIT"));
        } else if begins("XA ") || begins("SAVEPOINT") || begins("ROLLBACK TO") {
            self.pass(end);
        } else {
            self.statement(query);
            match self.transaction.as_ref().is_some_and(|open| open.has_begun) {
                true => self.pass(end),
                false => self.end(end),
            }
        }
    }

    fn statement(&mut self, query: &QueryEvent<'_>) {
        let flavor = self.flavor;
        if self.is_marker(query.text) {
            return self.note_marker();
        }
        let written = &mut self.transaction().written;
        let (Some(mode), Some(collation)) = (query.sql_mode, query.client_collation) else {
            return written.add_everything();
        };
        let lexing = Lexing {
            ansi_quotes: mode & MODE_ANSI_QUOTES != 0,
            no_backslash_escapes: mode & MODE_NO_BACKSLASH_ESCAPES != 0,
            ascii_in_characters: COLLATIONS_WITH_ASCII.contains(&(collation % 1024)),
            server: flavor,
        };
        written.add_statement(Logged { schema: query.schema, text: query.text, lexing });
    }

    fn rows(
        &mut self,
        table: &TableMap,
        kind: nuthatch_source::RowsKind,
        rows: Option<nuthatch_source::Rows<'_>>,
    ) {
        let (schema, name) = (table.schema(), table.name());
        let (id, look) = (self.ids.id(schema, name), self.proven_look);
        let is_marker = self.marker.as_ref().is_some_and(|marker| marker.is(schema, name));
        self.markers += u64::from(is_marker);
        let transaction = self.transaction();
        transaction.note_rows_of(table);
        if is_own(schema) {
            return note_own(&mut transaction.written, name);
        }
        let places = transaction.written.places(schema, name, table.columns().len(), look);
        let changed = transaction.changed(kind, rows, &places);
        let told = Told { keys: changed.keys.as_deref(), held: changed.held.as_deref() };
        transaction.written.add_rows(id, (schema, name), told, changed.deed);
    }

    /// Tables that a statement named and of which no row came are changed anyhow: by a foreign key's action, or by nothing.
    fn end_statement(&mut self) {
        let Some(transaction) = &mut self.transaction else { return };
        for (schema, name) in transaction.take_named() {
            match is_own(&schema) {
                true => note_own(&mut transaction.written, &name),
                false => {
                    transaction.written.add_rows(
                        self.ids.id(&schema, &name),
                        (&schema, &name),
                        Told::default(),
                        Deed::Removes,
                    );
                }
            }
        }
    }

    /// Where rows are not logged as such, the marker's statement is.
    fn is_marker(&self, text: &[u8]) -> bool {
        self.marker.as_ref().is_some_and(|marker| text.starts_with(marker.beginning().as_bytes()))
    }

    fn note_marker(&mut self) {
        self.markers += 1;
        let Some((schema, table)) = self.marker.as_ref().map(Marker::names) else { return };
        let (schema, table) = (schema.as_bytes().to_vec(), table.as_bytes().to_vec());
        let id = self.ids.id(&schema, &table);
        let deed = Deed::Changes { keeps_keys: true };
        self.transaction().written.add_rows(id, (&schema, &table), Told::default(), deed);
    }

    fn prepare(&mut self, end: u64, xid: &Xid<'_>) {
        self.end_statement();
        if let Some(Transaction { written, name, .. }) = self.transaction.take() {
            if self.prepared.len() < PREPARED_MAX {
                self.prepared.insert(owned(xid), written.prepare());
            }
            self.note_end(end, &name);
            self.tell_place();
        }
    }

    fn finish_xa(&mut self, end: u64, text: &[u8], commits: bool) {
        let Some(xid) = xid_of(text) else {
            self.trouble = Some("the name of an XA transaction is not understood");
            return;
        };
        let known = self.prepared.remove(&xid);
        let transaction = self.transaction();
        match known {
            Some(known) if commits => transaction.written.add_prepared(known),
            None if commits => transaction.written.add_everything(),
            _ => {}
        }
        transaction.finishes = Some(xid);
        self.end(end);
    }

    /// The transaction is over: what it has written is pending.
    fn end(&mut self, end: u64) {
        self.end_statement();
        let Some(Transaction { name, written, finishes, .. }) = self.transaction.take() else {
            return self.pass(end);
        };
        self.note_end(end, &name);
        self.hold_written(end, name, finishes, written);
        // Not before: whoever sees that it is carried up to there may rely on it.
        self.tell_place();
    }

    /// What was written is pending until it is proven to be shown.
    fn hold_written(&mut self, end: u64, name: Name, finishes: Option<OwnedXid>, written: Written) {
        if written.is_nothing() {
            return;
        }
        let proof = match (name, finishes) {
            // Where MariaDB's snapshots are comes too early for these.
            (Name::MariaDb { .. }, Some(xid)) => Proof::Finished(vec![xid], u64::MAX),
            (Name::MariaDb { .. }, None) => Proof::UpTo(self.place.filter(|_| end > 0)),
            (name @ Name::MySql { .. }, _) => Proof::Name(name),
        };
        let carried = written.raise();
        #[cfg(debug_assertions)]
        if self.exact.believes_events() {
            return carried.settle();
        }
        self.has_raised = true;
        self.unproven.hold(carried, proof);
        self.followed.note_unproven(self.unproven.len());
    }

    fn note_end(&mut self, end: u64, name: &Name) {
        self.pass(end);
        if let Name::MariaDb { domain, sequence, .. } = name {
            self.seen.reach(*domain, *sequence);
        }
        if let Some(place) = self.place {
            if end > 0 {
                self.unproven.note_end(place);
            }
            self.unproven.note_first(place);
        }
        self.followed.note_transaction();
    }

    fn tell_place(&self) {
        if let Some(place) = self.place {
            self.followed.note_position(place.file, place.offset);
        }
    }
}

fn name_of(start: &MariaDbStart<'_>) -> Name {
    Name::MariaDb { domain: start.domain, sequence: start.sequence }
}

fn is_own(schema: &[u8]) -> bool {
    schema.eq_ignore_ascii_case(b"mysql")
}

/// The server's own tables hold accounts, stored code and the times of zones.
fn note_own(written: &mut Written, table: &[u8]) {
    if !OWN_TABLES_WITHOUT_MEANING.iter().any(|known| known.eq_ignore_ascii_case(table)) {
        written.add_privileges();
        written.add_everything();
    }
}
