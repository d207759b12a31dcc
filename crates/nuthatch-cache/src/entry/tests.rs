use super::*;
use crate::fill::Fill;
use crate::key::Protocol;
use crate::kinds::Kinds;

type Offsets = [Option<u32>; STATUS_OFFSETS_MAX];

const NO_STATUS: Offsets = [None; 2];

fn fill<'a>(key: Key<'a>, rest: &'a [u8], status_offsets: Offsets) -> Fill<'a, u8> {
    planned(key, rest, status_offsets, 7)
}

fn planned<'a, T>(key: Key<'a>, rest: &'a [u8], status_offsets: Offsets, plan: T) -> Fill<'a, T> {
    Fill {
        status_offsets,
        rows: 2,
        hostgroup: 10,
        created_ms: 1_000,
        expires_ms: 6_000,
        epoch: 3,
        ..Fill::new(key, b"", rest, plan)
    }
}

fn key(statement: &[u8]) -> Key<'_> {
    Key::new(b"app", b"shop", 4, Protocol::Text, statement)
}

/// The first of its kind.
fn make<T: Plan>(fill: &Fill<'_, T>, bytes_max: u64) -> Result<Entry<T>, Refusal> {
    let kind = Kinds::new(1 << 20).of(fill).ok_or(Refusal::Malformed)?;
    Entry::new(fill, kind, bytes_max)
}

fn entry(status_offsets: Offsets) -> Entry<u8> {
    make(&fill(key(b"SELECT 1"), b"\0\x01\x02\x03\x04", status_offsets), u64::MAX).unwrap()
}

#[test]
fn entry_gives_back_what_it_was_filled_with_whoever_keeps_its_head() {
    let kinds = Kinds::new(1 << 20);
    let mut hashes = Vec::new();
    for (turn, head) in
        [&b""[..], b"columns", b"columns", b"columns", b"collums", b"columns"].iter().enumerate()
    {
        let offsets = [Some(3), Some(14)].map(|at| at.filter(|at| *at > 6 || !head.is_empty()));
        let fill = Fill { head, ..fill(key(b"SELECT 1"), &b"columns and rows"[head.len()..], offsets) };
        let entry = Entry::new(&fill, kinds.of(&fill).unwrap(), u64::MAX).unwrap();
        assert_eq!(entry.all_packets(), [head, fill.rest].concat());
        assert_eq!(entry.packets().unwrap()[0], if turn == 2 || turn == 3 { *head } else { b"" }, "{turn}");
        assert_eq!(entry.packet_bytes(), 16);
        assert_eq!(entry.status_offsets().iter().flatten().count(), offsets.iter().flatten().count());
        assert_eq!(entry.status_offsets().iter().flatten().last(), Some(&14));
        assert_eq!((entry.rows(), entry.hostgroup(), *entry.plan()), (2, 10, 7));
        assert_eq!((entry.created_ms(), entry.expires_ms(), entry.epoch()), (1_000, 6_000, 3));
        assert!(entry.answers(&key(b"SELECT 1")));
        assert_eq!(entry.key().hash(), key(b"SELECT 1").hash());
        let renewed = entry.renewed(3, 6_000, 7).unwrap();
        assert_eq!(
            (renewed.head, renewed.rest, renewed.status_offsets),
            (fill.head, fill.rest, entry.status_offsets())
        );
        hashes.push(entry.answer_hash());
    }
    assert!(hashes[1] == hashes[2] && hashes[2] == hashes[5] && hashes[4] != hashes[5], "{hashes:?}");
}

#[test]
fn answers_that_differ_in_status_flags_only_have_one_hash() {
    let of = |rest: &[u8]| {
        let fill = Fill { head: b"abcd", ..fill(key(b""), rest, [Some(1), Some(6)]) };
        make(&fill, u64::MAX).unwrap().answer_hash()
    };
    assert_eq!(of(b"ef12g"), of(b"ef34g"));
    assert_ne!(of(b"ef12g"), of(b"eg12g"));
    assert_ne!(of(b"ef12g"), of(b"ef12h"));
}

#[test]
fn entry_answers_no_other_key() {
    let entry = entry(NO_STATUS);
    let hash = key(b"SELECT 1").hash();
    let others = [
        key(b"SELECT 2"),
        key(b"SELECT 1 "),
        key(b""),
        Key::new(b"apps", b"hop", 4, Protocol::Text, b"SELECT 1"),
        Key::new(b"app", b"shopS", 4, Protocol::Text, b"ELECT 1"),
        Key::new(b"app", b"shop", 5, Protocol::Text, b"SELECT 1"),
        Key::new(b"app", b"shop", 4, Protocol::Binary, b"SELECT 1"),
    ];
    for other in others {
        assert!(!entry.answers(&other.with_hash(hash)), "{other:?}");
    }
}

#[test]
fn judgement_follows_time_then_epoch() {
    let entry = entry(NO_STATUS);
    let table = [
        (0, 3, Judgement::Fresh),
        (5_999, 3, Judgement::Fresh),
        (6_000, 3, Judgement::Expired),
        (6_000, 4, Judgement::Expired),
        (5_999, 4, Judgement::OlderEpoch),
        (5_999, 2, Judgement::Fresh),
    ];
    for (now_ms, epoch, judgement) in table {
        assert_eq!(entry.judge(now_ms, epoch), judgement, "{now_ms} {epoch}");
    }
}

