//! Compressed entries: their answers come back byte for byte, the limit holds, and what is said of them adds up.

use std::collections::HashMap;

use nuthatch_cache::{Cache, Entry, Fill, Key, Limits, PIECE_BYTES_MAX, Protocol};
use proptest::prelude::*;

const LIMITS: Limits = Limits { bytes: 1 << 20, entry_bytes_max: 128 << 10 };
const BYTES_MIN: u64 = 8 << 10;

/// Answers that shrink: rows of a few words each.
fn rows(id: u64, bytes: usize) -> Vec<u8> {
    let row = |number: u64| format!("{:06}|customer|street|paid|{}\n", id * 7 + number, number % 3);
    (0..).map(row).flat_map(String::into_bytes).take(bytes).collect()
}

/// Bytes of which none tells of another.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = seed | 1;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random.to_le_bytes()[3]
    };
    (0..bytes).map(|_| next()).collect()
}

fn key(statement: &str) -> Key<'_> {
    Key::new(b"app", b"shop", 0, Protocol::Text, statement.as_bytes())
}

fn compressing() -> Cache<u8> {
    let cache = Cache::new(LIMITS);
    cache.compress_from(BYTES_MIN);
    cache
}

/// Asks for it twice, so that it is let in whatever is there, and fills it where it is not.
fn fill(cache: &Cache<u8>, statement: &str, answer: &[u8]) {
    for _ in 0..4 {
        if cache.get(&key(statement)).is_some() {
            return;
        }
        let _may_be_refused = cache.insert(&Fill::new(key(statement), b"", answer, 0));
        assert!(cache.usage().bytes <= LIMITS.bytes);
    }
}

/// The answer as it is sent, a piece at a time.
fn sent(entry: &Entry<u8>) -> Vec<u8> {
    if let Some(packets) = entry.packets() {
        return packets.concat();
    }
    let (mut scratch, mut sent) = (Box::new([0; PIECE_BYTES_MAX]), Vec::new());
    while sent.len() < entry.packet_bytes() {
        let piece = entry.piece(sent.len(), &mut scratch);
        assert!(!piece.is_empty());
        sent.extend_from_slice(piece);
    }
    assert!(entry.piece(sent.len(), &mut scratch).is_empty());
    sent
}

fn fill_past_the_limit(cache: &Cache<u8>, answer: impl Fn(u64) -> Vec<u8>) -> HashMap<String, Vec<u8>> {
    (0..300u64)
        .map(|id| {
            let (statement, answer) = (format!("SELECT {id}"), answer(id));
            fill(cache, &statement, &answer);
            (statement, answer)
        })
        .collect()
}

fn entries(cache: &Cache<u8>) -> Vec<Entry<u8>> {
    let mut entries = Vec::new();
    cache.visit(|entry| entries.push(entry.clone()));
    entries
}

/// A cache past its limit, what it was filled with, and an entry of it that is compressed.
fn with_a_compressed_entry() -> (Cache<u8>, HashMap<String, Vec<u8>>, Entry<u8>) {
    let cache = compressing();
    let answers = fill_past_the_limit(&cache, |id| rows(id, 12 << 10));
    let entry = entries(&cache).into_iter().find(Entry::is_compressed).expect("some are");
    (cache, answers, entry)
}

fn statement_of(entry: &Entry<u8>) -> String {
    String::from_utf8(entry.statement().to_vec()).expect("it is of ASCII")
}

#[test]
fn full_cache_holds_more_answers_when_they_are_compressed_and_gives_them_back() {
    let (plain, compressing) = (Cache::new(LIMITS), compressing());
    let answers = fill_past_the_limit(&plain, |id| rows(id, 12 << 10));
    fill_past_the_limit(&compressing, |id| rows(id, 12 << 10));
    assert_eq!((plain.usage().compressed, plain.usage().compressions), (0, 0));
    let usage = compressing.usage();
    assert!(usage.entries * 2 > plain.usage().entries * 3, "{usage:?} {:?}", plain.usage());
    assert!(usage.compressed > 0 && usage.compressions >= usage.compressed, "{usage:?}");
    for entry in entries(&compressing) {
        let answer = &answers[&statement_of(&entry)];
        assert_eq!((&sent(&entry), &entry.all_packets()), (answer, answer));
    }
}

#[test]
fn nothing_is_compressed_while_nothing_has_to_go_or_what_is_small_or_does_not_shrink() {
    let roomy = compressing();
    (0..20).for_each(|id| fill(&roomy, &format!("SELECT {id}"), &rows(id, 12 << 10)));
    assert_eq!((roomy.usage().evicted, roomy.usage().compressed), (0, 0));
    let with_small = compressing();
    fill_past_the_limit(&with_small, |id| rows(id, 7 << 10));
    let with_noise = compressing();
    fill_past_the_limit(&with_noise, |id| noise(id, 12 << 10));
    for cache in [with_small, with_noise] {
        assert!(cache.usage().evicted > 0);
        assert_eq!((cache.usage().compressed, cache.usage().compressions), (0, 0));
    }
}

