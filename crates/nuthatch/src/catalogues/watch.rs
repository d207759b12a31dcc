//! Watches replicas beside their primaries, and says what is proven of each: see `exact/replica.rs` in nuthatch-proxy for what that means.
//!
//! One task for each pair, with a connection to each of the two. While nobody wants a newer proof it asks nothing.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_proxy::{Evidence, Proxy};
use nuthatch_source::{Applied, Witness, WitnessError};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use super::looked::{Looked, Pair};

/// How long a server may take to answer one question; a wait for the replica takes a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two tries to reach both.
const PAUSE: Duration = Duration::from_secs(1);

/// The tasks; they end when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Watches {
    tasks: JoinSet<()>,
    running: Vec<(Arc<Evidence>, AbortHandle)>,
}

impl Watches {
    /// Watches these pairs, and no others. One that is in trouble is tried with what was learned of it meanwhile.
    pub(super) fn watch<'p>(&mut self, pairs: impl Iterator<Item = &'p Pair>, proxy: &Arc<Proxy>) {
        let pairs: Vec<_> = pairs.collect();
        self.running.retain(|(evidence, task)| {
            let is_wanted = pairs.iter().any(|pair| Arc::ptr_eq(&pair.evidence, evidence));
            let stays = is_wanted && !evidence.is_in_trouble();
            if !stays {
                task.abort();
            }
            stays
        });
        while self.tasks.try_join_next().is_some() {}
        for pair in pairs {
            if !self.running.iter().any(|(evidence, _)| Arc::ptr_eq(evidence, &pair.evidence)) {
                let task = self.tasks.spawn(watch(pair.clone(), Arc::clone(proxy)));
                self.running.push((Arc::clone(&pair.evidence), task));
            }
        }
    }
}

async fn watch(pair: Pair, proxy: Arc<Proxy>) {
    loop {
        let error = match patiently(call(&pair)).await {
            Ok(mut witness) => prove(&pair, &mut witness, &proxy).await,
            Err(error) => error,
        };
        let why = error.unwrap_or_else(|| "it, or its primary, did not answer in time".to_owned());
        if pair.evidence.withdraw(why.clone()) {
            tracing::warn!(replica = pair.name, "the replica's answers are not stored as exact: {why}");
        }
        sleep(PAUSE).await;
    }
}

async fn call(Pair { primary, replica, .. }: &Pair) -> Result<Witness, WitnessError> {
    fn side(
        looked: &Looked,
    ) -> Option<(&nuthatch_net::BackendAddress, &nuthatch_source::Login, &nuthatch_source::Identity)> {
        Some((&looked.address, &looked.login, looked.picture.replication.identity.as_ref()?))
    }
    let sides = side(primary).zip(side(replica)).ok_or(WitnessError::OtherServer)?;
    Witness::call(sides.0, sides.1).await
}

/// Proves what is wanted, until it cannot be any more.
async fn prove(pair: &Pair, witness: &mut Witness, proxy: &Proxy) -> Option<String> {
    loop {
        if let Err(error) = prove_once(pair, witness, proxy).await {
            return error;
        }
        sleep(interval(proxy)).await;
        pair.evidence.wanted().await;
    }
}

async fn prove_once(pair: &Pair, witness: &mut Witness, proxy: &Proxy) -> Result<(), Option<String>> {
    // Before the primary is asked: so what was acknowledged before has its place there.
    let moment = proxy.exact().moment();
    let target = patiently(witness.target()).await?;
    loop {
        patiently(witness.wait(&target)).await?;
        let asked = Instant::now();
        if patiently(witness.applied(&target)).await? == Applied::All {
            if pair.evidence.prove(moment, asked) {
                proxy.exact().ask_for_a_look();
            }
            return Ok(());
        }
        sleep(interval(proxy)).await;
    }
}

/// What comes of it in time, or why nothing does; no words where time is over.
async fn patiently<T>(asked: impl Future<Output = Result<T, WitnessError>>) -> Result<T, Option<String>> {
    match timeout(PATIENCE, asked).await {
        Ok(answered) => answered.map_err(|error| Some(error.to_string())),
        Err(_elapsed) => Err(None),
    }
}

fn interval(proxy: &Proxy) -> Duration {
    Duration::from_millis(proxy.snapshot().mysql.query_cache_replica_interval_ms.max(1))
}
