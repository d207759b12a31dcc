//! A hit whose entry is compressed: its packets go out a block at a time, through a buffer of the worker.
//!
//! Cost: that of a hit, and of decompressing; one write for each block. Nothing is allocated but that buffer, once for each worker. A client
//! that does not take what goes out at once has a buffer of its own until it has.

use std::cell::RefCell;

use nuthatch_cache::{Entry, PIECE_BYTES_MAX};
use nuthatch_net::NetError;

use crate::roster::SessionEnd;
use crate::session::way::STORED_STATUS;
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;

type Scratch = Box<[u8; PIECE_BYTES_MAX]>;

thread_local! {
    /// Of a worker, once it has met a compressed entry.
    static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

/// Writes as much of the entry's packets as goes out at once, under the session's own status flags, and returns how much that was. An entry in
/// steady use is held plain from then on.
#[cold]
pub(super) fn write_compressed_now(session: &mut Session, entry: &Entry<HitPlan>) -> Result<usize, NetError> {
    let flags = session.dealings.status(&session.context).bits().to_le_bytes();
    let worker = &session.ground.worker;
    worker.counters.cache_decompressions.bump();
    let written = SCRATCH.with_borrow_mut(|scratch| {
        let scratch = scratch.get_or_insert_with(|| {
            worker.counters.cache_scratch_bytes.add(PIECE_BYTES_MAX as u64);
            empty()
        });
        let mut written = 0;
        loop {
            let piece = piece_of(entry, written, flags, scratch);
            let taken = session.client.framed_mut().write_now(piece)?;
            written += taken;
            if taken < piece.len() || piece.is_empty() {
                return Ok(written);
            }
        }
    });
    session.ground.shared.answers.cache.hold_plain_if_steady(entry, |gone, _| gone.plan().count_evicted());
    written
}

/// Sends the entry's packets from the byte `written` on.
pub(super) async fn send_compressed(
    session: &mut Session,
    entry: &Entry<HitPlan>,
    written: usize,
) -> Result<(), SessionEnd> {
    let flags = session.dealings.status(&session.context).bits().to_le_bytes();
    let (mut scratch, mut written) = (empty(), written);
    while written < entry.packet_bytes() {
        let piece = piece_of(entry, written, flags, &mut scratch);
        let writing = session.client.framed_mut().write(piece);
        session.ground.handle.unless_ended(writing).await.map_err(SessionEnd::InAnswer)??;
        written += piece.len();
    }
    Ok(())
}

/// The packets from that byte on, as far as a block goes, with these status flags.
fn piece_of<'s>(entry: &Entry<HitPlan>, from: usize, flags: [u8; 2], scratch: &'s mut Scratch) -> &'s [u8] {
    let piece = entry.piece(from, scratch);
    if flags != STORED_STATUS.bits().to_le_bytes() {
        for offset in entry.status_offsets().iter().flatten().map(|offset| *offset as usize) {
            // One may end in the next block.
            for (at, byte) in (offset..).zip(flags) {
                if let Some(stored) = at.checked_sub(from).and_then(|at| piece.get_mut(at)) {
                    *stored = byte;
                }
            }
        }
    }
    piece
}

fn empty() -> Scratch {
    vec![0; PIECE_BYTES_MAX].into_boxed_slice().try_into().expect("it has that length")
}