#[test]
fn what_is_spared_is_nothing_once_all_have_gone() {
    let cache = compressing();
    fill_past_the_limit(&cache, |id| rows(id, 12 << 10));
    let of_entries = |cache: &Cache<u8>| {
        let compressed = entries(cache).iter().filter(|entry| entry.is_compressed()).count();
        assert_eq!(cache.usage().compressed, compressed as u64);
    };
    of_entries(&cache);
    assert!(cache.usage().spared_bytes > cache.usage().compressed * (5 << 10));
    cache.set_limits(Limits { bytes: 512 << 10, ..LIMITS });
    of_entries(&cache);
    cache.set_limits(Limits { bytes: 4 << 20, ..LIMITS });
    of_entries(&cache);
    let first = entries(&cache).into_iter().find(Entry::is_compressed).unwrap();
    assert!(cache.remove_invalidated(&first.key(), &first));
    of_entries(&cache);
    cache.flush();
    assert_eq!((cache.usage().compressed, cache.usage().spared_bytes), (0, 0));
}

#[test]
fn entry_in_steady_use_is_held_plain() {
    let (cache, answers, found) = with_a_compressed_entry();
    let statement = statement_of(&found);
    let mut hits = 0;
    loop {
        let entry = cache.get(&key(&statement)).unwrap();
        assert_eq!(sent(&entry), answers[&statement]);
        if !entry.is_compressed() {
            break;
        }
        entry.note_hit(0);
        cache.hold_plain_if_steady(&entry, |_, _| ());
        assert!(cache.usage().bytes <= LIMITS.bytes);
        hits += 1;
        assert!(hits < 200, "it is never held plain");
    }
    assert!(hits >= 16, "{hits}");
    assert_eq!(cache.usage().made_plain, 1);
}

#[test]
fn answer_that_comes_again_is_known_though_it_was_compressed() {
    let (cache, answers, gone) = with_a_compressed_entry();
    let statement = statement_of(&gone);
    assert!(cache.remove_invalidated(&gone.key(), &gone));
    fill(&cache, &statement, &answers[&statement]);
    assert_eq!(cache.usage().repeated, 1);
}

#[test]
fn compressed_entry_is_renewed_by_its_plain_like() {
    let (cache, _, entry) = with_a_compressed_entry();
    assert!(entry.renewed(1, u64::MAX, 1).is_none());
    let plain = entry.plain();
    let renewed = plain.renewed(1, u64::MAX, 1).unwrap();
    assert_eq!([renewed.head, renewed.rest].concat(), sent(&entry));
    cache.insert(&renewed).unwrap();
    assert_eq!(*cache.get(&entry.key()).unwrap().plan(), 1);
}

/// Parts of an answer: how long, and whether they shrink.
fn parts() -> impl Strategy<Value = Vec<(usize, bool)>> {
    prop::collection::vec((0usize..70_000, prop::bool::weighted(0.8)), 1..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn pieces_of_any_answer_are_the_answer(parts in parts(), head_bytes in 0usize..20_000, common in any::<bool>(), from in any::<prop::sample::Index>()) {
        let limits = Limits { bytes: 1 << 20, entry_bytes_max: 400 << 10 };
        let cache = Cache::new(limits);
        cache.compress_from(1);
        let body: Vec<u8> = parts.iter().enumerate().flat_map(|(seed, (bytes, shrinks))| {
            if *shrinks { rows(seed as u64, *bytes) } else { noise(seed as u64, *bytes) }
        }).collect();
        let head = rows(77, head_bytes);
        let offset = |at: usize| u32::try_from(at).ok();
        let ends = |body: &[u8]| [None, (body.len() > 2).then_some(head.len() + body.len() - 2).and_then(offset)];
        for turn in 0..14 {
            let statement = format!("SELECT {turn}");
            let (front, rest) = if common { (&head[..], &body[..]) } else { (&b""[..], &body[..]) };
            let fill = Fill { status_offsets: if common { ends(&body) } else { [None; 2] }, ..Fill::new(key(&statement), front, rest, 0) };
            for _ in 0..3 {
                let _may_be_refused = cache.insert(&fill);
                prop_assert!(cache.usage().bytes <= limits.bytes);
            }
            if let Some(entry) = cache.get(&key(&statement)) {
                let whole = [front, rest].concat();
                prop_assert_eq!(&sent(&entry), &whole);
                prop_assert_eq!(&entry.all_packets(), &whole);
                prop_assert_eq!(entry.packet_bytes(), whole.len());
                prop_assert_eq!(entry.status_offsets().iter().flatten().count(), fill.status_offsets.iter().flatten().count());
                if entry.is_compressed() && !whole.is_empty() {
                    let at = from.index(whole.len());
                    let mut scratch = Box::new([0; PIECE_BYTES_MAX]);
                    let piece = entry.piece(at, &mut scratch);
                    prop_assert!(whole[at..].starts_with(piece) && !piece.is_empty());
                }
            }
        }
    }
}
