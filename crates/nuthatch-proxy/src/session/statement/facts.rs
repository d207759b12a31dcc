//! What the session must know of a statement after its text is gone.

use std::sync::Arc;

use nuthatch_config::QueryCacheType;
use nuthatch_sql::{
    CacheHint, Class, Ddl, DefaultsChange, Effects, FoundRows, Kind, Leaves, Lexing, NotCacheable, PinReason,
    Sequences, ServerFlavor, SetEffect, Statement, Token, TokenKind, Tokens, TransactionEnd, defaults_change,
    found_rows, stops_server,
};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::exact::Commits;
use crate::session::statement::{
    BEFORE_STORED_CODE, Change, CodeRun, NEVER_RAN, SetOutcome, Step, Told, VOUCHED, VOUCHES, asks_for_gtid,
    names, sequences_in, set_outcome,
};
use crate::stats::StatementCommand;
use crate::stats::pins::Pins;

impl Facts {
    /// It reads tables and does nothing else.
    pub(crate) fn is_plain_read(&self) -> bool {
        self.kind == Kind::Select && self.cacheable.is_ok() && !self.writes && !self.names_no_table
    }

    /// A snapshot that is open behind it was opened behind the BEGIN before it.
    pub(crate) fn keeps_snapshots(&self) -> bool {
        !self.writes && !self.is_opaque && self.commits() == Commits::No
    }
}

/// Whether a server executes such a statement for many sets of parameters.
pub(crate) const fn may_be_bulk(kind: Kind) -> bool {
    matches!(kind, Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete)
}

impl Facts {
    pub(crate) fn commits(&self) -> Commits {
        let is_harmless_set = match &self.change {
            Change::Autocommit(on) => !on,
            Change::Steps(steps) => steps.iter().all(Step::commits_nothing),
            Change::Charset(_) | Change::Role(_) => true,
            Change::None | Change::Schema(_) => false,
        };
        Commits::of(self.kind, self.transaction_end, is_harmless_set)
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
            | Kind::Empty => self.is_opaque,
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

impl Facts {
    /// Whether more texts than its own are parsed while it runs: of several statements, of a procedure, of a block.
    pub(crate) const fn runs_texts(&self) -> bool {
        match self.kind {
            Kind::Multi | Kind::Call | Kind::Execute => true,
            Kind::Other => self.is_opaque && self.pins.contains(Pins::SESSION_VARIABLE),
            _ => false,
        }
    }
}

/// What the session must know of a statement after its text is gone.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a statement")]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    /// As what it is counted.
    pub(crate) command: StatementCommand,
    /// What its footprint goes by.
    pub(crate) class: Class,
    /// Whether it is one plain SELECT that may be answered from the cache.
    pub(crate) cacheable: Result<(), NotCacheable>,
    /// What it says of the cache.
    pub(crate) cache_hint: CacheHint,
    /// What it makes of the session's own `query_cache_type`.
    pub(crate) query_cache_type: Option<Option<QueryCacheType>>,
    pub(crate) change: Change,
    /// The character set that a SET CHARACTER SET names.
    pub(crate) character_set: Option<Arc<str>>,
    /// Why its connection is kept, if it does not fail.
    pub(crate) pins: Pins,
    /// What it releases.
    pub(crate) unpins: Pins,
    /// Warnings or errors of the statement before.
    pub(crate) reads_diagnostics: bool,
    /// FOUND_ROWS() of the statements before.
    pub(crate) reads_found_rows: bool,
    /// ROW_COUNT() of the statement before.
    pub(crate) reads_row_count: bool,
    /// What it does to FOUND_ROWS().
    pub(crate) found_rows: FoundRows,
    pub(crate) names_no_table: bool,
    /// It is the same in whatever default schema it runs.
    pub(crate) needs_no_schema: bool,
    pub(crate) reads_insert_id: bool,
    /// Values come besides the text.
    pub(crate) has_parameters: bool,
    pub(crate) writes: bool,
    /// It surely ends the transaction, or is the whole of it.
    pub(crate) ends_transaction: bool,
    pub(crate) transaction_end: TransactionEnd,
    /// A BEGIN that says nothing of how.
    pub(crate) begins_plainly: bool,
    /// Why its answer may change although no table does.
    pub(crate) volatile: Option<&'static str>,
    /// What it did to the transaction cannot be told when it fails.
    pub(crate) is_opaque: bool,
    /// The server hangs up after it.
    pub(crate) disconnects: bool,
    /// The server stops.
    pub(crate) stops_server: bool,
    /// It may show the value of a variable that the proxy has set.
    pub(crate) reads_tracker: bool,
    pub(crate) names_information_schema: bool,
    /// It may name a table in a schema of the server's own.
    pub(crate) names_own_schema: bool,
    /// It may ask for numbers of connections.
    pub(crate) asks_for_numbers: bool,
    /// It is SHOW PROCESSLIST.
    pub(crate) lists_connections: bool,
    /// It changes the character set of a schema, which connections that are in it do not notice.
    pub(crate) alters_schema: bool,
    /// It has a query inside, that makes rows of a table or is asked behind WHERE.
    pub(crate) has_query: bool,
    /// A hint sets a variable for it, before it is known whether it fails.
    pub(crate) sets_by_hint: bool,
    /// The sequences in it.
    pub(crate) sequences: Option<Arc<Sequences>>,
    /// It asks for `@@last_gtid`.
    pub(crate) asks_for_gtid: bool,
    /// What is known of the stored code that it runs.
    pub(crate) code: CodeRun,
    /// Whether it changes what sessions begin with.
    pub(crate) changes_defaults: DefaultsChange,
    /// What a rule says of multiplexing: 0 pins, 1 unpins.
    pub(crate) multiplex: Option<u8>,
}

impl Facts {
    /// It asks what the statement before left: that must be kept until it has run.
    pub(crate) const fn asks_of_the_last(&self) -> bool {
        self.reads_diagnostics || self.reads_counts()
    }

