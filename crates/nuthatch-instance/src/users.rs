//! Who would miss an instance: its clients, its replicas, and the proxies that send to it.

use crate::ask::{SOON, Session, wait_for};
use crate::error::InstanceError;
use crate::life::state::State;
use crate::proxies::Listed;
use crate::root::{Place, Root};

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
        let listed = wait_for(proxy.listed(&record))?;
        let words = |one: Listed| {
            format!("the proxy at {} has it {} in hostgroup {}", proxy.admin, one.status, one.hostgroup)
        };
        users.extend(listed.into_iter().map(words));
    }
    if users.is_empty() {
        return Ok(());
    }
    Err(InstanceError::Refused(format!("{what} {}, which is in use: {}", place.name(), users.join("; "))))
}

/// How many clients the server has, replicas not counted.
pub(crate) async fn clients(session: &mut Session) -> Result<usize, InstanceError> {
    let threads = session.ask(THREADS, SOON).await?;
    let is_client = |[_, _, command]: &[String; 3]| !command.starts_with("Binlog Dump");
    Ok(threads.texts().filter(is_client).count())
}

/// User, host and command of each connection but this one and those of the server's own.
const THREADS: &str = "SELECT USER, COALESCE(HOST, ''), COMMAND FROM information_schema.PROCESSLIST \
     WHERE ID <> CONNECTION_ID() AND USER NOT IN ('system user', 'event_scheduler') AND COMMAND NOT IN ('Daemon', 'Slave_worker')";

/// The server's clients and replicas, in words.
async fn connected(place: &Place) -> Result<Vec<String>, InstanceError> {
    let mut session = Session::open(place).await?;
    let threads = session.ask(THREADS, SOON).await?;
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
