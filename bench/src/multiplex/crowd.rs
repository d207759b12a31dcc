//! All clients of a slice: one thread, epoll, and a heap of who thinks until when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::client::Client;
use super::dialogue::Answer;
use super::script::{Outcome, Random};
use crate::address::Address;
use crate::clock::monotonic;

/// A server that says nothing for this long has lost a statement.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// Between two looks whether something else is through.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Ready connections taken from epoll at once.
const EVENTS_MAX: usize = 512;

/// Wrong answers whose text is kept.
const WRONG_KEPT: usize = 20;

/// From where on it is kept when a statement was sent and answered.
const SLOW_FROM: Duration = Duration::from_millis(50);

/// How a slice is run.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) clients: usize,
    pub(super) think: Duration,
    pub(super) warmup: Duration,
    pub(super) counted: Duration,
    pub(super) seed: u64,
}

/// What a slice counted. Ids and inserts are of the whole slice, statements and times of its counted part.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) statements: u64,
    pub(super) window: Duration,
    pub(super) latencies_us: Vec<u32>,
    pub(super) inserts: u64,
    pub(super) ids_checked: u64,
    pub(super) wrong_count: u64,
    pub(super) wrong: Vec<String>,
    /// Errors; each is a wrong answer too.
    pub(super) errors: u64,
    /// When each statement that took long was sent and answered.
    pub(super) slow: Vec<(Duration, Duration)>,
}

impl Tally {
    pub(super) fn per_second(&self) -> f64 {
        self.statements as f64 / self.window.as_secs_f64()
    }

    /// The longest statement that was under way between these two moments.
    pub(super) fn longest_within(&self, begin: Duration, end: Duration) -> Duration {
        let within = self.slow.iter().filter(|(sent, answered)| *sent <= end && *answered >= begin);
        within.map(|(sent, answered)| *answered - *sent).max().unwrap_or_default()
    }

    /// Time from a statement to the end of its answer; `share` 1.0 is the longest.
    pub(super) fn percentile_ms(&self, share: f64) -> f64 {
        let last = self.latencies_us.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place among latencies"
        )]
        let place = (last as f64 * share).round() as usize;
        self.latencies_us.get(place).map_or(0.0, |&us| f64::from(us) / 1000.0)
    }
}

pub(super) struct Crowd {
    plan: Plan,
    epoll: OwnedFd,
    clients: Vec<Client>,
    thinking: BinaryHeap<Reverse<(Duration, usize)>>,
    random: Random,
    in_flight: usize,
    tally: Tally,
}

