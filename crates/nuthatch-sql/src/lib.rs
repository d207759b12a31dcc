//! What a proxy must know of a statement: tokens, digest, class, session effects. And what servers write in words of their own: their
//! kind, their GTIDs, their buffer pools.
//!
//! Pure functions over bytes: no socket, clock, runtime, regular expression or character set. Statements come as clients
//! sent them, so nothing here assumes UTF-8, and no input panics. What is not understood is said to be so: not cacheable,
//! a write, an unknown effect.

#![deny(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "bytes of a peer never panic: slices are taken with `get`, `split_at_checked` and iterators"
)]

pub mod spooky;

mod assignments;
mod binlog;
mod buffer_pool;
mod catalogue;
mod classify;
mod column_set;
mod compared;
mod connection_numbers;
mod default_schema;
mod defaults;
mod delayed;
mod diagnostics;
mod digest;
mod footprint;
mod found_rows;
mod function;
mod gtid;
mod handler;
mod kill;
mod locks;
mod outline;
mod privileges;
mod query_cache;
mod question;
mod sequence;
mod shape;
mod shutdown;
mod statement;
mod stored_code;
mod temporary;
mod text_prepared;
mod token;
mod variable;
mod words;

pub use assignments::{
    Assignment, Assignments, Reads, Role, ServerScope, Text, UserVariable, Value, assignments, render,
};
pub use binlog::leaves_binlog;
pub use buffer_pool::{PoolFigures, PoolLoad};
pub use catalogue::{
    Cascades, Catalogue, PrimaryKey, RowKey, SideEffects, Table, TableId, Unsuitable, fold, is_of_word,
    is_own_schema, is_plain,
};
pub use classify::classify;
pub use column_set::ColumnSet;
pub use compared::{
    ColumnPlaces, ColumnValue, ComparedColumn, ComparedColumns, Holds, hash_of_changes, hash_of_row,
};
pub use connection_numbers::{ConnectionNumber, NumberEdit, connection_numbers};
pub use default_schema::needs_no_schema;
pub use defaults::{DefaultsChange, defaults_change};
pub use delayed::may_insert_delayed;
pub use diagnostics::{DiagnosticsCount, DiagnosticsQuestion, diagnostics_question};
pub use digest::{Digest, DigestOptions, digest, digest_text};
pub use footprint::{
    Equality, FoldedName, NotExact, Parameter, ReadDefinitions, ReadFootprint, ReadRows, RowKeys, TableRead,
    TableWrite, TableWrites, WriteFootprint, WriteTemplate, WrittenRows, calls_stored_function, makes_up,
    may_rest_on_today, names_another, read_footprint, rows_are_of_tables, write_footprint,
};
pub use found_rows::{FoundRows, PageOffset, found_rows, found_rows_of_first, page_offset};
pub use function::pure_functions;
pub use gtid::{Gtid, GtidPositions, GtidSet, KnownGtids, uuid_of};
pub use handler::{Handler, handler};
pub use kill::{Kill, Whom, kill};
pub use locks::{LOCK_FUNCTIONS, Locks, locks};
pub use privileges::{ROLE_VARIABLES, changes_privileges};
pub use query_cache::{
    CacheHint, CacheOrder, CachePart, CacheQuestion, CacheSetting, CacheSettings, CacheShow, CacheStatus,
    CacheVariable, CacheWish, cache_hint, cache_order, cache_question, cache_settings, cache_show,
};
pub use question::{Asked, Question, session_questions};
pub use sequence::{SequenceName, Sequences, sequences};
pub use shape::shape;
pub use shutdown::stops_server;
pub use statement::{
    Class, Ddl, Effects, Kind, Name, NotCacheable, PinReason, SetEffect, Statement, TransactionEnd,
};
pub use stored_code::{Leaves, Runs, StoredCode};
pub use temporary::{TableName, TemporaryTables, temporary_tables};
pub use text_prepared::{TextPrepared, text_prepared};
pub use token::{Lexing, ServerFlavor, Token, TokenKind, Tokens};
pub use variable::{Carry, Group, SystemVariable, known_aliases, known_variables};
pub use words::{bare_words, is_one_of, words};
