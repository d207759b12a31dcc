//! One client: writes or reads until the run is over, over new connections where one is lost, and notes what it was told.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::client::{Address, Client, Failure, Login, ServerError};
use crate::deadline::Stopwatch;
use crate::history::{Event, Leaves, Log, Number, Outcome, Promise, Read, Time, Write, Writer};
use crate::random::Random;

/// After which an answer counts as one that never comes: far beyond what a statement may take.
const PATIENCE: Duration = Duration::from_secs(150);

/// Between two tries to connect, and between two looks.
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);

/// What all sessions share.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) address: Address,
    /// Whose reads go to the writer, and whose are split.
    pub(crate) plain: Login,
    pub(crate) split: Login,
    pub(crate) writers: Writer,
    pub(crate) pause_ms_max: usize,
    pub(crate) watch: Stopwatch,
    pub(crate) is_over: AtomicBool,
    pub(crate) acknowledged: AtomicU64,
}

impl Scene {
    /// Returns when a write was acknowledged that was not before.
    pub(crate) fn await_write(&self, within: Duration) {
        let acknowledged = || self.acknowledged.load(Ordering::Relaxed);
        let (before, watch) = (acknowledged(), Stopwatch::start());
        while acknowledged() == before {
            assert!(watch.elapsed() < within, "nothing is acknowledged any more");
            sleep(RECONNECT_PAUSE);
        }
    }
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Session<'scene> {
    scene: &'scene Scene,
    log: Log,
    random: Random,
    client: Option<Client>,
}

impl<'scene> Session<'scene> {
    pub(crate) fn new(scene: &'scene Scene, name: String, promise: Promise, random: Random) -> Self {
        Self { scene, log: Log { name, promise, events: vec![] }, random, client: None }
    }

    /// Writes as that writer.
    pub(crate) fn write(mut self, writer: Writer) -> Log {
        for number in 1.. {
            if !self.is_connected() {
                break;
            }
            let leaves = *self.random.pick(&[Leaves::Row, Leaves::Version, Leaves::Both]);
            let sent = self.now();
            let outcome = self.try_write(writer, number, leaves);
            let ended = self.now();
            self.log.events.push(Event::Write(Write { writer, number, leaves, outcome, sent, ended }));
            if outcome == Outcome::Acknowledged {
                self.scene.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            if self.random.below(2) == 0 && self.client.is_some() {
                self.read_register(writer);
            }
            self.pause();
        }
        self.log
    }

    /// Reads registers, one after the other.
    pub(crate) fn read(mut self) -> Log {
        while self.is_connected() {
            let writers = usize::try_from(self.scene.writers).expect("a few");
            let register = Writer::try_from(1 + self.random.below(writers)).expect("a few");
            self.read_register(register);
            self.pause();
        }
        self.log
    }

    /// Connects where it must. None where the run is over.
    fn is_connected(&mut self) -> bool {
        while !self.scene.is_over.load(Ordering::Relaxed) {
            if self.client.is_some() {
                return true;
            }
            let login =
                if self.log.promise == Promise::Session { &self.scene.split } else { &self.scene.plain };
            if let Ok(mut client) = Client::connect(&self.scene.address, login) {
                client.socket().give_up_after(PATIENCE).expect("an open socket");
                self.client = Some(client);
                self.log.events.push(Event::Anew);
            } else {
                sleep(RECONNECT_PAUSE);
            }
        }
        false
    }

    fn try_write(&mut self, writer: Writer, number: Number, leaves: Leaves) -> Outcome {
        let row = format!("INSERT INTO chaos.w (writer, number) VALUES ({writer}, {number})");
        let version =
            format!("UPDATE chaos.r SET version = {number} WHERE id = {writer} AND version < {number}");
        match leaves {
            Leaves::Row => self.statement(&row),
            Leaves::Version => self.statement(&version),
            Leaves::Both => {
                for sql in ["BEGIN", &row, &version] {
                    if self.statement(sql) != Outcome::Acknowledged {
                        // Nothing is committed that nobody has committed. Whatever is open ends with the connection.
                        self.client = None;
                        return Outcome::Refused;
                    }
                }
                self.statement("COMMIT")
            }
        }
    }

    fn statement(&mut self, sql: &str) -> Outcome {
        let Some(client) = &mut self.client else { return Outcome::Refused };
        match client.query(sql) {
            Ok(_) => Outcome::Acknowledged,
            Err(Failure::Server(error)) => outcome_of(&error),
            Err(Failure::Gone(_)) => {
                self.client = None;
                Outcome::Unknown
            }
        }
    }

    fn read_register(&mut self, register: Writer) {
        let Some(client) = &mut self.client else { return };
        let sent = self.scene.watch.elapsed();
        let answer = client.query(format!("SELECT version FROM chaos.r WHERE id = {register}"));
        let ended = self.scene.watch.elapsed();
        let event = match answer {
            Ok(answer) => {
                let version = answer.value().parse().expect("a number");
                Event::Read(Read { register, version, sent, ended })
            }
            Err(failure) => {
                if let Failure::Gone(_) = failure {
                    self.client = None;
                }
                Event::Failed { sent, ended }
            }
        };
        self.log.events.push(event);
    }

    fn pause(&mut self) {
        let ms = self.random.below(self.scene.pause_ms_max) as u64;
        sleep(Duration::from_millis(ms));
    }

    fn now(&self) -> Time {
        self.scene.watch.elapsed()
    }
}

/// What an error says of a write. What says nothing leaves it open.
fn outcome_of(error: &ServerError) -> Outcome {
    // No connection within the limits; read_only (both servers' words, and MySQL's of one statement); locks.
    const NOT_DONE: [u16; 5] = [9001, 1290, 1836, 1205, 1213];
    let words = ["the statement was not executed", "the transaction was rolled back"];
    let is_told = words.iter().any(|words| error.message.ends_with(words));
    if NOT_DONE.contains(&error.code) || is_told { Outcome::Refused } else { Outcome::Unknown }
}
