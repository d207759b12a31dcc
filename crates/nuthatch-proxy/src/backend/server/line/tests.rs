use std::time::Duration;

use super::*;

fn patience_us(patience_ms: u64) -> Stay {
    let mut variables = MysqlVariables::default();
    (variables.connect_timeout_server_max, variables.hold_for_writer_ms) = (patience_ms, 100);
    Stay::at_most(7, &variables, 10)
}

fn long() -> Stay {
    patience_us(1_000_000)
}

fn join(line: &Arc<Line>) -> Place {
    line.join(long()).unwrap()
}

/// What it is told, if anything.
async fn told(place: &Place) -> Option<Turn> {
    tokio::time::timeout(Duration::from_millis(1), place.turn()).await.ok()
}

#[tokio::test]
async fn the_first_is_rung_for_and_the_next_for_what_is_left() {
    let line = Arc::new(Line::default());
    let [first, second, third] = [join(&line), join(&line), join(&line)];
    assert_eq!(told(&first).await, Some(Turn::Look), "it looks once when it is the first");
    assert_eq!(told(&second).await, None);
    line.tell();
    line.tell();
    assert_eq!((told(&first).await, told(&second).await), (Some(Turn::Look), None));
    drop(first);
    assert_eq!((told(&second).await, told(&third).await), (Some(Turn::Look), None));
    drop(second);
    assert_eq!(told(&third).await, None, "both were looked for");
    let before = line.join_in_front(long());
    line.tell();
    assert_eq!((told(&third).await, line.len()), (None, 2));
    drop(before);
    assert_eq!(told(&third).await, Some(Turn::Look), "the one before it had not looked");
    drop(third);
    assert!(line.is_empty());
}

#[test]
fn a_line_stands_since_somebody_began_to_wait() {
    let line = Arc::new(Line::default());
    assert_eq!(line.standing_since_us().0, None);
    let first = join(&line);
    let second = line.join(Stay::at_most(9, &MysqlVariables::default(), 10)).unwrap();
    drop(first);
    assert_eq!(line.standing_since_us().0, Some(7));
    drop(second);
    assert_eq!(line.standing_since_us().0, None);
}

#[tokio::test]
async fn ticks_ring_for_the_first_and_end_what_waits_too_long() {
    let line = Arc::new(Line::default());
    let [first, second, third] = [50, 20, 50].map(|ms| line.join(patience_us(ms)).unwrap());
    assert_eq!(told(&first).await, Some(Turn::Look));
    line.tick(20_007);
    assert_eq!(told(&first).await, Some(Turn::Look));
    assert_eq!((told(&second).await, told(&third).await), (Some(Turn::Over), None));
    drop(second);
    line.tick(50_007);
    assert_eq!((told(&first).await, told(&third).await), (Some(Turn::Over), Some(Turn::Over)));
}

#[tokio::test]
async fn nobody_is_rung_for_while_it_is_held_and_all_are_when_that_is_over() {
    let line = Arc::new(Line::default());
    let hold = line.hold("maintenance", 10);
    assert!(!line.is_free() && line.is_held() && line.is_empty());
    let [first, second, third] = [join(&line), join(&line), join(&line)];
    line.tell();
    line.tick(20);
    assert_eq!((told(&first).await, told(&second).await, line.len()), (None, None, 3));
    line.release(hold, 30);
    assert!(!line.is_held());
    for place in [first, second, third] {
        assert_eq!(told(&place).await, Some(Turn::Look));
        drop(place);
    }
    assert!(line.is_free());
}

#[tokio::test]
async fn who_was_told_to_look_before_the_hold_looks_after_it() {
    let line = Arc::new(Line::default());
    let first = join(&line);
    let hold = line.hold("maintenance", 10);
    assert_eq!(told(&first).await, None);
    line.release(hold, 20);
    assert_eq!(told(&first).await, Some(Turn::Look));
}

#[tokio::test]
async fn held_one_ends_by_the_limit_of_holding_and_begins_anew_with_that_of_connections() {
    let line = Arc::new(Line::default());
    let waiter = line.join(patience_us(50)).unwrap();
    assert_eq!(told(&waiter).await, Some(Turn::Look));
    let hold = line.hold("maintenance", 10_000);
    line.tick(109_999);
    assert_eq!(told(&waiter).await, None, "it is held, and may be for 100 ms");
    line.release(hold, 100_000);
    assert_eq!(told(&waiter).await, Some(Turn::Look));
    line.tick(149_999);
    assert_eq!(told(&waiter).await, Some(Turn::Look));
    line.tick(150_000);
    assert_eq!(told(&waiter).await, Some(Turn::Over));
}

#[tokio::test]
async fn all_look_when_a_server_comes() {
    let line = Arc::new(Line::default());
    assert!(line.note_servers(Servers::None, 10));
    let [first, second] = [join(&line), join(&line)];
    assert_eq!(told(&first).await, Some(Turn::Look), "it looks for itself once");
    line.tick(20);
    assert_eq!(told(&first).await, None);
    assert!(line.note_servers(Servers::Some, 30) && !line.note_servers(Servers::Some, 40));
    assert_eq!(told(&first).await, Some(Turn::Look));
    drop(first);
    assert_eq!(told(&second).await, Some(Turn::Look));
}

#[test]
fn what_is_too_much_for_it_is_refused_and_counted_and_room_comes_with_who_leaves() {
    let line = Arc::new(Line::default());
    let mut variables = MysqlVariables::default();
    (variables.line_max_statements, variables.line_max_bytes) = (3, 25);
    line.limit(&variables);
    let [first, _second] = [join(&line), join(&line)];
    assert_eq!(line.join(long()).err(), Some(Full::OfBytes { bytes: 20, bytes_max: 25 }));
    variables.line_max_bytes = 0;
    line.limit(&variables);
    let _third = join(&line);
    assert_eq!(line.join(long()).err(), Some(Full::OfStatements { waiting: 3 }));
    drop(first);
    let _fourth = join(&line);
    let _back = line.join_in_front(long());
    let view = line.view();
    assert_eq!((view.waiting, view.waiting_bytes, view.waiting_max, view.refused), (4, 40, 4, 2));
}
