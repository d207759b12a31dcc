//! Hand-made histories: what must be explained, and what must not.

use super::*;
use crate::register::Register::{Arrival, Item, ItemCount};

const A: Register = Item(1);
const B: Register = Item(2);
/// Of another owner.
const C: Register = Item(100);

const fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn sights<const N: usize>(sights: [(Register, i64); N]) -> Vec<Sight> {
    // 0 stands for no row.
    sights.map(|(register, held)| Sight { register, content: (held != 0).then_some(held) }).to_vec()
}

/// `A` and `B` begin with 1, `C` with 1.
fn beginning() -> History {
    of(Reads::Current)
}

fn of(reads: Reads) -> History {
    History::new(&[(A, Some(1)), (B, Some(1)), (C, Some(1))].into(), reads)
}

/// A commit that is sent and acknowledged.
fn commit<const N: usize>(history: &History, written: [(Register, i64); N], sent: u64, acknowledged: u64) {
    let changes = sights(written);
    let owner = changes[0].register.owner();
    history.send(owner, &changes, at(sent));
    history.acknowledge(owner, at(acknowledged));
}

/// What is wrong with a read of its own snapshot.
fn read<const N: usize>(
    history: &History,
    seen: [(Register, i64); N],
    begin: u64,
    end: u64,
) -> Option<Wrong> {
    let mut snapshot = Snapshot::between(at(begin), at(end));
    history.explain(&mut snapshot, &sights(seen), at(end)).err().map(|fault| fault.wrong)
}

#[test]
fn before_during_and_after_a_write() {
    let history = beginning();
    commit(&history, [(A, 2)], 10, 20);
    assert_eq!(read(&history, [(A, 1)], 1, 5), None, "before");
    assert_eq!(read(&history, [(A, 1)], 15, 30), None, "it began before the acknowledgement");
    assert_eq!(read(&history, [(A, 2)], 15, 16), None, "the commit was on its way");
    assert_eq!(read(&history, [(A, 2)], 30, 31), None, "after");
}

#[test]
fn older_than_an_acknowledged_write_is_stale() {
    let history = beginning();
    commit(&history, [(A, 2)], 10, 20);
    assert_eq!(read(&history, [(A, 1)], 21, 22), Some(Wrong::Stale));
}

#[test]
fn new_then_old_across_sessions_is_stale_also_while_the_write_is_not_acknowledged() {
    let history = beginning();
    history.send(A.owner(), &sights([(A, 2)]), at(10));
    assert_eq!(read(&history, [(A, 1)], 11, 12), None);
    assert_eq!(read(&history, [(A, 2)], 12, 14), None);
    assert_eq!(read(&history, [(A, 1)], 13, 20), None, "it began before the other was answered");
    assert_eq!(read(&history, [(A, 1)], 15, 16), Some(Wrong::Stale));
}

#[test]
fn what_one_saw_of_a_transaction_makes_all_of_it_certain() {
    let history = beginning();
    history.send(A.owner(), &sights([(A, 2), (B, 2)]), at(10));
    assert_eq!(read(&history, [(A, 2)], 11, 12), None);
    assert_eq!(read(&history, [(B, 1)], 13, 14), Some(Wrong::Stale));
}

#[test]
fn before_the_commit_is_sent_and_after_it_is_refused_nobody_sees_it() {
    let history = beginning();
    assert_eq!(read(&history, [(A, 2)], 1, 2), Some(Wrong::NeverCommitted));
    history.send(A.owner(), &sights([(A, 2)]), at(10));
    history.retract(A.owner()).expect("nobody has seen it");
    assert_eq!(read(&history, [(A, 2)], 11, 12), Some(Wrong::NeverCommitted));
    commit(&history, [(A, 3)], 20, 21);
    assert_eq!(read(&history, [(A, 2)], 22, 23), Some(Wrong::NeverCommitted));
    assert_eq!(read(&history, [(A, 3)], 22, 23), None);
}

#[test]
fn what_somebody_was_shown_must_not_turn_out_undone() {
    let history = beginning();
    history.send(A.owner(), &sights([(A, 2)]), at(10));
    assert_eq!(read(&history, [(A, 1)], 11, 12), None, "it may not be there yet");
    assert_eq!(read(&history, [(A, 2)], 13, 14), None, "and may be");
    let fault = history.retract(A.owner()).expect_err("it was seen");
    assert_eq!(fault.wrong, Wrong::Undone);
    assert!(fault.account.contains("shown to somebody at 0.014000 s"), "{fault:?}");
}

#[test]
fn commit_of_unknown_outcome_is_possible_until_its_owner_has_looked() {
    let history = beginning();
    history.send(A.owner(), &sights([(A, 2)]), at(10));
    assert_eq!(read(&history, [(A, 1)], 500, 501), None, "nobody was told that it is done");
    history.acknowledge(A.owner(), at(600));
    assert_eq!(read(&history, [(A, 1)], 601, 602), Some(Wrong::Stale));
    assert_eq!(read(&history, [(A, 2)], 601, 602), None);
}

