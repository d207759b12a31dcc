//! A connection of this crate's own: login, questions one by one, goodbye.

use std::ops::ControlFlow;

use nuthatch_net::{
    BackendAddress, BackendLogin, BackendPassword, BackendTls, ClearPasswords, Framed, Stream, log_in,
};
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{
    AnswerKind, AnswerScanner, CapabilityFlags, Command, Ending, ErrPacket, Form, HEADER_LEN, Reader,
    SmallResult, append_packet,
};

use crate::PictureError;
use crate::question::{NamedRow, Question, Row, Server};

/// `utf8mb4_general_ci`, which every server knows: names and texts come in UTF-8.
const COLLATION: u8 = 45;

/// The largest answer that is read: the columns of some hundred thousand tables.
const ANSWER_BYTES_MAX: usize = 128 << 20;

/// The largest packet that the server is told we take.
const PACKET_BYTES_MAX: u32 = 64 << 20;

/// Who looks, and how the server is reached. Shows no password.
#[derive(Clone, Debug)]
pub struct Login {
    /// The account's name.
    pub user: String,
    /// Its password.
    pub password: BackendPassword,
    /// TLS, with the name that the certificate is to bear; `None` for a connection in the clear.
    pub tls: Option<(BackendTls, String)>,
    /// Whether a server that asks for the password itself gets it.
    pub clear_passwords: ClearPasswords,
}

/// One connection to one server, without any capability that changes how answers look.
pub(crate) struct Connection {
    framed: Framed,
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`PictureError::Lost`].
    pub(crate) async fn open(
        server: &BackendAddress,
        login: &Login,
    ) -> Result<(Self, ServerFlavor), PictureError> {
        let stream = Stream::connect(server).await.map_err(nuthatch_net::NetError::from)?;
        let mut framed = Framed::new(stream);
        let login = BackendLogin {
            user: &login.user,
            password: &login.password,
            schema: None,
            collation: COLLATION,
            capabilities: CapabilityFlags::empty(),
            max_packet_bytes: PACKET_BYTES_MAX,
            tls: login.tls.as_ref().map(|(tls, host)| (tls, host.as_str())),
            clear_passwords: login.clear_passwords,
        };
        let logged_in = log_in(&mut framed, &login).await?;
        Ok((Self { framed }, ServerFlavor::of_version(&logged_in.greeting.version)))
    }

    /// Says goodbye. That the server does not hear it changes nothing.
    pub(crate) async fn close(mut self) {
        let _unheard = self.send(Command::Quit, b"").await;
    }

    async fn send(&mut self, command: Command, argument: &[u8]) -> Result<(), PictureError> {
        let mut packet = Vec::with_capacity(HEADER_LEN + 1 + argument.len());
        append_packet(&mut packet, &mut 0, &[&[command as u8], argument].concat());
        Ok(self.framed.write(&packet).await?)
    }

    /// The whole answer to the command that was sent, and how it ended.
    async fn answer(&mut self, what: &'static str) -> Result<(Vec<u8>, Ending), PictureError> {
        let mut scanner = AnswerScanner::new(AnswerKind::ResultSets, false);
        let mut answer = Vec::new();
        while self.take(&mut scanner, &mut answer)?.is_continue() {
            if answer.len() > ANSWER_BYTES_MAX {
                return Err(PictureError::TooLarge { what, bytes_max: ANSWER_BYTES_MAX });
            }
            self.framed.fill().await?;
        }
        Ok((answer, scanner.end().ending))
    }

    /// Moves what has come of the answer behind what came before.
    fn take(
        &mut self,
        scanner: &mut AnswerScanner,
        answer: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, PictureError> {
        let unread = self.framed.unread();
        let progress = scanner.scan(unread).map_err(nuthatch_net::NetError::from)?;
        answer.extend_from_slice(unread.get(..progress.consumed).unwrap_or_default());
        self.framed.consume(progress.consumed);
        Ok(if progress.finished { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

impl Server for Connection {
    async fn ask(&mut self, question: Question) -> Result<Vec<Row>, PictureError> {
        self.ask_text(question.what, question.sql, rows).await
    }

    async fn ask_named(&mut self, question: Question) -> Result<Vec<NamedRow>, PictureError> {
        self.ask_text(question.what, question.sql, named_rows).await
    }
}

impl Connection {
    /// What `read` makes of the rows that the statement has; nothing of one without a result.
    pub(crate) async fn ask_text<R: Default>(
        &mut self,
        what: &'static str,
        sql: &str,
        read: impl FnOnce(&[u8]) -> Option<R>,
    ) -> Result<R, PictureError> {
        self.send(Command::Query, sql.as_bytes()).await?;
        let (answer, ending) = self.answer(what).await?;
        match ending {
            Ending::Ok => Ok(R::default()),
            Ending::ResultSet => read(&answer).ok_or(PictureError::NotUnderstood(what)),
            Ending::Err(code) => {
                Err(PictureError::Refused { what, code, message: message(&answer).unwrap_or_default() })
            }
        }
    }
}

pub(crate) fn rows(answer: &[u8]) -> Option<Vec<Row>> {
    let result = SmallResult::parse(answer, Form::default())?;
    result.rows.into_iter().map(values).collect()
}

fn named_rows(answer: &[u8]) -> Option<Vec<NamedRow>> {
    let result = SmallResult::parse(answer, Form::default())?;
    let names: Option<Vec<String>> = result.definitions.iter().map(|definition| name(definition)).collect();
    let names = names?;
    let named = |row| Some(names.iter().cloned().zip(values(row)?).collect());
    result.rows.into_iter().map(named).collect()
}

/// The fifth of a column definition's texts: "Protocol::ColumnDefinition41".
fn name(definition: &[u8]) -> Option<String> {
    let mut reader = Reader::new(definition);
    let mut texts = std::iter::from_fn(|| reader.lenenc_bytes().ok());
    texts.nth(4).map(|name| String::from_utf8_lossy(name).into_owned())
}

fn values(row: &[u8]) -> Option<Row> {
    const NULL: u8 = 0xFB;
    let mut reader = Reader::new(row);
    let mut values = Vec::new();
    while let Some(&first) = reader.rest().first() {
        if first == NULL {
            reader.u8().ok()?;
            values.push(Vec::new());
        } else {
            values.push(reader.lenenc_bytes().ok()?.to_vec());
        }
    }
    Some(values)
}

/// The words of an error that is the whole answer.
fn message(answer: &[u8]) -> Option<String> {
    let error = ErrPacket::parse(answer.get(HEADER_LEN..)?).ok()?;
    Some(String::from_utf8_lossy(&error.message).into_owned())
}
