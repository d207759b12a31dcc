//! Another host, reached by `ssh HOST nuthatch instance … answer`: nothing of ours listens there.
//!
//! Secrets go over the standard streams; none is ever an argument. ssh asks nobody: who has no key or agent, or does not know the host's key,
//! is told so by ssh itself.

use std::io::{ErrorKind, Write};
use std::process::{ChildStdin, Command, Output, Stdio};

use nuthatch_server::ServerError;
use serde::{Deserialize, Serialize};

use crate::error::InstanceError;

/// Seconds within which a connection has to be there.
const CONNECT_WITHIN_S: u32 = 15;

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
    /// [`InstanceError::Refused`] with ssh's words, or those of the program there.
    pub(crate) fn ask(&self, request: &str) -> Result<Vec<u8>, InstanceError> {
        let (_, said) = self.run(&["answer".to_owned()], |mut input| {
            // Where ssh has ended before, it says why.
            drop(input.write_all(request.as_bytes()));
            Ok(())
        })?;
        Ok(said)
    }

    /// The program there was given what `feed` has written, and has done with it what the words say.
    ///
    /// # Errors
    /// As `feed`; as [`ask`](Self::ask).
    pub(crate) fn run<T>(
        &self,
        words: &[String],
        feed: impl FnOnce(ChildStdin) -> Result<T, InstanceError>,
    ) -> Result<(T, Vec<u8>), InstanceError> {
        let mut command = Command::new("ssh");
        // A master that ssh left behind would keep our end of its standard error.
        command
            .args(["-T", "-oBatchMode=yes", "-oControlMaster=no"])
            .arg(format!("-oConnectTimeout={CONNECT_WITHIN_S}"));
        command.args(&self.options).arg("--").arg(&self.host).arg(self.line(words));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(ServerError::file("run", "ssh"))?;
        let input = child.stdin.take().ok_or_else(|| self.refuse("it takes no input"))?;
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| child.wait_with_output());
            let fed = feed(input);
            let said = ended.join().map_err(|_panic| self.refuse("a thread of ours panicked"))?;
            let said = self.outcome(&said.map_err(ServerError::file("run", "ssh"))?);
            match (fed, said) {
                // Who does not take it any more says why.
                (Err(error), Err(_)) if !is_broken_pipe(&error) => Err(error),
                (_, Err(theirs)) => Err(theirs),
                (fed, Ok(said)) => Ok((fed?, said)),
            }
        })
    }

    /// What was said; else why it ended.
    fn outcome(&self, said: &Output) -> Result<Vec<u8>, InstanceError> {
        let words = last_line(&said.stderr);
        match said.status.code() {
            Some(0) => Ok(said.stdout.clone()),
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
    fn line(&self, words: &[String]) -> String {
        let root = self.root.as_deref().map_or(String::new(), |root| format!(" --root {}", quoted(root)));
        let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
        format!("{} instance{root}{words}", quoted(&self.program))
    }
}

fn is_broken_pipe(error: &InstanceError) -> bool {
    matches!(error, InstanceError::Server(ServerError::File { source, .. }) if source.kind() == ErrorKind::BrokenPipe)
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
        assert_eq!(ssh.line(&["answer".to_owned()]), r"nuthatch instance --root '/srv/it'\''s here' answer");
    }
}
