//! The login: greeting, password, and who is refused.

use std::net::SocketAddr;
use std::time::Duration;

use nuthatch_net::{
    ClearPasswords, Credential, Framed, Greeted, NetError, Proving, ProxyHeaders, fresh_nonce, greet, prove,
};
use nuthatch_wire::{
    CapabilityFlags, ErrorCode, Greeting, Login, NATIVE_PASSWORD_PLUGIN, OkPacket, append_err, append_ok,
};

use super::reply::status;
use crate::admin::Admin;
use crate::clerk::{Caller, TransactionState};
use crate::credentials::{Rights, may_come_from};
use crate::error::AdminError;
use crate::version::SERVER_VERSION;

/// The most time from the greeting to the verdict.
const LOGIN_MAX: Duration = Duration::from_secs(10);

/// Low byte of `utf8mb4_general_ci`.
const UTF8MB4: u8 = 45;

/// A session that may begin.
pub(super) struct LoggedIn {
    pub(super) caller: Caller,
    /// What client and interface agreed on.
    pub(super) capabilities: CapabilityFlags,
    /// The schema that the client asked for.
    pub(super) schema: Option<String>,
}

/// A refusal as the client sees it.
struct Refusal {
    code: ErrorCode,
    message: String,
}

/// Greets and checks the client; `None` when it was refused, and told so.
pub(super) async fn log_in(
    framed: &mut Framed,
    peer: SocketAddr,
    admin: &Admin,
) -> Result<Option<LoggedIn>, NetError> {
    match tokio::time::timeout(LOGIN_MAX, exchange(framed, peer, admin)).await {
        Ok(verdict) => verdict,
        Err(_elapsed) => Ok(None),
    }
}

async fn exchange(
    framed: &mut Framed,
    peer: SocketAddr,
    admin: &Admin,
) -> Result<Option<LoggedIn>, NetError> {
    let greeting = greeting(admin.fresh_connection_id())?;
    let Greeted { login, sequence, .. } = greet(framed, &greeting, None, ProxyHeaders::Refused).await?;
    let account = admin.credentials().account(&String::from_utf8_lossy(&login.user));
    let credential = match &account {
        None => Credential::Nobody,
        Some(account) if account.password.expose().is_empty() => Credential::Empty,
        Some(account) => Credential::Clear(account.password.expose().as_bytes()),
    };
    let plugin = NATIVE_PASSWORD_PLUGIN;
    let nonce = &greeting.nonce;
    let proving = prove(framed, &login, nonce, sequence, credential, plugin, ClearPasswords::Refused).await?;
    let mut sequence = proving.sequence;
    let mut bytes = Vec::new();
    let rights = account.filter(|_| proving.proof.is_some()).map(|account| account.rights);
    let verdict = judge(&login, &greeting, rights, &proving, peer, admin);
    match &verdict {
        Ok(_) => {
            let ok = OkPacket { status: status(TransactionState::None), ..OkPacket::default() };
            append_ok(&mut bytes, &mut sequence, &ok);
        }
        Err(Refusal { code, message }) => append_err(&mut bytes, &mut sequence, *code, message.as_bytes()),
    }
    framed.write(&bytes).await?;
    Ok(verdict.ok())
}

fn greeting(connection_id: u32) -> Result<Greeting, NetError> {
    Ok(Greeting {
        version: SERVER_VERSION.as_bytes().to_vec(),
        connection_id,
        nonce: fresh_nonce()?,
        capabilities: CapabilityFlags::CLIENT_LONG_PASSWORD
            | CapabilityFlags::CLIENT_FOUND_ROWS
            | CapabilityFlags::CLIENT_LONG_FLAG
            | CapabilityFlags::CLIENT_CONNECT_WITH_DB
            | CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_TRANSACTIONS
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_MULTI_STATEMENTS
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | CapabilityFlags::CLIENT_CONNECT_ATTRS
            | CapabilityFlags::CLIENT_DEPRECATE_EOF,
        collation: UTF8MB4,
        status: status(TransactionState::None),
        auth_plugin: NATIVE_PASSWORD_PLUGIN.to_vec(),
    })
}

fn judge(
    login: &Login,
    greeting: &Greeting,
    rights: Option<Rights>,
    proving: &Proving,
    peer: SocketAddr,
    admin: &Admin,
) -> Result<LoggedIn, Refusal> {
    let user = String::from_utf8_lossy(&login.user).into_owned();
    let host = peer.ip().to_canonical().to_string();
    let refuse = |code, message: String, reason| {
        admin.refusals().write(&user, peer.ip(), reason);
        Err(Refusal { code, message })
    };
    let Some(rights) = rights else {
        let using = if proving.used_password { "YES" } else { "NO" };
        let message = format!("Access denied for user '{user}'@'{host}' (using password: {using})");
        return refuse(ErrorCode::ACCESS_DENIED, message, "wrong user or password");
    };
    if !may_come_from(&user, peer.ip()) {
        let code = ErrorCode { code: 1040, sql_state: *b"42000" };
        return refuse(code, "User 'admin' can only connect locally".to_owned(), "not from this host");
    }
    let schema = login.schema.as_deref().filter(|schema| !schema.is_empty()).map(String::from_utf8_lossy);
    let schema = match schema {
        None => None,
        Some(name) => match admin.schema(&name) {
            Some(schema) => Some(schema.to_owned()),
            None => {
                let error = AdminError::UnknownSchema(name.into_owned());
                return refuse(error.code(), error.to_string(), "unknown schema");
            }
        },
    };
    let caller = Caller { connection_id: greeting.connection_id, user, host, rights };
    Ok(LoggedIn { caller, capabilities: login.capabilities, schema })
}
