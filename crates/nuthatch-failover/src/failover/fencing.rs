//! The command of an operator that makes sure that a primary which seems gone writes no more: it may cut its power or its network.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use tokio::time::{Instant, sleep};

/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// What is told of its complaints.
const TOLD_BYTES_MAX: u64 = 500;

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

    /// It has been run for that server, and says that the server is fenced. An error says why that is not known.
    pub(crate) async fn run(&self, server: &ServerName, hostgroup: HostgroupId) -> Result<(), String> {
        let began = Instant::now();
        let mut child = self.start(server, hostgroup)?;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(format!("{} ended with {status}{}", self.name(), complaints(&mut child)));
                }
                Ok(None) if began.elapsed() < self.limit => sleep(PAUSE).await,
                Ok(None) => {
                    let _gone_meanwhile = child.kill().and_then(|()| child.wait());
                    let ms = self.limit.as_millis();
                    return Err(format!(
                        "{} did not end within {ms} ms (mysql-failover_fence_timeout_ms)",
                        self.name()
                    ));
                }
                Err(error) => return Err(format!("{} cannot be waited for: {error}", self.name())),
            }
        }
    }

    /// The program alone: arguments may be secret.
    fn name(&self) -> String {
        format!("mysql-failover_fence_command ({})", self.words.first().map_or("", String::as_str))
    }

    fn start(&self, server: &ServerName, hostgroup: HostgroupId) -> Result<Child, String> {
        let of_this = |word: &String| {
            let word = word.replace("{host}", &server.host).replace("{port}", &server.port.to_string());
            word.replace("{hostgroup}", &hostgroup.to_string())
        };
        let mut words = self.words.iter().map(of_this);
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().map_err(|error| format!("{} cannot be run: {error}", self.name()))
    }
}

/// What it has written to standard error, behind a colon.
fn complaints(child: &mut Child) -> String {
    let mut text = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _as_far_as_it_is_text = stderr.take(TOLD_BYTES_MAX).read_to_string(&mut text);
    }
    let text = text.trim().replace('\n', "; ");
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
        let late = run("/bin/sleep 60", 50).await.expect_err("it is late");
        assert!(late.contains("did not end within 50 ms"), "{late}");
        let missing = run("/no/such/program secret", 50).await.expect_err("it is not there");
        assert!(missing.contains("cannot be run") && !missing.contains("secret"), "{missing}");
    }
}
