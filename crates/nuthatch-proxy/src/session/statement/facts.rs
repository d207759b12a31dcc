//! What the session must know of a statement after its text is gone.

use std::ops::Deref;
use std::sync::Arc;

use nuthatch_config::QueryCacheType;
use nuthatch_sql::{
    CacheHint, Class, Ddl, DefaultsChange, Effects, FoundRows, Kind, Leaves, Lexing, NotCacheable, PinReason,
    Sequences, ServerFlavor, SetEffect, Statement, Token, TokenKind, Tokens, TransactionEnd, defaults_change,
    found_rows, may_insert_delayed, stops_server,
};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::exact::Commits;
use crate::session::statement::{
    BEFORE_STORED_CODE, Change, CodeRun, NEVER_RAN, SetOutcome, Step, Template, Told, VOUCHED, VOUCHES,
    asks_for_gtid, names, sequences_in, set_outcome, surely_names_a_table,
};
use crate::stats::StatementCommand;
use crate::stats::pins::Pins;

impl TextFacts {
    /// Whether it reads or writes rows of tables and does, asks and says nothing else. Of a text that was not [looked
    /// at](crate::session::statement::look) that is not known.
    pub(crate) fn are_plain(&self) -> bool {
        let moves_rows = self.kind.writes_rows() || self.kind == Kind::Select && self.cache.allowed.is_ok();
        let OfTransaction { ends, end, begins_plainly, is_opaque } = self.transaction;
        let leaves_transaction = !ends && end == TransactionEnd::No && !begins_plainly && !is_opaque;
        let OfServer { disconnects, stops, defaults, alters_schema } = self.server;
        let leaves_server = !disconnects && !stops && defaults == DefaultsChange::No && !alters_schema;
        let sets_nothing = self.change == Change::None && self.character_set.is_none() && !self.sets_by_hint;
        let says_nothing_to_cache = self.cache.hint == CacheHint::default() && self.cache.own_type.is_none();
        moves_rows
            && leaves_transaction
            && leaves_server
            && sets_nothing
            && says_nothing_to_cache
            && self.pins.is_empty()
            && self.unpins.is_empty()
            && self.asks == Asks::default()
            && !self.tables.none
    }

    /// It reads tables and does nothing else.
    pub(crate) fn is_plain_read(&self) -> bool {
        self.kind == Kind::Select && self.cache.allowed.is_ok() && !self.writes && !self.tables.none
    }

    /// It is a SELECT, or another statement that a cache may hold: its digest tells why none does.
    pub(crate) fn asks_for_rows(&self) -> bool {
        self.kind == Kind::Select || self.cache.allowed.is_ok()
    }

    /// `SQL_CALC_FOUND_ROWS`: what it found besides its rows, only its server can tell.
    pub(crate) const fn counts_all_rows(&self) -> bool {
        self.pins.contains(Pins::FOUND_ROWS)
    }

    /// It reads tables of applications, and does, asks and says nothing else: any server that has them may answer it.
    pub(crate) fn is_for_any_server(&self) -> bool {
        let is_understood = matches!(self.cache.allowed, Ok(()) | Err(NotCacheable::SqlNoCache));
        self.kind == Kind::Select
            && is_understood
            && !self.writes
            && !self.tables.none
            && !self.tables.may_be_servers
            && self.change == Change::None
            && self.character_set.is_none()
            && !self.sets_by_hint
            && self.pins.is_empty()
            && self.unpins.is_empty()
            && self.asks == Asks::default()
    }

    /// A snapshot that is open behind it was opened behind the BEGIN before it.
    pub(crate) fn keeps_snapshots(&self) -> bool {
        !self.writes && !self.transaction.is_opaque && self.commits() == Commits::No
    }
}

/// Whether a server executes such a statement for many sets of parameters.
pub(crate) const fn may_be_bulk(kind: Kind) -> bool {
    kind.writes_rows()
}

impl TextFacts {
    pub(crate) fn commits(&self) -> Commits {
        let is_harmless_set = match &self.change {
            Change::Autocommit(on) => !on,
            Change::Steps(steps) => steps.iter().all(Step::commits_nothing),
            Change::Charset(_) | Change::Role(_) => true,
            Change::None | Change::Schema(_) => false,
        };
        Commits::of(self.kind, self.transaction.end, is_harmless_set)
    }

