//! `PROXYSQL INTERNAL SESSION`.

use serde_json::{Value, json};

use crate::client::Client;
use crate::proxy::Setup;
use crate::stage::Stage;

fn session_of(client: &mut Client) -> Value {
    let answer = client.ok("PROXYSQL INTERNAL SESSION;");
    serde_json::from_str(&answer.value()).expect("it is JSON")
}

#[test]
fn session_is_told_under_proxysqls_names() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let told = session_of(&mut client);
    assert_eq!(told["thread_session_id"].to_string(), client.value("SELECT CONNECTION_ID()"));
    assert_eq!(told["backends"], json!([]));
    assert_eq!((&told["default_hostgroup"], &told["locked_on_hostgroup"]), (&json!(0), &json!(-1)));
    assert_eq!(told["client"]["userinfo"]["username"], json!(stage.login().user));
    assert_eq!(told["client"]["userinfo"]["schemaname"], json!(stage.schema));
    assert_eq!(told["client"]["client_addr"]["address"], "127.0.0.1");
    assert_eq!(told["conn"]["autocommit"], "ON");
    assert_eq!(told["conn"]["collation_connection"], "utf8mb4_general_ci");
    client.ok("SET NAMES latin1");
    client.ok("SET autocommit = 0");
    client.ok("SELECT v, @a := 1 FROM t");
    let told = session_of(&mut client);
    assert_eq!(told["conn"]["autocommit"], "OFF");
    assert_eq!(told["conn"]["character_set_client"], "latin1");
    assert_eq!((&told["active_transactions"], &told["locked_on_hostgroup"]), (&json!(1), &json!(0)));
    let backend = &told["backends"][0];
    assert_eq!(backend["hostgroup_id"], 0);
    let conn = &backend["conn"];
    assert_eq!((&conn["autocommit"], &conn["MultiplexDisabled"]), (&json!("OFF"), &json!(true)));
    let status = &conn["status"];
    assert_eq!((&status["user_variable"], &status["get_lock"]), (&json!(true), &json!(false)));
    let thread = conn["mysql"]["thread_id"].to_string();
    assert_eq!(
        client.value("SELECT COUNT(*) FROM information_schema.processlist WHERE id = ".to_owned() + &thread),
        "1"
    );
}

#[test]
fn delay_is_told_and_no_secret_is() {
    let setup = Setup::default()
        .variable("mysql-auto_increment_delay_multiplex", 5)
        .variable("mysql-init_connect", "\"SET @token = 'hidden-token'\"");
    let stage = Stage::with(setup);
    stage.primary().ok("CREATE TABLE counter (id INT AUTO_INCREMENT PRIMARY KEY)");
    let mut client = stage.client();
    client.ok("INSERT INTO counter VALUES (NULL)");
    let told = session_of(&mut client);
    let conn = &told["backends"][0]["conn"];
    assert_eq!((&conn["auto_increment_delay_token"], &conn["init_connect_sent"]), (&json!(5), &json!(true)));
    let text = told.to_string();
    assert!(!text.contains(&stage.login().password) && !text.contains("hidden-token"), "{text}");
}
