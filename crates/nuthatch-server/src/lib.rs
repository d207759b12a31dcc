//! The programs, files and processes of one MariaDB or MySQL server on this host.
//!
//! What a throw-away lab and a production instance have in common: where a server is [installed](Installation), how an
//! [empty data directory](copy_empty_data) comes to be, which [process](ProcessMark) it is beyond the life of who started
//! it, a [password](Password) that does not show itself, files that only their owner reads, and waiting with a
//! [deadline](Deadline).
//!
//! Calls block. Nothing here decides where a server's files are or when it runs, and nothing talks the protocol.

mod deadline;
mod empty_data;
mod error;
mod installation;
mod kind;
mod password;
mod private;
mod process;

pub use deadline::Deadline;
pub use empty_data::{copy_dir, copy_empty_data, remove_leftover};
pub use error::ServerError;
pub use installation::Installation;
pub use kind::{Kind, Program};
pub use password::Password;
pub use private::{
    SOCKET_PATH_MAX, errors_or_tail, lock, make_private_dir, open_to_append, remove_file, tail, write_for,
    write_private,
};
pub use process::{ProcessMark, stands_still};
