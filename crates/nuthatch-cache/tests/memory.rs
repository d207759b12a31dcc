//! The process's own memory against the limit.
//!
//! What the cache says of itself is checked in `limit.rs`; here the kernel is asked. One test, alone in its process, so
//! that nothing else is measured. Entries are filled by several threads over and over, so that the allocator's
//! fragmentation is in the figure too. The allocator is the program's, with the program's setting: with glibc's the same
//! loads hold 1.2 to 1.8 times the limit.

use std::ffi::c_char;
use std::fs;
use std::sync::Barrier;
use std::thread;

use nuthatch_cache::{Cache, Fill, Key, Limits, Protocol};
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Freed pages go back to the kernel at once. jemalloc reads this symbol when it starts.
#[expect(unsafe_code, reason = "the name of a symbol is a promise to the linker")]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static ALLOCATOR_SETTING: Option<&'static c_char> = Some(&SETTING_BYTES[0]);
static SETTING_BYTES: [c_char; 17] = setting(b"dirty_decay_ms:0\0");

const LIMIT_BYTES: u64 = 64 << 20;
const ENTRY_BYTES_MAX: u64 = (1 << 20) + (64 << 10);
const WRITERS: usize = 3;
/// How many limits' worth a phase puts through the cache, and how often a load is repeated: a debug build copies slowly.
const TURNS: u64 = if cfg!(debug_assertions) { 2 } else { 3 };
const REPEATS: usize = if cfg!(debug_assertions) { 2 } else { 4 };

/// What one fill's packets weigh, from a random number.
type Size = fn(u64) -> usize;

#[test]
fn process_grows_by_no_more_than_the_limit_and_fifteen_percent() {
    let before = resident_bytes();
    let cache = Cache::new(Limits { bytes: LIMIT_BYTES, entry_bytes_max: ENTRY_BYTES_MAX });
    let loads: [(&str, Size); 4] =
        [("190 B", |_| 190), ("8 KiB", |_| 8 << 10), ("up to 1 MiB", up_to_a_mebibyte), ("mixed", mixed)];
    for (name, size) in loads {
        let ratios = run_phases(&cache, before, name, &[size; REPEATS]);
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        assert!(worst <= 1.15, "{name}: the process grew by {worst:.3} times the limit");
        assert!(worst >= 0.85, "{name}: the cache was never full: {worst:.3}");
        cache.flush();
    }
    // The worst that a change of load does: few small entries stay, each holding a page that others have left.
    let ratios = run_phases(&cache, before, "change", &[|_| 190, up_to_a_mebibyte, mixed, |_| 190, mixed]);
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    assert!(worst <= 1.15, "changing load: the process grew by {worst:.3} times the limit");
}

/// Runs each phase on the same threads, as a proxy's workers live on; returns the growth after each, in limits.
fn run_phases(cache: &Cache<usize>, before: u64, name: &str, phases: &[Size]) -> Vec<f64> {
    let barrier = Barrier::new(WRITERS + 1);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let barrier = &barrier;
            scope.spawn(move || {
                for size in phases {
                    barrier.wait();
                    fill(cache, writer as u64, *size);
                    barrier.wait();
                }
            });
        }
        let measured = phases.iter().map(|_| {
            barrier.wait();
            barrier.wait();
            measure(cache, before, name)
        });
        measured.collect()
    })
}

#[expect(clippy::print_stdout, reason = "the figures are what one reads when the test fails")]
fn measure(cache: &Cache<usize>, before: u64, name: &str) -> f64 {
    // As housekeeping does twice a second.
    cache.defragment(usize::MAX);
    let usage = cache.usage();
    let ratio = resident_bytes().saturating_sub(before) as f64 / LIMIT_BYTES as f64;
    println!(
        "{name:>12}: process {ratio:.3} x limit, accounted {:.3}; {} entries of {} B, index {:.3} x limit",
        usage.bytes as f64 / LIMIT_BYTES as f64,
        usage.entries,
        usage.bytes / usage.entries.max(1),
        usage.index_bytes as f64 / LIMIT_BYTES as f64,
    );
    assert!(usage.bytes <= LIMIT_BYTES);
    assert_eq!(usage.refused, usage.not_admitted);
    ratio
}

fn up_to_a_mebibyte(random: u64) -> usize {
    200 + (random % (1 << 20)) as usize
}

/// Puts [`TURNS`] limits' worth through the cache, a third of it by each writer.
fn fill(cache: &Cache<usize>, writer: u64, size: Size) {
    let answer = vec![0; 2 << 20];
    let mut random = writer + 1;
    let mut bytes = 0;
    while bytes < TURNS * LIMIT_BYTES / WRITERS as u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let statement = format!("SELECT c FROM sbtest1 WHERE id={:020}", random >> 20);
        let packets = &answer[..size(random >> 33)];
        bytes += 400 + packets.len() as u64;
        // A panic here would leave the others waiting: `measure` sees what was refused.
        let fill = fill_of(&statement, packets);
        let _counted = cache.insert(&fill);
        // Asked for again at once, and never later: what is full of others takes each newcomer then.
        if cache.get(&fill.key).is_none() {
            let _counted = cache.insert(&fill);
        }
    }
}

/// Mostly small, some middle, few large: about as many bytes of each.
fn mixed(random: u64) -> usize {
    match random % 1000 {
        0..4 => 200 + (random >> 10 & 0xF_FFFF) as usize,
        4..200 => 8 << 10,
        _ => 200,
    }
}

fn fill_of<'a>(statement: &'a str, packets: &'a [u8]) -> Fill<'a, usize> {
    Fill::new(Key::new(b"app", b"shop", 1, Protocol::Text, statement.as_bytes()), b"", packets, 0)
}

fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("statm's second field is a number");
    pages * 4096
}

const fn setting(text: &[u8; 17]) -> [c_char; 17] {
    let mut chars = [0; 17];
    let mut at = 0;
    while at < text.len() {
        chars[at] = text[at].cast_signed() as c_char;
        at += 1;
    }
    chars
}
