//! The command of an operator that makes sure that a primary which seems gone writes no more: it may cut its power or its network.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::{Instant, sleep};

/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// How often it is read from at a time: who never ends to complain is ended by the clock.
const READS_MAX: u32 = 64;

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
        let began = Instant::now();
        let (mut child, group) = self.start(server, hostgroup)?;
        let mut complaints = Complaints::of(child.stderr.take());
        let why = loop {
            complaints.hear();
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    complaints.hear();
                    break format!("{} ended with {status}{}", self.name(), complaints.in_words());
                }
                Ok(None) if began.elapsed() < self.limit => sleep(PAUSE).await,
                Ok(None) => {
                    let ms = self.limit.as_millis();
                    break format!(
                        "{} did not end within {ms} ms (mysql-failover_fence_timeout_ms)",
                        self.name()
                    );
                }
                Err(error) => break format!("{} cannot be waited for: {error}", self.name()),
            }
        };
        group.end();
        // So that it is no more when this returns, nor a zombie.
        while let Ok(None) = child.try_wait() {
            sleep(PAUSE).await;
        }
        Err(why)
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
        let group = Group(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
        Ok((child, group))
    }
}

/// The command, and what it has begun.
struct Group(Option<Pid>);

impl Group {
    fn end(self) {
        // They may all be gone.
        let _gone_meanwhile = self.0.map(|id| kill_process_group(id, Signal::KILL));
    }
}

/// What it writes to standard error: heard all the while, so that it is not kept waiting; the first words are kept.
struct Complaints {
    from: Option<ChildStderr>,
    words: Vec<u8>,
}

impl Complaints {
    fn of(from: Option<ChildStderr>) -> Self {
        // Who it has begun may have it open for long: nobody waits for that.
        let is_patient = |from: &ChildStderr| {
            let flags = fcntl_getfl(from)?;
            fcntl_setfl(from, flags | OFlags::NONBLOCK)
        };
        Self { from: from.filter(|from| is_patient(from).is_ok()), words: Vec::new() }
    }

    /// Takes what is there.
    fn hear(&mut self) {
        let Some(from) = &mut self.from else { return };
        let mut room = [0; 4096];
        for _ in 0..READS_MAX {
            let Ok(read @ 1..) = from.read(&mut room) else { return };
            let left = TOLD_BYTES_MAX.saturating_sub(self.words.len());
            self.words.extend_from_slice(room.get(..read.min(left)).unwrap_or_default());
        }
    }

    /// Behind a colon.
    fn in_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.words).trim().replace('\n', "; ");
        if text.is_empty() { text } else { format!(": {text}") }
    }
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
        let began = Instant::now();
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
