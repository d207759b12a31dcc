//! A connection of this crate's own: login, questions one by one, goodbye.

use nuthatch_net::{AnswerTable, AskError, Asker, BackendAddress};
use nuthatch_sql::ServerFlavor;

use crate::PictureError;
use crate::question::{NamedRow, Question, Row, Server};

/// Who looks, and how the server is reached. Shows no password.
pub type Login = nuthatch_net::AskerLogin;

/// The largest answer that is read: the columns of some hundred thousand tables.
const ANSWER_BYTES_MAX: usize = 128 << 20;

/// One connection to one server.
pub(crate) struct Connection(Asker);

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`PictureError::Lost`].
    pub(crate) async fn open(
        server: &BackendAddress,
        login: &Login,
    ) -> Result<(Self, ServerFlavor), PictureError> {
        let asker = Asker::open(server, login, ANSWER_BYTES_MAX).await?;
        let flavor = ServerFlavor::of_version(asker.version().as_bytes());
        Ok((Self(asker), flavor))
    }

    /// Says goodbye. That the server does not hear it changes nothing.
    pub(crate) async fn close(self) {
        self.0.close().await;
    }

    /// The rows that the statement has; none of one without a result.
    pub(crate) async fn ask_text(&mut self, what: &'static str, sql: &str) -> Result<Vec<Row>, PictureError> {
        Ok(rows(self.ask_table(what, sql).await?))
    }

    async fn ask_table(&mut self, what: &'static str, sql: &str) -> Result<AnswerTable, PictureError> {
        self.0.ask(sql).await.map_err(|error| match error {
            AskError::Lost(error) => PictureError::Lost(error),
            AskError::Refused { code, message } => PictureError::Refused { what, code, message },
            AskError::NotUnderstood => PictureError::NotUnderstood(what),
            AskError::TooLarge { bytes_max } => PictureError::TooLarge { what, bytes_max },
        })
    }
}

impl Server for Connection {
    async fn ask(&mut self, question: Question) -> Result<Vec<Row>, PictureError> {
        self.ask_text(question.what, question.sql).await
    }

    async fn ask_named(&mut self, question: Question) -> Result<Vec<NamedRow>, PictureError> {
        let table = self.ask_table(question.what, question.sql).await?;
        let names = table.names.clone();
        Ok(rows(table).into_iter().map(|row| names.iter().cloned().zip(row).collect()).collect())
    }
}

/// NULL is empty: no question tells them apart.
fn rows(table: AnswerTable) -> Vec<Row> {
    table.rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect()
}