#[test]
fn fill_that_contradicts_itself_is_refused() {
    let offsets = [[Some(4), None], [Some(u32::MAX), None], [Some(2), Some(1)], [Some(1), Some(1)]];
    for status_offsets in offsets {
        let made = make(&fill(key(b"SELECT 1"), b"12345", status_offsets), u64::MAX);
        assert_eq!(made.err(), Some(Refusal::Malformed), "{status_offsets:?}");
    }
    let long = vec![b'u'; 1 << 16];
    let long = Key::new(&long, b"", 0, Protocol::Text, b"");
    assert_eq!(make(&fill(long, b"", NO_STATUS), u64::MAX).err(), Some(Refusal::Malformed));
    let clocks = vec![clock(0); 1 << 16];
    let made = make(&Fill { clocks: &clocks, ..fill(key(b""), b"", NO_STATUS) }, u64::MAX);
    assert_eq!(made.err(), Some(Refusal::Malformed));
}

#[test]
fn largest_allowed_entry_is_made_and_one_byte_more_is_not() {
    let bytes_max = entry(NO_STATUS).weight_bytes();
    let most = [0u8; 24];
    let made = (1..24).map(|len| make(&fill(key(b"SELECT 1"), &most[..len], NO_STATUS), bytes_max));
    let made: Vec<bool> = made.map(|made| made.is_ok()).collect();
    assert!(made[4] && !made[22], "{made:?}");
    let refused = make(&fill(key(b"SELECT 1"), &[0; 64], NO_STATUS), bytes_max).unwrap_err();
    assert!(
        matches!(refused, Refusal::TooLarge { bytes, bytes_max: max } if bytes > max && max == bytes_max)
    );
}

#[test]
fn renewed_entry_keeps_its_answer_under_a_new_plan() {
    let entry = entry([Some(1), None]);
    let renewed = make(&entry.renewed(9, 8_000, 1).unwrap(), u64::MAX).unwrap();
    assert_eq!(renewed.packets(), entry.packets());
    assert_eq!(renewed.status_offsets(), entry.status_offsets());
    assert_eq!((renewed.epoch(), renewed.expires_ms(), *renewed.plan()), (9, 8_000, 1));
    assert_eq!((renewed.created_ms(), renewed.rows(), renewed.hostgroup()), (1_000, 2, 10));
    assert!(renewed.answers(&key(b"SELECT 1")));
}

#[test]
fn entry_names_its_clocks_wide_before_narrow_and_the_moment() {
    let clocks = |numbers: &[u32]| numbers.iter().map(|number| clock(*number)).collect::<Vec<_>>();
    let tables: [(&[u32], &[u32]); 4] = [
        (&[0], &[0]),
        (&[9, 0, 4], &[0, 4, 9]),
        (&[3, 2, 1, 0], &[0, 1, 2, 3]),
        (&[u32::MAX, 0], &[0, u32::MAX]),
    ];
    for (given, stored) in tables {
        let given = clocks(given);
        let fill = Fill {
            clocks: &given,
            since: Sequence::after(5),
            ..fill(key(b"SELECT 1"), b"12345", [Some(1), None])
        };
        let entry = make(&fill, u64::MAX).unwrap();
        assert!(entry.is_exact());
        assert_eq!(entry.clocks().collect::<Vec<_>>(), clocks(stored));
        assert_eq!(entry.since(), Sequence::after(5));
        assert_eq!(
            (entry.packets().unwrap(), entry.status_offsets()),
            ([&b""[..], b"12345"], [Some(1), None])
        );
        assert!(entry.answers(&key(b"SELECT 1")) && !entry.answers(&key(b"SELECT 2")));
    }
}

#[test]
fn entry_of_mode_ttl_has_no_clocks_and_pays_for_none() {
    let plain = entry(NO_STATUS);
    assert!(!plain.is_exact());
    assert_eq!((plain.clocks().count(), plain.since()), (0, Sequence::default()));
    assert_eq!(plain.weight_bytes(), weight_of::<u8>(8 + 5));
    for count in [1, 20, 1_000] {
        let clocks: Vec<_> = (0..count).map(clock).collect();
        let fill = Fill { clocks: &clocks, ..fill(key(b"SELECT 1"), b"12345", NO_STATUS) };
        let weight = weight_of::<u8>(8 + 5 + 8 + 4 * clocks.len());
        assert_eq!(make(&fill, u64::MAX).unwrap().weight_bytes(), weight, "{count}");
    }
}

#[test]
fn clocks_are_read_in_place_behind_a_plan_of_any_alignment() {
    #[derive(Clone, PartialEq, Eq, Hash)]
    #[repr(align(32))]
    struct Wide;
    impl Plan for Wide {}
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Odd([u8; 3]);
    impl Plan for Odd {
        fn weight_bytes(&self) -> u64 {
            u64::from(self.0[0])
        }
    }
    fn check<T: Plan>(plan: T) {
        let clocks = [clock(1), clock(2)];
        let fill = Fill { clocks: &clocks, ..planned(key(b"S"), b"1", NO_STATUS, plan) };
        assert_eq!(make(&fill, u64::MAX).unwrap().clocks().collect::<Vec<_>>(), clocks);
    }
    check(1u8);
    check(Odd([1; 3]));
    check(1u64);
    check(Wide);
}

#[test]
fn renewed_entry_keeps_its_clocks_and_its_moment() {
    let clocks = [clock(7), clock(3)];
    let fill = Fill { clocks: &clocks, since: Sequence::after(9), ..fill(key(b"SELECT 1"), b"1", NO_STATUS) };
    let entry = make(&fill, u64::MAX).unwrap();
    let renewed = make(&entry.renewed(9, 8_000, 1).unwrap(), u64::MAX).unwrap();
    assert!(renewed.clocks().eq(entry.clocks()) && renewed.clocks().count() == 2);
    assert_eq!(renewed.since(), Sequence::after(9));
}

#[test]
fn header_stays_small() {
    assert_eq!(size_of::<Header<usize>>(), 48);
}

fn clock(number: u32) -> Clock {
    bytemuck::cast(number)
}