    /// Whether it may change what others read.
    pub(crate) fn may_write(&self) -> bool {
        match self.kind {
            Kind::Begin
            | Kind::Commit
            | Kind::Rollback
            | Kind::Savepoint
            | Kind::Use
            | Kind::Lock
            | Kind::Unlock
            | Kind::Prepare
            | Kind::Deallocate
            | Kind::Handler
            | Kind::Kill
            | Kind::Empty => self.transaction.is_opaque,
            // What is not understood may set global variables or a password.
            Kind::Set => {
                let is_understood = self.change != Change::None
                    || self.character_set.is_some()
                    || self.pins.contains(Pins::NEXT_TRANSACTION);
                self.writes || !is_understood
            }
            _ => self.writes,
        }
    }
}

impl TextFacts {
    /// Whether more texts than its own are parsed while it runs: of several statements, of a procedure, of a block.
    pub(crate) const fn runs_texts(&self) -> bool {
        match self.kind {
            Kind::Multi | Kind::Call | Kind::Execute => true,
            Kind::Other => self.transaction.is_opaque && self.pins.contains(Pins::SESSION_VARIABLE),
            _ => false,
        }
    }
}

/// What the session must know of a statement after its text is gone: what the text alone tells, which it shares with all of its
/// shape, and what was found out besides.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    text: Arc<TextFacts>,
    /// The text is known to read or write rows of tables and to do nothing else.
    pub(crate) is_plain: bool,
    /// Values come besides the text.
    pub(crate) has_parameters: bool,
    /// What is known of the stored code that it runs.
    pub(crate) code: CodeRun,
    /// What a rule says of multiplexing: 0 pins, 1 unpins.
    pub(crate) multiplex: Option<u8>,
}

/// What the text of a statement tells.
#[derive(Debug, Clone)]
pub(crate) struct TextFacts {
    pub(crate) kind: Kind,
    /// As what it is counted.
    pub(crate) command: StatementCommand,
    /// What its footprint goes by.
    pub(crate) class: Class,
    pub(crate) writes: bool,
    pub(crate) cache: OfCache,
    pub(crate) change: Change,
    /// The character set that a SET CHARACTER SET names.
    pub(crate) character_set: Option<Arc<str>>,
    /// Why its connection is kept, if it does not fail.
    pub(crate) pins: Pins,
    /// What it releases.
    pub(crate) unpins: Pins,
    /// A hint sets a variable for it, before it is known whether it fails.
    pub(crate) sets_by_hint: bool,
    /// What it does to FOUND_ROWS().
    pub(crate) found_rows: FoundRows,
    pub(crate) asks: Asks,
    pub(crate) tables: OfTables,
    pub(crate) transaction: OfTransaction,
    pub(crate) server: OfServer,
}

/// What a statement has to do with the cache.
#[derive(Debug, Clone)]
pub(crate) struct OfCache {
    /// Whether it is one plain SELECT that may be answered from the cache.
    pub(crate) allowed: Result<(), NotCacheable>,
    /// What it says of the cache.
    pub(crate) hint: CacheHint,
    /// What it makes of the session's own `query_cache_type`.
    pub(crate) own_type: Option<Option<QueryCacheType>>,
    /// Why its answer may change although no table does.
    pub(crate) volatile: Option<&'static str>,
}

/// What a statement asks for that only its session, or its connection, knows.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a statement")]
pub(crate) struct Asks {
    /// Warnings or errors of the statement before.
    pub(crate) diagnostics: bool,
    /// FOUND_ROWS() of the statements before.
    pub(crate) found_rows: bool,
    /// ROW_COUNT() of the statement before.
    pub(crate) row_count: bool,
    /// `SQL%ROWCOUNT`: where that is -1, FOUND_ROWS().
    pub(crate) oracle_row_count: bool,
    /// LAST_INSERT_ID(), as far as its text tells.
    pub(crate) insert_id: bool,
    /// It may show the value of a variable that the proxy has set.
    pub(crate) tracker: bool,
    /// `@@last_gtid`.
    pub(crate) gtid: bool,
    /// It may ask for numbers of connections.
    pub(crate) numbers: bool,
    /// It is SHOW PROCESSLIST.
    pub(crate) connections: bool,
    /// The sequences in it.
    pub(crate) sequences: Option<Arc<Sequences>>,
}

/// What is known of a statement's tables.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a statement")]
pub(crate) struct OfTables {
    /// It names none.
    pub(crate) none: bool,
    /// It surely names one.
    pub(crate) some: bool,
    /// They are the same in whatever default schema it runs.
    pub(crate) need_no_schema: bool,
    /// It names information_schema.
    pub(crate) in_information_schema: bool,
    /// It may name one in a schema of the server's own.
    pub(crate) may_be_servers: bool,
    /// Their columns or keys are shown, maybe.
    pub(crate) are_described: bool,
    /// It has a query inside, that makes rows of a table or is asked behind WHERE.
    pub(crate) come_of_query: bool,
    /// What it inserts is there when it is acknowledged.
    pub(crate) show_rows_at_once: bool,
    /// How those that it writes are found.
    pub(crate) template: Template,
}

