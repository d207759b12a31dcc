//! A server that asks for the password itself gets it where only that server can read it. The server is a second proxy, which
//! has a hash that the first one's plugin cannot prove.

use std::path::Path;

use crate::client::Login;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{before, user_row};

const SECRET: &str = "hunter2-in-clear";

/// The one that asks, and the login of a user that it knows.
fn asking(dir: &Path) -> (Proxy, Login) {
    let name = servers::fresh_name("asked");
    let mut primary = servers::primary(servers::shared());
    primary.ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY '{SECRET}'"));
    let hash = primary.value(format!("SELECT PASSWORD('{SECRET}')"));
    let setup = before(Setup::default(), servers::shared())
        .user(format!("username='{name}', password='{hash}'"))
        .variable("mysql-clear_password_from_clients", true)
        .variable("mysql-default_authentication_plugin", "'caching_sha2_password'")
        .flags(["--datadir", dir.to_str().expect("a plain path")])
        .flags(["--mysql", dir.join("socket").to_str().expect("a plain path")]);
    (Proxy::start(&setup), Login::new(&name, SECRET))
}

/// What a statement through a proxy in front of it is told.
fn through(setup: &Setup, login: &Login) -> String {
    let proxy = Proxy::start(setup);
    let answer = proxy.try_client(login).and_then(|mut client| client.query("SELECT 1"));
    assert!(!proxy.log().contains(SECRET), "{}", proxy.log());
    answer.map_or_else(|failure| failure.server().message, |_| "through".to_owned())
}

#[test]
fn password_goes_in_clear_to_a_verified_server_or_a_socket_and_only_if_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let (asking, login) = asking(dir.path());
    let certificate = format!("'{}'", dir.path().join("nuthatch-cert.pem").display());
    let tls = format!("hostname='localhost', port={}, use_ssl=1", asking.mysql.port());
    let socket = format!("hostname='{}', port=0", dir.path().join("socket").display());
    let to = |server: &str| Setup::default().server(server).user(user_row(&login, ""));
    let verified = |setup: Setup| setup.variable("mysql-ssl_p2s_ca", &certificate);
    let allowed = |setup: Setup| setup.variable("mysql-clear_password_to_servers", true);
    for (setup, expected) in [
        (verified(to(&tls)), "mysql-clear_password_to_servers is off"),
        (to(&socket), "mysql-clear_password_to_servers is off"),
        (allowed(to(&tls)), "TLS that verifies the server only"),
        (allowed(verified(to(&tls))), "through"),
        (allowed(to(&socket)), "through"),
    ] {
        let told = through(&setup, &login);
        assert!(told.ends_with(expected), "{told}, and not {expected}");
    }
}
