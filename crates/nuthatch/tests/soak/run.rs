//! A run: the load, and who looks at the proxy meanwhile.

use std::thread::{scope, sleep};
use std::time::Duration;

use nuthatch_lab::Kind;

use crate::chance::Zipf;
use crate::client::Client;
use crate::deadline::{Stopwatch, eventually};
use crate::ground::Ground;
use crate::operator::operate;
use crate::random::Random;
use crate::report::Report;
use crate::sample::{Figures, Sample, figures};
use crate::scene::Scene;
use crate::schema::KEYS;
use crate::verdict::{self, Growth, Rest};
use crate::{definer, passer, reader, tell, writer};

/// Between two looks, and between two lines of what there is to see.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const TELL_EVERY: Duration = Duration::from_secs(10);

/// What a thread does until the run is over.
type Role = fn(&Scene, Random);

/// How many there are of each at once.
const ROLES: [(usize, Role); 5] =
    [(20, reader::read), (4, writer::write), (3, passer::vanish), (1, definer::define), (1, passer::crowd)];

/// What a run is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    pub(crate) lasts: Duration,
    pub(crate) growth: Growth,
}

/// Runs it to its end.
pub(crate) fn play(plan: &Plan) -> Report {
    let ground = Ground::new(plan.kind);
    let mut operator = ground.operator();
    let before = ground.rest(&mut operator);
    let scene = Scene::new(ground.address(), ground.login(), Zipf::new(KEYS));
    let mut random = Random::new(plan.seed);
    let samples = scope(|threads| {
        let scene = &scene;
        let _over = Over(scene);
        for (count, role) in ROLES {
            for _ in 0..count {
                let random = random.fork();
                threads.spawn(move || role(scene, random));
            }
        }
        let (second, random) = (ground.operator(), random.fork());
        threads.spawn(move || operate(scene, second, random));
        watch(&ground, &mut operator, plan.lasts)
    });
    let figures = figures(&mut operator);
    let after = await_rest(&ground, &mut operator, before);
    let mut findings = verdict::crossed(&samples);
    if plan.growth == Growth::Judged {
        findings.extend(verdict::grown(&samples));
    }
    findings.extend(verdict::left(before, after));
    findings.extend(verdict::undone(&figures));
    findings.extend(verdict::confessed(&ground.log(), &figures));
    findings.extend(scene.unexpected());
    Report { samples, before, after, figures, refused: scene.refused(), findings }
}

/// Ends the load when it goes, also where who looks at it has failed.
struct Over<'scene>(&'scene Scene);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Looks until the time is over.
fn watch(ground: &Ground, operator: &mut Client, lasts: Duration) -> Vec<Sample> {
    let (watch, mut told) = (Stopwatch::start(), Duration::ZERO);
    let mut samples = Vec::new();
    while watch.elapsed() < lasts {
        let at = watch.elapsed();
        let figures = figures(operator);
        let sample = Sample::new(at, ground.process(), &figures);
        samples.push(sample);
        if at >= told + TELL_EVERY {
            told += TELL_EVERY;
            tell_of(&sample, &figures);
        }
        sleep(LOOK_EVERY.saturating_sub(watch.elapsed().saturating_sub(at)));
    }
    samples
}

fn tell_of(sample: &Sample, figures: &Figures) {
    tell(&format!(
        "{:>5} s  {:>9} queries  {:>9} hits  {:>6} KiB resident  {} files  {} threads",
        sample.at.as_secs(),
        figures["Questions"],
        figures["Query_Cache_count_GET_OK"],
        sample.process.resident_bytes >> 10,
        sample.process.descriptors,
        sample.process.threads
    ));
}

/// What is there behind the load: as before it, as soon as that is so, or else what stays.
fn await_rest(ground: &Ground, operator: &mut Client, before: Rest) -> Rest {
    let watch = Stopwatch::start();
    eventually("all is gone, or stays", || {
        let after = ground.rest(operator);
        let is_told = verdict::left(before, after).is_empty() || watch.elapsed() > Duration::from_secs(15);
        is_told.then_some(after)
    })
}
