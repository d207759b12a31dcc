//! A server that is followed, with a relay before it, and all that befalls them and the proxy: one fault after the other.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use nuthatch_lab::{Direction, Kind, Peers, Relays, Role};
use rustix::process::Signal;

use crate::client::{Address, Client, Login};
use crate::deadline::Stopwatch;
use crate::harm::{Fault, Harm, TIMEOUT, draw};
use crate::late::{Hole, Promises, Verdict};
use crate::outcome::Outcome;
use crate::proxy::Setup;
use crate::random::Random;
use crate::report::{self, Answered, Report};
use crate::run::{Crowd, End, Pace, Past, Place, Primary, Run};
use crate::{BOUND, question, servers};

use super::{Follow, Ground};

/// A fault is to be waited for, and not a processor.
const SPARSE: Crowd = Crowd { readers: 40, pause_ms_max: 6, pace: Pace::ByItself { pause_ms_max: 700 } };

/// Within which the server must be followed again, as it was asked for.
const WELL_WITHIN: Duration = Duration::from_secs(90);
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// How long things go on as they are when there are no more faults.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// What is written to a disk that is to be slow, at once.
const DISK_BYTES: usize = 8 << 20;

/// Faults that are told where one does not heal, and after how many it is told how far it is.
const TOLD: usize = 8;
const TOLD_EVERY: usize = 50;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Harmed {
    ground: Ground,
    setup: Setup,
    kind: Kind,
    mode: Follow,
    admin: Client,
    random: Random,
    spoken: u32,
    answered: BTreeMap<question::Kind, Answered>,
    /// All that was done, with the times of what explains more than that.
    kinds: BTreeMap<String, u32>,
    faults: Vec<String>,
    holes: Vec<Hole>,
    of_server: Vec<Hole>,
}

impl Harmed {
    pub(crate) fn new(kind: Kind, mode: Follow, seed: u64, setup: Setup) -> Self {
        let (ground, setup) = Ground::followed_over((0, Relays::Here), kind, mode, Past::All, setup);
        let admin = direct(&ground);
        Self {
            ground,
            setup,
            kind,
            mode,
            admin,
            random: Random::new(seed),
            spoken: 0,
            answered: BTreeMap::new(),
            kinds: BTreeMap::new(),
            faults: Vec::new(),
            holes: Vec::new(),
            of_server: Vec::new(),
        }
    }

    /// So many faults, or as many as that time takes.
    pub(crate) fn run(mut self, faults: usize, time: Duration) -> Outcome {
        let begun = time_of_day();
        let report = Run::go_while(self.place(), End::WhenTold, |run| {
            // Also if a fault does not heal.
            let _ending = run.ending();
            while self.faults.len() < faults && run.now() < time {
                self.befall(run);
            }
            self.await_well();
            sleep(AFTERWARDS);
        });
        self.note_answered();
        let promises = Promises::of(&self.ground.proxy.log(), begun);
        let mut report = Report { answered: self.answered, ..report };
        let verdict = Verdict::of(std::mem::take(&mut report.lates), &promises, &self.holes);
        for late in &verdict.violations {
            report.violations.add(late.wrong, || late.account.clone());
        }
        let falls = self.ground.proxy.log().matches("followed no better").count();
        Outcome {
            kinds: self.kinds,
            report,
            promises,
            verdict,
            of_server: self.of_server,
            falls,
            faults: self.faults,
        }
    }

    fn place(&self) -> Place {
        Place {
            primary: Primary::MayDie,
            crowd: SPARSE,
            bound_at_times: (self.mode == Follow::Exact).then_some(BOUND),
            ..self.ground.place(Address::Tcp(self.ground.proxy.mysql))
        }
    }

