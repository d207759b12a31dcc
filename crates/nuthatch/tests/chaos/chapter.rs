//! One run: a ground, its sessions, faults one after the other, and the verdict. A seed repeats its faults, if not their moments.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use nuthatch_lab::{Direction, Kind, SemiSync};

use crate::deadline::Stopwatch;
use crate::fault::{Harm, Relief, Whom, draw};
use crate::ground::{CUT_PAUSE, Ground, PLAIN, ROOM_WITHIN, SPLIT, WELL_WITHIN};
use crate::history::{Failover, FullDisk, History, Loss, Outcome, Promise, Writer};
use crate::own_mounts::Disks;
use crate::proxy::Setup;
use crate::random::Random;
use crate::session::{Scene, Session};
use crate::tell;
use crate::verdict::{Finding, judge};

/// Holds and connects take `mysql-hold_for_writer_ms` and `mysql-connect_timeout_server_max` at most, together; before them a statement may
/// have been sent to a server that is found to hang, or waited there for replicas.
const STATEMENT_MAX: Duration = Duration::from_secs(30);

/// Faults that are told with a finding.
const FAULTS_TOLD: usize = 6;

const FINDINGS_TOLD: usize = 20;

/// What a run is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    pub(crate) semi_sync: SemiSync,
    pub(crate) disks: Disks,
    pub(crate) seed: u64,
    pub(crate) lasts: Duration,
    pub(crate) writers: Writer,
    pub(crate) readers: u32,
    /// What a session pauses at most, between two statements.
    pub(crate) pause_ms_max: usize,
    pub(crate) has_faults: bool,
    /// Also without a finding.
    pub(crate) tells_log: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) faults: usize,
    pub(crate) findings: Vec<Finding>,
}

/// What has happened; tells the last of it, if a thread panics meanwhile.
struct Account {
    plan: Plan,
    faults: Vec<String>,
    /// How many of each kind.
    kinds: BTreeMap<String, usize>,
    failovers: Vec<Failover>,
    full_disks: Vec<FullDisk>,
}

impl Drop for Account {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell();
        }
    }
}

impl Account {
    fn of(plan: Plan) -> Self {
        Self { plan, faults: vec![], kinds: BTreeMap::new(), failovers: vec![], full_disks: vec![] }
    }

    fn note(&mut self, harm: Harm, told: String) {
        tell(&told);
        self.faults.push(told);
        let words = format!("{harm:?}");
        let kind = words.split(['(', ' ']).next().unwrap_or_default();
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
    }

    fn tell(&self) {
        tell(&format!("{:?}; the last of {} faults:", self.plan, self.faults.len()));
        self.faults.iter().rev().take(FAULTS_TOLD).rev().for_each(|fault| tell(fault));
    }
}

