//! A MariaDB and a MySQL with a replica each, shared by the tests that run at one time and gone with the last of them.

#[path = "../../../nuthatch-lab/tests/fetched/servers.rs"]
mod fetched;

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use nuthatch_lab::{Installation, Options, ScratchLab, Server};
use nuthatch_net::{BackendAddress, BackendPassword, ClearPasswords};
use nuthatch_source::{Login, Picture, PictureError, TableIds};
use parking_lot::Mutex;

pub(crate) use fetched::mysql;

const TABLES_MAX: u32 = 10_000;
const LOOK_WITHIN: Duration = Duration::from_secs(30);
const PASSWORD: &str = "a password";

static SHARED: Mutex<Weak<Labs>> = Mutex::new(Weak::new());

/// The servers that tests share. Nobody changes what is global there.
pub(crate) struct Labs {
    pub(crate) mariadb: ScratchLab,
    pub(crate) mysql: ScratchLab,
}

impl Labs {
    pub(crate) fn both(&self) -> [&ScratchLab; 2] {
        [&self.mariadb, &self.mysql]
    }
}

pub(crate) fn shared() -> Arc<Labs> {
    let mut shared = SHARED.lock();
    if let Some(labs) = shared.upgrade() {
        return labs;
    }
    let mysql = std::thread::spawn(|| up(mysql(), 1));
    let mariadb = up(Installation::debian_mariadb(), 1);
    let labs = Arc::new(Labs { mariadb, mysql: mysql.join().expect("a MySQL comes up") });
    *shared = Arc::downgrade(&labs);
    labs
}

pub(crate) fn up(installation: Installation, replicas: u16) -> ScratchLab {
    let options = Options { installation, replicas, buffer_pool_mib: 64, ..Options::default() };
    ScratchLab::up(&options).expect("a lab comes up")
}

/// The path of the server's socket as an address.
pub(crate) fn socket(server: Server<'_>) -> BackendAddress {
    BackendAddress::Unix(PathBuf::from(server.socket()))
}

pub(crate) fn tcp(server: Server<'_>) -> BackendAddress {
    BackendAddress::new("127.0.0.1", server.port())
}

/// The lab's account with all privileges.
pub(crate) fn account(lab: &ScratchLab) -> Login {
    login(lab.user(), lab.password().expect("its password").reveal())
}

/// A new account with what `grants` says, each before `TO`.
pub(crate) fn account_with(server: Server<'_>, user: &str, grants: &[&str]) -> Login {
    run(server, &format!("DROP USER IF EXISTS {user}; CREATE USER {user} IDENTIFIED BY '{PASSWORD}'"));
    for grant in grants {
        run(server, &format!("GRANT {grant} TO {user}"));
    }
    login(user, PASSWORD)
}

fn login(user: &str, password: &str) -> Login {
    Login {
        user: user.to_owned(),
        password: BackendPassword::Clear(password.into()),
        tls: None,
        clear_passwords: ClearPasswords::Refused,
    }
}

#[track_caller]
pub(crate) fn run(server: Server<'_>, sql: &str) {
    server.query(sql).expect("the server does it");
}

pub(crate) async fn try_look(server: &BackendAddress, login: &Login) -> Result<Picture, PictureError> {
    let ids = TableIds::new(TABLES_MAX);
    let look = nuthatch_source::look(server, login, &ids, true);
    tokio::time::timeout(LOOK_WITHIN, look).await.expect("it answers in time")
}

pub(crate) async fn look(server: &BackendAddress, login: &Login) -> Picture {
    try_look(server, login).await.expect("a picture")
}
