//! Each instance watched by itself: metrics, health, maintenance behind a proxy.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::host::{Host, await_that};

/// A program in the background, which ends with it.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Status and body of a page.
pub(crate) fn page(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it goes well");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").expect("it goes well");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it goes well");
    let (head, body) = text.split_once("\r\n\r\n").expect("it goes well");
    (head.split(' ').nth(1).expect("it goes well").parse().expect("it goes well"), body.to_owned())
}

/// The metrics and health of a host, served.
pub(crate) fn watched(host: &Host) -> (Running, SocketAddr) {
    let mut child = host
        .command(&["watch", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it goes well");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("it goes well")).read_line(&mut line).expect("it goes well");
    let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()).expect("it goes well");
    (Running(child), address.parse().expect("it goes well"))
}

#[test]
fn each_instance_has_figures_and_health_of_its_own() {
    let host = Host::new();
    host.ok(&["add", "shop", "--set", "max_connections=20"]);
    host.ok(&["add", "blog"]);
    host.ok(&["add", "old", "--no-start", "--disabled"]);
    let (_watch, address) = watched(&host);
    let (status, metrics) = page(address, "/metrics");
    assert_eq!(status, 200);
    let of = |name: &str, instance: &str| {
        let begin = format!("nuthatch_instance_{name}{{instance=\"{instance}\",host=\"");
        let line = metrics.lines().find(|line| line.starts_with(&begin));
        line.and_then(|line| line.rsplit(' ').next()).map(|value| value.parse::<f64>().expect("it goes well"))
    };
    assert_eq!((of("up", "shop"), of("up", "blog"), of("up", "old")), (Some(1.0), Some(1.0), Some(0.0)));
    assert_eq!((of("connections_max", "shop"), of("connections_max", "old")), (Some(20.0), None));
    assert_eq!((of("well", "old"), of("buffer_pool_warmth_ratio", "shop")), (Some(1.0), Some(1.0)));
    assert!(
        of("disk_left_bytes", "blog").expect("it goes well") > 0.0
            && of("buffer_pool_read_requests_total", "blog").expect("it goes well") > 0.0
    );
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    assert_eq!(page(address, "/health").0, 200);

    host.ok(&["stop", "blog"]);
    let (status, text) = page(address, "/health");
    assert!(status == 503 && text.contains("\"name\":\"blog\"") && text.contains("it is stopped"), "{text}");
    assert_eq!((page(address, "/health/shop").0, page(address, "/health/blog").0), (200, 503));
    assert_eq!((page(address, "/health/nobody").0, page(address, "/").0), (404, 404));
    let said = host.command(&["health"]).output().expect("it goes well");
    assert!(
        !said.status.success() && String::from_utf8_lossy(&said.stdout).contains("blog: it is stopped"),
        "{said:?}"
    );
}

#[test]
fn server_without_a_free_connection_is_not_well() {
    let host = Host::new();
    host.ok(&["add", "shop", "--set", "max_connections=10"]);
    let clients: Vec<Running> = (0..10)
        .map(|_| {
            let mut client = host.command(&["client", "shop", "--", "--execute", "SELECT SLEEP(60)"]);
            Running(client.stdout(Stdio::null()).spawn().expect("it goes well"))
        })
        .collect();
    let why = || {
        String::from_utf8_lossy(&host.command(&["health"]).output().expect("it goes well").stdout)
            .into_owned()
    };
    await_that(|| why().contains("all 10 connections are used"));
    drop(clients);
    await_that(|| why().contains("shop: well"));
}

/// A proxy that has these in hostgroup 0.
fn proxy(host: &Host, servers: &[&str]) -> Running {
    let free = || TcpListener::bind("127.0.0.1:0").expect("it goes well").local_addr().expect("it goes well");
    let admin = free();
    let password = host.root().join("admin.password");
    fs::write(&password, "admin\n").expect("it goes well");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nuthatch"));
    command.args([
        "serve",
        "--mysql",
        &free().to_string(),
        "--admin",
        &admin.to_string(),
        "--user",
        "root:x",
    ]);
    for name in servers {
        let shown = host.show(name);
        command.args([
            "--backend",
            &format!("{}:{}", shown["host"].as_str().expect("it goes well"), shown["port"]),
        ]);
    }
    let running = Running(command.stderr(Stdio::null()).spawn().expect("it goes well"));
    await_that(|| TcpStream::connect(admin).is_ok());
    host.ok(&[
        "host",
        "--proxy",
        &admin.to_string(),
        "--proxy-password-file",
        password.to_str().expect("it goes well"),
    ]);
    running
}

#[test]
fn one_is_taken_out_and_brought_back_while_its_neighbour_goes_on() {
    let host = Host::new();
    for name in ["shop", "blog"] {
        host.ok(&["add", name]);
        host.query(name, "CREATE USER app@'%' IDENTIFIED BY 'x'; GRANT ALL ON *.* TO app@'%'");
    }
    assert!(host.refused(&["maintenance", "shop"]).contains("no proxy is known here"));
    let _proxy = proxy(&host, &["shop", "blog"]);
    let said = host.refused(&["remove", "shop", "--yes", "shop"]);
    assert!(said.contains("has it ONLINE in hostgroup 0"), "{said}");
    host.ok(&["maintenance", "shop"]);
    let said = host.refused(&["remove", "shop", "--yes", "shop"]);
    assert!(said.contains("has it OFFLINE_SOFT in hostgroup 0"), "{said}");
    let said = host.refused(&["maintenance", "blog"]);
    assert!(said.contains("the last one ONLINE in hostgroup 0"), "{said}");
    host.ok(&["maintenance", "shop", "--over"]);
    host.ok(&["maintenance", "blog"]);
    host.ok(&["maintenance", "shop", "--last"]);
    for name in ["shop", "blog"] {
        host.ok(&["maintenance", name, "--over"]);
    }
    assert!(host.refused(&["remove", "blog", "--yes", "blog"]).contains("ONLINE"));
}
