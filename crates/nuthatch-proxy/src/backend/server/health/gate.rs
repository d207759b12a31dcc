//! The gate of a server that has been started anew: it gets a small part of its share of new work (`warm_weight`) until its memory holds what
//! it had before.
//!
//! It is closed only where that is known to be so, and only while another server of the hostgroup, whose gate is open, takes new work. It is
//! opened when so many of the dumped pages are loaded (`warm_pct`); without a dump when the server lacks hardly more of the pages that it is
//! asked for than the others do; after some time (`warm_max_ms`) in any case. Once it has been opened it is not closed again before the next
//! start.
//!
//! A server that could not be reached may have been started anew: until a look has told, its part is small too. No status shows that.
//!
//! Cost: one load for each server of a choice.

use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_config::Warming;
use nuthatch_sql::{PoolFigures, PoolLoad};
use parking_lot::Mutex;

use crate::backend::server::known::life::{PoolTraffic, Sight};

/// The whole of its share, in percent.
pub(in crate::backend) const ALL: u64 = 100;

/// A server that says nothing of the load that it is to begin is believed after so many seconds.
const LOAD_BEGINS_S: u64 = 10;

/// Without so many requests for pages in a second nothing is known of what is lacking: a server has some of its own.
const REQUESTS_MIN: u64 = 1_000;

/// Counts of these in a row that must find it near the others.
const COUNTS_NEAR: u32 = 3;

/// What a server said of its buffer pool, and what was asked of it of late.
#[derive(Debug, Clone, Copy)]
pub(in crate::backend) struct PoolLook {
    pub(in crate::backend) figures: PoolFigures,
    pub(in crate::backend) loads_at_start: Option<bool>,
    pub(in crate::backend) traffic: PoolTraffic,
}

/// The other servers of the hostgroup whose gates are open and that take new work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Others {
    /// There is none.
    None,
    /// There are some, and this was asked of them of late.
    Some(PoolTraffic),
}

/// What has become of a gate, in words for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::backend) enum GateChange {
    Closed { why: String },
    Opened { why: String, held_ms: Option<u64> },
}

/// See the module's doc. Moments are milliseconds of the clock.
#[derive(Debug)]
pub(in crate::backend) struct Gate {
    /// How much of its share the server gets, in percent.
    part: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    settings: Warming,
    /// Nobody has told yet whether the server was started anew.
    is_suspected: bool,
    /// It came into a hostgroup that others served already, and has not been judged yet.
    is_new: bool,
    held: Option<Held>,
    loaded_pct: Option<u64>,
    /// Why it is closed, or was opened last.
    why: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    since_ms: u64,
    /// There is no dump: reads of others warm it.
    takes_reads: bool,
    counts_near: u32,
    /// The count that was compared last.
    compared: PoolTraffic,
}

/// How far a server has come.
enum Standing {
    Warm(String),
    Loads(String),
    HasNoDump(String),
}

/// A gate, as tables show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GateView {
    pub(crate) is_closed: bool,
    pub(crate) loaded_pct: Option<u64>,
    pub(crate) why: Option<String>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { part: AtomicU64::new(ALL), state: Mutex::default() }
    }
}

impl Gate {
    /// How much of its share the server gets now, in percent.
    pub(in crate::backend) fn part(&self) -> u64 {
        self.part.load(Ordering::Relaxed)
    }

    /// Whether nothing is held back from the server.
    pub(in crate::backend) fn is_open(&self) -> bool {
        let state = self.state.lock();
        state.held.is_none() && !state.is_suspected
    }

    /// Whether it is held: not if it is only suspected.
    pub(in crate::backend) fn is_closed(&self) -> bool {
        self.state.lock().held.is_some()
    }

    /// Reads of others in a second that the server is to be sent too; none where none are.
    pub(in crate::backend) fn reads_per_second(&self) -> Option<u64> {
        let state = self.state.lock();
        let takes = state.held.is_some_and(|held| held.takes_reads);
        takes.then_some(state.settings.reads_per_second).filter(|reads| *reads > 0)
    }

