use super::*;

const SETTINGS: Warming =
    Warming { pct: 90, weight_pct: 10, ms_max: 60_000, reads_per_second: 0, dump_interval_ms: 0 };
const BUSY: Others = Others::Some(PoolTraffic { requests: 10_000, reads: 100 });

fn gate(settings: Warming) -> Gate {
    let gate = Gate::default();
    assert_eq!(gate.keep_to(settings, 0), None);
    gate
}

fn look(uptime_s: u64, load: PoolLoad) -> PoolLook {
    let figures = PoolFigures { uptime_s, load, requests: 0, reads: 0, pages: 0 };
    PoolLook { figures, loads_at_start: Some(true), traffic: PoolTraffic::default(), come_back: None }
}

const fn loading(loaded: u64) -> PoolLoad {
    PoolLoad::Loading { loaded, all: 1000 }
}

fn is_opened(change: Option<GateChange>, words: &str) -> bool {
    matches!(&change, Some(GateChange::Opened { why, .. }) if why.contains(words))
}

#[test]
fn one_started_anew_is_held_until_so_many_pages_are_loaded_and_not_again_in_that_life() {
    let gate = gate(SETTINGS);
    assert_eq!(gate.judge(Sight::Same, Some(&look(9, loading(0))), BUSY, 0), None, "it was not started anew");
    assert_eq!(gate.part(), 100);
    let closed = gate.judge(Sight::Anew, Some(&look(1, loading(0))), BUSY, 1_000);
    assert!(matches!(closed, Some(GateChange::Closed { .. })), "{closed:?}");
    assert_eq!(gate.part(), 10);
    assert_eq!(gate.judge(Sight::Same, Some(&look(2, loading(899))), BUSY, 2_000), None);
    let view = gate.view();
    assert_eq!((view.is_closed, view.loaded_pct), (true, Some(89)));
    let opened = gate.judge(Sight::Same, Some(&look(3, loading(900))), BUSY, 3_000);
    assert!(is_opened(opened, "90 % of its dumped pages"));
    assert_eq!((gate.part(), gate.view().is_closed), (100, false));
    assert_eq!(gate.judge(Sight::Same, Some(&look(4, loading(0))), BUSY, 4_000), None);
    assert_eq!(gate.part(), 100, "once is enough");
}

/// MariaDB.
#[test]
fn one_that_does_not_tell_how_far_it_is_is_measured_by_what_it_held() {
    let gate = gate(SETTINGS);
    let holds = |come_back| PoolLook { come_back, ..look(1, PoolLoad::Loading { loaded: 0, all: 0 }) };
    gate.judge(Sight::Anew, Some(&holds(None)), BUSY, 0);
    assert_eq!(gate.view().loaded_pct, Some(0));
    assert!(gate.view().why.unwrap().contains("does not tell how many"));
    gate.judge(Sight::Same, Some(&holds(Some((3_599, 4_000)))), BUSY, 1);
    assert_eq!((gate.part(), gate.view().loaded_pct), (10, Some(89)));
    let opened = gate.judge(Sight::Same, Some(&holds(Some((3_600, 4_000)))), BUSY, 2);
    assert!(is_opened(opened, "90 % of what it held before are back (3600 of 4000)"));
}

#[test]
fn gate_is_opened_when_the_time_is_over_or_nobody_else_takes_work() {
    for (others, at_ms, words) in
        [(BUSY, 61_000, "the time is over"), (Others::None, 1_500, "no other server")]
    {
        let gate = gate(SETTINGS);
        gate.judge(Sight::Anew, Some(&look(1, loading(0))), BUSY, 1_000);
        assert_eq!(gate.look_after(BUSY, at_ms - 1 - 400 * u64::from(others == Others::None)), None);
        assert!(is_opened(gate.look_after(others, at_ms), words), "{words}");
        assert_eq!(gate.part(), 100);
        assert_eq!(gate.look_after(others, at_ms), None, "it is told once");
    }
}

#[test]
fn one_that_is_alone_is_never_held_and_says_so() {
    let gate = gate(SETTINGS);
    let opened = gate.judge(Sight::Anew, Some(&look(1, loading(0))), Others::None, 1_000);
    assert!(is_opened(opened, "no other server"));
    assert_eq!(gate.part(), 100);
    assert_eq!(gate.judge(Sight::Same, Some(&look(2, loading(1))), BUSY, 2_000), None);
    assert_eq!((gate.part(), gate.is_cold()), (100, true), "nor later, though it is cold");
    assert_eq!(gate.look_after(Others::None, 2_500), None, "it is told once");
    assert_eq!(gate.judge(Sight::Same, Some(&look(3, PoolLoad::Completed)), BUSY, 3_000), None);
    assert!(!gate.is_cold());
}

