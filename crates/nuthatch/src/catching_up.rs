//! Proves what servers show, so that reads can be sent to replicas and no session goes back: see `backend/catch_up.rs` in nuthatch-proxy.
//!
//! For each cluster one task asks who writes, and one for each server waits until it shows what was written. While nobody wishes a proof
//! nothing is asked. A server that is slow makes no other one's proof wait. As the monitor's account.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{HostgroupId, MysqlVariables, ServerName};
use nuthatch_monitor::{Progress, Target, Unknown, Written};
use nuthatch_proxy::{CatchUp, CausalCluster, MonitoredServer, Proxy};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::monitoring::target;

/// How long a server may take to answer one question; one in which it waits takes a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two tries to reach a server.
const PAUSE: Duration = Duration::from_secs(1);

/// The same while sessions wait for who writes to be asked, which it was before.
const PAUSE_WHILE_WAITED_FOR: Duration = Duration::from_millis(100);

/// For how long who waits goes on waiting while nobody proves anything, because who writes is not reached, as long as its connections are
/// lost: then it answers unasked, and may not show yet what its replicas have shown.
const GIVE_UP: Duration = Duration::from_secs(5);

/// What who writes had written after that moment.
#[derive(Debug, Clone)]
struct Mark {
    at_us: u64,
    written: Written,
}

