//! The allocator of the process: jemalloc, told to give freed pages back at once.
//!
//! The cache's byte limit is kept in what it accounts; with glibc's allocator the process would still hold up to 1.8
//! times as much after a change of load (`nuthatch-cache/tests/memory.rs` measures it).

use std::ffi::c_char;

use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// jemalloc reads this symbol when it starts.
#[expect(unsafe_code, reason = "the name of a symbol is a promise to the linker: nobody else exports it")]
#[unsafe(export_name = "_rjem_malloc_conf")]
#[used]
pub(crate) static ALLOCATOR_SETTING: Option<&'static c_char> = Some(&SETTING_BYTES[0]);

static SETTING_BYTES: [c_char; 34] = setting(b"dirty_decay_ms:0,muzzy_decay_ms:0\0");

const fn setting(text: &[u8; 34]) -> [c_char; 34] {
    let mut out = [0; 34];
    let mut place = 0;
    while place < text.len() {
        out[place] = text[place].cast_signed();
        place += 1;
    }
    out
}
