//! `PROXYSQL INTERNAL SESSION`: what the proxy knows of the session, as JSON under ProxySQL's names.
//!
//! For tests and for operators who look for the reason of a pin. Names that ProxySQL has for its own insides (addresses of objects, buffers)
//! are left out, and so is whatever may hold a secret: passwords, `init_connect`, the user's attributes, texts of statements.

use mysql_common::collations::{Collation, CollationId};
use nuthatch_wire::{CapabilityFlags, Column};
use serde_json::{Map, Value, json};

use crate::session::parts::{Account, Client, Context, Dealings, Ground, Hands, Held};
use crate::session::way::reply;
use crate::state::Charset;
use crate::stats::pins::Pins;

/// Hostgroups up to this number have their place in the array `backends`; those above come one behind the other.
const PLACES_MAX: usize = 1024;

/// The answer: one row of one column.
pub(crate) fn internal_session(
    ground: &Ground,
    client: &mut Client,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
) -> Vec<u8> {
    let tls = client.framed_mut().stream().tls_version();
    let text = format!("{:#}", as_json(ground, client, account, context, dealings, tls));
    let columns = [Column::text("session_info")];
    reply::result_set(
        client.capabilities(),
        dealings.status(context),
        &columns,
        Some(&[Some(text.as_bytes())]),
    )
}

fn as_json(
    ground: &Ground,
    client: &Client,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    tls: Option<&str>,
) -> Value {
    let now_ms = ground.latest_us / 1000;
    let user = account.user();
    let in_transaction = dealings.hands.held.iter().filter(|held| held.in_transaction()).count();
    let bound = dealings.hands.held.iter().find(|held| held.pins().is_sticky() || held.in_transaction());
    let current = dealings.hands.held.first().map_or(user.default_hostgroup, |held| held.hostgroup);
    json!({
        "thread_session_id": ground.handle.id,
        "thread": ground.worker.id,
        "age_ms": now_ms.saturating_sub(ground.handle.started_ms),
        "autocommit": context.state.autocommit,
        "query_cache_type": context.query_cache_type_in(&ground.snapshot).word(),
        "default_hostgroup": user.default_hostgroup.0,
        "current_hostgroup": current.0,
        "locked_on_hostgroup": bound.map_or(-1, |held| i64::from(held.hostgroup.0)),
        "active_transactions": in_transaction,
        "transaction_persistent": user.transaction_persistent,
        "default_schema": user.default_schema.as_deref().unwrap_or_default(),
        "schema_locked": user.schema_locked,
        "session_fast_forward": user.fast_forward,
        "client": client_json(ground, account, context, tls),
        "conn": conn_json(client, context, dealings),
        "backends": backends_json(&dealings.hands),
    })
}

/// The state that goes with the session to whichever connection it gets.
fn conn_json(client: &Client, context: &Context, dealings: &Dealings) -> Value {
    let mut conn = charset_json(&context.state.charset);
    let has = |flag| client.capabilities().contains(flag);
    conn.insert("autocommit".into(), on_off(context.state.autocommit));
    conn.insert("no_backslash_escapes".into(), context.lexing.no_backslash_escapes.into());
    conn.insert(
        "client_flag".into(),
        json!({
            "value": client.capabilities().bits(),
            "client_found_rows": has(CapabilityFlags::CLIENT_FOUND_ROWS),
            "client_multi_statements": context.shape.contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS),
            "client_multi_results": has(CapabilityFlags::CLIENT_MULTI_RESULTS),
            "client_deprecate_eof": has(CapabilityFlags::CLIENT_DEPRECATE_EOF),
        }),
    );
    conn.insert("status".into(), json!({ "transaction": dealings.are_in_transaction() }));
    conn.into()
}

