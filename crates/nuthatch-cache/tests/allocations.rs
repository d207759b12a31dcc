//! What a hit and a fill allocate, counted by the allocator itself. One test, alone in its process.
#![expect(unsafe_code, reason = "a global allocator that counts has to be one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use nuthatch_cache::{Cache, ClockOptions, Clocks, Fill, Judgement, Key, Limits, Protocol, Standing};

struct Counting;

thread_local! {
    /// Allocations of this thread: the harness's own threads do not disturb.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are the system allocator's conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn hit_allocates_nothing_and_fill_allocates_once() {
    let cache = Cache::new(Limits { bytes: 8 << 20, entry_bytes_max: 1 << 20 });
    let clocks = Clocks::new(ClockOptions::default());
    let dependencies = [clocks.everything(), clocks.broad(3).expect("it has clocks"), clocks.row(3, 7)];
    let plan = Arc::new(7u64);
    let fill = |statement| Fill {
        status_offsets: [Some(4), Some(790)],
        expires_ms: 100,
        clocks: &dependencies,
        since: clocks.now(),
        ..Fill::new(
            Key::new(b"app", b"shop", 0, Protocol::Text, statement),
            &[1; 300],
            &[2; 500],
            plan.clone(),
        )
    };
    cache.insert(&fill(b"first")).unwrap();
    cache.insert(&fill(b"second")).unwrap();

    let (again, filled) = counted(|| cache.insert(&fill(b"third")));
    again.unwrap();
    assert_eq!(filled, 1, "a fill of a kind that there is into an index with room is one allocation");
    let (sum, hit) = counted(|| (0..1000).map(|_| look_up(&cache, &clocks)).sum::<usize>());
    assert_eq!(sum, 1000 * 803);
    assert_eq!(hit, 0, "a hit allocates nothing");
    let (_, seen) = counted(|| Box::new(1));
    assert_eq!(seen, 1, "the counter counts");
}

/// All that a session does with a hit; returns how many bytes it would send, and its status offsets.
fn look_up(cache: &Cache<Arc<u64>>, clocks: &Clocks) -> usize {
    let key = Key::new(b"app", b"shop", 0, Protocol::Text, b"second");
    let entry = cache.get(&key).expect("it was filled");
    assert!(entry.judge(99, 0) == Judgement::Fresh && **entry.plan() == 7);
    assert_eq!(clocks.standing(entry.clocks(), entry.since()), Standing::Holds);
    let [head, rest] = entry.packets().expect("it is not compressed");
    assert_eq!(head.len(), 300, "it is kept for all that begin so");
    entry.packet_bytes() + usize::from(!rest.is_empty()) + entry.status_offsets().iter().flatten().count()
}

fn counted<R>(run: impl FnOnce() -> R) -> (R, u64) {
    let before = COUNT.with(Cell::get);
    let result = run();
    (result, COUNT.with(Cell::get) - before)
}
