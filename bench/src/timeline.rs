//! What clients notice of something that is done to their servers: statements and errors in each tenth of a second, drawn.
//!
//! Each client inserts rows, one statement at a time, and connects anew where its connection is lost. In between a command is run, which
//! kills a server, or whatever else. Plain characters, so that it reads the same everywhere.

use std::process::Command;
use std::thread::{scope, sleep};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;

use crate::address::Address;
use crate::client::Client;
use crate::clock::monotonic;
use crate::login::Login;
use crate::reply::EofForm;

const SLOT: Duration = Duration::from_millis(100);

/// The longest bar.
const BAR_CHARS: usize = 50;

const RECONNECT_PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug, Args)]
pub(crate) struct TimelineOptions {
    /// Where clients connect: IP:PORT or a socket's path
    #[arg(long)]
    target: Address,
    #[arg(long)]
    user: String,
    /// A file that holds the password and nothing else
    #[arg(long)]
    password_file: std::path::PathBuf,
    /// What each client says again and again
    #[arg(long)]
    statement: String,
    #[arg(long, default_value_t = 16)]
    clients: usize,
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// After so many seconds the command is run
    #[arg(long, default_value_t = 2)]
    after: u64,
    /// What the command does, in words
    #[arg(long)]
    mark: String,
    /// A program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// What ended in one tenth of a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Slot {
    done: u32,
    failed: u32,
}

/// Of all clients.
#[derive(Debug, Default)]
struct Record {
    slots: Vec<Slot>,
    longest: Duration,
    /// The first error, in the server's words.
    error: Option<String>,
}

pub(crate) fn run(options: &TimelineOptions) -> Result<()> {
    let password = std::fs::read_to_string(&options.password_file)
        .with_context(|| format!("cannot read {}", options.password_file.display()))?;
    let login = Login {
        user: options.user.clone(),
        password: password.trim_end().to_owned(),
        schema: String::new(),
        form: EofForm::Deprecated,
    };
    let lasts = Duration::from_secs(options.seconds);
    ensure!(options.after < options.seconds, "the command is run before the end");
    let began = monotonic();
    let (record, done_at) = scope(|scope| {
        let say = || scope.spawn(|| say(options, &login, began, lasts));
        let clients: Vec<_> = (0..options.clients).map(|_| say()).collect();
        sleep(Duration::from_secs(options.after));
        let done_at = monotonic() - began;
        let done = carry_out(&options.command);
        let mut record = Record::new(lasts);
        for client in clients {
            record.add(client.join().map_err(|_panic| anyhow!("a client panicked"))?);
        }
        done.map(|()| (record, done_at))
    })?;
    print!("{}", drawn(&record.slots, slot_of(done_at), &options.mark));
    println!("\n{}", summary(&record));
    Ok(())
}

fn carry_out(command: &[String]) -> Result<()> {
    let (program, arguments) = command.split_first().context("no command")?;
    let done = Command::new(program).args(arguments).output().context("cannot run the command")?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

/// One client, until it is over.
fn say(options: &TimelineOptions, login: &Login, began: Duration, lasts: Duration) -> Record {
    let (mut record, mut client) = (Record::new(lasts), None);
    loop {
        let sent = monotonic() - began;
        if sent >= lasts {
            return record;
        }
        let said = match &mut client {
            Some(client) => Client::query(client, &options.statement).map(|_ending| 1),
            None => Client::connect(&options.target, login).map(|connected| {
                client = Some(connected);
                0
            }),
        };
        let ended = monotonic() - began;
        record.longest = record.longest.max(ended - sent);
        let slot = record.slots.get_mut(slot_of(ended));
        match said {
            Ok(done) => slot.into_iter().for_each(|slot| slot.done += done),
            Err(error) => {
                slot.into_iter().for_each(|slot| slot.failed += 1);
                record.error.get_or_insert(format!("{error:#}"));
                client = None;
                sleep(RECONNECT_PAUSE);
            }
        }
    }
}

impl Record {
    fn new(lasts: Duration) -> Self {
        Self { slots: vec![Slot::default(); slot_of(lasts)], ..Self::default() }
    }

    fn add(&mut self, other: Self) {
        for (slot, others) in self.slots.iter_mut().zip(other.slots) {
            slot.done += others.done;
            slot.failed += others.failed;
        }
        self.longest = self.longest.max(other.longest);
        self.error = self.error.take().or(other.error);
    }
}

fn slot_of(time: Duration) -> usize {
    usize::try_from(time.as_millis() / SLOT.as_millis()).unwrap_or(usize::MAX)
}

/// A line for each slot; lines that say the same in a row are one.
fn drawn(slots: &[Slot], marked: usize, mark: &str) -> String {
    let most = slots.iter().map(|slot| slot.done).max().unwrap_or(0).max(1);
    let mut text = format!("{:>8} {:>8} {:>7}\n", "seconds", "done", "errors");
    for (place, slot) in slots.iter().enumerate() {
        if place == marked {
            text += &format!("{:>8}                  <- {mark}\n", "");
        }
        let seconds = place as f64 * SLOT.as_secs_f64();
        let bar = "#".repeat((slot.done as usize * BAR_CHARS).div_ceil(most as usize));
        let errors = if slot.failed == 0 { String::new() } else { slot.failed.to_string() };
        text += format!("{seconds:>8.1} {:>8} {errors:>7}  {bar}", slot.done).trim_end();
        text.push('\n');
    }
    text
}

fn summary(record: &Record) -> String {
    let done: u64 = record.slots.iter().map(|slot| u64::from(slot.done)).sum();
    let failed: u64 = record.slots.iter().map(|slot| u64::from(slot.failed)).sum();
    let error = record.error.as_ref().map(|error| format!(", the first: {error}")).unwrap_or_default();
    format!(
        "{done} statements done, {failed} errors{error}\nthe longest took {} ms, and for {} ms in a row nothing was done",
        record.longest.as_millis(),
        longest_silence(&record.slots).as_millis()
    )
}

/// The most slots in a row in which nothing was done.
fn longest_silence(slots: &[Slot]) -> Duration {
    let silent = slots.split(|slot| slot.done > 0).map(<[Slot]>::len).max().unwrap_or(0);
    SLOT * u32::try_from(silent).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_drawn_with_their_errors_and_the_mark() {
        let slot = |done, failed| Slot { done, failed };
        let slots = [slot(100, 0), slot(1, 2), slot(0, 0), slot(0, 0), slot(50, 0)];
        let text = drawn(&slots, 1, "killed");
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines[1], format!("     0.0      100          {}", "#".repeat(50)));
        assert_eq!(lines[2].trim(), "<- killed");
        assert_eq!(lines[3], "     0.1        1       2  #");
        assert_eq!(lines[4], "     0.2        0");
        assert_eq!(longest_silence(&slots), Duration::from_millis(200));
    }
}
