//! A client of a server that asks few questions, one by one: login, whole answers as text, goodbye.
//!
//! It asks for no capability that changes how answers look. It reads no clock and sets no time limit: dropping a future of it leaves the
//! connection in the middle of an answer, so nothing more can be asked then.

use std::ops::ControlFlow;

use nuthatch_wire::{
    AnswerKind, AnswerScanner, CapabilityFlags, Command, Ending, ErrPacket, Form, HEADER_LEN, Reader,
    SmallResult, append_packet,
};
use thiserror::Error;

use crate::{
    BackendAddress, BackendLogin, BackendPassword, BackendTls, ClearPasswords, Framed, NetError, Stream,
    log_in,
};

/// `utf8mb4_general_ci`, which every server knows: names and texts come in UTF-8.
const COLLATION: u8 = 45;

/// The largest packet that the server is told we take.
const PACKET_BYTES_MAX: u32 = 64 << 20;

/// Who asks, and how the server is reached. Shows no password.
#[derive(Clone, Debug)]
pub struct AskerLogin {
    /// The account's name.
    pub user: String,
    /// Its password.
    pub password: BackendPassword,
    /// TLS, with the name that the certificate is to bear; `None` for a connection in the clear.
    pub tls: Option<(BackendTls, String)>,
    /// Whether a server that asks for the password itself gets it.
    pub clear_passwords: ClearPasswords,
}

impl AskerLogin {
    /// Of that account, over a connection in the clear; the password itself is given to no server.
    #[must_use]
    pub fn in_the_clear(user: &str, password: &str) -> Self {
        Self {
            user: user.to_owned(),
            password: BackendPassword::of(password),
            tls: None,
            clear_passwords: ClearPasswords::Refused,
        }
    }
}

