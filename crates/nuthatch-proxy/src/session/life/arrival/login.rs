//! From a connected socket to a session: greeting, user, password, limits.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use nuthatch_config::{Password, Snapshot, User};
use nuthatch_net::{
    ClearPasswords, Credential, Framed, Greeted, NetError, Proof, Proving, Proxied, ProxyHeaders, Role,
    Stream, algorithm_of, fresh_nonce, greet, prove,
};
use nuthatch_wire::{ErrPacket, ErrorCode, Login, Nonce, Sha2Hash};
use tokio::time::timeout;

use crate::backend::CheckOutError;
use crate::roster::{ClientAddress, SessionHandle};
use crate::session::before::schema::{change_schema, try_schema};
use crate::session::decide::cache_use::judge_cache_use;
use crate::session::decide::schema_lock::locked_message;
use crate::session::lease::environment::renumber_environment;
use crate::session::lease::inheritance::begin_in;
use crate::session::parts::{
    Account, Begun, CacheUse, Client, Context, Dealings, Ground, Statements, UserPlace,
};
use crate::session::statement::Memo;
use crate::session::way::{Trouble, reply};
use crate::session::whole::Session;
use crate::shared::Shared;
use crate::state::capability::SHAPE;
use crate::state::{Charset, Errand, SessionState};
use crate::worker::Worker;

/// How long a login waits for a server to say whether its schema is there.
const SCHEMA_PATIENCE: Duration = Duration::from_secs(1);

/// Why a client was not let in.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Unknown user or wrong password: the two are not told apart.
    Denied,
    /// The user's `max_connections` are there.
    UserFull { max: u32 },
    /// The user must come over TLS.
    NotTls,
}

/// A client whose password was right.
pub(crate) struct Admitted {
    pub(crate) user: Arc<User>,
    pub(crate) proof: Proof,
    pub(crate) place: UserPlace,
}

/// Greets the client and lets it in, or tells it why not.
///
/// # Errors
/// What ended the connection; a refusal has been told to the client and counted.
pub(crate) async fn log_in(
    shared: &Arc<Shared>,
    worker: &Arc<Worker>,
    memo: &Arc<Memo>,
    handle: &Arc<SessionHandle>,
    stream: Stream,
) -> Result<Option<Box<Session>>, NetError> {
    let snapshot = shared.configuration.snapshot();
    let mut framed = Framed::new(stream);
    let nonce = fresh_nonce()?;
    let tls = shared.doors.tls(&snapshot);
    let greeting = shared.greetings.for_client(&snapshot, handle.id, nonce, tls.is_some());
    let trust = trust(&snapshot.mysql.proxy_protocol_networks, handle.address());
    let Greeted { login, sequence, proxied } = {
        let tls = tls.as_ref().map(|(tls, oldest)| (&**tls, *oldest));
        greet(&mut framed, &greeting, tls, trust).await?
    };
    if let Some(Proxied { source, destination }) = proxied {
        handle.speaks_for(ClientAddress::tcp(source, destination));
    }
    let user = snapshot.users.frontend(&login.user);
    let known = Known::of(shared, user);
    let plugin = snapshot.mysql.default_authentication_plugin.as_bytes();
    let (credential, clear) = (known.credential(user), clear_passwords(&snapshot));
    let proving = prove(&mut framed, &login, &nonce, sequence, credential, plugin, clear).await?;
    let Proving { proof, sequence, used_password } = proving;
    match admit(shared, user, proof, framed.stream()) {
        Ok(admitted) => {
            if shared.hostgroups.defaults.is_changing() {
                worker.with_tokio(shared.hostgroups.defaults.settled()).await;
            }
            let session = enter(shared, worker, memo, handle, framed, &snapshot, &login, nonce, admitted);
            let mut session = Box::new(session);
            if let Some(refusal) = refused_schema(&mut session, login.schema.as_deref()).await {
                session
                    .client
                    .framed_mut()
                    .write(&reply::renumbered(&reply::err_of_server(&refusal), sequence - 1))
                    .await?;
                return Ok(None);
            }
            let mut ok = reply::ok(session.dealings.status(&session.context));
            if let Some(number) = ok.get_mut(3) {
                *number = sequence;
            }
            session.client.framed_mut().write(&ok).await?;
            if let Some(algorithm) = algorithm_of(login.capabilities, login.zstd_level) {
                session.client.framed_mut().compress(algorithm, Role::Server);
            }
            worker.counters.clients_created.bump();
            Ok(Some(session))
        }
        Err(refusal) => {
            let (code, message) = tell(worker, handle, shared, &login, used_password, &refusal);
            framed.write(&reply::err(sequence, code, &message)).await?;
            Ok(None)
        }
    }
}