    fn befall(&mut self, run: &Run) {
        let fault = draw(&mut self.random);
        if fault.harm == Harm::NoWaiting && self.mode != Follow::Exact {
            return;
        }
        sleep(fault.quiet);
        let begin = run.now();
        self.harm(fault);
        self.heal();
        let hole = Hole { begin, end: run.now() };
        if fault.harm.is_of_server() {
            // Who waited meanwhile waits for the proxy behind it.
            self.of_server.push(Hole { end: hole.end + TIMEOUT, ..hole });
        }
        if fault.harm == Harm::NoWaiting {
            self.holes.push(Hole { end: begin + TIMEOUT + BOUND, ..hole });
        }
        *self.kinds.entry(fault.harm.kind(fault.lasts)).or_default() += 1;
        let told = format!("{begin:.3?} to {:.3?}: {:?}", hole.end, fault.harm);
        self.faults.push(told);
        self.tell_progress(run);
        if self.mode == Follow::Exact {
            self.speak();
        }
        if fault.is_waited_out {
            self.await_well();
        }
    }

    #[expect(clippy::print_stdout, reason = "a run may take an hour")]
    fn tell_progress(&self, run: &Run) {
        if self.faults.len().is_multiple_of(TOLD_EVERY) {
            println!("{} faults in {:.0?}", self.faults.len(), run.now());
        }
    }

    fn harm(&mut self, Fault { harm, lasts, .. }: Fault) {
        match harm {
            Harm::FreezeProxy => self.frozen(|_| sleep(lasts)),
            Harm::FreezeServer => {
                self.ground.lab.freeze(Role::Primary).expect("it stands still");
                sleep(lasts);
            }
            Harm::KillProxy => {
                self.kill_proxy();
                self.ground.proxy.start_again(&self.setup);
            }
            Harm::KillServer => {
                self.ground.lab.kill(Role::Primary).expect("it dies");
                self.start_server();
            }
            Harm::StopServer => {
                self.ground.lab.stop(Role::Primary).expect("it ends");
                self.start_server();
            }
            Harm::KillBoth => {
                self.kill_proxy();
                self.ground.lab.kill(Role::Primary).expect("it dies");
                // A proxy that has seen no server since it was started takes clients for MySQL's.
                self.start_server();
                self.ground.proxy.start_again(&self.setup);
            }
            Harm::Part(direction) => self.parted(direction, |_| sleep(lasts)),
            Harm::Slow => {
                let watch = Stopwatch::start();
                while watch.elapsed() < lasts {
                    let ms = 1 + self.random.below(60) as u64;
                    self.parted(Direction::Both, |_| sleep(Duration::from_millis(ms)));
                    sleep(Duration::from_millis(1 + self.random.below(10) as u64));
                }
            }
            Harm::Reset => self.ground.lab.cut(Role::Primary).expect("a relay"),
            Harm::Cut(direction, bytes) => {
                self.ground.lab.cut_after(Role::Primary, direction, bytes).expect("a relay");
            }
            Harm::KillFeed => self.kill(|command, _| command.starts_with("Binlog Dump")),
            Harm::KillAsker => {
                let chosen = self.random.below(2);
                self.kill(|command, place| !command.starts_with("Binlog Dump") && place % 2 == chosen);
            }
            Harm::KillAll => self.kill(|_, _| true),
            Harm::Rotate => self.say("FLUSH BINARY LOGS"),
            Harm::Purge => self.frozen(|harmed| {
                harmed.say("FLUSH BINARY LOGS");
                harmed.say("FLUSH BINARY LOGS");
                let newest = harmed.admin.table("SHOW BINARY LOGS").pop().expect("a file");
                harmed.say(&format!("PURGE BINARY LOGS TO '{}'", newest[0]));
                sleep(lasts);
            }),
            Harm::BeginAnew => self.parted(Direction::Both, |harmed| {
                // Nothing is served any more.
                sleep(TIMEOUT + BOUND);
                harmed.say(match harmed.kind {
                    Kind::MariaDb => "RESET MASTER",
                    Kind::MySql => "RESET BINARY LOGS AND GTIDS",
                });
            }),
            Harm::SlowDisk => self.slow_disk(lasts),
            Harm::NoWaiting => self.switch_waiting(lasts),
        }
    }

    fn heal(&self) {
        self.ground.lab.heal().expect("a relay");
        self.ground.lab.thaw(Role::Primary).expect("it is there");
    }

    fn frozen(&mut self, meanwhile: impl FnOnce(&mut Self)) {
        self.ground.proxy.signal(Signal::STOP);
        meanwhile(self);
        self.ground.proxy.signal(Signal::CONT);
    }

