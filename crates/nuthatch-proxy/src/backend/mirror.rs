//! Reads of others that are sent to a cold server too, which has no dump to load: so its memory holds what it will be asked for.
//!
//! They go over connections of their own, in no pool, that may not write (`SET SESSION TRANSACTION READ ONLY`): what is taken for a pure
//! read by its text, and is none, is refused by the server. What is answered is thrown away. Nobody waits for any of it: where a queue is
//! full the read is left out. Sessions offer their reads; housekeeping begins what takes them, and ends it, with its connections, as soon as
//! the server takes none.
//!
//! Cost: where no server takes any, one load for each statement that is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use nuthatch_config::HostgroupId;
use nuthatch_net::BackendPassword;
use parking_lot::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::backend::Server;
use crate::backend::server::throttle::Throttle;
use crate::state::Charset;

/// Reads that are answered at the same time, for one server.
const LANES: usize = 4;

/// Reads that wait, for each of these.
const WAITING_MAX: usize = 16;

/// Longer texts are not sent twice.
const TEXT_BYTES_MAX: usize = 1 << 16;

/// A read that somebody has sent to another server.
pub(crate) struct MirroredRead {
    pub(crate) user: Arc<str>,
    pub(crate) password: Arc<BackendPassword>,
    pub(crate) schema: Box<[u8]>,
    pub(crate) charset: Charset,
    pub(crate) text: Box<[u8]>,
}

/// All servers that take reads of others.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    is_any: AtomicBool,
    all: ArcSwap<Vec<Arc<Mirror>>>,
    /// Only one changes them at a time.
    changing: Mutex<()>,
    counts: Arc<MirrorCounts>,
}

/// What became of reads that were offered. Those beyond what a second allows are not counted.
#[derive(Debug, Default)]
pub(crate) struct MirrorCounts {
    /// The server has answered them.
    pub(crate) sent: AtomicU64,
    /// The queue was full.
    pub(crate) left_out: AtomicU64,
    /// They could not be sent, or the server refused them.
    pub(crate) failed: AtomicU64,
}

/// One server that takes some.
#[derive(Debug)]
struct Mirror {
    server: Arc<Server>,
    reads_per_second: AtomicU64,
    throttle: Throttle,
    lanes: Vec<Sender<MirroredRead>>,
    next: AtomicUsize,
    /// Ends the lanes.
    _end: DropGuard,
}

/// Where the reads of one lane come out.
pub(super) struct Intake {
    pub(super) reads: Receiver<MirroredRead>,
    /// Cancelled when the server takes none any more.
    pub(super) end: CancellationToken,
}

impl Mirrors {
    /// Whether any server takes reads of others.
    #[inline]
    pub(crate) fn are_any(&self) -> bool {
        self.is_any.load(Ordering::Relaxed)
    }

    /// That server is being sent a read, which is made only where another server of the hostgroup takes one now.
    pub(crate) fn offer(
        &self,
        hostgroup: HostgroupId,
        sent_to: &Server,
        now_us: u64,
        read: impl Fn() -> Option<MirroredRead>,
    ) {
        for mirror in self.all.load().iter() {
            let is_other = mirror.server.hostgroup == hostgroup && !mirror.server.is_same_as(sent_to);
            let per_second = mirror.reads_per_second.load(Ordering::Relaxed);
            if is_other && mirror.throttle.admits(now_us, per_second) {
                mirror.take(read(), &self.counts);
            }
        }
    }

    /// What became of reads.
    pub(crate) const fn counts(&self) -> &Arc<MirrorCounts> {
        &self.counts
    }

    /// The server takes so many reads in a second from now on as it says, if any. Returns where they come out, if it took none before.
    pub(super) fn keep(&self, server: &Arc<Server>, now_ms: u64) -> Vec<Intake> {
        let Some(reads) = wanted(server, now_ms) else { return Vec::new() };
        if let Some(mirror) = self.all.load().iter().find(|mirror| Arc::ptr_eq(&mirror.server, server)) {
            mirror.reads_per_second.store(reads, Ordering::Relaxed);
            return Vec::new();
        }
        let (mirror, lanes) = Mirror::begin(server, reads);
        self.change(|all| all.push(Arc::new(mirror)));
        lanes
    }

    /// Ends those of servers that take none any more: their connections are cut.
    pub(super) fn end_unwanted(&self, now_ms: u64) {
        if self.are_any() {
            self.change(|all| all.retain(|mirror| wanted(&mirror.server, now_ms).is_some()));
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Mirror>>)) {
        let _one_at_a_time = self.changing.lock();
        let mut all = self.all.load().to_vec();
        change(&mut all);
        self.is_any.store(!all.is_empty(), Ordering::Relaxed);
        self.all.store(Arc::new(all));
    }
}

/// Reads of others in a second that it is to be sent too: none if it is to be sent nothing new.
fn wanted(server: &Server, now_ms: u64) -> Option<u64> {
    let may_be_sent = !server.is_retired() && server.takes_new_work(now_ms);
    server.mirrored_reads_per_second().filter(|_| may_be_sent)
}

impl Mirror {
    fn begin(server: &Arc<Server>, reads_per_second: u64) -> (Self, Vec<Intake>) {
        tracing::info!(server = %server.address, hostgroup = server.hostgroup.0, reads_per_second,
            "reads of others are sent to a cold server too, which has no dump to load");
        let end = CancellationToken::new();
        let lane = |_| {
            let (lane, reads) = channel(WAITING_MAX);
            (lane, Intake { reads, end: end.clone() })
        };
        let (lanes, begun) = (0..LANES).map(lane).unzip();
        let mirror = Self {
            server: Arc::clone(server),
            reads_per_second: AtomicU64::new(reads_per_second),
            throttle: Throttle::default(),
            lanes,
            next: AtomicUsize::new(0),
            _end: end.drop_guard(),
        };
        (mirror, begun)
    }

    fn take(&self, read: Option<MirroredRead>, counts: &MirrorCounts) {
        let Some(read) = read.filter(|read| read.text.len() <= TEXT_BYTES_MAX) else { return };
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let lane = next.checked_rem(self.lanes.len()).and_then(|place| self.lanes.get(place));
        if lane.is_some_and(|lane| lane.try_send(read).is_err()) {
            counts.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}
