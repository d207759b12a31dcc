use std::time::Duration;

use super::{Rest, confessed, crossed, grown, left, undone};
use crate::sample::{BOUNDS, Figures, Level, Process, Sample};

const MIB: u64 = 1 << 20;
const PROCESS: Process = Process { resident_bytes: 64 * MIB, descriptors: 40, threads: 8 };

/// A run of half an hour.
fn samples(of: impl Fn(u64) -> Sample) -> Vec<Sample> {
    (0..18_000).map(of).collect()
}

fn sample(tenth: u64) -> Sample {
    let at = Duration::from_millis(100 * tenth);
    Sample { at, process: PROCESS, levels: [Level { is: 10, limit: 10 }; BOUNDS.len()] }
}

fn resident(tenth: u64, resident_bytes: u64) -> Sample {
    Sample { process: Process { resident_bytes, ..PROCESS }, ..sample(tenth) }
}

#[test]
fn memory_that_fills_at_first_and_comes_and_goes_then_does_not_grow() {
    let load = samples(|tenth| resident(tenth, tenth.min(80) * MIB - tenth % 7 * MIB.min(tenth)));
    assert_eq!(grown(&load), None);
}

#[test]
fn leak_of_four_kilobytes_a_second_is_found() {
    let load = samples(|tenth| resident(tenth, 64 * MIB + tenth * 400));
    assert!(grown(&load).is_some_and(|finding| finding.contains("memory grows")));
}

#[test]
fn single_peak_is_no_growth() {
    let load = samples(|tenth| resident(tenth, if tenth == 17_000 { 640 * MIB } else { 64 * MIB }));
    assert_eq!(grown(&load), None);
}

#[test]
fn figure_at_its_limit_is_no_finding() {
    assert!(crossed(&samples(sample)).is_empty());
}

#[test]
fn figure_that_is_once_above_its_limit_is_found() {
    for (place, bound) in BOUNDS.iter().enumerate() {
        let load = samples(|tenth| {
            let mut sample = sample(tenth);
            sample.levels[place].is += u64::from(tenth == 300) * 3;
            sample
        });
        let findings = crossed(&load);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let words = format!("{} is above its limit in 1 samples, at most by 3: 13 of 10", bound.figure);
        assert!(findings[0].starts_with(&words), "{findings:?}");
    }
}

#[test]
fn limit_that_is_lowered_holds_from_the_second_sample_on() {
    let lowered = |held_from| {
        samples(move |tenth| {
            let (is, limit) =
                if tenth < 300 { (10, 10) } else { (if tenth < held_from { 10 } else { 5 }, 5) };
            Sample { levels: [Level { is, limit }; BOUNDS.len()], ..sample(tenth) }
        })
    };
    assert!(crossed(&lowered(301)).is_empty());
    assert_eq!(crossed(&lowered(302)).len(), BOUNDS.len());
}

#[test]
fn what_the_pool_holds_is_not_left_and_anything_else_is() {
    let before = Rest { process: PROCESS, pooled: 2 };
    let rest = |descriptors, threads, pooled| {
        let process = Process { descriptors, threads, ..PROCESS };
        left(before, Rest { process, pooled })
    };
    assert!(rest(45, 8, 7).is_empty());
    assert_eq!(rest(46, 8, 7), ["files are left: 38 before, 39 behind"]);
    assert_eq!(rest(45, 9, 7), ["threads are left: 8 before, 9 behind"]);
}

#[test]
fn run_without_hits_and_one_with_panics_are_found_out() {
    let figures: Figures = super::DONE.map(|name| (name.to_owned(), 1)).into();
    assert!(undone(&figures).is_empty());
    let idle = Figures::from([("Query_Cache_count_GET_OK".to_owned(), 0)]);
    let figures: Figures = figures.into_iter().chain(idle).chain([("Worker_Panics".to_owned(), 0)]).collect();
    assert_eq!(undone(&figures), ["the run shows nothing: Query_Cache_count_GET_OK is 0"]);
    assert!(confessed("all is well", &figures).is_empty());
    assert_eq!(confessed("thread 'worker' panicked at", &figures).len(), 1);
    let panics = figures.into_iter().chain([("Worker_Panics".to_owned(), 1)]).collect();
    assert_eq!(confessed("", &panics), ["1 sessions ended by a panic"]);
}
