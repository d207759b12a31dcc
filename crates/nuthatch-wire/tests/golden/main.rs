//! What the parsers say of bytes that real servers sent, and whether our own bytes are theirs.
//!
//! The files beside this one were captured by `capture/`, each from one connection to the server whose name its folder has:
//! MariaDB 10.11.19 of Debian 12, MariaDB 11.8.6 of Debian 13, MySQL 9.7.4 of Debian sid. Nothing here starts a server.
#![expect(clippy::unwrap_used, reason = "a test may end here")]

mod answers;
mod forms;
mod logins;
mod packets;
mod recorded;
mod tracking;
