//! How a relay is told what to do: one line of JSON over a Unix socket, and one in answer.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::relay::rules::{Cut, Hold};
use crate::role::Role;

/// How long either side waits for the other's line.
const LINE_WITHIN: Duration = Duration::from_secs(20);

/// What a relay can be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Read the lab's state again; listen for those servers, and only those, that listen themselves.
    Sync,
    Hold(Hold),
    Heal,
    /// Reset all connections of a server.
    Cut(Role),
    CutAfter(Cut),
    /// Tell what has passed to and from a server.
    Passed(Role),
    End,
}

/// What has passed through the relay of one server since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// Bytes to the server.
    pub to_server: u64,
    /// Bytes from the server.
    pub from_server: u64,
    /// Whether a cut that was asked for is still to be made, anywhere in the lab.
    pub cut_is_due: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Passed(Passed),
    Failed(String),
}

/// Tells the relay at that socket, and waits for its answer.
pub(crate) fn tell(socket: &Path, command: &Command) -> io::Result<Answer> {
    let stream = UnixStream::connect(socket)?;
    write_line(&stream, command)?;
    read_line(&stream)
}

/// Answers one command.
pub(crate) fn serve(stream: &UnixStream, act: impl FnOnce(Command) -> Answer) -> io::Result<()> {
    let answer = act(read_line(stream)?);
    write_line(stream, &answer)
}

fn write_line(mut stream: &UnixStream, line: &impl Serialize) -> io::Result<()> {
    stream.set_write_timeout(Some(LINE_WITHIN))?;
    stream.write_all(format!("{}\n", serde_json::to_string(line)?).as_bytes())
}

fn read_line<T: for<'de> Deserialize<'de>>(stream: &UnixStream) -> io::Result<T> {
    stream.set_read_timeout(Some(LINE_WITHIN))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