#[test]
fn suspicion_that_no_look_ends_is_given_up() {
    let gate = gate(SETTINGS);
    gate.suspect(1_000);
    assert_eq!((gate.look_after(BUSY, 60_999), gate.part()), (None, 10));
    assert_eq!((gate.look_after(BUSY, 61_000), gate.part()), (None, 100));
}

#[test]
fn one_that_could_not_be_reached_is_suspected_until_a_look_has_told() {
    let gate = gate(SETTINGS);
    for end in [Sight::Same, Sight::Untold, Sight::GivenUp] {
        gate.suspect(0);
        assert_eq!((gate.part(), gate.is_open(), gate.is_closed()), (10, false, false));
        assert_eq!(gate.judge(Sight::Unclear, None, BUSY, 0), None);
        assert_eq!(gate.part(), 10);
        let told = look(500, PoolLoad::Completed);
        assert_eq!(gate.judge(end, (end == Sight::Same).then_some(&told), BUSY, 1), None);
        assert_eq!((gate.part(), gate.is_open()), (100, true), "{end:?}");
    }
}

#[test]
fn new_one_is_held_only_if_it_was_started_a_moment_ago() {
    for (uptime_s, is_held) in [(59, true), (60, false), (500, false)] {
        let gate = gate(SETTINGS);
        gate.enters(true, 0);
        assert_eq!(gate.part(), 10);
        gate.judge(Sight::Same, Some(&look(uptime_s, loading(0))), BUSY, 0);
        assert_eq!(gate.is_closed(), is_held, "{uptime_s}");
        gate.judge(Sight::Same, Some(&look(1, loading(0))), Others::None, 0);
        gate.judge(Sight::Same, Some(&look(1, loading(0))), BUSY, 0);
        assert!(!gate.is_closed(), "it is new once");
    }
}

#[test]
fn without_a_dump_it_is_held_only_where_reads_warm_it_and_until_it_lacks_hardly_more_than_others() {
    for load in [PoolLoad::NoDump, PoolLoad::Aborted] {
        let gate = gate(SETTINGS);
        assert!(is_opened(gate.judge(Sight::Anew, Some(&look(1, load)), BUSY, 0), "warm_reads_per_sec is 0"));
        assert_eq!(gate.reads_per_second(), None);
    }
    let gate = gate(Warming { reads_per_second: 50, ..SETTINGS });
    let lacks = |requests, reads| PoolLook {
        traffic: PoolTraffic { requests, reads },
        ..look(20, PoolLoad::NotBegun)
    };
    gate.judge(Sight::Anew, Some(&lacks(0, 0)), BUSY, 0);
    assert_eq!((gate.part(), gate.reads_per_second()), (10, Some(50)));
    for (requests, reads, is_closed) in [
        (999, 0, true),
        (1_000, 10, true),
        (1_001, 10, true),
        (1_000, 30, true),
        (1_000, 17, true),
        (1_001, 17, true),
        (1_001, 17, true),
        (1_002, 17, false),
    ] {
        gate.judge(Sight::Same, Some(&lacks(requests, reads)), BUSY, 1);
        assert_eq!(gate.is_closed(), is_closed, "{requests} {reads}");
    }
    assert_eq!(gate.reads_per_second(), None);
}

#[test]
fn load_that_has_not_begun_is_waited_for_a_while_if_there_will_be_one() {
    for (uptime_s, loads, is_held) in
        [(0, Some(true), true), (0, Some(false), false), (0, None, false), (10, Some(true), false)]
    {
        let gate = gate(SETTINGS);
        let look = PoolLook { loads_at_start: loads, ..look(uptime_s, PoolLoad::NotBegun) };
        gate.judge(Sight::Anew, Some(&look), BUSY, 0);
        assert_eq!(gate.is_closed(), is_held, "{uptime_s} {loads:?}");
    }
}

#[test]
fn gate_that_is_off_is_never_closed_and_opens_when_it_is_turned_off() {
    let off = Warming { pct: 0, ..SETTINGS };
    let gate = gate(off);
    gate.suspect(0);
    gate.enters(true, 0);
    gate.judge(Sight::Anew, Some(&look(0, loading(0))), BUSY, 0);
    assert_eq!((gate.part(), gate.is_open()), (100, true));
    gate.keep_to(SETTINGS, 0);
    gate.judge(Sight::Anew, Some(&look(0, loading(0))), BUSY, 0);
    assert_eq!(gate.part(), 10);
    assert!(is_opened(gate.keep_to(off, 5), "warm_pct is 0"));
    assert_eq!(gate.part(), 100);
}