fn backend_json(held: &Held) -> Value {
    let connection = &held.connection;
    let server = connection.server();
    let pinned = |pin: Pins| held.pins().contains(pin);
    let mut conn = charset_json(&connection.state.charset);
    conn.insert("autocommit".into(), connection.state.autocommit.map_or(Value::Null, on_off));
    conn.insert("auto_increment_delay_token".into(), held.delay().statements_left().into());
    let is_off = pinned(Pins::MULTIPLEXING_OFF);
    conn.insert(
        "MultiplexDisabled".into(),
        (held.in_transaction() || held.pins().is_sticky() || is_off).into(),
    );
    conn.insert("questions".into(), connection.statements.into());
    conn.insert("init_connect_sent".into(), connection.has_init_connect().into());
    conn.insert(
        "status".into(),
        json!({
            "transaction": held.in_transaction(),
            "user_variable": pinned(Pins::USER_VARIABLE),
            "session_variable": pinned(Pins::SESSION_VARIABLE),
            "temporary_table": pinned(Pins::TEMPORARY_TABLE),
            "lock_tables": pinned(Pins::LOCK_TABLES),
            "get_lock": pinned(Pins::GET_LOCK),
            "prepared_statement": pinned(Pins::TEXT_PREPARE),
            "found_rows": pinned(Pins::FOUND_ROWS),
            "no_multiplex": pinned(Pins::RULE),
            "no_multiplex_HG": is_off,
            "has_warnings": pinned(Pins::DIAGNOSTICS),
            "pinned_by": held.pins().to_string(),
        }),
    );
    conn.insert(
        "mysql".into(),
        json!({
            "host": server.host,
            "port": server.port,
            "user": &*connection.user,
            "db": text(&connection.state.schema),
            "thread_id": connection.thread_id,
            "client_flag": connection.shape.bits(),
            "server_version": server.greeting().map(|(greeting, _)| text(&greeting.version)),
        }),
    );
    json!({ "hostgroup_id": held.hostgroup.0, "gtid": "", "conn": conn })
}

/// The character sets under the names of their variables.
fn charset_json(charset: &Charset) -> Map<String, Value> {
    let (name, collation) = match charset {
        Charset::Collation(number) => {
            let collation = Collation::resolve(CollationId::from(u16::from(*number)));
            (collation.charset().to_owned(), Some(collation.collation().to_owned()))
        }
        Charset::Names(statement) => {
            let mut words = statement.split(' ').skip(2);
            let name = words.next().unwrap_or_default().to_owned();
            (name, words.nth(1).map(str::to_owned))
        }
    };
    let mut names = Map::new();
    for variable in ["character_set_client", "character_set_connection", "character_set_results"] {
        names.insert(variable.to_owned(), name.clone().into());
    }
    names.insert("collation_connection".to_owned(), collation.unwrap_or_default().into());
    names
}

fn on_off(is_on: bool) -> Value {
    if is_on { "ON".into() } else { "OFF".into() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn client_json(ground: &Ground, account: &Account, context: &Context, tls: Option<&str>) -> Value {
    let address = ground.handle.address();
    json!({
        "client_addr": { "address": &*address.host, "port": address.port },
        "proxy_addr": { "address": &*address.proxy_host, "port": address.proxy_port },
        "userinfo": { "username": &***account.name(), "schemaname": text(&context.state.schema) },
        "encrypted": tls.is_some(),
        "ssl_version": tls.unwrap_or_default(),
    })
}

/// The connections that the session holds, each at the place of its hostgroup.
fn backends_json(hands: &Hands) -> Value {
    let mut backends = Vec::new();
    for held in &hands.held {
        let place = held.hostgroup.0 as usize;
        if place <= PLACES_MAX && place >= backends.len() {
            backends.resize(place + 1, Value::Null);
        }
        match backends.get_mut(place) {
            Some(backend @ Value::Null) => *backend = backend_json(held),
            _ => backends.push(backend_json(held)),
        }
    }
    backends.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::statement::asks_for_internal_session;

    #[test]
    fn only_that_statement_asks_for_it() {
        for text in
            ["PROXYSQL INTERNAL SESSION", " proxysql  internal\tsession ; ", "ProxySQL INTERNAL SESSION;"]
        {
            assert!(asks_for_internal_session(text.as_bytes()), "{text}");
        }
        for text in
            ["", "P", "PROXYSQL INTERNAL", "PROXYSQL INTERNAL SESSION x", "SELECT 1", "PREPARE a FROM b"]
        {
            assert!(!asks_for_internal_session(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn character_sets_have_their_names() {
        let of = |charset| Value::from(charset_json(&charset));
        assert_eq!(of(Charset::Collation(8))["collation_connection"], "latin1_swedish_ci");
        let names = of(Charset::Names("SET NAMES utf8mb4 COLLATE utf8mb4_bin".into()));
        assert_eq!(
            (&names["character_set_client"], &names["collation_connection"]),
            (&json!("utf8mb4"), &json!("utf8mb4_bin"))
        );
    }
}
