//! OK packets of sessions that are tracked: what is read is inside the packet, and what goes to a client that did not ask for
//! it tells the same but for the changes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{OkPacket, StateChanges, StatusFlags, TrackedOk};

fuzz_target!(|payload: &[u8]| {
    walk(StateChanges::of(payload), payload.len());
    let Ok(tracked) = TrackedOk::parse(payload) else { return };
    assert!(tracked.info.len() < payload.len());
    walk(tracked.changes, payload.len());
    let mut encoded = Vec::new();
    tracked.encode_untracked(&mut encoded);
    assert!(encoded.len() <= payload.len());
    let untracked = TrackedOk::parse(&encoded).expect("what we write can be read");
    let status = tracked.ok.status.difference(StatusFlags::SERVER_SESSION_STATE_CHANGED);
    assert_eq!((untracked.marker, untracked.info), (tracked.marker, tracked.info));
    assert_eq!(untracked.ok, OkPacket { status, ..tracked.ok });
    assert_eq!(untracked.changes.count(), 0);
});

/// Each change takes at least two bytes, and nothing follows an error.
fn walk(changes: StateChanges<'_>, len: usize) {
    let walked: Vec<_> = changes.collect();
    assert!(2 * walked.len() <= len + 1);
    assert!(walked.iter().rev().skip(1).all(Result::is_ok));
}
