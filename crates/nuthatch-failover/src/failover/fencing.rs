//! The command of an operator that makes sure that a primary which seems gone writes no more: it may cut its power or its network.

use std::process::Stdio;
use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::join;
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// How long it is waited for what it has to say, once it has ended.
const TO_TELL: Duration = Duration::from_millis(200);

/// What is told of its complaints.
const TOLD_BYTES_MAX: usize = 500;

/// A program and its arguments, run without a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceCommand {
    words: Vec<String>,
    limit: Duration,
}

impl FenceCommand {
    /// Words are apart by blanks; quotes of either kind hold one together. None of an empty text.
    ///
    /// # Errors
    /// A sentence: a quote has no end.
    pub fn parse(text: &str, limit: Duration) -> Result<Option<Self>, String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for letter in text.chars() {
            match (quote, letter) {
                (Some(open), letter) if open == letter => quote = None,
                (None, '"' | '\'') => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                (None, letter) if letter.is_whitespace() => words.extend(word.take()),
                (_, letter) => word.get_or_insert_default().push(letter),
            }
        }
        if quote.is_some() {
            return Err("mysql-failover_fence_command has a quote without an end".to_owned());
        }
        words.extend(word);
        Ok((!words.is_empty()).then_some(Self { words, limit }))
    }

    /// It has been run for that server, and says that the server is fenced. An error says why that is not known: then nothing that it has begun
    /// goes on, as far as it has stayed in the group of processes that it was begun with.
    pub(crate) async fn run(&self, server: &ServerName, hostgroup: HostgroupId) -> Result<(), String> {
        let (mut child, group) = self.start(server, hostgroup)?;
        let stderr = child.stderr.take();
        let mut complaints = Vec::new();
        let is_over = Notify::new();
        let waiting = async {
            let ended = timeout(self.limit, child.wait()).await;
            is_over.notify_one();
            ended
        };
        // Who it has begun may have it open for long.
        let hearing = async {
            tokio::select! {
                () = hear(stderr, &mut complaints) => {}
                () = async {
                    is_over.notified().await;
                    sleep(TO_TELL).await;
                } => {}
            }
        };
        let (ended, ()) = join!(waiting, hearing);
        match ended {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => {
                group.end();
                let complaints = in_words(&complaints);
                Err(format!("{} ended with {status}{complaints}", self.name()))
            }
            Ok(Err(error)) => {
                group.end();
                Err(format!("{} cannot be waited for: {error}", self.name()))
            }
            Err(_elapsed) => {
                group.end();
                let ms = self.limit.as_millis();
                Err(format!("{} did not end within {ms} ms (mysql-failover_fence_timeout_ms)", self.name()))
            }
        }
    }

    /// The program alone: arguments may be secret.
    fn name(&self) -> String {
        format!("mysql-failover_fence_command ({})", self.words.first().map_or("", String::as_str))
    }

    fn start(&self, server: &ServerName, hostgroup: HostgroupId) -> Result<(Child, Group), String> {
        let of_this = |word: &String| {
            let word = word.replace("{host}", &server.host).replace("{port}", &server.port.to_string());
            word.replace("{hostgroup}", &hostgroup.to_string())
        };
        let mut words = self.words.iter().map(of_this);
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // It is the first of a group of its own.
        command.process_group(0);
        let child = command.spawn().map_err(|error| format!("{} cannot be run: {error}", self.name()))?;
        let group = Group(child.id());
        Ok((child, group))
    }
}

/// The command, and what it has begun.
struct Group(Option<u32>);

impl Group {
    fn end(self) {
        let id = self.0.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        // They may all be gone.
        let _gone_meanwhile = id.map(|id| kill_process_group(id, Signal::KILL));
    }
}

/// Hears what it writes to standard error to its end, so that it is not kept waiting, and keeps its first words.
async fn hear(stderr: Option<ChildStderr>, words: &mut Vec<u8>) {
    let Some(mut stderr) = stderr else { return };
    let mut room = [0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut room).await {
        let left = TOLD_BYTES_MAX.saturating_sub(words.len());
        words.extend_from_slice(room.get(..read.min(left)).unwrap_or_default());
    }
}

/// Behind a colon.
fn in_words(complaints: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaints).trim().replace('\n', "; ");
    if text.is_empty() { text } else { format!(": {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<FenceCommand> {
        FenceCommand::parse(text, Duration::from_secs(5)).expect("it is understood")
    }

    #[test]
    fn words_are_apart_by_blanks_and_held_together_by_quotes() {
        for (text, expected) in [
            ("/bin/fence {host}  {port}", vec!["/bin/fence", "{host}", "{port}"]),
            ("a 'b c' \"d 'e'\"", vec!["a", "b c", "d 'e'"]),
            ("a '' b\"c d\"e", vec!["a", "", "bc de"]),
        ] {
            assert_eq!(parse(text).expect(text).words, expected, "{text}");
        }
        assert_eq!(parse("  "), None);
        assert!(FenceCommand::parse("a 'b", Duration::ZERO).is_err());
    }

    #[tokio::test]
    async fn failure_and_lateness_are_told() {
        let server = ServerName { host: "db1".to_owned(), port: 3306 };
        let run = |text: &str, limit_ms| {
            let command = FenceCommand::parse(text, Duration::from_millis(limit_ms)).expect("understood");
            let (command, server) = (command.expect("there are words"), server.clone());
            async move { command.run(&server, HostgroupId(10)).await }
        };
        assert_eq!(run("/usr/bin/test {host}:{port}/{hostgroup} = db1:3306/10", 20_000).await, Ok(()));
        let failed =
            run("/bin/sh -c 'echo no power switch >&2; exit 3'", 20_000).await.expect_err("it fails");
        assert!(failed.contains("exit status: 3: no power switch"), "{failed}");
        // Who it has begun may hold its standard error open, and is ended with it.
        let began = tokio::time::Instant::now();
        let begins = "/bin/sh -c 'sleep 60 & echo left >&2; exit 4'";
        let left = run(begins, 20_000).await.expect_err("it fails");
        assert!(left.contains("exit status: 4: left") && began.elapsed().as_secs() < 20, "{left}");
        // Who has much to say is not kept waiting.
        let talks = "/bin/sh -c 'head -c 300000 /dev/zero >&2; exit 5'";
        assert!(run(talks, 20_000).await.expect_err("it fails").contains("exit status: 5"));
        let late = run("/bin/sleep 60", 50).await.expect_err("it is late");
        assert!(late.contains("did not end within 50 ms"), "{late}");
        let missing = run("/no/such/program secret", 50).await.expect_err("it is not there");
        assert!(missing.contains("cannot be run") && !missing.contains("secret"), "{missing}");
    }
}
