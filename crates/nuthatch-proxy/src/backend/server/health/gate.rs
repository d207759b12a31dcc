//! The gate of a server that has been started anew: it gets little of its share of new work, or none (`warm_weight`), until its memory holds
//! what it had before.
//!
//! It is closed only where that is known to be so, and only while another server of the hostgroup, that is warm, takes new work. It is
//! opened when so many of the dumped pages are loaded (`warm_pct`); without a dump when the server lacks hardly more of the pages that it is
//! asked for than the others do; after some time (`warm_max_ms`) in any case. Once it has been opened it is not closed again before the next
//! start.
//!
//! Where no other server is warm, a cold one is let through: it gets its whole share, and is still no warm one for whom the others are held.
//!
//! A server that could not be reached may have been started anew: until a look has told, its part is small too. No status shows that.
//!
//! Cost: one load for each server of a choice.

use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_config::Warming;
use nuthatch_sql::{PoolFigures, PoolLoad};
use parking_lot::Mutex;

use crate::backend::server::known::life::{PoolTraffic, Sight, TRAFFIC_REQUESTS_MIN};

/// The whole of its share, in percent.
pub(in crate::backend) const ALL: u64 = 100;

/// A server that says nothing of the load that it is to begin is believed after so many seconds.
const LOAD_BEGINS_S: u64 = 10;

/// Counts of these in a row that must find it near the others.
const COUNTS_NEAR: u32 = 3;

/// A suspicion that no look has ended is given up after so long.
const SUSPECTED_MS_MAX: u64 = 60_000;

/// What a server said of its buffer pool, and what was asked of it of late.
#[derive(Debug, Clone, Copy)]
pub(in crate::backend) struct PoolLook {
    pub(in crate::backend) figures: PoolFigures,
    pub(in crate::backend) loads_at_start: Option<bool>,
    pub(in crate::backend) traffic: PoolTraffic,
    /// Pages that have come back of those that it held before it was started anew; none where that is not known.
    pub(in crate::backend) come_back: Option<(u64, u64)>,
}

impl PoolLook {
    /// How far it has loaded its dump; by what it held before, if it tells nothing but that it loads.
    const fn load(&self) -> PoolLoad {
        match (self.figures.load, self.come_back) {
            (PoolLoad::Loading { all: 0, .. }, Some((loaded, all))) => PoolLoad::Loading { loaded, all },
            (load, _) => load,
        }
    }
}

