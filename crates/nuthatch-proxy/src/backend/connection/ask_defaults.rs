//! What sessions begin with now, asked over a connection.

use std::sync::Arc;

use nuthatch_net::NetError;
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{SmallResult, text_values};

use crate::backend::connection::Connection;
use crate::backend::server::defaults::Defaults;

/// Both servers cut what SHOW answers by sql_select_limit, and refuse the rest by max_join_size, which may be what was changed (measured on
/// MariaDB 10.11 and MySQL 9.7).
const OF_MARIADB: &[u8] = b"SET STATEMENT sql_big_selects=1 FOR \
    SELECT variable_name, COALESCE(variable_value, '') FROM information_schema.global_variables LIMIT 10000";
const OF_MYSQL: &[u8] =
    b"SELECT /*+ SET_VAR(sql_big_selects=1) */ variable_name, COALESCE(variable_value, '') \
    FROM performance_schema.global_variables LIMIT 10000";

/// All variables have some 30 KB.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Asks for the values that sessions begin with now; none if the answer cannot be used.
async fn ask_defaults(connection: &mut Connection) -> Result<Option<Defaults>, NetError> {
    let Some(server) = connection.server().flavor() else { return Ok(None) };
    let query = if matches!(server, ServerFlavor::MySql(_)) { OF_MYSQL } else { OF_MARIADB };
    let Some(answer) = connection.ask(query, ANSWER_BYTES_MAX).await? else { return Ok(None) };
    let Some(result) = SmallResult::parse(&answer, connection.form()) else { return Ok(None) };
    let pairs = result.rows.iter().filter_map(|row| text_values::<2>(row));
    Ok(Defaults::of(pairs.map(|[name, value]| (name, value)), server))
}

/// Asks for the values that sessions begin with now if nobody knows them yet, and takes note of them.
///
/// # Errors
/// When the connection fails; it must be closed then.
pub(crate) async fn learn_defaults(connection: &mut Connection) -> Result<(), NetError> {
    let server = Arc::clone(connection.server());
    let number = server.defaults.last_change();
    if server.defaults.lacks_values()
        && let Some(values) = ask_defaults(connection).await?
    {
        server.defaults.learn(number, values);
    }
    Ok(())
}
