//! Statements to an instance's server, as its root, over its Unix socket.

use std::time::Duration;

use nuthatch_net::{AnswerTable, AskError, Asker, AskerLogin, BackendAddress};

use crate::error::InstanceError;
use crate::root::Place;

/// The largest answer that is taken, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// How long a login, or the answer to a question that a healthy server has at once, may take.
pub(crate) const SOON: Duration = Duration::from_secs(5);

/// How long a statement may take that changes something.
pub(crate) const PATIENTLY: Duration = Duration::from_secs(120);

/// A connection to one server.
pub(crate) struct Session {
    asker: Asker,
    place: Place,
}

impl Session {
    /// Logged in, within [`SOON`].
    pub(crate) async fn open(place: &Place) -> Result<Self, InstanceError> {
        let unreachable = |what: String| InstanceError::Unreachable { name: place.name().clone(), what };
        let login = AskerLogin::in_the_clear("root", place.password()?.reveal());
        let socket = place.socket();
        let address = BackendAddress::new(&socket.display().to_string(), 0);
        match tokio::time::timeout(SOON, Asker::open(&address, &login, ANSWER_BYTES_MAX)).await {
            Ok(Ok(asker)) => Ok(Self { asker, place: place.clone() }),
            Ok(Err(error)) => Err(unreachable(format!("{}: {error}", socket.display()))),
            Err(_late) => Err(unreachable(format!("it does not answer within {} s", SOON.as_secs()))),
        }
    }

    /// The server's version. MariaDB before 11 greets as 5.5.5, for replicas that took a 10 for a 1.
    pub(crate) fn version(&self) -> &str {
        let greeted = self.asker.version();
        greeted.strip_prefix("5.5.5-").unwrap_or(greeted)
    }

    /// The answer to a statement.
    pub(crate) async fn ask(&mut self, sql: &str, within: Duration) -> Result<AnswerTable, InstanceError> {
        let name = self.place.name().clone();
        match tokio::time::timeout(within, self.asker.ask(sql)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(AskError::Refused { code, message })) => {
                Err(InstanceError::Statement { name, code, message })
            }
            Ok(Err(error)) => Err(InstanceError::Unreachable { name, what: error.to_string() }),
            Err(_late) => Err(InstanceError::Unreachable {
                name,
                what: format!("no answer within {} s", within.as_secs()),
            }),
        }
    }

    /// The value of a global variable; `None` where the server has none of that name.
    pub(crate) async fn in_force(&mut self, name: &str) -> Option<String> {
        let value = self.ask(&format!("SELECT @@GLOBAL.{name}"), PATIENTLY).await.ok()?;
        let value = value.rows.first()?.first()?.clone()?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }
}

/// A name as it stands in a statement.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Runs what asks servers, on this thread.
pub(crate) fn wait_for<T>(
    asking: impl Future<Output = Result<T, InstanceError>>,
) -> Result<T, InstanceError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(nuthatch_server::ServerError::file("begin to ask", "/dev/null"))?;
    runtime.block_on(asking)
}