    pub(in crate::backend) fn view(&self) -> GateView {
        let state = self.state.lock();
        GateView { is_closed: state.held.is_some(), loaded_pct: state.loaded_pct, why: state.why.clone() }
    }

    /// By what it is opened and closed from now on.
    pub(in crate::backend) fn keep_to(&self, settings: Warming, now_ms: u64) -> Option<GateChange> {
        let mut state = self.state.lock();
        state.settings = settings;
        let change = match settings.pct {
            0 => {
                (state.is_suspected, state.is_new) = (false, false);
                state.open("mysql-warm_pct is 0", now_ms)
            }
            _ => None,
        };
        self.apply(&state);
        change
    }

    /// The server has come into a hostgroup that others serve already: it is cold if it was started a moment ago.
    pub(in crate::backend) fn enters(&self) {
        let mut state = self.state.lock();
        if state.settings.pct > 0 {
            (state.is_suspected, state.is_new) = (true, true);
        }
        self.apply(&state);
    }

    /// Of a server that stands in one more hostgroup now.
    pub(in crate::backend) fn inherit(&self, other: &Self) {
        let mut state = self.state.lock();
        if state.settings.pct > 0 {
            let other = other.state.lock();
            state.is_suspected = other.is_suspected;
            (state.held, state.loaded_pct) = (other.held, other.loaded_pct);
            state.why.clone_from(&other.why);
        }
        self.apply(&state);
    }

    /// The server could not be reached.
    pub(in crate::backend) fn suspect(&self) {
        let mut state = self.state.lock();
        state.is_suspected = state.settings.pct > 0;
        self.apply(&state);
    }

    /// Somebody has looked at the server.
    pub(in crate::backend) fn judge(
        &self,
        sight: Sight,
        look: Option<&PoolLook>,
        others: Others,
        now_ms: u64,
    ) -> Option<GateChange> {
        let mut state = self.state.lock();
        let change = match (sight, look) {
            (Sight::Unclear, _) => None,
            (Sight::GivenUp, _) => {
                state.is_suspected = false;
                None
            }
            (Sight::Same | Sight::Anew, Some(look)) => state.judge(sight, look, others, now_ms),
            (Sight::Untold | Sight::Same | Sight::Anew, _) => {
                (state.is_suspected, state.is_new, state.loaded_pct) = (false, false, None);
                state.open("nobody tells how warm it is", now_ms)
            }
        };
        self.apply(&state);
        change
    }

    /// Looks whether it has been closed for too long, or nobody else takes new work.
    pub(in crate::backend) fn look_after(&self, others: Others, now_ms: u64) -> Option<GateChange> {
        let mut state = self.state.lock();
        let why = state.why_at_once(others, now_ms)?;
        let change = state.open(&why, now_ms);
        self.apply(&state);
        change
    }

    fn apply(&self, state: &State) {
        let is_open = state.held.is_none() && !state.is_suspected;
        let part = if is_open { ALL } else { state.settings.weight_pct.min(ALL) };
        self.part.store(part, Ordering::Relaxed);
    }
}

impl State {
    fn open(&mut self, why: &str, now_ms: u64) -> Option<GateChange> {
        let held = self.held.take()?;
        self.why = Some(why.to_owned());
        Some(GateChange::Opened { why: why.to_owned(), held_ms: Some(now_ms.saturating_sub(held.since_ms)) })
    }

    /// Why it is opened whatever the server says; none where that is waited for.
    fn why_at_once(&self, others: Others, now_ms: u64) -> Option<String> {
        let held = self.held?;
        let ms_max = self.settings.ms_max;
        match others {
            Others::None => Some("no other server of the hostgroup takes statements".to_owned()),
            _ if now_ms.saturating_sub(held.since_ms) >= ms_max => {
                Some(format!("the time is over: mysql-warm_max_ms is {ms_max}"))
            }
            Others::Some(_) => None,
        }
    }

