//! The MySQL client/server protocol as bytes and types.
//!
//! Everything here is a pure function of its input: no socket, no clock, no runtime. What comes from a peer is parsed
//! without panics; what goes to a peer is appended to a `Vec<u8>`. Framed I/O over a socket is `nuthatch-net`'s, what
//! a statement means is `nuthatch-sql`'s.
//!
//! Page names in the docs are those of the MySQL Internals manual ("Client/Server Protocol") and of MariaDB's
//! knowledge base ("Clients & Utilities / Server Client Protocol").
#![deny(clippy::indexing_slicing, clippy::string_slice, clippy::panic)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::string_slice, reason = "tests may panic"))]

mod answer;
mod attributes;
mod capabilities;
mod command;
mod definition;
mod error_code;
mod form;
mod frame;
mod greeting;
mod login;
mod native_password;
mod packet;
mod reader;
mod result_set;
mod session_track;
mod sha2_password;
mod small_result;
mod translator;

pub use answer::{AnswerEnd, AnswerKind, AnswerScanner, Ending, Progress, STATUS_OFFSETS_MAX, Told};
pub use attributes::{
    Attributes, NO_ATTRIBUTES, execution_with_attributes, packet_with_attributes, query_packet,
};
pub use capabilities::CapabilityFlags;
pub use command::Command;
pub use definition::Definition;
pub use error_code::ErrorCode;
pub use form::Form;
pub use frame::{FRAME_PAYLOAD_MAX, FrameHeader, HEADER_LEN, append_packet};
pub use greeting::{Greeting, NONCE_LEN, Nonce};
pub use login::{AuthSwitch, Login, NATIVE_PASSWORD_PLUGIN};
pub use mysql_common::constants::{ColumnFlags, ColumnType, StatusFlags};
pub use native_password::{DoubleSha1, Stage1, double_sha1, scramble, scramble_stage1, verify};
pub use packet::{ErrPacket, OkPacket, append_eof, append_err, append_ok};
pub use reader::{Reader, WireError, append_lenenc_bytes, append_lenenc_int};
pub use result_set::{Cell, Column, ResultSetWriter};
pub use session_track::{Hidden, StateChange, StateChanges, TrackedOk};
pub use sha2_password::{SHA2_PASSWORD_PLUGIN, SHA256_LEN, Sha2Hash, Sha2Stage1};
pub use small_result::{SmallResult, text_values};
pub use translator::Translator;