impl Crowd {
    /// Everybody is logged in.
    pub(super) fn gather(target: &Address, plan: &Plan) -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let mut clients = Vec::with_capacity(plan.clients);
        for number in 0..plan.clients {
            let client = Client::connect(number, target, plan.seed)?;
            epoll::add(&epoll, &client.fd, EventData::new_u64(number as u64), EventFlags::IN)?;
            clients.push(client);
        }
        Ok(Self {
            plan: plan.clone(),
            epoll,
            clients,
            thinking: BinaryHeap::new(),
            random: Random(plan.seed),
            in_flight: 0,
            tally: Tally::default(),
        })
    }

    /// Warms up, counts, and waits for every answer that is due.
    pub(super) fn run(self) -> Result<Tally> {
        self.run_until(|| true)
    }

    /// The same, and counts for longer where something else is not through yet.
    pub(super) fn run_until(mut self, is_through: impl Fn() -> bool) -> Result<Tally> {
        let start = monotonic();
        for number in 0..self.clients.len() {
            let phase = self.draw(Duration::ZERO, self.plan.think);
            self.thinking.push(Reverse((start + phase, number)));
        }
        let counted_from = start + self.plan.warmup;
        let end = counted_from + self.plan.counted;
        while monotonic() < end || !is_through() {
            self.turn(counted_from, end.max(monotonic() + LOOK_EVERY))?;
        }
        self.tally.window = monotonic() - counted_from;
        self.thinking.clear();
        while self.in_flight > 0 {
            let came = self.turn(counted_from, monotonic() + SILENCE_MAX)?;
            ensure!(came > 0, "no answer for {SILENCE_MAX:?} on {} statements", self.in_flight);
            self.thinking.clear();
        }
        self.clients.iter().try_for_each(Client::quit)?;
        self.tally.latencies_us.sort_unstable();
        Ok(self.tally)
    }

    /// Sends what is due, and takes what has come until the next is; tells how much that was.
    fn turn(&mut self, counted_from: Duration, until: Duration) -> Result<usize> {
        self.send_due()?;
        let next = self.thinking.peek().map_or(until, |Reverse((due, _))| *due).min(until);
        let wait = next.saturating_sub(monotonic());
        let mut events = Vec::<Event>::with_capacity(EVENTS_MAX);
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timespec(wait))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let data = event.data;
            self.receive(usize::try_from(data.u64())?, counted_from)?;
        }
        Ok(events.len())
    }

    fn send_due(&mut self) -> Result<()> {
        let now = monotonic();
        while let Some(&Reverse((due, number))) = self.thinking.peek() {
            if due > now {
                break;
            }
            self.thinking.pop();
            self.clients[number].send(monotonic()).with_context(|| format!("client {number}"))?;
            self.in_flight += 1;
        }
        Ok(())
    }

    fn receive(&mut self, number: usize, counted_from: Duration) -> Result<()> {
        let client = &mut self.clients[number];
        let mut buffer = [0; 4096];
        let answer = client.receive(&mut buffer).with_context(|| format!("client {number}"))?;
        let Some(answer) = answer else { return Ok(()) };
        let (now, sent_at) = (monotonic(), client.sent_at);
        match client.script.take(&answer) {
            Ok(Outcome::Inserted) => self.tally.inserts += 1,
            Ok(Outcome::IdRight) => self.tally.ids_checked += 1,
            Ok(Outcome::Read) => {}
            Err(wrong) => {
                self.tally.wrong_count += 1;
                if self.tally.wrong.len() < WRONG_KEPT {
                    self.tally.wrong.push(wrong);
                }
            }
        }
        self.in_flight -= 1;
        self.tally.errors += u64::from(matches!(answer, Answer::Error(_)));
        if now - sent_at >= SLOW_FROM {
            self.tally.slow.push((sent_at, now));
        }
        if sent_at >= counted_from {
            self.tally.statements += 1;
            let us = u32::try_from((now - sent_at).as_micros()).unwrap_or(u32::MAX);
            self.tally.latencies_us.push(us);
        }
        let pause = self.draw(self.plan.think / 2, self.plan.think);
        self.thinking.push(Reverse((now + pause, number)));
        Ok(())
    }

    /// Between `least` and `least + width`.
    fn draw(&mut self, least: Duration, width: Duration) -> Duration {
        let width_us = u64::try_from(width.as_micros()).unwrap_or(u64::MAX).max(1);
        least + Duration::from_micros(self.random.below(width_us))
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_places_among_the_sorted() {
        let tally = Tally { latencies_us: (1..=101).map(|n| n * 1000).collect(), ..Tally::default() };
        assert_eq!([0.5, 0.99, 1.0].map(|share| tally.percentile_ms(share)), [51.0, 100.0, 101.0]);
        assert_eq!(Tally::default().percentile_ms(0.99), 0.0);
    }

    #[test]
    fn longest_is_of_those_that_were_under_way() {
        let ms = Duration::from_millis;
        let slow = vec![(ms(0), ms(900)), (ms(1000), ms(1200)), (ms(1250), ms(1350)), (ms(1400), ms(2400))];
        let tally = Tally { slow, ..Tally::default() };
        assert_eq!(tally.longest_within(ms(1100), ms(1300)), ms(200));
        assert_eq!(tally.longest_within(ms(2500), ms(2600)), ms(0));
    }
}
