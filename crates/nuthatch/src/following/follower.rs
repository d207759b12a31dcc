//! The life of a thread that follows one server's binlog.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{Follow, ServerName, Snapshot};
use nuthatch_net::{AskerLogin, BackendAddress, BackendPassword};
use nuthatch_proxy::{Followed, MonitoredServer, Proxy, boottime_ns};
use nuthatch_source::TableIds;
use nuthatch_source::follow::{
    Feed, FeedOptions, FollowError, Marker, NotWaited, Prover, Start, Unfit, Waiting, missing_grants,
};
use nuthatch_sql::ServerFlavor;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::following::aim::{Aim, TRYING, Waited};
use crate::following::carry::Carry;
use crate::following::patience::in_time;
use crate::following::unproven::Proof;
use crate::following::{leasing, proving, reading};

/// Between two tries to follow: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// After so long a try counts as a success.
const WELL: Duration = Duration::from_secs(5);

/// How often the server says where it is while nothing is written.
const HEARTBEAT_NS: u64 = 50_000_000;

/// For so long a commit by XA may be on its way that was written before the proxy came.
const XA_PATIENCE_NS: u64 = 15_000_000_000;

/// How often it is looked whether `exact` is possible by now.
const LOOK: Duration = Duration::from_secs(5);

/// For so long a server may count a connection among its replicas that we have lost, and how often it is asked whether it still does.
const DEPARTURE: Duration = Duration::from_secs(1);
const DEPARTURE_PAUSE: Duration = Duration::from_millis(50);

/// See the module's doc.
pub(super) struct Follower {
    pub(super) proxy: Arc<Proxy>,
    pub(super) followed: Arc<Followed>,
    pub(super) ids: Arc<TableIds>,
    pub(super) stop: CancellationToken,
}

