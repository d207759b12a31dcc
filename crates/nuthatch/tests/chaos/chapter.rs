//! One run: a ground, its sessions, faults one after the other, and the verdict. A seed repeats its faults, if not their moments.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use nuthatch_lab::{Direction, Kind, SemiSync};

use crate::deadline::Stopwatch;
use crate::fault::{Harm, draw};
use crate::ground::{CUT_PAUSE, Ground, PLAIN, SPLIT};
use crate::history::{Failover, History, Loss, Outcome, Promise, Writer};
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
    pub(crate) seed: u64,
    pub(crate) lasts: Duration,
    pub(crate) writers: Writer,
    pub(crate) readers: u32,
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

/// Tells what was going on, if a thread panics meanwhile.
struct Account {
    plan: Plan,
    faults: Vec<String>,
}

impl Drop for Account {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell();
        }
    }
}

impl Account {
    fn tell(&self) {
        tell(&format!("{:?}; the last of {} faults:", self.plan, self.faults.len()));
        self.faults.iter().rev().take(FAULTS_TOLD).rev().for_each(|fault| tell(fault));
    }
}

/// Plays it.
pub(crate) fn play(plan: Plan, setup: Setup) -> Report {
    tell(&format!("seed {}: {:?}, {:?}, {:?}", plan.seed, plan.kind, plan.semi_sync, plan.lasts));
    let mut account = Account { plan, faults: vec![] };
    let mut ground = Ground::new(plan.kind, plan.semi_sync, plan.writers, setup);
    let mut random = Random::new(plan.seed);
    let scene = Scene {
        address: ground.address(),
        plain: Ground::login(PLAIN),
        split: Ground::login(SPLIT),
        writers: plan.writers,
        watch: Stopwatch::start(),
        is_over: AtomicBool::new(false),
        acknowledged: AtomicU64::new(0),
    };
    let mut failovers = Vec::new();
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
                failovers.extend(befall(&mut ground, &scene, &mut random, &mut account));
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
    let history = History { logs, failovers, loss, left, statement_max: STATEMENT_MAX };
    let mut findings = judge(&history);
    findings.extend(stale);
    tell(&summary(&history, &ground, account.faults.len()));
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

/// One fault, from its beginning to when all is well; returns when there was a failover.
fn befall(
    ground: &mut Ground,
    scene: &Scene,
    random: &mut Random,
    account: &mut Account,
) -> Option<Failover> {
    let fault = draw(random);
    let mut cuts = random.fork();
    sleep(fault.quiet);
    let (before, primary) = (ground.failovers(), ground.primary());
    let begin = scene.watch.elapsed();
    let told = format!("{begin:?} {} for {:?}", ground.harm(fault.harm), fault.lasts);
    tell(&told);
    account.faults.push(told);
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
    ground.undo(fault.harm, primary);
    ground.await_well();
    let has_failed_over = ground.failovers() > before || ground.primary() != primary;
    has_failed_over.then(|| Failover { begin, end: scene.watch.elapsed() })
}

fn summary(history: &History, ground: &Ground, faults: usize) -> String {
    let count = |outcome| history.writes().filter(|write| write.outcome == outcome).count();
    let longest =
        history.events().filter_map(|(_, event)| event.times()).map(|(sent, ended)| ended - sent).max();
    let loss = match history.loss {
        Loss::None => "nothing may be lost".to_owned(),
        loss => format!("loss {loss:?}"),
    };
    format!(
        "{faults} faults, {} failovers, {} writes acknowledged, {} refused, {} unknown, {} reads; the longest statement took {:?}; \
         {loss}; the operator {:?}",
        history.failovers.len(),
        count(Outcome::Acknowledged),
        count(Outcome::Refused),
        count(Outcome::Unknown),
        history.reads().count(),
        longest.unwrap_or_default(),
        ground.mended
    )
}
