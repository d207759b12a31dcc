//! Reads of others that are sent to a cold server too, which has no dump to load: so its memory holds what it will be asked for.
//!
//! They go over connections of their own, in no pool, that may not write (`SET SESSION TRANSACTION READ ONLY`): what is taken for a pure
//! read by its text, and is none, is refused by the server. What is answered is thrown away. Nobody waits for any of it: where a queue is
//! full the read is left out. Sessions offer their reads; housekeeping begins and ends what takes them.
//!
//! Cost: where no server takes any, one load for each statement that is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use nuthatch_config::HostgroupId;
use nuthatch_net::BackendPassword;
use parking_lot::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel};

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
    all: Mutex<Vec<Arc<Mirror>>>,
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
        let mirrors: Vec<_> = self.all.lock().clone();
        for mirror in mirrors {
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

    /// The server takes so many reads in a second from now on as it says, or none. Returns where they come out, if it took none before.
    pub(super) fn keep(&self, server: &Arc<Server>) -> Vec<Receiver<MirroredRead>> {
        let wanted = server.mirrored_reads_per_second();
        let mut all = self.all.lock();
        let known = all.iter().position(|mirror| Arc::ptr_eq(&mirror.server, server));
        let mut begun = Vec::new();
        match (known, wanted) {
            (Some(place), Some(reads)) => {
                if let Some(mirror) = all.get(place) {
                    mirror.reads_per_second.store(reads, Ordering::Relaxed);
                }
            }
            (Some(place), None) => drop(all.swap_remove(place)),
            (None, Some(reads)) => {
                let (mirror, lanes) = Mirror::begin(server, reads);
                all.push(Arc::new(mirror));
                begun = lanes;
            }
            (None, None) => {}
        }
        self.is_any.store(!all.is_empty(), Ordering::Relaxed);
        begun
    }

    /// Ends those of servers that no configuration names any more.
    pub(super) fn end_retired(&self) {
        let mut all = self.all.lock();
        all.retain(|mirror| !mirror.server.is_retired());
        self.is_any.store(!all.is_empty(), Ordering::Relaxed);
    }
}

impl Mirror {
    fn begin(server: &Arc<Server>, reads_per_second: u64) -> (Self, Vec<Receiver<MirroredRead>>) {
        tracing::info!(server = %server.address, hostgroup = server.hostgroup.0, reads_per_second,
            "reads of others are sent to a cold server too, which has no dump to load");
        let (lanes, begun) = (0..LANES).map(|_| channel(WAITING_MAX)).unzip();
        let mirror = Self {
            server: Arc::clone(server),
            reads_per_second: AtomicU64::new(reads_per_second),
            throttle: Throttle::default(),
            lanes,
            next: AtomicUsize::new(0),
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
