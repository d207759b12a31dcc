//! What a server tells of its tables: the [`Catalogue`](nuthatch_sql::Catalogue) that exact caching rests on; and of what is written
//! to them: the events of its binlog ([`EventReader`]), as its replicas get them ([`follow`]).
//!
//! [`look`] logs in to one server, proves that its account sees everything, asks `information_schema` a fixed number of
//! questions, and closes. What it gives errs on one side: a view, trigger or column that is not understood makes its table
//! unsuitable, or a write to it change everything.
//!
//! It sees the server as it is while it asks, one question after the other. A change of schema in between may be seen in
//! part: whoever needs certainty keeps such changes away meanwhile, or looks until two pictures are equal.
//!
//! What `information_schema` does not tell: periods of MariaDB before 11.4 (`FOR PORTION OF` writes rows of other keys), events,
//! which write without any statement of a client, and loadable functions, which may have the names of known ones.

mod binlog;
mod compared_columns;
mod connection;
mod definitions;
mod effects;
mod error;
pub mod follow;
mod generated_column;
mod named;
mod picture;
mod primary_key;
mod privileges;
mod question;
mod replication;
mod routines;
mod session_effects;
mod settings;
mod sketch;
mod standing;
mod status;
mod stored_code;
mod table_ids;
mod trigger_body;
mod variables;
mod view_text;
mod witness;

pub use binlog::{
    AlterPhase, BinlogError, Column, ColumnType, CommitOrder, Event, EventReader, Image, KeyPart,
    MariaDbStart, Place, QueryEvent, RowChange, Rows, RowsKind, TableMap, TransactionStart, Value, Xid,
};
pub use compared_columns::has_normal_form;
pub use connection::Login;
pub use error::{MissingPrivileges, PictureError};
pub use picture::{Picture, look};
pub use replication::{Identity, NoEvidence, Replication, Upstream};
pub use settings::Isolation;
pub use standing::NotASource;
pub use status::BufferPool;
pub use table_ids::TableIds;
pub use witness::{Applied, Witness, WitnessError};
