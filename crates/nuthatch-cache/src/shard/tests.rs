use super::*;
use crate::clocks::Sequence;
use crate::fill::Fill;
use crate::key::Protocol;
use crate::kinds::Kinds;

const SHARE_BYTES: u64 = 64 << 10;

fn entry(bytes: usize) -> Entry<u8> {
    let fill = Fill {
        key: Key::new(b"app", b"shop", 0, Protocol::Text, b"SELECT 1"),
        head: b"",
        rest: &vec![0; bytes],
        status_offsets: [None; 2],
        rows: 1,
        hostgroup: 0,
        created_ms: 0,
        expires_ms: 0,
        epoch: 0,
        clocks: &[],
        since: Sequence::default(),
        plan: 0,
    };
    Entry::new(&fill, Kinds::new(1 << 20).of(&fill).unwrap(), u64::MAX).unwrap()
}

#[test]
fn entry_that_the_policy_drops_is_reported_and_takes_the_older_one_with_it() {
    let mut shard = Shard::new(SHARE_BYTES);
    assert!(shard.insert(Slot(1), entry(1000)).is_kept);
    let dropped = shard.insert(Slot(1), entry(100_000));
    assert!(!dropped.is_kept);
    assert_eq!((dropped.replaced, dropped.evicted, shard.len()), (1, 0, 0));
}

#[test]
fn what_leaves_is_counted_as_replaced_or_evicted() {
    let mut shard = Shard::new(SHARE_BYTES);
    let (mut replaced, mut evicted) = (0, 0);
    for slot in 0..1000 {
        let inserted = shard.insert(Slot(slot / 2), entry(2000));
        replaced += inserted.replaced;
        evicted += inserted.evicted;
        assert!(inserted.is_kept && shard.bytes() <= SHARE_BYTES);
    }
    assert_eq!(replaced, 500);
    assert_eq!(evicted + shard.len() as u64, 500);
}

#[test]
fn half_a_share_always_fits_whatever_the_index_holds() {
    let mut shard = Shard::new(SHARE_BYTES);
    let largest = usize::try_from(SHARE_BYTES / 2 - (8 << 10)).unwrap();
    for round in 0..10u64 {
        for slot in 0..2000 {
            shard.insert(Slot(round * 10_000 + slot), entry(1));
        }
        assert!(shard.insert(Slot(round), entry(largest)).is_kept, "{round}");
    }
}

#[test]
fn take_leaves_a_shard_with_an_index_as_small_as_a_new_one() {
    let mut shard = Shard::new(SHARE_BYTES);
    for slot in 0..100 {
        shard.insert(Slot(slot), entry(1));
    }
    assert_eq!(shard.take(SHARE_BYTES).len(), 100);
    assert_eq!((shard.len(), shard.bytes()), (0, 0));
}