/// Whether clients may tell their passwords as they are.
pub(crate) fn clear_passwords(snapshot: &Snapshot) -> ClearPasswords {
    match snapshot.mysql.clear_password_from_clients {
        true => ClearPasswords::Allowed,
        false => ClearPasswords::Refused,
    }
}

/// Whether a client of that address may send a PROXY header; `networks` are separated by commas, `*` is all.
fn trust(networks: &str, address: &ClientAddress) -> ProxyHeaders {
    let ip: Option<IpAddr> = address.host.parse().ok();
    let is_in = |network: &str| match network.trim() {
        "" => false,
        "*" => true,
        // Over a Unix socket.
        "localhost" => ip.is_none(),
        network => {
            let network: Option<IpNet> =
                network.parse().ok().or_else(|| network.parse().ok().map(IpAddr::into));
            ip.zip(network).is_some_and(|(ip, network)| network.contains(&ip))
        }
    };
    if networks.split(',').any(is_in) { ProxyHeaders::Trusted } else { ProxyHeaders::Refused }
}

/// What a server says against the schema that the login names, if one can be asked soon.
pub(crate) async fn refused_schema(session: &mut Session, named: Option<&[u8]>) -> Option<ErrPacket> {
    let foreign = named.filter(|name| !session.context.state.charset.reads_as_utf8(name));
    if let Some(name) = foreign
        && let Err(refusal) = enter_foreign_schema(session, name).await
    {
        return Some(refusal);
    }
    let (user, schema) = (Arc::clone(session.account.name()), session.context.state.schema.clone());
    let default = session.account.user().default_schema.as_deref().unwrap_or_default();
    if session.account.user().schema_locked && !default.is_empty() && *schema != *default.as_bytes() {
        let ErrorCode { code, sql_state } = ErrorCode::DB_ACCESS_DENIED;
        return Some(ErrPacket {
            code,
            sql_state,
            message: locked_message(&session.ground, &session.account, &schema).into_bytes(),
        });
    }
    if schema.is_empty() || session.ground.shared.doors.known_schemas.has(&user, &schema) {
        return None;
    }
    let worker = Arc::clone(&session.ground.worker);
    let Session { ground, account, context, dealings, .. } = session;
    let trying = try_schema(ground, account, context, dealings, account.user().default_hostgroup);
    match worker.with_tokio(timeout(SCHEMA_PATIENCE, Box::pin(trying))).await {
        Ok(Ok(())) => {
            session.ground.shared.doors.known_schemas.add(&user, schema.to_vec());
            None
        }
        Ok(Err(Trouble::Refused(refusal) | Trouble::CheckOut(CheckOutError::Refused(refusal)))) => {
            Some(refusal)
        }
        // The first statement will say what is the matter.
        Ok(Err(_)) | Err(_) => None,
    }
}

/// Has a server read the name of a schema that is in another character set than UTF-8: the session is in it afterwards.
async fn enter_foreign_schema(session: &mut Session, name: &[u8]) -> Result<(), ErrPacket> {
    let worker = Arc::clone(&session.ground.worker);
    let hostgroup = session.account.user().default_hostgroup;
    let entering = timeout(
        SCHEMA_PATIENCE,
        Box::pin(change_schema(
            &session.ground,
            &session.account,
            &mut session.context,
            &mut session.dealings,
            hostgroup,
            name,
        )),
    );
    let entered = worker.with_tokio(entering).await;
    session.dealings.hands.set_errand(Errand::default());
    match entered {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Trouble::Refused(refusal) | Trouble::CheckOut(CheckOutError::Refused(refusal)))) => {
            Err(refusal)
        }
        // In another schema, or none, it would read something else.
        Ok(Err(_)) | Err(_) => {
            let ErrorCode { code, sql_state } = ErrorCode::MAX_CONNECT_TIMEOUT;
            let message = b"No server could be asked in time how it reads the name of the schema".to_vec();
            Err(ErrPacket { code, sql_state, message })
        }
    }
}

