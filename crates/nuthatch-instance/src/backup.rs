//! Backups of an instance: taken while it runs, kept in a [`Store`] or sent into a pipe, tried, and made an instance again.
//!
//! Taking one is a stream: the server's own tool gives the files ([`take`]), which are [`sealed`] on their way. Using one is the way back: the
//! files are [unpacked](unpack) to a directory beside, a [scratch](crate::scratch) server is started on them, and what has gone well takes
//! the place of the data at once.

pub(crate) mod archive;
pub(crate) mod events;
pub(crate) mod fill;
pub(crate) mod job;
pub(crate) mod manifest;
pub(crate) mod mariadb;
pub(crate) mod mysql;
pub(crate) mod noted;
pub(crate) mod pace;
pub(crate) mod replay;
pub(crate) mod restore;
pub(crate) mod sealed;
pub(crate) mod store;
pub(crate) mod take;
pub(crate) mod unpack;
pub(crate) mod verify;
