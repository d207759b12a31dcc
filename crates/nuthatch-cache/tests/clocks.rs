//! What the clocks do, call by call.

use std::sync::Arc;

use nuthatch_cache::{ClockOptions, Clocks, Sequence, Standing};

const TABLES: u32 = 3;
const OPTIONS: ClockOptions = ClockOptions { tables_max: TABLES, row_stripes: 8, block_stripes: 4 };

#[test]
fn marks_that_are_dropped_stay_pending_and_are_counted() {
    let clocks = Arc::new(Clocks::new(OPTIONS));
    let [stranded, other] = [clocks.row(0, 1), clocks.everything()];
    drop(clocks.raise(vec![stranded, other]));
    clocks.raise(vec![stranded]).settle();
    assert_eq!((clocks.pending(), clocks.stranded()), (1, 1));
    assert_eq!(clocks.standing([stranded], clocks.now()), Standing::Pending);
    assert_eq!(clocks.standing([other], Sequence::default()), Standing::Pending);
}

#[test]
fn clocks_given_twice_are_raised_once_and_named_in_order() {
    let clocks = Arc::new(Clocks::new(OPTIONS));
    let [row, any] = [clocks.row(0, 1), clocks.any(0).unwrap()];
    let marks = clocks.raise(vec![row, any, row, any]);
    assert_eq!((marks.clocks(), clocks.pending()), (&[any, row][..], 1));
    marks.release();
    assert_eq!(clocks.standing([any, row], Sequence::default()), Standing::Holds);
    assert_eq!((clocks.pending(), clocks.moves()), (0, 0));
}

#[test]
fn two_writers_on_one_clock_may_settle_in_either_order() {
    for reversed in [false, true] {
        let clocks = Arc::new(Clocks::new(OPTIONS));
        let any = clocks.any(1).unwrap();
        let mut marks = [clocks.raise(vec![any]), clocks.raise(vec![any])];
        if reversed {
            marks.reverse();
        }
        let [first, second] = marks;
        let before = clocks.now();
        first.settle();
        let between = clocks.now();
        assert_eq!(clocks.standing([any], between), Standing::Pending);
        second.settle();
        assert_eq!(clocks.standing([any], before), Standing::Moved);
        assert_eq!(clocks.standing([any], between), Standing::Moved);
        assert_eq!(clocks.standing([any], clocks.now()), Standing::Holds);
    }
}

#[test]
fn what_has_moved_is_said_before_what_is_pending() {
    let clocks = Arc::new(Clocks::new(OPTIONS));
    let [broad, row] = [clocks.broad(0).unwrap(), clocks.row(0, 1)];
    let since = clocks.now();
    let held = clocks.raise(vec![broad]);
    clocks.raise(vec![row]).settle();
    assert_eq!(clocks.standing([broad, row], since), Standing::Moved);
    assert_eq!(clocks.standing([broad, row], clocks.now()), Standing::Pending);
    held.release();
    assert_eq!(clocks.standing([broad, row], clocks.now()), Standing::Holds);
}

#[test]
fn tables_past_the_limit_have_no_wide_clocks() {
    let clocks = Clocks::new(OPTIONS);
    assert!(clocks.any(TABLES - 1).is_some());
    for wide in [Clocks::any, Clocks::broad, Clocks::absent] {
        assert_eq!(wide(&clocks, TABLES), None);
    }
}

#[test]
fn default_array_takes_four_and_a_half_mebibytes() {
    let bytes = Clocks::new(ClockOptions::default()).bytes();
    assert_eq!(bytes, 8 * (16 + 4 * 65_536 + (1 << 18) + (1 << 16)));
}