/// Nothing is served any more when this is dropped, however that comes.
struct Closing<'a>(&'a Followed);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Follower {
    /// Follows until it is told to stop.
    pub(super) fn run(self) {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tracing::error!(%error, "could not make what follows a binlog");
                return;
            }
        };
        runtime.block_on(async {
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = self.follow() => {}
            }
        });
    }

    async fn follow(&self) {
        let aim = Aim {
            proxy: Arc::clone(&self.proxy),
            followed: Arc::clone(&self.followed),
            bound: Duration::from_millis(self.proxy.snapshot().mysql.query_cache_max_staleness_ms),
            event_wait_ns: self.proxy.snapshot().mysql.query_cache_follow_event_wait_ms * 1_000_000,
            leased_until_ns: Cell::new(0),
            why_not_exact: RefCell::new(TRYING.to_owned()),
            chances: RefCell::default(),
        };
        let mut pause = PAUSE;
        loop {
            let begun = Instant::now();
            let error = match self.follow_once(&aim).await {
                Ok(never) => match never {},
                Err(error) => error,
            };
            match &error {
                FollowError::Anew(why) => {
                    aim.end_lease(why);
                    tracing::info!(server = %self.followed.name(), "its binlog is followed anew: {why}");
                }
                error => {
                    aim.fall(&error.to_string());
                    aim.stand(Follow::Off, &error.to_string());
                }
            }
            pause = if begun.elapsed() > WELL { PAUSE } else { (pause * 2).min(PAUSE_MAX) };
            sleep(pause).await;
        }
    }

    async fn follow_once(&self, aim: &Aim) -> Result<std::convert::Infallible, FollowError> {
        let snapshot = self.proxy.snapshot();
        let (server, login) =
            reached(&self.proxy, &snapshot, self.followed.name()).map_err(FollowError::Refused)?;
        let mut prover = in_time(Prover::open(&server.address, &login)).await?;
        let flavor = prover.flavor();
        let unfit = in_time(Unfit::of(&mut prover)).await;
        if let Some(unfit) = unfit.map_err(|error| explained(error, flavor, &snapshot, None))? {
            return Err(FollowError::Refused(unfit.to_string()));
        }
        let waited = match self.followed.wanted() {
            Follow::Exact => self.waited(&mut prover, &snapshot, aim, DEPARTURE).await?,
            Follow::Off | Follow::Bounded => None,
        };
        let marker = waited.as_ref().map(|waited| &waited.marker);
        let begun = self.begin(&mut prover, &server.address, &login, waited.as_ref()).await;
        let (carry, mut feed) = begun.map_err(|error| explained(error, flavor, &snapshot, marker))?;
        // Dropped before what is not proven, which counts as proven then.
        let _closing = Closing(&self.followed);
        let mut leasing = match &waited {
            Some(_) => Some(in_time(Prover::open(&server.address, &login)).await?),
            None => None,
        };
        let lease = async {
            match (&mut leasing, &waited) {
                (Some(prover), Some(waited)) => leasing::lease(prover, waited, &carry, aim).await,
                _ => self.until_more_is_possible(&server.address, &login, aim).await,
            }
        };
        let error = tokio::select! {
            error = reading::read(&mut feed, flavor, &carry) => error,
            error = proving::prove(&mut prover, &carry, aim) => error,
            error = proving::keep_held(&carry, aim) => error,
            error = lease => error,
        };
        Err(explained(error, flavor, &snapshot, marker))
    }

    /// Opens the stream from where nothing is missed, with everything that was stored before forgotten.
    async fn begin(
        &self,
        prover: &mut Prover,
        server: &BackendAddress,
        login: &AskerLogin,
        waited: Option<&Waited>,
    ) -> Result<(Carry, Feed), FollowError> {
        let exact = self.proxy.exact();
        let flavor = prover.flavor();
        let timeout_ns = in_time(Waiting::of(prover)).await?.map_or(0, |waiting| waiting.timeout_ns());
        let start = in_time(prover.start()).await?;
        let carry = Carry::begin(
            exact,
            &self.followed,
            &self.ids,
            flavor,
            (waited.map(|waited| waited.marker.clone()), timeout_ns),
            &start,
        );
        match &start {
            // What it holds is shown, and what it does not hold comes.
            Start::Set(_) => {}
            // What is written up to there may not be shown yet.
            Start::Position(..) => {
                carry.hold(exact.hold_everything(), Proof::Begun(None));
                let prepared = in_time(prover.prepared()).await?;
                if !prepared.is_empty() {
                    let until_ns = boottime_ns() + XA_PATIENCE_NS;
                    carry.hold(exact.hold_everything(), Proof::Finished(prepared, until_ns));
                }
            }
        }
        let options = FeedOptions {
            heartbeat_ns: HEARTBEAT_NS,
            is_semi_sync: waited.is_some(),
            server_id: fresh_server_id()?,
        };
        let feed = in_time(Feed::open(server, login, &start, options)).await?;
        exact.begin_following(self.followed.name());
        self.followed.open();
        self.followed.note_begun_anew();
        Ok((carry, feed))
    }

    /// What it takes to be waited for, if the server may wait for the proxy; why it may not is noted. For so long others may be in the way.
    async fn waited(
        &self,
        prover: &mut Prover,
        snapshot: &Snapshot,
        aim: &Aim,
        patience: Duration,
    ) -> Result<Option<Waited>, FollowError> {
        let variables = &snapshot.mysql;
        let note_why = |why: String| *aim.why_not_exact.borrow_mut() = why;
        let Some(marker) = Marker::parse(&variables.query_cache_follow_marker) else {
            note_why("mysql-query_cache_follow_marker is no schema.table".to_owned());
            return Ok(None);
        };
        if !aim.may_try() {
            note_why(
                "it fell from exact three times within ten minutes: it is tried again after an hour, or when another configuration is loaded"
                    .to_owned(),
            );
            return Ok(None);
        }
        let timeout_max_ms = variables.query_cache_follow_timeout_max_ms;
        let flavor = prover.flavor();
        match without_those_lost(prover, timeout_max_ms, patience).await? {
            None => {
                note_why(NotWaited::NoPlugin(flavor).to_string());
                Ok(None)
            }
            Some(waiting) => match waiting.may_be_joined(flavor, timeout_max_ms) {
                Err(why) => {
                    note_why(why.to_string());
                    Ok(None)
                }
                Ok(()) => {
                    let lease_max_ns = match variables.query_cache_follow_lease_ms {
                        0 => u64::MAX,
                        ms => ms * 1_000_000,
                    };
                    let user = &variables.query_cache_follow_username;
                    let grants = missing_grants(flavor, user, Some(&marker));
                    note_why(TRYING.to_owned());
                    Ok(Some(Waited { marker, timeout_max_ms, lease_max_ns, grants }))
                }
            },
        }
    }

    /// Ends when `exact` is asked for and possible, so that it is begun anew; never where it is not asked for.
    async fn until_more_is_possible(
        &self,
        server: &BackendAddress,
        login: &AskerLogin,
        aim: &Aim,
    ) -> FollowError {
        if self.followed.wanted() != Follow::Exact {
            return std::future::pending().await;
        }
        loop {
            sleep(LOOK).await;
            let mut prover = match in_time(Prover::open(server, login)).await {
                Ok(prover) => prover,
                Err(_unreached) => continue,
            };
            let snapshot = self.proxy.snapshot();
            if let Ok(Some(_)) = self.waited(&mut prover, &snapshot, aim, Duration::ZERO).await {
                return FollowError::Anew("the server would wait for the proxy now".to_owned());
            }
        }
    }
}