/// What a statement does to the transaction.
#[derive(Debug, Clone)]
pub(crate) struct OfTransaction {
    /// It surely ends it, or is the whole of it.
    pub(crate) ends: bool,
    pub(crate) end: TransactionEnd,
    /// A BEGIN that says nothing of how.
    pub(crate) begins_plainly: bool,
    /// What it did to it cannot be told when it fails.
    pub(crate) is_opaque: bool,
}

/// What a statement does to its server, or has it do.
#[derive(Debug, Clone)]
pub(crate) struct OfServer {
    /// It hangs up after it.
    pub(crate) disconnects: bool,
    /// It stops.
    pub(crate) stops: bool,
    /// Whether it changes what sessions begin with.
    pub(crate) defaults: DefaultsChange,
    /// It changes the character set of a schema, which connections that are in it do not notice.
    pub(crate) alters_schema: bool,
}

impl Deref for Facts {
    type Target = TextFacts;

    fn deref(&self) -> &TextFacts {
        &self.text
    }
}

impl Facts {
    /// What the text and rules tell, and nothing else is known.
    pub(crate) fn of_text(text: Arc<TextFacts>, multiplex: Option<u8>) -> Self {
        Self { text, is_plain: false, has_parameters: false, code: CodeRun::default(), multiplex }
    }

    /// What its text tells, to be changed for this statement alone.
    pub(crate) fn text_mut(&mut self) -> &mut TextFacts {
        Arc::make_mut(&mut self.text)
    }

    /// LAST_INSERT_ID() is asked for, by the text or by code that it runs.
    pub(crate) fn reads_insert_id(&self) -> bool {
        self.asks.insert_id || self.code.asks_for_insert_id
    }

    /// Whether the statement needs a connection whose server tells of changes at the end of rows too.
    pub(crate) fn must_be_tracked(&self, server: ServerFlavor) -> bool {
        let has_rows = matches!(self.kind, Kind::Select | Kind::Show | Kind::Explain | Kind::Multi);
        has_rows
            && match self.code.leaves {
                Some(leaves) => leaves > Leaves::Nothing,
                None => {
                    self.class.runs_unseen_code()
                        || matches!(server, ServerFlavor::MySql(_)) && self.may_run_code()
                }
            }
    }

    /// Whether a rule vouches for what the statement may leave behind.
    pub(crate) fn is_vouched_for(&self) -> bool {
        self.multiplex == Some(VOUCHES) && self.pins.without(VOUCHED) != self.pins
    }
}

impl TextFacts {
    /// It asks what the statement before left: that must be kept until it has run.
    pub(crate) const fn asks_of_the_last(&self) -> bool {
        self.asks.diagnostics || self.reads_counts()
    }

    /// It asks for something that only the connection of the statement before knows.
    pub(crate) const fn asks_of_its_connection(&self) -> bool {
        self.asks_of_the_last() || self.asks.gtid || self.asks.sequences.is_some()
    }

    /// FOUND_ROWS() or ROW_COUNT().
    pub(crate) const fn reads_counts(&self) -> bool {
        self.asks.found_rows || self.asks.row_count
    }
}

impl TextFacts {
    /// Whether the server hangs up after it, which ended so. Of several statements one may have failed before it came to that.
    pub(crate) const fn hangs_up(&self, end: &AnswerEnd) -> bool {
        self.server.disconnects && !matches!(end.ending, Ending::Err(_))
    }

    pub(crate) fn of(statement: &Statement<'_>) -> Self {
        let effects = &statement.effects;
        let change = Change::of(&effects.set);
        let mut pins = effects.pin.map_or(Pins::NONE, Pins::of);
        if effects.set != SetEffect::None && change == Change::None {
            pins = pins.with(Pins::SESSION_VARIABLE);
        }
        if runs_code_that_may_set(statement.kind, effects) {
            pins = pins.with(Pins::UNKNOWN);
        }
        Self {
            kind: statement.kind,
            command: StatementCommand::Unknown,
            class: Class::of(statement),
            writes: effects.writes,
            cache: OfCache {
                allowed: statement.cache,
                hint: CacheHint::default(),
                own_type: None,
                volatile: statement.volatile,
            },
            character_set: match &effects.set {
                SetEffect::CharacterSet(name) => {
                    Some(String::from_utf8_lossy(&name.text()).to_lowercase().into())
                }
                _ => None,
            },
            change,
            pins,
            unpins: effects.unpin.map_or(Pins::NONE, Pins::of),
            sets_by_hint: effects.sets_by_hint,
            found_rows: FoundRows::Unknown,
            asks: Asks {
                diagnostics: effects.reads_diagnostics,
                found_rows: effects.reads_found_rows,
                row_count: effects.reads_row_count,
                oracle_row_count: effects.reads_oracle_row_count,
                insert_id: effects.reads_insert_id,
                ..Asks::default()
            },
            tables: OfTables { none: effects.names_no_table, ..OfTables::default() },
            transaction: OfTransaction {
                ends: matches!(effects.ends_transaction, TransactionEnd::Commit | TransactionEnd::Rollback),
                end: effects.ends_transaction,
                begins_plainly: false,
                is_opaque: statement.kind == Kind::Multi || effects.runs_unseen_code,
            },
            server: OfServer {
                disconnects: effects.disconnects,
                stops: false,
                defaults: DefaultsChange::No,
                alters_schema: false,
            },
        }
    }
}

