use super::*;
use crate::fill::Fill;

fn fill<'a>(key: Key<'a>, packets: Packets<'a>, status_offsets: &'a [u32]) -> Fill<'a, u8> {
    Fill {
        key,
        packets,
        status_offsets,
        rows: 2,
        hostgroup: 10,
        created_ms: 1_000,
        expires_ms: 6_000,
        epoch: 3,
        clocks: &[],
        since: Sequence::default(),
        plan: 7,
    }
}

fn key(statement: &[u8]) -> Key<'_> {
    Key::new(b"app", b"shop", 4, Protocol::Text, statement)
}

fn entry(status_offsets: &[u32]) -> Entry<u8> {
    Entry::new(fill(key(b"SELECT 1"), Packets::Whole(b"\0\x01\x02\x03\x04"), status_offsets), u64::MAX)
        .unwrap()
}

#[test]
fn entry_gives_back_what_it_was_filled_with() {
    let pieces: [&[u8]; 4] = [b"col", b"", b"umns", b" and rows"];
    let entry = Entry::new(fill(key(b"SELECT 1"), Packets::Pieces(&pieces), &[3, 14]), u64::MAX).unwrap();
    assert_eq!(entry.packets(), b"columns and rows");
    assert_eq!(entry.status_offsets(), [3, 14]);
    assert_eq!(entry.status(), u16::from_le_bytes(*b"ws"));
    assert_eq!((entry.rows(), entry.hostgroup(), *entry.plan()), (2, 10, 7));
    assert_eq!((entry.created_ms(), entry.expires_ms(), entry.epoch()), (1_000, 6_000, 3));
    assert!(entry.answers(&key(b"SELECT 1")));
    assert_eq!(entry.key().hash(), key(b"SELECT 1").hash());
}

#[test]
fn entry_answers_no_other_key() {
    let entry = entry(&[]);
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
    let entry = entry(&[]);
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
    let offsets: [&[u32]; 3] = [&[4], &[u32::MAX], &[0, 1, 2]];
    for status_offsets in offsets {
        let made = Entry::new(fill(key(b"SELECT 1"), Packets::Whole(b"12345"), status_offsets), u64::MAX);
        assert_eq!(made.err(), Some(Refusal::Malformed), "{status_offsets:?}");
    }
    let long = vec![b'u'; 1 << 16];
    let long = Key::new(&long, b"", 0, Protocol::Text, b"");
    assert_eq!(Entry::new(fill(long, Packets::Whole(b""), &[]), u64::MAX).err(), Some(Refusal::Malformed));
    let clocks = vec![clock(0); 1 << 16];
    let made = Entry::new(Fill { clocks: &clocks, ..fill(key(b""), Packets::Whole(b""), &[]) }, u64::MAX);
    assert_eq!(made.err(), Some(Refusal::Malformed));
}

#[test]
fn largest_allowed_entry_is_made_and_one_byte_more_is_not() {
    let bytes_max = entry(&[]).weight_bytes();
    let most = [0u8; 24];
    let made =
        (1..24).map(|len| Entry::new(fill(key(b"SELECT 1"), Packets::Whole(&most[..len]), &[]), bytes_max));
    let made: Vec<bool> = made.map(|made| made.is_ok()).collect();
    assert!(made[4] && !made[22], "{made:?}");
    let refused = Entry::new(fill(key(b"SELECT 1"), Packets::Whole(&[0; 64]), &[]), bytes_max).unwrap_err();
    assert!(
        matches!(refused, Refusal::TooLarge { bytes, bytes_max: max } if bytes > max && max == bytes_max)
    );
}

#[test]
fn renewed_entry_keeps_its_answer_under_a_new_plan() {
    let entry = entry(&[1]);
    let renewed = Entry::new(entry.renewed(9, 8_000, 1), u64::MAX).unwrap();
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
            ..fill(key(b"SELECT 1"), Packets::Whole(b"12345"), &[1])
        };
        let entry = Entry::new(fill, u64::MAX).unwrap();
        assert!(entry.is_exact());
        assert_eq!(entry.clocks().collect::<Vec<_>>(), clocks(stored));
        assert_eq!(entry.since(), Sequence::after(5));
        assert_eq!((entry.packets(), entry.status()), (&b"12345"[..], u16::from_le_bytes(*b"23")));
        assert!(entry.answers(&key(b"SELECT 1")) && !entry.answers(&key(b"SELECT 2")));
    }
}

#[test]
fn entry_of_mode_ttl_has_no_clocks_and_pays_for_none() {
    let plain = entry(&[]);
    assert!(!plain.is_exact());
    assert_eq!((plain.clocks().count(), plain.since()), (0, Sequence::default()));
    assert_eq!(plain.weight_bytes(), weight_of::<u8>(15 + 5));
    for count in [1, 20, 1_000] {
        let clocks: Vec<_> = (0..count).map(clock).collect();
        let fill = Fill { clocks: &clocks, ..fill(key(b"SELECT 1"), Packets::Whole(b"12345"), &[]) };
        let weight = weight_of::<u8>(15 + 5 + 8 + 4 * clocks.len());
        assert_eq!(Entry::new(fill, u64::MAX).unwrap().weight_bytes(), weight, "{count}");
    }
}

#[test]
fn clocks_are_read_in_place_behind_a_plan_of_any_alignment() {
    #[repr(align(32))]
    struct Wide;
    impl Plan for Wide {}
    struct Odd([u8; 3]);
    impl Plan for Odd {
        fn weight_bytes(&self) -> u64 {
            u64::from(self.0[0])
        }
    }
    fn check<T: Plan>(plan: T) {
        let clocks = [clock(1), clock(2)];
        let Fill {
            key, packets, status_offsets, rows, hostgroup, created_ms, expires_ms, epoch, since, ..
        } = fill(key(b"S"), Packets::Whole(b"1"), &[]);
        let fill = Fill {
            key,
            packets,
            status_offsets,
            rows,
            hostgroup,
            created_ms,
            expires_ms,
            epoch,
            clocks: &clocks,
            since,
            plan,
        };
        assert_eq!(Entry::new(fill, u64::MAX).unwrap().clocks().collect::<Vec<_>>(), clocks);
    }
    check(1u8);
    check(Odd([1; 3]));
    check(1u64);
    check(Wide);
}

#[test]
fn renewed_entry_keeps_its_clocks_and_its_moment() {
    let clocks = [clock(7), clock(3)];
    let fill = Fill {
        clocks: &clocks,
        since: Sequence::after(9),
        ..fill(key(b"SELECT 1"), Packets::Whole(b"1"), &[])
    };
    let entry = Entry::new(fill, u64::MAX).unwrap();
    let renewed = Entry::new(entry.renewed(9, 8_000, 1), u64::MAX).unwrap();
    assert!(renewed.clocks().eq(entry.clocks()) && renewed.clocks().count() == 2);
    assert_eq!(renewed.since(), Sequence::after(9));
}

#[test]
fn header_stays_small() {
    assert_eq!(size_of::<Header<usize>>(), 64);
}

fn clock(number: u32) -> Clock {
    bytemuck::cast(number)
}
