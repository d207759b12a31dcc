//! The proxies that send to the servers of this host, asked and told over their admin interfaces.

use std::time::Duration;

use nuthatch_net::{AnswerTable, Asker, AskerLogin, BackendAddress};

use crate::error::InstanceError;
use crate::host::ProxyAdmin;
use crate::record::Record;

/// How long a proxy may take to answer.
const WITHIN: Duration = Duration::from_secs(5);

/// The largest answer of a proxy, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// How often a proxy is asked what still runs.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Whether a proxy has nothing running on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    Now,
    NotYet,
}

/// A server as a proxy has it in a hostgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) hostgroup: String,
    pub(crate) status: String,
    /// How many others are ONLINE in that hostgroup.
    pub(crate) others_online: u64,
}

impl ProxyAdmin {
    /// In which hostgroups the proxy has the server, and how.
    pub(crate) async fn listed(&self, record: &Record) -> Result<Vec<Listed>, InstanceError> {
        let (address, port) = (record.address, record.port);
        let sql = format!(
            "SELECT s.hostgroup_id, s.status, (SELECT COUNT(*) FROM runtime_mysql_servers AS o WHERE o.hostgroup_id = s.hostgroup_id \
             AND o.status = 'ONLINE' AND NOT (o.hostname = '{address}' AND o.port = {port})) FROM runtime_mysql_servers AS s \
             WHERE s.hostname = '{address}' AND s.port = {port} AND s.status <> 'OFFLINE_HARD' ORDER BY s.hostgroup_id"
        );
        let answer = self.tell(&[sql]).await?;
        let row = |[hostgroup, status, others]: [String; 3]| Listed {
            hostgroup,
            status,
            others_online: others.parse().unwrap_or(0),
        };
        Ok(answer.texts().map(row).collect())
    }

    /// The proxy has the server with that status wherever it has it with the other, at once and until it is started anew.
    pub(crate) async fn turn(&self, record: &Record, from: &str, to: &str) -> Result<(), InstanceError> {
        let statements = [
            format!(
                "UPDATE mysql_servers SET status = '{to}' WHERE hostname = '{}' AND port = {} AND status = '{from}'",
                record.address, record.port
            ),
            "LOAD MYSQL SERVERS TO RUNTIME".to_owned(),
        ];
        self.tell(&statements).await.map(drop)
    }

    /// Returns when no connection of the proxy to the server is in use any more; else behind that time.
    pub(crate) async fn await_idle(&self, record: &Record, within: Duration) -> Idle {
        let idle = async {
            while !self.used(record).await.is_ok_and(|used| used == 0) {
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        match tokio::time::timeout(within, idle).await {
            Ok(()) => Idle::Now,
            Err(_late) => Idle::NotYet,
        }
    }

    /// How many connections of the proxy to the server are in use.
    async fn used(&self, record: &Record) -> Result<u64, InstanceError> {
        let sql = format!(
            "SELECT COALESCE(SUM(ConnUsed), 0) FROM stats_mysql_connection_pool WHERE srv_host = '{}' AND srv_port = {}",
            record.address, record.port
        );
        let answer = self.tell(&[sql]).await?;
        let count = answer.texts().map(|[count]: [String; 1]| count.parse().unwrap_or(0)).next();
        Ok(count.unwrap_or(0))
    }

    /// The answer to the last of some statements.
    async fn tell(&self, statements: &[String]) -> Result<AnswerTable, InstanceError> {
        let cannot = |what: String| {
            InstanceError::Refused(format!(
                "speak with the proxy at {}: {what} (proxies in host.toml)",
                self.admin
            ))
        };
        let password = std::fs::read_to_string(&self.password_file)
            .map_err(|error| cannot(format!("{}: {error}", self.password_file.display())))?;
        let login = AskerLogin::in_the_clear(&self.user, password.lines().next().unwrap_or_default());
        let place = self.admin.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = place.ok_or_else(|| cannot("HOST:PORT is wanted".into()))?;
        let address = BackendAddress::new(host, port);
        let asking = async {
            let opened = Asker::open(&address, &login, ANSWER_BYTES_MAX).await;
            let mut asker = opened.map_err(|error| cannot(error.to_string()))?;
            let mut answer = AnswerTable::default();
            for statement in statements {
                answer = asker.ask(statement).await.map_err(|error| cannot(error.to_string()))?;
            }
            Ok(answer)
        };
        let late = |_late| cannot(format!("no answer within {} s", WITHIN.as_secs()));
        tokio::time::timeout(WITHIN, asking).await.map_err(late)?
    }
}
