//! A panic in a session, which a debug build can be asked for.

use crate::deadline::await_that;
use crate::stage::Stage;

#[test]
fn panic_ends_only_its_session_and_is_counted() {
    let stage = Stage::caching();
    let mut others: Vec<_> = (0..4).map(|_| stage.client()).collect();
    for (count, place) in ["on the seat", "in the task", "on the seat"].into_iter().enumerate() {
        let mut unlucky = stage.client();
        unlucky.ok("BEGIN");
        unlucky.ok("UPDATE t SET v = 'lost' WHERE id = 1");
        let failure = unlucky.query(format!("DO 'nuthatch debug build: panic {place}'")).unwrap_err();
        assert!(failure.is_closed(), "{failure:?}");
        for other in &mut others {
            assert_eq!(other.value("SELECT v FROM t WHERE id = 1"), "one", "the transaction is rolled back");
        }
        await_that("it is counted", || stage.figure("Worker_Panics") == count as u64 + 1);
        await_that("its place is free", || stage.figure("Client_Connections_connected") == 4);
    }
    assert!(stage.proxy.log().contains("a session ended by a panic"));
}