/// The other servers of the hostgroup that take new work and are not known to be cold.
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
    /// Since when nobody has told whether the server was started anew.
    suspected_since_ms: Option<u64>,
    /// It came into the hostgroup, and has not been judged there yet.
    is_new: bool,
    /// It was started anew, and is not known to be warm since.
    cold: Option<Cold>,
    loaded_pct: Option<u64>,
    /// Why it is closed, or was opened last.
    why: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Cold {
    since_ms: u64,
    /// It has its whole share, for want of one that is warm.
    is_let_through: bool,
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
        self.state.lock().is_open()
    }

    /// Whether it is held: not if it is only suspected.
    pub(in crate::backend) fn is_closed(&self) -> bool {
        self.state.lock().held().is_some()
    }

    /// Whether it is known to be cold: also if it is let through, and not if it is only suspected.
    pub(in crate::backend) fn is_cold(&self) -> bool {
        self.state.lock().cold.is_some()
    }

    /// A server that has run for so many milliseconds counts as warm where it comes into a hostgroup.
    pub(in crate::backend) fn ms_max(&self) -> u64 {
        self.state.lock().settings.ms_max
    }

    /// Reads of others in a second that the server is to be sent too; none where none are.
    pub(in crate::backend) fn reads_per_second(&self) -> Option<u64> {
        let state = self.state.lock();
        let takes = state.held().is_some_and(|held| held.takes_reads);
        takes.then_some(state.settings.reads_per_second).filter(|reads| *reads > 0)
    }

    pub(in crate::backend) fn view(&self) -> GateView {
        let state = self.state.lock();
        GateView { is_closed: state.held().is_some(), loaded_pct: state.loaded_pct, why: state.why.clone() }
    }

    /// By what it is opened and closed from now on.
    pub(in crate::backend) fn keep_to(&self, settings: Warming, now_ms: u64) -> Option<GateChange> {
        let mut state = self.state.lock();
        state.settings = settings;
        let change = match settings.pct {
            0 => {
                (state.suspected_since_ms, state.is_new) = (None, false);
                state.is_warm("mysql-warm_pct is 0", now_ms)
            }
            _ => None,
        };
        self.apply(&state);
        change
    }

    /// The server has come into a hostgroup, and may have been started a moment ago: the next look tells. Until then it is suspected, if others
    /// serve the hostgroup already.
    pub(in crate::backend) fn enters(&self, is_among_others: bool, now_ms: u64) {
        let mut state = self.state.lock();
        if state.settings.pct > 0 {
            state.is_new = true;
            state.suspected_since_ms = is_among_others.then_some(now_ms);
        }
        self.apply(&state);
    }

    /// The server could not be reached.
    pub(in crate::backend) fn suspect(&self, now_ms: u64) {
        let mut state = self.state.lock();
        state.suspected_since_ms = (state.settings.pct > 0).then_some(now_ms);
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
                state.suspected_since_ms = None;
                None
            }
            (Sight::Same | Sight::Anew, Some(look)) => state.judge(sight, look, others, now_ms),
            (Sight::Untold | Sight::Same | Sight::Anew, _) => {
                (state.suspected_since_ms, state.is_new, state.loaded_pct) = (None, false, None);
                state.is_warm("nobody tells how warm it is", now_ms)
            }
        };
        self.apply(&state);
        change
    }

    /// Looks whether it has been closed for too long, or nobody who is warm takes new work.
    pub(in crate::backend) fn look_after(&self, others: Others, now_ms: u64) -> Option<GateChange> {
        let mut state = self.state.lock();
        state.suspected_since_ms.take_if(|since_ms| now_ms.saturating_sub(*since_ms) >= SUSPECTED_MS_MAX);
        let change = match state.why_no_longer(now_ms) {
            Some(why) => state.is_warm(&why, now_ms),
            None if others == Others::None => state.let_through(now_ms),
            None => None,
        };
        self.apply(&state);
        change
    }

    fn apply(&self, state: &State) {
        let part = if state.is_open() { ALL } else { state.settings.weight_pct.min(ALL) };
        self.part.store(part, Ordering::Relaxed);
    }
}

impl State {
    fn held(&self) -> Option<Cold> {
        self.cold.filter(|cold| !cold.is_let_through)
    }

    fn is_open(&self) -> bool {
        self.held().is_none() && self.suspected_since_ms.is_none()
    }

    /// It is warm, or counts so from now on.
    fn is_warm(&mut self, why: &str, now_ms: u64) -> Option<GateChange> {
        let held = self.held();
        self.cold.take()?;
        self.why = Some(why.to_owned());
        let held_ms = Some(now_ms.saturating_sub(held?.since_ms));
        Some(GateChange::Opened { why: why.to_owned(), held_ms })
    }

    /// No other server is warm.
    fn let_through(&mut self, now_ms: u64) -> Option<GateChange> {
        let cold = self.cold.as_mut().filter(|cold| !cold.is_let_through)?;
        cold.is_let_through = true;
        let held_ms = Some(now_ms.saturating_sub(cold.since_ms));
        let why = "no other server of the hostgroup takes statements and is warm";
        self.why = Some(why.to_owned());
        Some(GateChange::Opened { why: why.to_owned(), held_ms })
    }

    /// Why it counts as warm whatever the server says; none where that is waited for.
    fn why_no_longer(&self, now_ms: u64) -> Option<String> {
        let ms_max = self.settings.ms_max;
        let is_over = now_ms.saturating_sub(self.cold?.since_ms) >= ms_max;
        is_over.then(|| format!("the time is over: mysql-warm_max_ms is {ms_max}"))
    }

