//! Weights are met.

use super::{WHO, both_in_one_hostgroup};
use crate::servers;
use crate::stage::Stage;

/// The primary's share of 10,000 statements, in percent, with these weights.
fn share(primary: u32, replica: u32) -> f64 {
    let stage = Stage::plain();
    both_in_one_hostgroup(&stage);
    let port = servers::shared().primary().port();
    stage.administer([
        &format!("UPDATE mysql_servers SET weight = {primary} WHERE hostgroup_id = 5 AND port = {port}"),
        &format!("UPDATE mysql_servers SET weight = {replica} WHERE hostgroup_id = 5 AND port <> {port}"),
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let mut client = stage.client();
    let count = (0..10_000).filter(|_| client.value(WHO) == "1").count();
    f64::from(u32::try_from(count).expect("at most 10,000")) / 100.0
}

#[test]
fn equal_weights_share_evenly() {
    let share = share(1, 1);
    assert!((share - 50.0).abs() <= 2.0, "{share} %");
}

#[test]
fn weight_1_beside_99_gets_1_percent() {
    let share = share(1, 99);
    assert!((share - 1.0).abs() <= 2.0 && share > 0.0, "{share} %");
}

#[test]
fn weight_0_gets_nothing_and_a_new_weight_acts_at_once() {
    let stage = Stage::plain();
    both_in_one_hostgroup(&stage);
    let mut client = stage.client();
    for server_id in ["2", "1"] {
        let port = servers::shared().primary().port();
        let other = if server_id == "2" { "=" } else { "<>" };
        stage.administer([
            "UPDATE mysql_servers SET weight = 1 WHERE hostgroup_id = 5",
            &format!("UPDATE mysql_servers SET weight = 0 WHERE hostgroup_id = 5 AND port {other} {port}"),
            "LOAD MYSQL SERVERS TO RUNTIME",
        ]);
        assert!((0..100).all(|_| client.value(WHO) == server_id));
    }
}