impl TextFacts {
    /// Why a connection is kept on which it was prepared only: MySQL does then what hints say, and leaves what they leave.
    pub(crate) fn pins_when_prepared(&self) -> Pins {
        if self.sets_by_hint { self.pins } else { Pins::NONE }
    }

    /// The same with what is found in the statement's text. Where a SET is understood, it pins nothing.
    pub(crate) fn with_settings(mut self, text: &[u8], lexing: Lexing) -> Self {
        self.found_rows = found_rows(text, self.kind, lexing);
        self.server.stops = stops_server(text, lexing);
        self.tables.some = !self.tables.none && surely_names_a_table(self.kind, text);
        self.asks.sequences = sequences_in(text, lexing);
        self.asks.gtid = asks_for_gtid(text, self.kind);
        self.tables.come_of_query = match self.kind {
            Kind::Ddl(Ddl::Create) => makes_table_of_rows(text, self.class, lexing),
            Kind::Show => names(text, b"select") && names(text, b"from"),
            _ => false,
        };
        self.tables.are_described = self.kind == Kind::Show && describes_tables(text);
        self.server.defaults = defaults_change(text, self.kind, lexing);
        self.tables.show_rows_at_once = !may_insert_delayed(text, self.kind, lexing);
        let is_unknown = self.kind == Kind::Set && self.change == Change::None && !self.pins.is_empty();
        match is_unknown.then(|| set_outcome(text, lexing)).flatten() {
            Some(SetOutcome::Steps { steps, is_of_next_transaction }) => {
                self.pins = if is_of_next_transaction { Pins::NEXT_TRANSACTION } else { Pins::NONE };
                // About the next transaction alone it changes nothing yet.
                if !(is_of_next_transaction && steps.is_empty()) {
                    self.change = Change::Steps(steps);
                }
            }
            Some(SetOutcome::Role(statement)) => {
                (self.change, self.pins) = (Change::Role(statement), Pins::NONE);
            }
            None => {}
        }
        self
    }
}

/// Whether a SHOW may be one of columns or keys: one of the words stands somewhere in it.
fn describes_tables(text: &[u8]) -> bool {
    [&b"columns"[..], b"fields", b"index", b"keys"].iter().any(|word| names(text, word))
}

/// Whether a SET may be of a role or resource group, which a server does not forget at a reset.
pub(crate) fn outlasts_reset(text: &[u8]) -> bool {
    names(text, b"role") || names(text, b"resource")
}

/// Whether a statement may leave anything in the session that the server does not tell of (`tracker.rs`): a procedure may. Several
/// statements in one do what each of them does, if none of them sets anything.
fn runs_code_that_may_set(kind: Kind, effects: &Effects<'_>) -> bool {
    match kind {
        Kind::Call | Kind::Execute | Kind::Other => effects.runs_unseen_code,
        Kind::Multi => effects.runs_unseen_code || effects.set != SetEffect::None,
        _ => false,
    }
}

impl Pins {
    fn of(reason: PinReason) -> Self {
        match reason {
            PinReason::UserVariable => Self::USER_VARIABLE,
            PinReason::TemporaryTable => Self::TEMPORARY_TABLE,
            PinReason::LockTables | PinReason::FlushTablesWithReadLock | PinReason::Backup => {
                Self::LOCK_TABLES
            }
            PinReason::GetLock => Self::GET_LOCK,
            PinReason::PreparedStatement => Self::TEXT_PREPARE,
            PinReason::Handler => Self::HANDLER,
            PinReason::Xa => Self::XA,
            PinReason::FoundRows => Self::FOUND_ROWS,
            PinReason::SessionVariable => Self::SESSION_VARIABLE,
        }
    }
}