/// Plays it.
pub(crate) fn play(plan: Plan, setup: Setup) -> Report {
    tell(&format!("seed {}: {:?}, {:?}, {:?}", plan.seed, plan.kind, plan.semi_sync, plan.lasts));
    let mut account = Account::of(plan);
    let mut ground = Ground::new(&plan, setup);
    let mut random = Random::new(plan.seed);
    let scene = Scene {
        address: ground.address(),
        plain: Ground::login(PLAIN),
        split: Ground::login(SPLIT),
        writers: plan.writers,
        pause_ms_max: plan.pause_ms_max,
        watch: Stopwatch::start(),
        is_over: AtomicBool::new(false),
        acknowledged: AtomicU64::new(0),
    };
    let logs = scope(|scope| {
        let over = Over(&scene.is_over);
        let mut threads = Vec::new();
        let mut fork = random.fork();
        for writer in 1..=plan.writers {
            let promise = if writer % 2 == 0 { Promise::Session } else { Promise::Current };
            let session = Session::new(&scene, format!("writer {writer}"), promise, fork.fork());
            threads.push(scope.spawn(move || session.write(writer)));
        }
        for reader in 1..=plan.readers {
            let promise = if reader % 2 == 0 { Promise::Session } else { Promise::Current };
            let session = Session::new(&scene, format!("reader {reader}"), promise, fork.fork());
            threads.push(scope.spawn(move || session.read()));
        }
        while scene.watch.elapsed() < plan.lasts {
            if plan.has_faults {
                befall(&mut ground, &scene, &mut random, &mut account);
            } else {
                sleep(CUT_PAUSE);
            }
        }
        drop(over);
        threads.into_iter().map(|thread| thread.join().expect("no session panics")).collect()
    });
    ground.await_well();
    let loss = ground.loss();
    let (left, stale) = ground.left();
    let history = History {
        logs,
        failovers: std::mem::take(&mut account.failovers),
        full_disks: std::mem::take(&mut account.full_disks),
        loss,
        left,
        statement_max: STATEMENT_MAX,
        room_max: ROOM_WITHIN,
    };
    let mut findings = judge(&history);
    findings.extend(stale);
    tell(&summary(&history, &ground, &account));
    if !findings.is_empty() {
        account.tell();
        findings.iter().take(FINDINGS_TOLD).for_each(|finding| tell(&finding.to_string()));
    }
    if !findings.is_empty() || plan.tells_log {
        tell(&ground.log());
    }
    Report { faults: account.faults.len(), findings }
}

/// Ends the sessions, also if a fault does not heal.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One fault, from its beginning to when all is well and writes are acknowledged again.
fn befall(ground: &mut Ground, scene: &Scene, random: &mut Random, account: &mut Account) {
    let fault = draw(random);
    let mut cuts = random.fork();
    if !ground.allows(fault.harm) {
        return;
    }
    sleep(fault.quiet);
    let (before, primary) = (ground.failovers(), ground.primary());
    let begin = scene.watch.elapsed();
    account.note(fault.harm, format!("{begin:?} {} for {:?}", ground.harm(fault.harm), fault.lasts));
    match fault.harm {
        Harm::Cut(whom) => {
            let watch = Stopwatch::start();
            while watch.elapsed() < fault.lasts {
                let direction = *cuts.pick(&[Direction::In, Direction::Out]);
                ground.cut(whom, direction, 1 + cuts.below(600) as u64);
                sleep(CUT_PAUSE);
            }
        }
        // They are over when it runs again.
        Harm::KillProxy | Harm::StopProxy => {}
        _ => sleep(fault.lasts),
    }
    ground.heal();
    let has_room_only = matches!(fault.harm, Harm::FullDisk { then: Relief::Room, .. });
    if let Harm::FullDisk { whom: Whom::Replica(_), then: Relief::Room } = fault.harm {
        ground.await_room();
    }
    ground.undo(fault.harm, primary);
    ground.await_well();
    scene.await_write(if has_room_only { WELL_WITHIN + ROOM_WITHIN } else { WELL_WITHIN });
    let end = scene.watch.elapsed();
    if has_room_only {
        account.full_disks.push(FullDisk { begin, end });
    }
    if ground.failovers() > before || ground.primary() != primary {
        account.failovers.push(Failover { begin, end });
    }
}

fn summary(history: &History, ground: &Ground, account: &Account) -> String {
    let count = |outcome| history.writes().filter(|write| write.outcome == outcome).count();
    let longest =
        history.events().filter_map(|(_, event)| event.times()).map(|(sent, ended)| ended - sent).max();
    let loss = match history.loss {
        Loss::None => "nothing may be lost".to_owned(),
        loss => format!("loss {loss:?}"),
    };
    format!(
        "{} faults {:?}, {} failovers, {} writes acknowledged, {} refused, {} unknown, {} reads; the longest statement took {:?}; \
         {loss}; the operator {:?}",
        account.faults.len(),
        account.kinds,
        history.failovers.len(),
        count(Outcome::Acknowledged),
        count(Outcome::Refused),
        count(Outcome::Unknown),
        history.reads().count(),
        longest.unwrap_or_default(),
        ground.mended
    )
}