    /// FOUND_ROWS() or ROW_COUNT().
    pub(crate) const fn reads_counts(&self) -> bool {
        self.reads_found_rows || self.reads_row_count
    }
}

impl Facts {
    /// Whether the server hangs up after it, which ended so. Of several statements one may have failed before it came to that.
    pub(crate) const fn hangs_up(&self, end: &AnswerEnd) -> bool {
        self.disconnects && !matches!(end.ending, Ending::Err(_))
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
            cacheable: statement.cache,
            cache_hint: CacheHint::default(),
            query_cache_type: None,
            character_set: match &effects.set {
                SetEffect::CharacterSet(name) => {
                    Some(String::from_utf8_lossy(&name.text()).to_lowercase().into())
                }
                _ => None,
            },
            change,
            pins,
            unpins: effects.unpin.map_or(Pins::NONE, Pins::of),
            reads_diagnostics: effects.reads_diagnostics,
            reads_found_rows: effects.reads_found_rows,
            reads_row_count: effects.reads_row_count,
            found_rows: FoundRows::Unknown,
            names_no_table: effects.names_no_table,
            needs_no_schema: false,
            reads_insert_id: effects.reads_insert_id,
            has_parameters: false,
            writes: effects.writes,
            ends_transaction: matches!(
                effects.ends_transaction,
                TransactionEnd::Commit | TransactionEnd::Rollback
            ),
            transaction_end: effects.ends_transaction,
            begins_plainly: false,
            volatile: statement.volatile,
            is_opaque: statement.kind == Kind::Multi || effects.runs_unseen_code,
            disconnects: effects.disconnects,
            stops_server: false,
            reads_tracker: false,
            names_information_schema: false,
            names_own_schema: false,
            asks_for_numbers: false,
            lists_connections: false,
            alters_schema: false,
            has_query: false,
            sets_by_hint: effects.sets_by_hint,
            sequences: None,
            asks_for_gtid: false,
            code: CodeRun::default(),
            changes_defaults: DefaultsChange::No,
            multiplex: None,
        }
    }
}

impl Facts {
    /// Why a connection is kept on which it was prepared only: MySQL does then what hints say, and leaves what they leave.
    pub(crate) fn pins_when_prepared(&self) -> Pins {
        if self.sets_by_hint { self.pins } else { Pins::NONE }
    }

    /// The same with what is found in the statement's text. Where a SET is understood, it pins nothing.
    pub(crate) fn with_settings(mut self, text: &[u8], lexing: Lexing) -> Self {
        self.found_rows = found_rows(text, self.kind, lexing);
        self.stops_server = stops_server(text, lexing);
        self.sequences = sequences_in(text, lexing);
        self.asks_for_gtid = asks_for_gtid(text, self.kind);
        self.has_query = match self.kind {
            Kind::Ddl(Ddl::Create) => makes_table_of_rows(text, self.class, lexing),
            Kind::Show => names(text, b"select") && names(text, b"from"),
            _ => false,
        };
        self.changes_defaults = defaults_change(text, self.kind, lexing);
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

impl Facts {
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
            Kind::Select | Kind::Do | Kind::Set => !self.names_no_table || self.class.runs_unseen_code(),
            Kind::Show => self.has_query || self.class.runs_unseen_code(),
            Kind::Ddl(_) => self.has_query,
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

impl Facts {
    /// Whether a rule vouches for what the statement may leave behind.
    pub(crate) fn is_vouched_for(&self) -> bool {
        self.multiplex == Some(VOUCHES) && self.pins.without(VOUCHED) != self.pins
    }

    /// Whether its text says that it changes nothing of the session's state that travels.
    fn changes_nothing(&self) -> bool {
        self.change == Change::None
    }

    /// Whether it may read a view of the server's own: what loading one tells of only an OK packet tells from a change.
    pub(crate) fn may_load_view_of_server(&self, schema: &[u8]) -> bool {
        let is_in_own = [&b"mysql"[..], b"sys"].iter().any(|own| schema.eq_ignore_ascii_case(own));
        matches!(self.kind, Kind::Select | Kind::Explain) && (self.names_own_schema || is_in_own)
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
