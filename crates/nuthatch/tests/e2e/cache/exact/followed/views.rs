//! Views that are made anew past the proxy.

use nuthatch_lab::Kind;

use super::{await_known, await_mode, following};
use crate::deadline::await_that;
use crate::stage::Stage;

const SEEN: &str = "SELECT COUNT(*) FROM seen";

fn times_in_doubt(stage: &Stage) -> u64 {
    stage.figure("Pins_unseen_code") + stage.figure("Pins_stored_code")
}

#[test]
fn view_of_mariadb_that_is_replaced_past_the_proxy_pins_nobody() {
    plain_view_pins_nobody(Kind::MariaDb);
}

#[test]
fn view_of_mysql_that_is_replaced_past_the_proxy_pins_nobody() {
    plain_view_pins_nobody(Kind::MySql);
}

fn plain_view_pins_nobody(kind: Kind) {
    let stage = following(kind, "bounded", &[], |setup| setup);
    let (mut client, mut direct) = (stage.client(), stage.primary());
    direct.ok("CREATE VIEW seen AS SELECT id FROM t");
    await_known(&stage, &mut client, SEEN);
    await_mode(&stage, "bounded");
    let before = times_in_doubt(&stage);
    for edition in 0..30 {
        direct.ok(format!("CREATE OR REPLACE VIEW seen AS SELECT id, {edition} AS edition FROM t"));
        client.ok("SELECT id FROM seen");
    }
    assert_eq!(times_in_doubt(&stage), before);
    // One that runs code is another matter.
    direct.ok("CREATE FUNCTION marks(a INT) RETURNS INT NO SQL BEGIN SET @mark = a; RETURN a; END");
    direct.ok("CREATE OR REPLACE VIEW seen AS SELECT marks(id) AS id FROM t");
    await_that("whoever reads it keeps its connection", || {
        let mut other = stage.client();
        other.ok("SELECT id FROM seen");
        let mark = other.table("SELECT @mark IS NOT NULL");
        other.quit();
        mark == [["1"]] && times_in_doubt(&stage) > before
    });
}
