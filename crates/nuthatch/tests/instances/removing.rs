//! Removing destroys, so it is hard to do by mistake.

use std::fs;
use std::process::Stdio;

use crate::host::{Host, await_that};

#[test]
fn name_has_to_be_said_again() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    assert!(host.refused(&["remove", "shop"]).contains("--yes shop"));
    assert!(host.refused(&["remove", "shop", "--yes", "shop2"]).contains("nothing was changed"));
    assert!(host.refused(&["remove", "shop2", "--yes", "shop2"]).contains("which has shop"));
    assert_eq!(host.list().len(), 1);
}

#[test]
fn used_one_is_not_removed() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    let mut client = host
        .command(&["client", "shop", "--", "--execute", "SELECT SLEEP(60)"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let is_connected = || {
        host.query(
            "shop",
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(60)'",
        ) == "1"
    };
    await_that(is_connected);
    let said = host.refused(&["remove", "shop", "--yes", "shop"]);
    assert!(said.contains("in use: root at localhost is connected"), "{said}");
    assert_eq!(host.state("shop"), "running");
    client.kill().unwrap();
    client.wait().unwrap();
}

#[test]
fn data_are_kept_unless_that_is_refused() {
    let host = Host::new();
    for name in ["kept", "gone"] {
        host.ok(&["add", name]);
    }
    host.query("kept", "CREATE DATABASE d; CREATE TABLE d.t (id INT)");
    let said = host.ok(&["remove", "kept", "--yes", "kept"]);
    host.ok(&["remove", "gone", "--yes", "gone", "--destroy-data"]);
    let kept: Vec<_> =
        fs::read_dir(host.root().join("removed")).unwrap().map(|dir| dir.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    assert!(said.contains(&kept[0].display().to_string()), "{said}");
    assert!(kept[0].join("data/d/t.frm").exists() && kept[0].join("root.password").exists());
    assert!(host.list().is_empty());
}

#[test]
fn one_that_a_proxy_has_online_is_not_removed() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    let settings = host.root().join("host.toml");
    let text = fs::read_to_string(&settings).unwrap().replace("proxies = []\n", "");
    let password = host.root().join("proxy.password");
    fs::write(&password, "admin\n").unwrap();
    let proxy = format!("[[proxies]]\nadmin = \"127.0.0.1:1\"\npassword_file = \"{}\"\n", password.display());
    fs::write(&settings, text + &proxy).unwrap();
    // One that cannot be asked may send to it.
    let said = host.refused(&["remove", "shop", "--yes", "shop"]);
    assert!(said.contains("speak with the proxy at 127.0.0.1:1"), "{said}");
    assert_eq!(host.list().len(), 1);
}

#[test]
fn data_of_one_whose_removal_was_cut_are_kept() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    // As a kill leaves it between both renames.
    fs::rename(host.path_of("shop"), host.path_of(".removing-shop")).unwrap();
    assert!(host.refused(&["doctor"]).contains("is not as it should be"));
    let said = host.ok(&["doctor", "--mend"]);
    assert!(said.contains("are kept in"), "{said}");
    let kept: Vec<_> = fs::read_dir(host.root().join("removed")).unwrap().flatten().collect();
    assert!(kept.len() == 1 && kept[0].path().join("data/ibdata1").exists(), "{kept:?}");
    // The next one of that name takes nothing away either.
    host.ok(&["add", "blog", "--no-start"]);
    fs::rename(host.path_of("blog"), host.path_of(".removing-blog")).unwrap();
    host.ok(&["add", "blog", "--no-start"]);
    host.ok(&["remove", "blog", "--yes", "blog"]);
    assert_eq!(fs::read_dir(host.root().join("removed")).unwrap().count(), 3);
}
