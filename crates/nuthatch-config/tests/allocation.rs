//! Evaluating rules of which none matches allocates nothing.

#![expect(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use nuthatch_config::{Rule, RuleInput, Rules};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: both calls are passed on to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and every pointer comes from `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn verdict_of_no_match_allocates_nothing() {
    let pattern =
        |rule_id, pattern: &str| Rule { match_digest: Some(pattern.to_owned()), ..Rule::new(rule_id) };
    let none = [pattern(1, "^INSERT"), pattern(2, "FOR UPDATE$"), pattern(3, "(\\w)\\1\\1\\1")];
    let input = RuleInput {
        user: b"app",
        schema: b"shop",
        client_addr: "10.1.2.3",
        proxy_addr: "10.0.0.1",
        proxy_port: 6033,
        digest: 1,
        digest_text: b"SELECT c FROM sbtest1 WHERE id=?",
        query: b"SELECT c FROM sbtest1 WHERE id=42",
        flag_in: 0,
    };
    let allocations = |rules: &Rules| {
        drop(rules.evaluate(&input));
        let before = ALLOCATIONS.load(Relaxed);
        drop(rules.evaluate(&input));
        ALLOCATIONS.load(Relaxed) - before
    };
    let (linear, _) = Rules::compile(none[..2].to_vec(), 0);
    assert_eq!(allocations(&linear), 0);
    let (one, _) = Rules::compile([pattern(1, "^SELECT")], 0);
    assert_eq!(allocations(&one), 1, "a match allocates the list of counters: the count works");
    let (backtracking, _) = Rules::compile(none, 0);
    println!("backtracking engine: {} allocations", allocations(&backtracking));
}