/// Tells a client that there is no room, in the place of a greeting.
pub(crate) async fn refuse_for_room(worker: &Worker, stream: Stream) -> Result<(), NetError> {
    worker.counters.denied_max_connections.bump();
    worker.counters.generated_errors.bump();
    Framed::new(stream).write(&reply::err(0, ErrorCode::CON_COUNT_ERROR, "Too many connections")).await
}

/// What a user's password column is made of, ready to be checked against.
pub(crate) struct Known {
    hash: Option<Sha2Hash>,
    double: Option<[u8; nuthatch_wire::SHA256_LEN]>,
}

impl Known {
    pub(crate) fn of(shared: &Shared, user: Option<&Arc<User>>) -> Self {
        let hash = user.and_then(|user| match &user.password {
            Password::Sha2Hash(stored) => Sha2Hash::parse(stored),
            _ => None,
        });
        Self { hash, double: user.and_then(|user| shared.doors.known_double(user)) }
    }

    pub(crate) fn credential<'a>(&'a self, user: Option<&'a Arc<User>>) -> Credential<'a> {
        let Some(user) = user else { return Credential::Nobody };
        match (&user.password, &self.hash) {
            (Password::Empty, _) => Credential::Empty,
            (Password::Clear(secret), _) => Credential::Clear(secret.expose().as_bytes()),
            (Password::NativeHash(double), _) => Credential::NativeHash(double),
            (Password::Sha2Hash(_), Some(hash)) => {
                Credential::Sha2Hash { hash, double: self.double.as_ref() }
            }
            (Password::Sha2Hash(_) | Password::Other, _) => Credential::Nobody,
        }
    }
}

pub(crate) fn admit(
    shared: &Arc<Shared>,
    user: Option<&Arc<User>>,
    proof: Option<Proof>,
    stream: &Stream,
) -> Result<Admitted, Refusal> {
    let (Some(user), Some(proof)) = (user, proof) else { return Err(Refusal::Denied) };
    if user.use_ssl && stream.tls_version().is_none() {
        return Err(Refusal::NotTls);
    }
    let place = UserPlace::take(shared, user).ok_or(Refusal::UserFull { max: user.max_connections })?;
    Ok(Admitted { user: Arc::clone(user), proof, place })
}

#[expect(clippy::too_many_arguments, reason = "all that a session is made of, once")]
fn enter(
    shared: &Arc<Shared>,
    worker: &Arc<Worker>,
    memo: &Arc<Memo>,
    handle: &Arc<SessionHandle>,
    mut client: Framed,
    snapshot: &Arc<Snapshot>,
    login: &Login,
    nonce: Nonce,
    admitted: Admitted,
) -> Session {
    let Admitted { user, proof, place } = admitted;
    shared.doors.learn_password(&user, proof);
    let name: Arc<str> = Arc::from(user.name.as_str());
    let password = shared.doors.backend_password(snapshot, &name);
    let default_schema = user.default_schema.as_deref().unwrap_or_default();
    let charset = Charset::Collation(shared.greetings.collation_for(login.collation));
    let schema = match &login.schema {
        Some(named) => plain_schema(named, &charset),
        None => default_schema.as_bytes().to_vec(),
    };
    handle.show_login(&name, &schema);
    if let Some(socket) = client.socket() {
        handle.watches_client(Arc::clone(socket.readiness()));
    }
    let mut session = Session {
        ground: Ground {
            shared: Arc::clone(shared),
            worker: Arc::clone(worker),
            memo: Arc::clone(memo),
            handle: Arc::clone(handle),
            snapshot: Arc::clone(snapshot),
            latest_us: 0,
        },
        client: Client::new(client, login.capabilities, nonce),
        account: Account::new(name, user, password, place, charset.clone()),
        unfinished: None,
        context: Context {
            state: SessionState::new(schema, charset),
            begun: Begun::in_era(shared.hostgroups.defaults.era()),
            lexing: shared.greetings.lexing(),
            is_told_of_changes: false,
            query_cache_type: None,
            shape: login.capabilities & SHAPE,
            environment: None,
        },
        cache: CacheUse::default(),
        dealings: Dealings::default(),
        statements: Statements::default(),
    };
    session.dealings.hands.position.keep(session.ground.snapshot.keeps_positions());
    let Session { ground, account, context, cache, dealings, .. } = &mut session;
    begin_in(ground, account, context, shared.hostgroups.defaults.era());
    renumber_environment(ground, context);
    judge_cache_use(ground, account, context, cache, dealings);
    session
}