    fn judge(&mut self, sight: Sight, look: &PoolLook, others: Others, now_ms: u64) -> Option<GateChange> {
        let is_new = std::mem::take(&mut self.is_new);
        self.is_suspected = false;
        self.loaded_pct = look.figures.load.pct();
        let up_ms = look.figures.uptime_s.saturating_mul(1000);
        let is_cold = sight == Sight::Anew || is_new && up_ms < self.settings.ms_max;
        let began = is_cold && self.settings.pct > 0 && (self.held.is_none() || sight == Sight::Anew);
        if began {
            self.held =
                Some(Held { since_ms: now_ms, takes_reads: false, counts_near: 0, compared: look.traffic });
        }
        self.held?;
        let standing = match self.why_at_once(others, now_ms) {
            Some(why) => Standing::Warm(why),
            None => self.standing(look, others),
        };
        let (why, takes_reads) = match standing {
            Standing::Warm(why) => {
                let opened = self.open(&why, now_ms);
                return match began {
                    true => Some(GateChange::Opened { why, held_ms: None }),
                    false => opened,
                };
            }
            Standing::Loads(why) => (why, false),
            Standing::HasNoDump(why) => (why, true),
        };
        if let Some(held) = &mut self.held {
            held.takes_reads = takes_reads;
        }
        self.why = Some(why.clone());
        began.then_some(GateChange::Closed { why })
    }

    fn standing(&mut self, look: &PoolLook, others: Others) -> Standing {
        let PoolFigures { load, uptime_s, .. } = look.figures;
        let Warming { pct: pct_min, reads_per_second, .. } = self.settings;
        let why = match load {
            PoolLoad::Completed => return Standing::Warm("all of its dumped pages are loaded".to_owned()),
            PoolLoad::Loading { loaded, all } => {
                let pct = load.pct().unwrap_or(0);
                let of = format!(
                    "{pct} % of its dumped pages are loaded ({loaded} of {all}), mysql-warm_pct is {pct_min}"
                );
                return if pct >= pct_min { Standing::Warm(of) } else { Standing::Loads(of) };
            }
            PoolLoad::NotBegun if look.loads_at_start == Some(true) && uptime_s < LOAD_BEGINS_S => {
                return Standing::Loads("it has not begun to load its dumped pages yet".to_owned());
            }
            PoolLoad::NotBegun => "it loads no dumped pages (innodb_buffer_pool_load_at_startup)",
            PoolLoad::NoDump => "it has no dump to load",
            PoolLoad::Aborted => "the load of its dumped pages was ended",
        };
        match others {
            Others::Some(others) if reads_per_second > 0 => self.compare(why, look.traffic, others),
            _ => Standing::Warm(format!("{why}, and mysql-warm_reads_per_sec is 0")),
        }
    }

    /// Whether it lacks hardly more of what it is asked for than the others do.
    fn compare(&mut self, why: &str, own: PoolTraffic, others: PoolTraffic) -> Standing {
        let (own_lacks, others_lack) = (lacks_per_mille(own), lacks_per_mille(others).unwrap_or(0));
        let is_near = own_lacks.is_some_and(|own| own <= others_lack + others_lack / 2 + 2);
        let counts = self.held.as_mut().map_or(0, |held| {
            if held.compared != own {
                held.compared = own;
                held.counts_near = if is_near { held.counts_near + 1 } else { 0 };
            }
            held.counts_near
        });
        let shown = own_lacks.map_or("?".to_owned(), in_percent);
        let others_shown = in_percent(others_lack);
        match counts {
            COUNTS_NEAR.. => Standing::Warm(format!(
                "it lacks {shown} % of the pages that it is asked for, the others {others_shown} %"
            )),
            _ => Standing::HasNoDump(format!(
                "{why}: it is sent reads of others too; it lacks {shown} % of the pages that it is asked for, the \
                 others {others_shown} %"
            )),
        }
    }
}

/// Of a thousand pages that were asked for, how many had to be read; none where too few were asked for.
fn lacks_per_mille(traffic: PoolTraffic) -> Option<u64> {
    (traffic.requests >= REQUESTS_MIN).then(|| traffic.reads.saturating_mul(1000) / traffic.requests)
}

fn in_percent(per_mille: u64) -> String {
    format!("{}.{}", per_mille / 10, per_mille % 10)
}

#[cfg(test)]
mod tests;
