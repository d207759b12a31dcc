//! `mysql_users` into [`Users`].

use rusqlite::Connection;
use serde_json::{Map, Value};

use super::attributes::take_delay;
use super::rows::{read_rows, table};
use super::{StoreError, Warnings};
use crate::{
    attributes::MultiplexDelays,
    password::Password,
    server::HostgroupId,
    store::{
        row::{ColumnFault, RowReader, fault},
        sealing,
        vault::Vault,
    },
    user::{User, Users},
};

/// The key for [`User::query_cache_admin`].
const QUERY_CACHE_ADMIN: &str = "query_cache_admin";

pub(super) fn read(
    connection: &Connection,
    vault: &Vault,
    warnings: &mut Warnings,
) -> Result<Users, StoreError> {
    let user = |row: &RowReader<'_>| user(row, vault);
    let mut rows = read_rows(connection, table("mysql_users"), "rowid", name, user, warnings)?;
    for user in rows.iter_mut().filter(|user| !user.attributes.is_empty()) {
        let mut warn =
            |what: String| warnings.push(format!("user \"{}\": column \"attributes\": {what}", user.name));
        match serde_json::from_str::<Map<String, Value>>(&user.attributes) {
            Ok(keys) => {
                for (key, value) in &keys {
                    match key.as_str() {
                        QUERY_CACHE_ADMIN => user.query_cache_admin = flag(key, value, &mut warn),
                        key => take_delay(&mut user.delays, key, value, &mut warn),
                    }
                }
            }
            Err(_not_an_object) => warn("is no JSON object".to_owned()),
        }
    }
    for user in rows.iter().filter(|user| user.password == Password::Other) {
        warnings
            .push(format!("user \"{}\": column \"password\" is stored but cannot be used yet", user.name));
    }
    Ok(Users::new(rows).expect("the table's keys allow one active row of a name for each side"))
}

/// Whether a key says true; what is no truth value is not taken for one.
fn flag(key: &str, value: &Value, warn: &mut impl FnMut(String)) -> bool {
    if !value.is_boolean() {
        warn(format!("\"{key}\" takes true or false; it is taken for false"));
    }
    value.as_bool().unwrap_or(false)
}

fn name(row: &RowReader<'_>) -> String {
    format!("user \"{}\"", row.text("username").unwrap_or_default())
}

fn user(row: &RowReader<'_>, vault: &Vault) -> Result<User, ColumnFault> {
    let password = sealing::open_password(vault, row.bytes_or_null("password")?.unwrap_or_default())
        .map_err(|error| fault("password", &format!("cannot be opened: {error}")))?;
    Ok(User {
        name: row.text("username")?,
        password: Password::parse(&password),
        active: row.flag("active")?,
        use_ssl: row.flag("use_ssl")?,
        default_hostgroup: HostgroupId(row.number("default_hostgroup")?),
        default_schema: row.text_or_null("default_schema")?.filter(|schema| !schema.is_empty()),
        schema_locked: row.flag("schema_locked")?,
        transaction_persistent: row.flag("transaction_persistent")?,
        fast_forward: row.flag("fast_forward")?,
        backend: row.flag("backend")?,
        frontend: row.flag("frontend")?,
        max_connections: row.number("max_connections")?,
        attributes: row.text("attributes")?,
        delays: MultiplexDelays::default(),
        query_cache_admin: false,
        comment: row.text("comment")?,
    })
}