    fn parted(&mut self, direction: Direction, meanwhile: impl FnOnce(&mut Self)) {
        self.ground.lab.partition(Role::Primary, Peers::Outside, direction).expect("a relay");
        meanwhile(self);
        self.ground.lab.heal().expect("a relay");
    }

    fn kill_proxy(&mut self) {
        self.note_answered();
        self.ground.proxy.signal(Signal::KILL);
        self.ground.proxy.await_exit();
    }

    fn start_server(&mut self) {
        self.ground.lab.start(Role::Primary).expect("it comes up again");
        self.admin = direct(&self.ground);
    }

    /// Kills connections of the follower, by what they do and their place among all.
    fn kill(&mut self, is_one: impl Fn(&str, usize) -> bool) {
        let threads = self.admin.table("SHOW PROCESSLIST");
        let of_follower = threads.iter().filter(|row| row[1] == "follow");
        for (place, row) in of_follower.enumerate() {
            if is_one(&row[4], place) {
                // It may have ended.
                drop(self.admin.query(format!("KILL {}", row[0])));
            }
        }
    }

    /// Off, and on again.
    fn switch_waiting(&mut self, lasts: Duration) {
        let name = match self.kind {
            Kind::MariaDb => "rpl_semi_sync_master_enabled",
            Kind::MySql => "rpl_semi_sync_source_enabled",
        };
        self.say(&format!("SET GLOBAL {name} = OFF"));
        sleep(lasts);
        self.say(&format!("SET GLOBAL {name} = ON"));
    }

    fn slow_disk(&self, lasts: Duration) {
        let mut file = File::create(self.ground.lab.dir().join("filler")).expect("a file");
        let (bytes, watch) = (vec![1; DISK_BYTES], Stopwatch::start());
        while watch.elapsed() < lasts {
            file.write_all(&bytes).and_then(|()| file.sync_all()).expect("there is room");
        }
    }

    fn say(&mut self, sql: &str) {
        self.admin.ok(sql);
    }

    /// An operator loads another configuration, so that three falls do not cost an hour.
    fn speak(&mut self) {
        self.spoken += 1;
        self.ground.proxy.set("wait_timeout", 28_000_000 + self.spoken);
    }

    /// Returns when the server is followed as it is asked for.
    fn await_well(&mut self) {
        let word = self.mode.word();
        let watch = Stopwatch::start();
        let mut since_spoken = Stopwatch::start();
        loop {
            let rows = self.ground.proxy.operator().table("SELECT mode, why FROM stats_query_cache_follow");
            if rows.first().is_some_and(|row| row[0] == word) {
                return;
            }
            let told = || self.faults.iter().rev().take(TOLD).cloned().collect::<Vec<_>>().join("\n");
            assert!(watch.elapsed() < WELL_WITHIN, "it is not followed: {rows:?}, behind\n{}", told());
            // What an operator does who reads why.
            if rows.first().is_some_and(|row| row[1].contains("did not wait for an answer")) {
                self.switch_waiting(Duration::ZERO);
                self.speak();
            }
            if rows.first().is_some_and(|row| row[1].contains("three times")) {
                // It is begun anew, and what fell is forgotten.
                self.spoken += 1;
                self.ground.proxy.set("query_cache_follow_timeout_max_ms", 2000 + self.spoken);
            }
            if since_spoken.elapsed() > AFTERWARDS * 10 {
                self.speak();
                since_spoken = Stopwatch::start();
            }
            sleep(LOOK_PAUSE);
        }
    }

    /// What a proxy counted that is about to end.
    fn note_answered(&mut self) {
        for (kind, answered) in report::answered(&mut self.ground.proxy.operator()) {
            self.answered.entry(kind).or_default().add(answered);
        }
    }
}

fn direct(ground: &Ground) -> Client {
    let login: Login = servers::account(&ground.lab);
    Client::connect(&ground.server(), &login).expect("the server takes the login")
}

#[expect(clippy::disallowed_methods, reason = "the proxy's log tells the time by the machine's clock")]
fn time_of_day() -> Duration {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time of this century");
    Duration::from_secs(now.as_secs() % (24 * 3600)) + Duration::from_nanos(now.subsec_nanos().into())
}
