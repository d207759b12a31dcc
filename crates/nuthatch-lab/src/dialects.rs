//! Which dialect a kind of server speaks.

use nuthatch_server::Kind;

use crate::dialect::Dialect;
use crate::mariadb::MariaDb;
use crate::mysql::MySql;

/// What that kind of server wants to be told.
pub(crate) fn dialect_of(kind: Kind) -> &'static dyn Dialect {
    match kind {
        Kind::MariaDb => &MariaDb,
        Kind::MySql => &MySql,
    }
}
