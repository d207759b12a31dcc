//! Who would miss an instance: its clients, its replicas, and the proxies that send to it.

use std::time::Duration;

use nuthatch_net::{Asker, AskerLogin, BackendAddress, BackendPassword, ClearPasswords};

use crate::ask::{SOON, Session, wait_for};
use crate::error::InstanceError;
use crate::host::{Host, ProxyAdmin};
use crate::life::state::State;
use crate::record::Record;
use crate::root::{Place, Root};

/// How long a proxy may take to answer.
const PROXY_WITHIN: Duration = Duration::from_secs(5);

/// The largest answer of a proxy, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Refuses where somebody uses the instance, with who does; `what` is what is not done therefore.
///
/// # Errors
/// [`InstanceError::Refused`]; also where a proxy of `host.toml` cannot be asked.
pub(crate) fn refuse_if_used(root: &Root, place: &Place, what: &str) -> Result<(), InstanceError> {
    let (host, record) = (root.host()?, place.record()?);
    let mut users = Vec::new();
    if State::load(place)?.live_server().is_some() {
        users.extend(wait_for(connected(place))?);
    }
    for proxy in &host.proxies {
        users.extend(wait_for(async { sends(&host, proxy, &record).await })?);
    }
    if users.is_empty() {
        return Ok(());
    }
    Err(InstanceError::Refused(format!("{what} {}, which is in use: {}", place.name(), users.join("; "))))
}

/// The server's clients and replicas, in words.
async fn connected(place: &Place) -> Result<Vec<String>, InstanceError> {
    let mut session = Session::open(place).await?;
    let threads = session
        .ask(
            "SELECT USER, COALESCE(HOST, ''), COMMAND FROM information_schema.PROCESSLIST \
             WHERE ID <> CONNECTION_ID() AND USER NOT IN ('system user', 'event_scheduler') AND COMMAND NOT IN ('Daemon', 'Slave_worker')",
            SOON,
        )
        .await?;
    let mut users = Vec::new();
    let mut clients = 0;
    for [user, host, command] in threads.texts() {
        if command.starts_with("Binlog Dump") {
            users.push(format!("{user} at {host} replicates from it"));
        } else {
            clients += 1;
            if clients <= 3 {
                users.push(format!("{user} at {host} is connected"));
            }
        }
    }
    if clients > 3 {
        users.push(format!("{} others are connected", clients - 3));
    }
    Ok(users)
}

/// In which hostgroups of the proxy the instance takes traffic, in words.
async fn sends(host: &Host, proxy: &ProxyAdmin, record: &Record) -> Result<Vec<String>, InstanceError> {
    let cannot = |what: String| {
        InstanceError::Refused(format!(
            "ask the proxy at {} whether it sends to {}:{}: {what} (proxies in host.toml)",
            proxy.admin, record.address, record.port
        ))
    };
    let password = std::fs::read_to_string(&proxy.password_file)
        .map_err(|error| cannot(format!("{}: {error}", proxy.password_file.display())))?;
    let login = AskerLogin {
        user: proxy.user.clone(),
        password: BackendPassword::of(password.lines().next().unwrap_or_default()),
        tls: None,
        clear_passwords: ClearPasswords::Refused,
    };
    let (admin, port) = proxy.admin.rsplit_once(':').ok_or_else(|| cannot("HOST:PORT is wanted".into()))?;
    let port = port.parse().map_err(|_bad| cannot("HOST:PORT is wanted".into()))?;
    let address = BackendAddress::new(admin, port);
    let asking = async {
        let mut asker = Asker::open(&address, &login, ANSWER_BYTES_MAX)
            .await
            .map_err(|error| cannot(error.to_string()))?;
        let sql = format!(
            "SELECT hostgroup_id, status FROM runtime_mysql_servers WHERE hostname = '{}' AND port = {} AND status <> 'OFFLINE_HARD'",
            host.address, record.port
        );
        asker.ask(&sql).await.map_err(|error| cannot(error.to_string()))
    };
    let late = |_late| cannot(format!("no answer within {} s", PROXY_WITHIN.as_secs()));
    let answer = tokio::time::timeout(PROXY_WITHIN, asking).await.map_err(late)??;
    Ok(answer
        .texts()
        .map(|[hostgroup, status]: [String; 2]| {
            format!("the proxy at {} has it {status} in hostgroup {hostgroup}", proxy.admin)
        })
        .collect())
}