impl TextFacts {
    /// Whether the text explains no change of the session, but stored code may make one.
    pub(crate) fn hides_changes(&self) -> bool {
        let may_run_stored_code = matches!(
            self.kind,
            Kind::Select
                | Kind::Insert
                | Kind::Replace
                | Kind::Update
                | Kind::Delete
                | Kind::Do
                | Kind::LoadData
                | Kind::Explain
                | Kind::Commit
                | Kind::Rollback
        );
        let is_several = self.kind == Kind::Multi && self.pins.is_empty();
        (may_run_stored_code || is_several) && self.changes_nothing()
    }

    /// Whether it may run stored code on some server. (No definition but CREATE TABLE of a query does: measured on MariaDB 10.11 and MySQL 9.7, as
    /// is that locking tables, CHECK TABLE and the preparation of a statement run none, nor do cascades of foreign keys.)
    pub(crate) fn may_run_code(&self) -> bool {
        match self.kind {
            Kind::Insert
            | Kind::Replace
            | Kind::Update
            | Kind::Delete
            | Kind::LoadData
            | Kind::Multi
            | Kind::Explain => true,
            Kind::Select | Kind::Do | Kind::Set => !self.tables.none || self.class.runs_unseen_code(),
            Kind::Show => self.tables.come_of_query || self.class.runs_unseen_code(),
            Kind::Ddl(_) => self.tables.come_of_query,
            _ => false,
        }
    }

    /// The least that code must leave for the connection to be kept, after the server told that.
    pub(crate) fn least_that_pins(&self, told: Told, ending: Ending) -> Leaves {
        match (told, ending) {
            (Told::Nothing, Ending::Err(code)) if NEVER_RAN.contains(&code) && !self.runs_texts() => {
                Leaves::Untold
            }
            (Told::Nothing, Ending::Err(code)) if BEFORE_STORED_CODE.contains(&code) => Leaves::Told,
            (Told::Nothing, _) => Leaves::Foreign,
            (Told::NoChange | Told::Change, _) => Leaves::Untold,
        }
    }
}

impl TextFacts {
    /// Whether its text says that it changes nothing of the session's state that travels.
    fn changes_nothing(&self) -> bool {
        self.change == Change::None
    }

    /// Whether it may read a view of the server's own: what loading one tells of only an OK packet tells from a change.
    pub(crate) fn may_load_view_of_server(&self, schema: &[u8]) -> bool {
        let is_in_own = [&b"mysql"[..], b"sys"].iter().any(|own| schema.eq_ignore_ascii_case(own));
        matches!(self.kind, Kind::Select | Kind::Explain) && (self.tables.may_be_servers || is_in_own)
    }

    /// Whether it may open tables and leave their definitions locked: see `metadata_lock.rs`.
    pub(crate) fn may_lock_tables(&self, server: ServerFlavor) -> bool {
        match self.kind {
            Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete | Kind::LoadData => true,
            Kind::Call | Kind::Multi | Kind::Execute => true,
            Kind::Select | Kind::Do | Kind::Set | Kind::Explain => {
                !self.tables.none || self.class.runs_unseen_code()
            }
            Kind::Show => {
                let describes = self.tables.are_described && matches!(server, ServerFlavor::MySql(_));
                describes || self.tables.come_of_query || self.class.runs_unseen_code()
            }
            // Of temporary tables; others commit.
            Kind::Ddl(_) => self.transaction.end == TransactionEnd::No,
            Kind::Other => self.transaction.end == TransactionEnd::Maybe && !self.asks.diagnostics,
            _ => false,
        }
    }

    /// Whether it is several statements in one text.
    pub(crate) fn is_several(&self) -> bool {
        self.kind == Kind::Multi
    }
}

/// Whether it may be a CREATE TABLE of rows that a query has, whatever options stand in between: of other tables (`… SELECT … FROM`, MySQL's
/// `… TABLE t`), or of what `class` says that it calls (`… SELECT f()`), or of rows (`… VALUES ROW(f())`; partitions have them too).
pub(crate) fn makes_table_of_rows(text: &[u8], class: Class, lexing: Lexing) -> bool {
    let words = || Tokens::new(text, lexing).filter(|token| token.kind == TokenKind::Word);
    let is_table = |word: &Token<'_>| word.text.eq_ignore_ascii_case(b"table");
    let has_values = || names(text, b"values") && !names(text, b"partition");
    let has_query = || class.runs_unseen_code() || names(text, b"from") || has_values();
    words().take(6).any(|word| is_table(&word)) && (has_query() || words().filter(is_table).count() > 1)
}