#[test]
fn session_that_may_be_shown_less_than_others_never_goes_back() {
    let history = of(Reads::OfSession);
    commit(&history, [(A, 2)], 10, 20);
    commit(&history, [(C, 2)], 30, 40);
    // The time at which a read begins is what its session has come to.
    assert_eq!(read(&history, [(A, 1)], 0, 50), None, "it has seen nothing");
    assert_eq!(read(&history, [(A, 2)], 0, 50), None, "another one has");
    assert_eq!(read(&history, [(A, 1)], 0, 60), None, "which is nothing to it");
    assert_eq!(read(&history, [(A, 1), (C, 2)], 0, 60), Some(Wrong::OfSeveralMoments));
    let mut snapshot = Snapshot::between(at(0), at(60));
    history.explain(&mut snapshot, &sights([(C, 2)]), at(60)).expect("it is there");
    assert_eq!(snapshot.earliest(), at(30));
    assert_eq!(read(&history, [(A, 1)], 30, 70), Some(Wrong::Stale), "what was there before what it saw");
}

#[test]
fn half_a_transaction_is_of_several_moments() {
    let history = beginning();
    history.send(A.owner(), &sights([(A, 2), (B, 2)]), at(10));
    assert_eq!(read(&history, [(A, 2), (B, 1)], 11, 12), Some(Wrong::OfSeveralMoments));
    assert_eq!(read(&history, [(A, 1), (B, 1)], 11, 12), None);
    assert_eq!(read(&history, [(A, 2), (B, 2)], 11, 12), None);
}

#[test]
fn what_two_owners_never_had_at_once_is_not_seen_at_once() {
    let history = beginning();
    commit(&history, [(A, 2)], 10, 20);
    commit(&history, [(C, 2)], 30, 40);
    assert_eq!(read(&history, [(A, 2), (C, 1)], 5, 50), None);
    for seen in [[(A, 1), (C, 2)], [(C, 2), (A, 1)]] {
        assert_eq!(read(&history, seen, 5, 50), Some(Wrong::OfSeveralMoments), "{seen:?}");
    }
}

#[test]
fn absence_is_a_content_like_others() {
    let history = beginning();
    commit(&history, [(A, 0)], 10, 20);
    assert_eq!(read(&history, [(A, 1)], 21, 22), Some(Wrong::Stale));
    assert_eq!(read(&history, [(A, 0)], 21, 22), None);
    commit(&history, [(A, 3)], 30, 40);
    assert_eq!(read(&history, [(A, 0)], 41, 42), Some(Wrong::Stale));
    assert_eq!(read(&history, [(Arrival(7), 0)], 41, 42), None, "it never was there");
    commit(&history, [(Arrival(7), 5)], 50, 60);
    assert_eq!(read(&history, [(Arrival(7), 0)], 61, 62), Some(Wrong::Stale));
}

#[test]
fn a_content_that_comes_again_is_explained_by_its_newest_state() {
    let history = beginning();
    let count = ItemCount(0);
    commit(&history, [(count, 8), (A, 2)], 10, 11);
    commit(&history, [(count, 7), (A, 3)], 20, 21);
    commit(&history, [(count, 8), (A, 4)], 30, 31);
    assert_eq!(read(&history, [(count, 8)], 40, 41), None);
    assert_eq!(read(&history, [(count, 7)], 40, 41), Some(Wrong::Stale));
    assert_eq!(read(&history, [(count, 8), (A, 2)], 40, 41), Some(Wrong::Stale), "8 is of now, 2 is not");
    assert_eq!(read(&history, [(count, 7), (A, 4)], 5, 41), Some(Wrong::OfSeveralMoments));
}

#[test]
fn a_transaction_stays_at_the_moment_of_its_first_read() {
    let history = beginning();
    let mut snapshot = Snapshot::between(at(1), at(2));
    let mut explain = |seen: &[Sight], end| history.explain(&mut snapshot, seen, at(end));
    explain(&sights([(A, 1)]), 2).expect("as it began");
    commit(&history, [(A, 2), (B, 2)], 10, 20);
    commit(&history, [(C, 2)], 10, 20);
    explain(&sights([(B, 1)]), 31).expect("as at the first read");
    explain(&sights([(A, 1)]), 31).expect("again");
    explain(&sights([(C, 1)]), 31).expect("of another owner too");
    let fault = explain(&sights([(B, 2)]), 31).expect_err("newer than the snapshot");
    assert_eq!(fault.wrong, Wrong::BehindItsSnapshot);
    let fault = explain(&sights([(C, 2)]), 31).expect_err("newer than the snapshot");
    assert_eq!(fault.wrong, Wrong::BehindItsSnapshot);
}

#[test]
fn a_transaction_that_saw_a_commit_on_its_way_sees_all_of_it() {
    let history = beginning();
    history.send(A.owner(), &sights([(A, 2), (B, 2)]), at(10));
    let mut snapshot = Snapshot::between(at(11), at(12));
    history.explain(&mut snapshot, &sights([(A, 2)]), at(12)).expect("it may be there");
    let fault = history.explain(&mut snapshot, &sights([(B, 1)]), at(14)).expect_err("the other half");
    assert_eq!(fault.wrong, Wrong::OfSeveralMoments);
}

#[test]
fn a_fault_tells_what_was_seen_and_what_replaced_it() {
    let history = beginning();
    commit(&history, [(A, 2)], 10, 20);
    let mut snapshot = Snapshot::between(at(30), at(31));
    let fault = history.explain(&mut snapshot, &sights([(A, 1)]), at(31)).expect_err("it is stale");
    for piece in ["Item(1) = Some(1)", "certain at 0.020000 s", "between 0.030000 s"] {
        assert!(fault.account.contains(piece), "{fault:?}");
    }
}
