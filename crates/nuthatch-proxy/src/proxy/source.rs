//! Which servers are to be looked at, and as whom.

use std::sync::Arc;

use nuthatch_config::{HostgroupId, Server as ServerConfig, ServerStatus, Snapshot};
use nuthatch_net::{BackendAddress, BackendPassword, BackendTls, ClearPasswords};

use crate::backend::clear_passwords;
use crate::exact::{Domain, NoDomain};
use crate::shared::Shared;
use crate::shared::doors::scouts;

/// How a server of a hostgroup is reached to read its catalogue. Shows no password.
#[derive(Debug, Clone)]
pub struct Source {
    /// As configured.
    pub host: String,
    /// As configured; 0 for a socket.
    pub port: u16,
    /// Where it is.
    pub address: BackendAddress,
    /// Who may read it: the first that sees everything does.
    pub accounts: Vec<SourceAccount>,
    /// Whether a server that asks for the password itself gets it.
    pub clear_passwords: ClearPasswords,
}

/// An account that may read a catalogue. Shows no password.
#[derive(Debug, Clone)]
pub struct SourceAccount {
    /// Its name.
    pub user: String,
    /// Its password.
    pub password: BackendPassword,
    /// TLS, if connections as this user have it.
    pub tls: Option<BackendTls>,
}

/// How many accounts of applications are tried where none is configured for it.
const ACCOUNTS_MAX: usize = 8;

/// For each hostgroup its servers, whose catalogues are to be read, or why one cannot be reached.
pub(super) fn sources(shared: &Shared) -> Vec<(HostgroupId, Vec<Result<Source, NoDomain>>)> {
    let snapshot = shared.configuration.snapshot();
    let sources = |(hostgroup, _): (HostgroupId, &[Arc<ServerConfig>])| {
        let source = |server: &Arc<ServerConfig>| source_of(shared, hostgroup, server, &snapshot);
        (hostgroup, snapshot.hostgroups.usable(hostgroup).map(source).collect())
    };
    snapshot.hostgroups.iter().map(sources).collect()
}

/// What the configuration says of the server that takes a hostgroup's writes, if it stands in it.
pub(super) fn server_status(
    shared: &Shared,
    hostgroup: HostgroupId,
    domain: &Result<Arc<Domain>, NoDomain>,
) -> Option<ServerStatus> {
    let domain = domain.as_ref().ok()?;
    let snapshot = shared.configuration.snapshot();
    let (_, servers) = snapshot.hostgroups.iter().find(|(known, _)| *known == hostgroup)?;
    let server = servers.iter().find(|server| (&server.host, server.port) == (&domain.host, domain.port))?;
    Some(server.status)
}

fn source_of(
    shared: &Shared,
    hostgroup: HostgroupId,
    server: &ServerConfig,
    snapshot: &Snapshot,
) -> Result<Source, NoDomain> {
    let known =
        shared.hostgroups.servers().into_iter().find(|known| {
            (known.hostgroup, &known.host, known.port) == (hostgroup, &server.host, server.port)
        });
    let known = known.ok_or_else(|| NoDomain::from("its server is not in force yet"))?;
    let account = |(user, password): (String, BackendPassword)| {
        let tls = known.tls_of(&user).map_err(|error| NoDomain::from(error.to_string()))?;
        Ok(SourceAccount { user, password, tls })
    };
    let accounts: Vec<_> =
        readers(shared, hostgroup, snapshot).into_iter().map(account).collect::<Result<_, NoDomain>>()?;
    if accounts.is_empty() {
        return Err("no account is known to read the catalogue with: set \
                        mysql-query_cache_catalogue_username and mysql-query_cache_catalogue_password"
            .into());
    }
    Ok(Source {
        host: known.host.clone(),
        port: known.port,
        address: known.address().clone(),
        accounts,
        clear_passwords: clear_passwords(&snapshot.mysql),
    })
}

/// The configured account; else some users with whose passwords servers can be logged in to, those of the hostgroup first.
fn readers(shared: &Shared, hostgroup: HostgroupId, snapshot: &Snapshot) -> Vec<(String, BackendPassword)> {
    let variables = &snapshot.mysql;
    if !variables.query_cache_catalogue_username.is_empty() {
        let password = BackendPassword::of(variables.query_cache_catalogue_password.expose());
        return vec![(variables.query_cache_catalogue_username.clone(), password)];
    }
    let scouts = scouts(snapshot);
    let of_hostgroup = scouts.iter().filter(|(of, _)| *of == hostgroup);
    let of_others = scouts.iter().filter(|(of, _)| *of != hostgroup);
    let known = of_hostgroup.chain(of_others).filter_map(|(_, user)| {
        let password = shared.doors.backend_password(snapshot, user)?;
        Some((user.to_string(), BackendPassword::clone(&password)))
    });
    known.take(ACCOUNTS_MAX).collect()
}