/// Proves what is wished in the configuration in force, until `stop`.
pub(crate) async fn keep(proxy: Arc<Proxy>, stop: CancellationToken) {
    let mut configurations = proxy.configurations();
    // Dropping tasks ends them.
    let mut running: Vec<(Setting, JoinSet<()>)> = Vec::new();
    let mut configured: Vec<Arc<CatchUp>> = Vec::new();
    loop {
        configurations.mark_unchanged();
        let variables = proxy.snapshot().mysql.clone();
        let clusters = proxy.causal_clusters(&variables.monitor_username);
        for known in std::mem::take(&mut configured) {
            if !clusters.iter().any(|cluster| Arc::ptr_eq(&cluster.wishes, &known)) {
                known.note_prover(false);
            }
        }
        configured.extend(clusters.iter().map(|cluster| Arc::clone(&cluster.wishes)));
        let clusters: Vec<_> = clusters
            .into_iter()
            // None while nobody writes.
            .filter_map(|mut cluster| {
                let writer = cluster.writer.take()?;
                Some((Setting::of(&writer, &cluster, &variables), writer, cluster))
            })
            .collect();
        running.retain(|(known, _tasks)| {
            let stays = clusters.iter().any(|(setting, ..)| setting.is_as(known));
            if !stays {
                // Who waits for a writer that is gone stands in line for the next; else somebody proves again.
                known.wishes.tell();
            }
            stays
        });
        for (setting, writer, cluster) in clusters {
            if !running.iter().any(|(known, _)| setting.is_as(known)) {
                running.push((setting, prove(writer, cluster, &proxy, &variables)));
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            changed = configurations.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// By what it is known that a cluster is proven as before.
struct Setting {
    wishes: Arc<CatchUp>,
    servers: Vec<ServerName>,
    account: (String, String),
    /// Whether TLS is the same is not told.
    is_in_clear: bool,
}

impl Setting {
    fn of(writer: &MonitoredServer, cluster: &CausalCluster, variables: &MysqlVariables) -> Self {
        let servers = || std::iter::once(writer).chain(&cluster.readers);
        Self {
            wishes: Arc::clone(&cluster.wishes),
            servers: servers().map(|server| server.name.clone()).collect(),
            account: (variables.monitor_username.clone(), variables.monitor_password.expose().to_owned()),
            is_in_clear: servers().all(|server| matches!(server.tls, Ok(None))),
        }
    }

    fn is_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.wishes, &other.wishes)
            && self.servers == other.servers
            && self.account == other.account
            && self.is_in_clear
            && other.is_in_clear
    }
}

/// The tasks of one cluster, in which `writer` writes.
fn prove(
    writer: MonitoredServer,
    cluster: CausalCluster,
    proxy: &Arc<Proxy>,
    variables: &MysqlVariables,
) -> JoinSet<()> {
    let CausalCluster { hostgroup, readers, wishes, .. } = cluster;
    tracing::info!(hostgroup = hostgroup.0, writer = %writer.name, "what replicas show is proven when it is asked for");
    let mut tasks = JoinSet::new();
    let (marking, marks) = watch::channel(None);
    let writer = target(writer, variables);
    tasks.spawn(mark((hostgroup, writer.clone()), Arc::clone(proxy), Arc::clone(&wishes), marking));
    for (server, is_writer) in std::iter::once((writer, true))
        .chain(readers.into_iter().map(|reader| (target(reader, variables), false)))
    {
        let follower = Follower { server, is_writer, proxy: Arc::clone(proxy), wishes: Arc::clone(&wishes) };
        tasks.spawn(follower.follow(marks.clone()));
    }
    tasks
}

/// Marks what was written at the moments that are wished.
async fn mark(
    (hostgroup, writer): (HostgroupId, Target),
    proxy: Arc<Proxy>,
    wishes: Arc<CatchUp>,
    marks: watch::Sender<Option<Mark>>,
) {
    let mut said = Said::default();
    let writes = || proxy.writes(hostgroup, &writer.name);
    // Since when nobody proves; none while nobody has ever.
    let mut lost = wishes.can_be_proven().then(Instant::now);
    loop {
        let why = match patiently(Progress::open(&writer)).await {
            Ok(mut progress) => mark_with(&mut progress, &proxy, writes, &wishes, &marks, &mut said).await,
            Err(why) => Some(why),
        };
        let Some(why) = why else { continue };
        // Who waits is not sent to who may not show it because a connection was lost: others are tried first.
        if std::mem::take(&mut said.is_well) {
            lost = Some(Instant::now());
            continue;
        }
        let is_waited_for =
            matches!(why, Unknown::Lost(_)) && lost.is_some_and(|lost| lost.elapsed() < GIVE_UP);
        if !is_waited_for {
            lost = None;
            wishes.note_prover(false);
        }
        said.tell(&writer, &why);
        sleep(if is_waited_for { PAUSE_WHILE_WAITED_FOR } else { PAUSE }).await;
    }
}

/// Why it does not go on; none if it does over another connection.
async fn mark_with(
    writer: &mut Progress,
    proxy: &Proxy,
    writes: impl Fn() -> bool,
    wishes: &CatchUp,
    marks: &watch::Sender<Option<Mark>>,
    said: &mut Said,
) -> Option<Unknown> {
    let mut marked_us = 0;
    while !writer.is_gone() {
        // Before the server is asked: so what was acknowledged or shown before has its place in the answer.
        let at_us = proxy.now_us();
        match patiently(writer.written()).await {
            // Another one may have taken writes since, which are not in this one's answer.
            Ok(_) if !writes() => return Some(Unknown::Lost("another server writes by now".to_owned())),
            Ok(written) => drop(marks.send_replace(Some(Mark { at_us, written }))),
            Err(why) => return Some(why),
        }
        if marked_us == 0 {
            said.note_well();
            wishes.note_prover(true);
        }
        marked_us = at_us;
        wishes.wished(marked_us).await;
    }
    None
}

/// Waits until one server shows what is marked.
struct Follower {
    server: Target,
    is_writer: bool,
    proxy: Arc<Proxy>,
    wishes: Arc<CatchUp>,
}

impl Follower {
    async fn follow(self, mut marks: watch::Receiver<Option<Mark>>) {
        let mut said = Said::default();
        loop {
            let why = match patiently(Progress::open(&self.server)).await {
                Ok(mut progress) => {
                    self.proxy.note_begun_anew(&self.server.name);
                    self.follow_with(&mut progress, &mut marks, &mut said).await
                }
                Err(why) => Some(why),
            };
            if let Some(why) = why {
                said.tell(&self.server, &why);
                sleep(PAUSE).await;
            }
        }
    }

    /// Why it does not go on; none if it does over another connection.
    async fn follow_with(
        &self,
        progress: &mut Progress,
        marks: &mut watch::Receiver<Option<Mark>>,
        said: &mut Said,
    ) -> Option<Unknown> {
        let mut proven_us = 0;
        loop {
            let is_news = |mark: &Option<Mark>| mark.as_ref().is_some_and(|mark| mark.at_us > proven_us);
            let mark = match marks.wait_for(is_news).await {
                Ok(mark) => mark.clone(),
                Err(_) => return Some(Unknown::Lost("nobody asks any more".to_owned())),
            };
            let Some(mut mark) = mark else { continue };
            if progress.is_gone() {
                return None;
            }
            let life = self.proxy.life_of(&self.server.name);
            loop {
                let shows = match self.is_writer {
                    true => patiently(progress.shows_its_own(&mark.written)).await,
                    false => patiently(progress.shows(&mark.written)).await,
                };
                match shows {
                    Ok(true) => break,
                    // What was marked may never come, as a transaction that was rolled back; the next mark does without, and proves more.
                    Ok(false) => {
                        if let Some(newer) = marks.borrow().as_ref().filter(|newer| newer.at_us > mark.at_us)
                        {
                            mark = newer.clone();
                        }
                    }
                    Err(why) => return Some(why),
                }
            }
            said.note_well();
            if self.proxy.note_caught_up(&self.wishes, &self.server.name, life, mark.at_us) {
                proven_us = mark.at_us;
            }
        }
    }
}

/// What is known of a connection to a server.
#[derive(Default)]
struct Said {
    /// What was logged last, so that nothing is said twice.
    told: Option<Unknown>,
    /// It has come to something since that was taken back.
    is_well: bool,
}

impl Said {
    fn tell(&mut self, server: &Target, why: &Unknown) {
        if self.told.as_ref() != Some(why) {
            tracing::warn!(server = %server.name, "what the server shows is not known: reads of who has written go elsewhere: {why}");
            self.told = Some(why.clone());
        }
    }

    fn note_well(&mut self) {
        (self.told, self.is_well) = (None, true);
    }
}

/// What comes of it in time.
async fn patiently<T>(asked: impl Future<Output = Result<T, Unknown>>) -> Result<T, Unknown> {
    match timeout(PATIENCE, asked).await {
        Ok(answered) => answered,
        Err(_elapsed) => Err(Unknown::Lost(format!("no answer within {} s", PATIENCE.as_secs()))),
    }
}