/// The schema that a login names, if a server need not be asked what its name is in UTF-8; none otherwise.
pub(crate) fn plain_schema(named: &[u8], charset: &Charset) -> Vec<u8> {
    if charset.reads_as_utf8(named) { named.to_vec() } else { Vec::new() }
}

/// Counts and logs a refusal, and words it as a server would.
fn tell(
    worker: &Worker,
    handle: &SessionHandle,
    shared: &Shared,
    login: &Login,
    with_password: bool,
    refusal: &Refusal,
) -> (ErrorCode, String) {
    worker.counters.generated_errors.bump();
    let user = String::from_utf8_lossy(&login.user);
    let host = &handle.address().host;
    match refusal {
        Refusal::Denied => {
            worker.counters.denied_password.bump();
            let using = if with_password { "YES" } else { "NO" };
            if let Some(suppressed) = shared.doors.refusal_log.admit(shared.clock.now_ms()) {
                tracing::warn!(client = %host, port = handle.address().port, user = %user, suppressed,
                    "refused a login: unknown user or wrong password");
            }
            let message = format!("Access denied for user '{user}'@'{host}' (using password: {using})");
            (ErrorCode::ACCESS_DENIED, message)
        }
        Refusal::NotTls => {
            worker.counters.denied_password.bump();
            if let Some(suppressed) = shared.doors.refusal_log.admit(shared.clock.now_ms()) {
                tracing::warn!(client = %host, user = %user, suppressed,
                    "refused a login: the user must use TLS (mysql_users.use_ssl)");
            }
            let message = format!("User '{user}' must connect with TLS: mysql_users.use_ssl is 1");
            (ErrorCode::SECURE_TRANSPORT_REQUIRED, message)
        }
        Refusal::UserFull { max } => {
            worker.counters.denied_max_user_connections.bump();
            if let Some(suppressed) = shared.doors.refusal_log.admit(shared.clock.now_ms()) {
                tracing::warn!(client = %host, user = %user, max, suppressed,
                    "refused a login: the user's max_connections are in use");
            }
            let message = format!(
                "User '{user}' has exceeded the 'max_user_connections' resource (current value: {max})"
            );
            (ErrorCode::USER_LIMIT_REACHED, message)
        }
    }
}

/// Counts and logs a refusal of COM_CHANGE_USER, and words it as a server would.
pub(crate) fn word(
    ground: &Ground,
    login: &Login,
    with_password: bool,
    refusal: &Refusal,
) -> (ErrorCode, String) {
    tell(&ground.worker, &ground.handle, &ground.shared, login, with_password, refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_trusted_by_their_addresses() {
        let of = |host: &str| ClientAddress {
            host: Arc::from(host),
            port: 1,
            proxy_host: Arc::from(""),
            proxy_port: 0,
        };
        for (networks, host, trusted) in [
            ("", "127.0.0.1", false),
            ("*", "203.0.113.9", true),
            ("10.0.0.0/8, 192.0.2.1", "10.1.2.3", true),
            ("10.0.0.0/8, 192.0.2.1", "192.0.2.1", true),
            ("10.0.0.0/8, 192.0.2.1", "192.0.2.2", false),
            ("fd00::/8", "fd12::1", true),
            ("localhost", "localhost", true),
            ("localhost", "127.0.0.1", false),
            ("nonsense,10.0.0.1/99", "10.0.0.1", false),
        ] {
            let expected = if trusted { ProxyHeaders::Trusted } else { ProxyHeaders::Refused };
            assert_eq!(trust(networks, &of(host)), expected, "{host} in {networks}");
        }
    }
}