/// Why a question has no answer. No secret is in it.
#[derive(Debug, Error)]
pub enum AskError {
    /// The connection failed.
    #[error(transparent)]
    Lost(#[from] NetError),
    /// The server refused the question.
    #[error("the server answered error {code}: {message}")]
    Refused {
        /// The error's number.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// The answer has another form than a question of this kind can have.
    #[error("the server's answer is not understood")]
    NotUnderstood,
    /// The answer is larger than may be.
    #[error("the server's answer has more than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerTable {
    /// The names of the columns; none of a statement without a result.
    pub names: Vec<String>,
    /// The rows' values as text; `None` is NULL.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

/// One connection to one server.
#[derive(Debug)]
pub struct Asker {
    framed: Framed,
    answer_bytes_max: usize,
    version: String,
    questions: u64,
}

impl Asker {
    /// Connects and logs in. No answer may have more than so many bytes.
    ///
    /// # Errors
    /// As [`log_in`]; what the socket says.
    pub async fn open(
        server: &BackendAddress,
        login: &AskerLogin,
        answer_bytes_max: usize,
    ) -> Result<Self, NetError> {
        let stream = Stream::connect(server).await?;
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
        let version = String::from_utf8_lossy(&logged_in.greeting.version).into_owned();
        Ok(Self { framed, answer_bytes_max, version, questions: 0 })
    }

    /// The server's version, as it greeted.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How much it was asked so far, over this connection.
    #[must_use]
    pub const fn questions(&self) -> u64 {
        self.questions
    }

    /// Whether the server has closed the connection, or sent something that it was not asked for: then nothing more can be asked.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.framed.stream_ref().is_disturbed()
    }

    /// Asks whether the server is there: COM_PING.
    ///
    /// # Errors
    /// [`AskError::Lost`], [`AskError::Refused`].
    pub async fn ping(&mut self) -> Result<(), AskError> {
        self.send(Command::Ping, b"").await?;
        self.answer(AnswerKind::Single).await.map(drop)
    }

    /// The whole answer to a statement.
    ///
    /// # Errors
    /// See [`AskError`].
    pub async fn ask(&mut self, sql: &str) -> Result<AnswerTable, AskError> {
        self.send(Command::Query, sql.as_bytes()).await?;
        match self.answer(AnswerKind::ResultSets).await? {
            None => Ok(AnswerTable::default()),
            Some(answer) => table(&answer).ok_or(AskError::NotUnderstood),
        }
    }

    /// The connection itself, for who goes on with another command than a question.
    #[must_use]
    pub fn into_framed(self) -> Framed {
        self.framed
    }

    /// Says goodbye. That the server does not hear it changes nothing.
    pub async fn close(mut self) {
        let _unheard = self.send(Command::Quit, b"").await;
    }

    async fn send(&mut self, command: Command, argument: &[u8]) -> Result<(), NetError> {
        let mut packet = Vec::with_capacity(HEADER_LEN + 1 + argument.len());
        append_packet(&mut packet, &mut 0, &[&[command as u8], argument].concat());
        self.questions += 1;
        self.framed.write(&packet).await
    }

    /// The packets of a result set; none of an answer that is an OK.
    async fn answer(&mut self, kind: AnswerKind) -> Result<Option<Vec<u8>>, AskError> {
        let mut scanner = AnswerScanner::new(kind, false);
        let mut answer = Vec::new();
        while self.take(&mut scanner, &mut answer)?.is_continue() {
            if answer.len() > self.answer_bytes_max {
                return Err(AskError::TooLarge { bytes_max: self.answer_bytes_max });
            }
            self.framed.fill().await?;
        }
        match scanner.end().ending {
            Ending::Ok => Ok(None),
            Ending::ResultSet => Ok(Some(answer)),
            Ending::Err(code) => {
                Err(AskError::Refused { code, message: message(&answer).unwrap_or_default() })
            }
        }
    }

    /// Moves what has come of the answer behind what came before.
    fn take(
        &mut self,
        scanner: &mut AnswerScanner,
        answer: &mut Vec<u8>,
    ) -> Result<ControlFlow<()>, NetError> {
        let unread = self.framed.unread();
        let progress = scanner.scan(unread)?;
        answer.extend_from_slice(unread.get(..progress.consumed).unwrap_or_default());
        self.framed.consume(progress.consumed);
        Ok(if progress.finished { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

impl AnswerTable {
    /// The value in the first row of the column of that name, in any case; `None` also where it is NULL.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        let place = self.names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        self.rows.first()?.get(place)?.as_deref()
    }

    /// The same as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// The values of each row as text; what is NULL, or missing at the end, is empty.
    pub fn texts<const COLUMNS: usize>(&self) -> impl Iterator<Item = [String; COLUMNS]> {
        self.rows.iter().map(|row| {
            std::array::from_fn(|place| {
                let value = row.get(place).and_then(Option::as_deref).unwrap_or_default();
                String::from_utf8_lossy(value).into_owned()
            })
        })
    }
}

fn table(answer: &[u8]) -> Option<AnswerTable> {
    let result = SmallResult::parse(answer, Form::default())?;
    let names: Option<Vec<String>> = result.definitions.iter().map(|definition| name(definition)).collect();
    let rows: Option<Vec<_>> = result.rows.into_iter().map(values).collect();
    Some(AnswerTable { names: names?, rows: rows? })
}

/// The fifth of a column definition's texts: "Protocol::ColumnDefinition41".
fn name(definition: &[u8]) -> Option<String> {
    let mut reader = Reader::new(definition);
    let mut texts = std::iter::from_fn(|| reader.lenenc_bytes().ok());
    texts.nth(4).map(|name| String::from_utf8_lossy(name).into_owned())
}

fn values(row: &[u8]) -> Option<Vec<Option<Vec<u8>>>> {
    const NULL: u8 = 0xFB;
    let mut reader = Reader::new(row);
    let mut values = Vec::new();
    while let Some(&first) = reader.rest().first() {
        if first == NULL {
            reader.u8().ok()?;
            values.push(None);
        } else {
            values.push(Some(reader.lenenc_bytes().ok()?.to_vec()));
        }
    }
    Some(values)
}

/// The words of an error that is the whole answer.
fn message(answer: &[u8]) -> Option<String> {
    let error = ErrPacket::parse(answer.get(HEADER_LEN..)?).ok()?;
    Some(String::from_utf8_lossy(&error.message).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(payloads: &[&[u8]]) -> Vec<u8> {
        let (mut packets, mut sequence) = (Vec::new(), 1);
        payloads.iter().for_each(|payload| append_packet(&mut packets, &mut sequence, payload));
        packets
    }

    /// A column's definition, as far as it is read.
    fn definition(name: &str) -> Vec<u8> {
        let texts = ["def", "", "", "", name, ""];
        let mut definition = Vec::new();
        for text in texts {
            definition.push(u8::try_from(text.len()).expect("a short text"));
            definition.extend(text.as_bytes());
        }
        definition.extend([12, 45, 0, 255, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
        definition
    }

    #[test]
    fn table_has_its_names_and_tells_null_from_nothing() {
        let (one, other) = (definition("Seconds_Behind_Master"), definition("b"));
        let eof: &[u8] = &[0xFE, 0, 0, 2, 0];
        let answer = packets(&[&[2], &one, &other, eof, &[0xFB, 0], &[1, b'7', 0xFB], eof]);
        let table = table(&answer).expect("a result");
        assert_eq!(table.names, ["Seconds_Behind_Master", "b"]);
        assert_eq!(table.rows, [vec![None, Some(Vec::new())], vec![Some(b"7".to_vec()), None]]);
        assert_eq!(table.value("B"), Some(&b""[..]));
        assert_eq!(table.value("seconds_behind_master"), None);
        assert_eq!(table.value("c"), None);
        assert_eq!((table.text("b").as_deref(), table.text("c")), (Some(""), None));
        assert!(table.texts().eq([[String::new(), String::new()], ["7".to_owned(), String::new()]]));
        assert_eq!(AnswerTable::default().value("b"), None);
    }

    #[test]
    fn answer_that_is_cut_or_of_another_form_is_no_table() {
        let eof: &[u8] = &[0xFE, 0, 0, 2, 0];
        let whole = packets(&[&[1], &definition("a"), eof, &[1, b'7'], eof]);
        assert!(table(&whole).is_some());
        for end in 0..whole.len() {
            assert_eq!(table(&whole[..end]), None, "{end} bytes");
        }
        assert_eq!(table(&packets(&[&[1], &definition("a"), eof, &[5, b'7'], eof])), None);
    }
}
