//! Servers of a run's own.

use nuthatch_lab::{Kind, Options, ScratchLab};

use crate::client::Address;
use crate::servers;

/// One that does not care for what would be lost in a crash.
pub(crate) fn lab(server: Kind) -> ScratchLab {
    // Tables are made all the time, and nobody minds should they be lost.
    let mut extra =
        vec!["innodb_flush_log_at_trx_commit=0".to_owned(), "innodb_flush_method=nosync".to_owned()];
    extra.push(match server {
        Kind::MariaDb => "sync_frm=OFF".to_owned(),
        Kind::MySql => "innodb_doublewrite=OFF".to_owned(),
    });
    let installation = servers::installation(server);
    let options = Options { installation, replicas: 0, buffer_pool_mib: 64, extra, ..Options::default() };
    ScratchLab::up(&options).expect("a server comes up")
}

/// Over its Unix socket MySQL takes a password that it does not know yet.
pub(crate) fn socket(lab: &ScratchLab) -> Address {
    Address::Unix(lab.primary().socket().to_owned())
}
