//! Whether copies of the answers to a digest's statements pay: what they save at servers, against what they cost here.
//!
//! A copy costs [`COPY_US`]: what the answer depends on is looked into, it is copied on its way, and stored. A hit saves what a server takes on
//! an average. Where many copies were made and the hits saved less, the digest goes on *probation*: of one key in 16 copies are still made, of
//! no other. So what the hits of all would be stays known, with all that ends entries. Once they save twice what those copies cost, the digest
//! is *admitted* again by itself.
//!
//! Which keys it are: half of them are always the same, so that keys that come back seldom are seen to; the others change each
//! second, so that each key is among them for a time, if there are but few.
//!
//! This concerns what nobody has asked to be cached by name: not what a rule, a comment or SQL_CACHE gives a time.
//!
//! Cost: a load where a copy may be made; the rest is housekeeping's.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// Microseconds that a copy costs the proxy.
pub(crate) const COPY_US: u64 = 8;

/// So many copies are made before it is asked whether they pay: 130 ms of a core. A cache that fills has few hits.
const TRIAL_COPIES: u64 = 16_384;

/// The same of a digest whose tables are written more often than its answers are given.
const TRIAL_COPIES_WRITTEN: u64 = 1_024;

/// On probation, so many tell as much.
const PROBATION_COPIES: u64 = 256;

/// Hits have to save so many times what the copies cost, before a digest is admitted again.
const RETURN_FACTOR: u64 = 2;

/// Fewer copies than this count as so many.
const RETURN_COPIES_MIN: u64 = 32;

/// Of so many keys one is always copied, and another for a second.
const KEYS: u64 = 32;

/// How many milliseconds that is.
const ROUND_MS: u64 = 1_000;

/// What one digest's copies have cost and saved. See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    is_on_probation: AtomicBool,
    judged: Mutex<Judged>,
}

/// What was counted of a digest so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Answers from the cache.
    pub(crate) hits: u64,
    /// Copies that were made of whole answers.
    pub(crate) copies: u64,
    /// Writes to the tables that it reads.
    pub(crate) writes: u64,
    /// What a server takes for one on an average, in microseconds.
    pub(crate) average_us: u64,
}

#[derive(Debug, Default)]
struct Judged {
    /// As of when it was judged last.
    at: Counted,
    since_ms: u64,
    balance: Option<Balance>,
}

/// What was found when it was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Balance {
    hits: u64,
    copies: u64,
    saved_us: u64,
    cost_us: u64,
    is_written_more: bool,
}

impl Counted {
    /// What has been counted since `before`; all, where an operator has set it to 0 meanwhile.
    fn since(self, before: Self) -> Self {
        let grown = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        Self {
            hits: grown(self.hits, before.hits),
            copies: grown(self.copies, before.copies),
            writes: grown(self.writes, before.writes),
            average_us: self.average_us,
        }
    }

    fn balance(self) -> Balance {
        Balance {
            hits: self.hits,
            copies: self.copies,
            saved_us: self.hits.saturating_mul(self.average_us),
            cost_us: self.copies.saturating_mul(COPY_US),
            is_written_more: self.writes > self.hits,
        }
    }
}

impl Admission {
    /// Whether no copy is to be made of the answer to the statement with a key of that hash.
    #[inline]
    pub(crate) fn refuses(&self, hash: impl FnOnce() -> Option<u64>, now_ms: u64) -> bool {
        self.is_on_probation() && !hash().is_some_and(|hash| is_copied(hash, now_ms))
    }

    pub(crate) fn is_on_probation(&self) -> bool {
        self.is_on_probation.load(Ordering::Relaxed)
    }

    /// Judges by what was counted, if that is enough.
    pub(crate) fn judge(&self, counted: Counted, now_ms: u64) {
        let mut judged = self.judged.lock();
        let balance = counted.since(judged.at).balance();
        let is_on_probation = self.is_on_probation();
        let trial_copies = match balance {
            _ if is_on_probation => PROBATION_COPIES,
            Balance { is_written_more: true, .. } => TRIAL_COPIES_WRITTEN,
            _ => TRIAL_COPIES,
        };
        let returns = || {
            let least_us = RETURN_COPIES_MIN * COPY_US;
            balance.saved_us >= RETURN_FACTOR.saturating_mul(balance.cost_us.max(least_us))
        };
        let fails = !is_on_probation && balance.saved_us < balance.cost_us;
        let is_over = balance.copies >= trial_copies;
        if is_on_probation && returns() || is_over && fails {
            self.is_on_probation.store(!is_on_probation, Ordering::Relaxed);
            judged.since_ms = now_ms;
        } else if !is_over {
            return;
        }
        judged.at = counted;
        judged.balance = Some(balance);
    }

    /// All that was found is forgotten, and it is admitted: nobody wants to know any more.
    pub(crate) fn forget(&self) {
        if self.is_on_probation.swap(false, Ordering::Relaxed) {
            *self.judged.lock() = Judged::default();
        }
    }