    fn judge(&mut self, sight: Sight, look: &PoolLook, others: Others, now_ms: u64) -> Option<GateChange> {
        let is_new = std::mem::take(&mut self.is_new);
        self.suspected_since_ms = None;
        self.loaded_pct = look.load().pct();
        let up_ms = look.figures.uptime_s.saturating_mul(1000);
        let is_cold = sight == Sight::Anew || is_new && up_ms < self.settings.ms_max;
        let began = is_cold && self.settings.pct > 0 && (self.cold.is_none() || sight == Sight::Anew);
        if began {
            self.cold = Some(Cold {
                since_ms: now_ms,
                is_let_through: false,
                takes_reads: false,
                counts_near: 0,
                compared: look.traffic,
            });
        }
        self.cold?;
        let standing = match self.why_no_longer(now_ms) {
            Some(why) => Standing::Warm(why),
            None => self.standing(look, others),
        };
        let change = match standing {
            Standing::Warm(why) => self.is_warm(&why, now_ms),
            Standing::Loads(_) | Standing::HasNoDump(_) if others == Others::None => self.let_through(now_ms),
            Standing::Loads(why) => self.waits(why, false),
            Standing::HasNoDump(why) => self.waits(why, true),
        };
        match change {
            Some(GateChange::Opened { why, .. }) if began => Some(GateChange::Opened { why, held_ms: None }),
            Some(GateChange::Closed { .. }) if !began => None,
            change => change,
        }
    }

    /// It is not warm yet.
    fn waits(&mut self, why: String, takes_reads: bool) -> Option<GateChange> {
        let cold = self.cold.as_mut()?;
        cold.takes_reads = takes_reads;
        if cold.is_let_through {
            return None;
        }
        self.why = Some(why.clone());
        Some(GateChange::Closed { why })
    }

    fn standing(&mut self, look: &PoolLook, others: Others) -> Standing {
        let (load, PoolFigures { load: told, uptime_s, .. }) = (look.load(), look.figures);
        let Warming { pct: pct_min, reads_per_second, .. } = self.settings;
        let why = match load {
            PoolLoad::Completed => return Standing::Warm("all of its dumped pages are loaded".to_owned()),
            PoolLoad::Loading { loaded, all } => {
                let pct = load.pct().unwrap_or(0);
                let of = match all {
                    0 => "it loads its dumped pages, and does not tell how many".to_owned(),
                    _ if load == told => {
                        format!("{pct} % of its dumped pages are loaded ({loaded} of {all})")
                    }
                    _ => format!(
                        "it loads its dumped pages: {pct} % of what it held before are back ({loaded} of {all})"
                    ),
                };
                let of = format!("{of}; mysql-warm_pct is {pct_min}");
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
            _ if reads_per_second == 0 => Standing::Warm(format!("{why}, and mysql-warm_reads_per_sec is 0")),
            Others::Some(others) => self.compare(why, look.traffic, others),
            Others::None => Standing::HasNoDump(why.to_owned()),
        }
    }

    /// Whether it lacks hardly more of what it is asked for than the others do.
    fn compare(&mut self, why: &str, own: PoolTraffic, others: PoolTraffic) -> Standing {
        let (own_lacks, others_lack) = (lacks_per_mille(own), lacks_per_mille(others).unwrap_or(0));
        let is_near = own_lacks.is_some_and(|own| own <= others_lack + others_lack / 2 + 2);
        let counts = self.cold.as_mut().map_or(0, |cold| {
            if cold.compared != own {
                cold.compared = own;
                cold.counts_near = if is_near { cold.counts_near + 1 } else { 0 };
            }
            cold.counts_near
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
    (traffic.requests >= TRAFFIC_REQUESTS_MIN).then(|| traffic.reads.saturating_mul(1000) / traffic.requests)
}

fn in_percent(per_mille: u64) -> String {
    format!("{}.{}", per_mille / 10, per_mille % 10)
}

#[cfg(test)]
mod tests;
