//! What the reader says of event streams that real servers sent.
//!
//! The folders beside this file were captured by `capture/`, each scenario into a file of its own: MariaDB 10.11 of Debian 12, MariaDB
//! 11.8 of Debian 13, MySQL 9.7 of Debian sid (the versions stand in the files). Nothing here starts a server. A file `.events` has
//! the statements as comments and each event as a line of hexadecimal digits; the file `.said` beside it is what must come out, and
//! is to be read before it is kept: `KEEP=1 cargo test -p nuthatch-source --test golden` writes it anew. The numbers of rows and of
//! values are those that `mariadb-binlog -v` and `mysqlbinlog -v` show, but for types that these do not know.
#![expect(clippy::unwrap_used, reason = "a test may end here")]

mod captured;
mod claims;
mod hostile;
mod said;

use captured::{all, expected, keep};
use said::say;

#[test]
fn every_stream_says_what_was_kept() {
    let mut differing = Vec::new();
    for stream in all() {
        let said = say(&stream);
        if std::env::var_os("KEEP").is_some() {
            keep(&stream, &said);
        } else if said != expected(&stream) {
            differing.push(stream.path.clone());
        }
    }
    assert!(differing.is_empty(), "not what was kept: {differing:?}");
}