    /// In words for an operator; nothing while it has not been judged yet.
    pub(crate) fn told(&self, now_ms: u64) -> Option<String> {
        let judged = self.judged.lock();
        let balance = judged.balance?;
        let seconds = now_ms.saturating_sub(judged.since_ms) / 1000;
        Some(match self.is_on_probation() {
            true => format!(
                "on probation for {seconds} s: {balance}; of one key in {} copies are made still, to see whether that changes",
                KEYS / 2
            ),
            false => format!("admitted: {balance}"),
        })
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hits, copies, saved_us, cost_us, is_written_more } = self;
        let of_servers = Milliseconds(*saved_us);
        write!(
            f,
            "{hits} hits saved {of_servers} of servers, {copies} copies cost {}",
            Milliseconds(*cost_us)
        )?;
        if *is_written_more {
            f.write_str(", and what it reads was written more often than that")?;
        }
        Ok(())
    }
}

/// Microseconds, as milliseconds.
struct Milliseconds(u64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} ms", self.0 / 1000, self.0 % 1000 / 100)
    }
}

/// Whether copies are made for that key while its digest is on probation.
fn is_copied(hash: u64, now_ms: u64) -> bool {
    // Other bits than those that choose a shard or a trial of the cache.
    let (always, for_now) = ((hash >> 20) % KEYS, (hash >> 40) % KEYS);
    always == 0 || for_now == now_ms / ROUND_MS % KEYS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(hits: u64, copies: u64, writes: u64) -> Counted {
        Counted { hits, copies, writes, average_us: 100 }
    }

    #[test]
    fn copies_that_are_not_asked_for_again_end_and_hits_bring_them_back() {
        let admission = Admission::default();
        admission.judge(counted(0, TRIAL_COPIES - 1, 0), 1_000);
        assert!(!admission.is_on_probation() && admission.told(1_000).is_none());
        admission.judge(counted(100, TRIAL_COPIES, 0), 2_000);
        assert!(admission.is_on_probation());
        let told = "on probation for 3 s: 100 hits saved 10.0 ms of servers, 16384 copies cost 131.0 ms; \
                    of one key in 16 copies are made still, to see whether that changes";
        assert_eq!(admission.told(5_000).as_deref(), Some(told));
        // Few hits in many copies, then more.
        admission.judge(counted(101, TRIAL_COPIES + PROBATION_COPIES, 0), 6_000);
        assert!(admission.is_on_probation());
        admission.judge(counted(105, TRIAL_COPIES + PROBATION_COPIES + 20, 0), 7_000);
        assert!(admission.is_on_probation(), "too few to tell");
        admission.judge(counted(107, TRIAL_COPIES + PROBATION_COPIES + 30, 0), 8_000);
        assert!(!admission.is_on_probation());
        let told = "admitted: 6 hits saved 0.6 ms of servers, 30 copies cost 0.2 ms";
        assert_eq!(admission.told(9_000).as_deref(), Some(told));
    }

    #[test]
    fn what_is_written_more_than_read_is_judged_sooner_and_told_so() {
        let admission = Admission::default();
        admission.judge(counted(10, TRIAL_COPIES_WRITTEN, 10), 0);
        assert!(!admission.is_on_probation());
        admission.judge(counted(10, TRIAL_COPIES_WRITTEN, 11), 0);
        assert!(admission.is_on_probation());
        let told = admission.told(0).expect("it was judged");
        assert!(told.contains("8.1 ms, and what it reads was written more often than that;"), "{told}");
    }

    #[test]
    fn what_pays_stays_however_often_it_is_judged() {
        let admission = Admission::default();
        for round in 1..10 {
            // One hit for ten copies: 100 µs for 80.
            admission.judge(counted(round * 1_700, round * 17_000, round * 5_000), round);
            assert!(!admission.is_on_probation(), "{round}");
        }
    }

    #[test]
    fn counters_that_were_set_to_0_count_from_there() {
        let admission = Admission::default();
        admission.judge(counted(50_000, TRIAL_COPIES, 0), 0);
        admission.judge(counted(0, 2 * TRIAL_COPIES, 0), 0);
        assert!(admission.is_on_probation());
        admission.forget();
        assert!(!admission.is_on_probation() && admission.told(0).is_none());
    }

    #[test]
    fn one_key_in_sixteen_is_copied_and_each_for_a_second_of_thirty_two() {
        let hashes: Vec<u64> = (1..=32_000_u64).map(|key| key.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let copied = |now_ms| hashes.iter().filter(|hash| is_copied(**hash, now_ms)).count();
        assert!((1_700..2_300).contains(&copied(5_000)), "{}", copied(5_000));
        let seconds = |hash| (0..32).filter(|second| is_copied(hash, second * 1_000)).count();
        assert!(hashes.iter().all(|hash| matches!(seconds(*hash), 1 | 32)));
    }
}
