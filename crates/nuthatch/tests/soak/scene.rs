//! What all sessions share, and one session of them: it says what it is told to say, and notes what it is refused.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use parking_lot::Mutex;

use crate::chance::Zipf;
use crate::client::{Address, Client, Failure, Login};
use crate::random::Random;

/// Before another try to connect, where there are too many.
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);

/// What a load of this kind is refused: no such table, view or column, or one that is there already (who defines them may be refused in the
/// middle); a lock is waited for too long, a deadlock; a table was defined anew in a transaction, or under a prepared statement; too many
/// connections, none within the limits.
const EXPECTED: [u16; 13] = [1050, 1051, 1054, 1060, 1091, 1146, 1205, 1213, 1356, 1412, 1615, 1040, 9001];

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) address: Address,
    pub(crate) login: Login,
    pub(crate) keys: Zipf,
    is_over: AtomicBool,
    /// By their numbers.
    refused: Mutex<BTreeMap<u16, u64>>,
    unexpected: Mutex<BTreeMap<String, u64>>,
}

impl Scene {
    pub(crate) fn new(address: Address, login: Login, keys: Zipf) -> Self {
        let (refused, unexpected) = (Mutex::default(), Mutex::default());
        Self { address, login, keys, is_over: AtomicBool::new(false), refused, unexpected }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Refusals that were expected, by their numbers.
    pub(crate) fn refused(&self) -> BTreeMap<u16, u64> {
        self.refused.lock().clone()
    }

    /// What was not, and how often.
    pub(crate) fn unexpected(&self) -> Vec<String> {
        self.unexpected.lock().iter().map(|(what, times)| format!("{times} times: {what}")).collect()
    }

    /// A session, unless there are too many.
    pub(crate) fn try_session(&self, random: Random) -> Option<Session<'_>> {
        match Client::connect(&self.address, &self.login) {
            Ok(client) => Some(Session { scene: self, random, client, is_open: true }),
            Err(failure) => {
                self.note("a login", &failure);
                None
            }
        }
    }

    /// A session after the other, each for as long as it wants, until the run is over.
    pub(crate) fn sessions(&self, mut random: Random, mut live: impl FnMut(Session<'_>)) {
        while !self.is_over() {
            match self.try_session(random.fork()) {
                Some(session) => live(session),
                None => sleep(RECONNECT_PAUSE),
            }
        }
    }

    fn note(&self, sql: &str, failure: &Failure) {
        let what = match failure {
            Failure::Server(error) if EXPECTED.contains(&error.code) => {
                *self.refused.lock().entry(error.code).or_default() += 1;
                return;
            }
            Failure::Server(error) => format!("{} {} of {sql:.60}", error.code, error.message),
            Failure::Gone(error) => format!("lost: {error}, with {sql:.60}"),
        };
        *self.unexpected.lock().entry(what).or_default() += 1;
    }
}

/// One connection through the proxy.
#[derive(Debug)]
pub(crate) struct Session<'scene> {
    pub(crate) scene: &'scene Scene,
    pub(crate) random: Random,
    pub(crate) client: Client,
    is_open: bool,
}

impl Session<'_> {
    /// Whether anything can be said, and is to be.
    pub(crate) fn goes_on(&self) -> bool {
        self.is_open && !self.scene.is_over()
    }

    /// Whether it was answered.
    pub(crate) fn say(&mut self, sql: impl AsRef<str>) -> bool {
        let sql = sql.as_ref();
        self.is_open && {
            let told = self.client.query(sql);
            self.hear(sql, told).is_some()
        }
    }

    /// The answer, unless it is a refusal.
    pub(crate) fn hear<T>(&mut self, sql: &str, told: Result<T, Failure>) -> Option<T> {
        told.inspect_err(|failure| {
            self.scene.note(sql, failure);
            self.is_open = !matches!(failure, Failure::Gone(_));
        })
        .ok()
    }

    /// A key that is often asked for, mostly.
    pub(crate) fn key(&mut self) -> usize {
        self.scene.keys.draw(&mut self.random)
    }

    pub(crate) fn pause_below(&mut self, ms: usize) {
        sleep(Duration::from_millis(self.random.below(ms) as u64));
    }
}
