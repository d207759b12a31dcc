//! Another host, reached by `ssh HOST nuthatch instance … answer`: nothing of ours listens there.
//!
//! What is asked and sent goes over the standard streams; none of it is ever an argument. ssh asks nobody: who has no key or agent, or does not know the host's key,
//! is told so by ssh itself.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use nuthatch_server::{Deadline, ServerError};
use serde::{Deserialize, Serialize};

use crate::error::InstanceError;

/// Seconds within which a connection has to be there.
const CONNECT_WITHIN_S: u32 = 15;

/// Seconds after which the other host is asked whether it is still there, and how often it may say nothing.
const ALIVE_EVERY_S: u32 = 15;
const UNANSWERED_MAX: u32 = 4;

/// How long what was said may take behind the end of ssh.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

/// What ssh ends with when it is itself that has failed: ssh(1).
const SSH_FAILED: i32 = 255;
/// What a shell ends with that finds no such program.
const NOT_FOUND: i32 = 127;

/// How a host is reached, and its instances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ssh {
    host: String,
    /// What ssh is given before the host.
    options: Vec<String>,
    /// The program there.
    program: String,
    /// The root there; `None` for what it takes itself.
    root: Option<String>,
}

impl Ssh {
    /// `[USER@]HOST`, or a name of ssh's configuration; with further arguments of ssh, the program there, and the root there.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] for what ssh would take for an option.
    pub fn new(
        host: &str,
        options: Vec<String>,
        program: &str,
        root: Option<String>,
    ) -> Result<Self, InstanceError> {
        if host.is_empty() || host.starts_with('-') || host.chars().any(|c| c.is_control() || c == ' ') {
            return Err(InstanceError::Refused(format!("reach {host:?} by ssh: it is no host's name")));
        }
        Ok(Self { host: host.to_owned(), options, program: program.to_owned(), root })
    }

    /// The host, as it is called.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What `nuthatch instance answer` there says to this.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] with ssh's words, or those of the program there, or where nothing is said for so long.
    pub(crate) fn ask(&self, request: &str, within: Duration) -> Result<Vec<u8>, InstanceError> {
        let feed = |mut input: ChildStdin| {
            // Where ssh has ended before, it says why.
            drop(input.write_all(request.as_bytes()));
        };
        self.talk("answer", feed, Some(within)).1
    }

    /// What became of `feed`, which writes what `nuthatch instance receive` there reads, and what that has said then.
    pub(crate) fn send<T>(
        &self,
        feed: impl FnOnce(ChildStdin) -> T,
    ) -> (Option<T>, Result<Vec<u8>, InstanceError>) {
        self.talk("receive", feed, None)
    }

    fn talk<T>(
        &self,
        word: &str,
        feed: impl FnOnce(ChildStdin) -> T,
        within: Option<Duration>,
    ) -> (Option<T>, Result<Vec<u8>, InstanceError>) {
        let mut child = match self.command(word).spawn() {
            Ok(child) => child,
            Err(error) => return (None, Err(ServerError::file("run", "ssh")(error).into())),
        };
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return (None, Err(self.refuse("it has no standard streams")));
        };
        let (said, complained) = (heard(output), heard(errors));
        let fed = feed(input);
        let Some(status) = ended(&mut child, within) else {
            let minutes = within.unwrap_or_default().as_secs() / 60;
            return (Some(fed), Err(self.refuse(&format!("it has not answered after {minutes} minutes"))));
        };
        let outcome = status.map_err(|error| ServerError::file("run", "ssh")(error).into());
        let outcome = outcome.and_then(|status| self.outcome(status, all_of(&said), &all_of(&complained)));
        (Some(fed), outcome)
    }

    fn command(&self, word: &str) -> Command {
        let mut command = Command::new("ssh");
        // A master that ssh left behind would keep our end of its standard error.
        command
            .args(["-T", "-oBatchMode=yes", "-oControlMaster=no"])
            .arg(format!("-oConnectTimeout={CONNECT_WITHIN_S}"));
        command.args(&self.options);
        // What was said first holds: these are for who has said nothing.
        command
            .arg(format!("-oServerAliveInterval={ALIVE_EVERY_S}"))
            .arg(format!("-oServerAliveCountMax={UNANSWERED_MAX}"));
        command.arg("--").arg(&self.host).arg(self.line(word));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What was said; else why it ended.
    fn outcome(
        &self,
        status: ExitStatus,
        said: Vec<u8>,
        complained: &[u8],
    ) -> Result<Vec<u8>, InstanceError> {
        let words = last_line(complained);
        match status.code() {
            Some(0) => Ok(said),
            Some(SSH_FAILED) => Err(self.refuse(&words)),
            Some(NOT_FOUND) => {
                Err(self
                    .refuse(&format!("{words}: there is no {} there (--remote-program PATH)", self.program)))
            }
            _ => Err(self.refuse(&format!("{} there: {words}", self.program))),
        }
    }

    fn refuse(&self, what: &str) -> InstanceError {
        InstanceError::Refused(format!("ask {} over ssh: {what}", self.host))
    }

    /// What the shell there is to run.
    fn line(&self, word: &str) -> String {
        let root = self.root.as_deref().map_or(String::new(), |root| format!(" --root {}", quoted(root)));
        format!("{} instance{root} {word}", quoted(&self.program))
    }
}

/// All that comes from there, in the end.
fn heard(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (to, heard) = sync_channel(1);
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was said before it broke off counts.
        drop(from.read_to_end(&mut bytes));
        drop(to.send(bytes));
    });
    heard
}

fn all_of(heard: &Receiver<Vec<u8>>) -> Vec<u8> {
    // Who ssh has started for itself may keep the pipes open behind it.
    heard.recv_timeout(HEARD_WITHIN).unwrap_or_default()
}

/// How it has ended; `None` where it did not in time, and was ended.
fn ended(child: &mut Child, within: Option<Duration>) -> Option<std::io::Result<ExitStatus>> {
    let Some(within) = within else { return Some(child.wait()) };
    let ended = Deadline::after(within).poll(|| child.try_wait().transpose());
    if ended.is_none() {
        drop(child.kill());
        drop(child.wait());
    }
    ended
}

/// One word of a shell's.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// ssh's reason stands last, behind banners and warnings.
fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("it ended without a word").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_no_option_and_words_stay_words() {
        for bad in ["", "-oProxyCommand=id", "a b", "a\nb"] {
            assert!(Ssh::new(bad, Vec::new(), "nuthatch", None).is_err(), "{bad:?}");
        }
        let ssh = Ssh::new("db2", Vec::new(), "nuthatch", Some("/srv/it's here".into())).unwrap();
        assert_eq!(ssh.line("answer"), r"nuthatch instance --root '/srv/it'\''s here' answer");
    }

    #[test]
    fn who_says_nothing_is_not_waited_for() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        assert!(ended(&mut child, Some(Duration::from_millis(50))).is_none());
        assert!(child.try_wait().unwrap().is_some(), "it was ended");
        let mut child = Command::new("true").spawn().unwrap();
        assert!(ended(&mut child, Some(Duration::from_secs(60))).unwrap().unwrap().success());
    }
}
