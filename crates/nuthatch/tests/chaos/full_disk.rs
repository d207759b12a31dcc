//! What a full disk is to a server alone: who writes waits, who reads does not, and what was acknowledged is there when there is room.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use nuthatch_lab::{Kind, Options, Role, ScratchLab};

use crate::deadline::{Stopwatch, await_that};
use crate::servers;
use crate::tell;

/// How long no write is answered for it to count as one that waits.
const HANGS: Duration = Duration::from_secs(3);

/// A server of that kind is filled, killed, and given room.
pub(crate) fn has_writes_wait(kind: Kind) {
    let installation = servers::installation(kind);
    let options = Options { installation, replicas: 0, disk_mib: Some(320), ..Options::default() };
    let mut lab = ScratchLab::up(&options).expect("a lab comes up");
    let mut client = servers::client_of(&lab, Role::Primary);
    client.ok("CREATE DATABASE chaos");
    client.ok("CREATE TABLE chaos.w (id INT PRIMARY KEY, text VARCHAR(2000)) ENGINE=InnoDB");
    lab.fill_disk(Role::Primary).expect("it has a disk of its own");
    let (acknowledged, is_lost) = (AtomicU64::new(0), AtomicBool::new(false));
    scope(|scope| {
        scope.spawn(|| {
            let mut writer = servers::client_of(&lab, Role::Primary);
            for id in 1.. {
                match writer.query(format!("INSERT INTO chaos.w VALUES ({id}, REPEAT('x', 2000))")) {
                    Ok(_) => acknowledged.store(id, Ordering::Relaxed),
                    Err(failure) => {
                        tell(&format!("{kind:?}: write {id} is told {failure:?}"));
                        break;
                    }
                }
            }
            is_lost.store(true, Ordering::Relaxed);
        });
        await_silence(&acknowledged);
        assert!(!is_lost.load(Ordering::Relaxed), "it is told, and does not wait");
        let there = client.value("SELECT COUNT(*) FROM chaos.w").parse().expect("a number");
        let acknowledged = || acknowledged.load(Ordering::Relaxed);
        assert!((acknowledged()..=acknowledged() + 1).contains(&there), "a read tells of {there}");
        nuthatch_lab::Lab::open(lab.dir())
            .expect("a second hand on it")
            .kill(Role::Primary)
            .expect("it dies");
        await_that("its client is told", || is_lost.load(Ordering::Relaxed));
    });
    lab.free_disk(Role::Primary).expect("the filler goes");
    lab.start(Role::Primary).expect("there is room");
    let there: u64 = servers::client_of(&lab, Role::Primary)
        .value("SELECT COUNT(*) FROM chaos.w")
        .parse()
        .expect("a number");
    let acknowledged = acknowledged.into_inner();
    assert!(acknowledged > 0 && there >= acknowledged, "{there} of {acknowledged} are there");
}

fn await_silence(acknowledged: &AtomicU64) {
    let mut since = (0, Stopwatch::start());
    await_that("writes wait", || {
        sleep(Duration::from_millis(50));
        let now = acknowledged.load(Ordering::Relaxed);
        if now != since.0 {
            since = (now, Stopwatch::start());
        }
        since.1.elapsed() > HANGS
    });
}