/// How the server waits, when it counts no replica any more that is in the way, or behind that time.
async fn without_those_lost(
    prover: &mut Prover,
    timeout_max_ms: u64,
    patience: Duration,
) -> Result<Option<Waiting>, FollowError> {
    let begun = Instant::now();
    loop {
        let waiting = in_time(Waiting::of(prover)).await?;
        let joined = waiting.as_ref().map(|waiting| waiting.may_be_joined(prover.flavor(), timeout_max_ms));
        match joined {
            Some(Err(NotWaited::NotAlone { .. } | NotWaited::FewerThanAll { .. }))
                if begun.elapsed() < patience => {}
            _ => return Ok(waiting),
        }
        sleep(DEPARTURE_PAUSE).await;
    }
}

/// The same error, with the grants where those may be what is missing.
fn explained(
    error: FollowError,
    flavor: ServerFlavor,
    snapshot: &Snapshot,
    marker: Option<&Marker>,
) -> FollowError {
    match error {
        FollowError::Refused(why) => {
            let user = &snapshot.mysql.query_cache_follow_username;
            FollowError::Refused(format!(
                "{why}; the account needs: {}",
                missing_grants(flavor, user, marker)
            ))
        }
        other @ (FollowError::Lost(_) | FollowError::Anew(_)) => other,
    }
}

/// One that no server has: from 2^31 up.
fn fresh_server_id() -> Result<u32, FollowError> {
    let random = getrandom::u32().map_err(|error| FollowError::Lost(error.to_string()))?;
    Ok(random | 1 << 31)
}

/// The server as the account reaches it.
fn reached(
    proxy: &Proxy,
    snapshot: &Snapshot,
    name: &ServerName,
) -> Result<(MonitoredServer, AskerLogin), String> {
    let variables = &snapshot.mysql;
    let user = &variables.query_cache_follow_username;
    if user.is_empty() {
        return Err("mysql-query_cache_follow_username is empty".to_owned());
    }
    let server = proxy.reachable_as(user).into_iter().find(|server| server.name == *name);
    let server =
        server.ok_or_else(|| "it is not among the servers of the configuration any more".to_owned())?;
    let tls = server.tls.clone()?;
    let login = AskerLogin {
        user: user.clone(),
        password: BackendPassword::of(variables.query_cache_follow_password.expose()),
        tls: tls.map(|tls| (tls, name.host.clone())),
        clear_passwords: server.clear_passwords,
    };
    Ok((server, login))
}
