//! The life of the proxy's process, in order: settings, layers, listeners, serving, drain, end.
//!
//! Everything that can be refused is refused before the first client is let in. A server that is down is no reason not
//! to start.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use nuthatch_admin::Admin;
use nuthatch_config::{Datadir, Layers, Seed};
use nuthatch_net::ListenAddress;
use nuthatch_proxy::{Listener, Proxy};
use nuthatch_source::TableIds;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::certificates::Certificates;
use crate::cli::ServeArguments;
use crate::config_file::ConfigFile;
use crate::keeper::Keeper;
use crate::plane::Plane;
use crate::signals::Signals;
use crate::stops::Stops;
use crate::switching::{Suspicions, Switching, WritersFile};
use crate::{catalogues, catching_up, following, log, monitoring, seed, switching};

const DRAIN_SECONDS: u64 = 30;

/// Settings of the process, from the flags and the file.
struct Settings {
    arguments: ServeArguments,
    /// What a first start begins with.
    seed: Seed,
    /// What the flags say in any case.
    overrides: Seed,
}

/// Runs the proxy until it is told to stop.
pub(crate) fn run(arguments: &ServeArguments) -> anyhow::Result<()> {
    let settings = Settings::gather(arguments)?;
    log::start(settings.arguments.log_level.as_deref().unwrap_or("info"))?;
    raise_file_limit();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(serve(settings))
}

async fn serve(settings: Settings) -> anyhow::Result<()> {
    let Settings { arguments, seed, overrides } = settings;
    let signals = Signals::listen()?;
    let (layers, warnings) = Layers::open(datadir(&arguments)?.as_ref(), seed, &overrides).map_err(cannot)?;
    for warning in warnings.iter() {
        tracing::warn!("{warning}");
    }
    let certificates = Certificates::prepare(arguments.datadir.as_deref())?;
    let listeners = bind_mysql(&arguments).await?;
    let admin_listener = bind_tcp("--admin", &arguments.admin, Some(([127, 0, 0, 1], 6032))).await?;
    let metrics_listener = bind_tcp("--metrics", &arguments.metrics, None).await?;
    let workers = arguments.workers.map_or_else(cores, usize::from);
    let proxy = Proxy::start(workers, layers.snapshot()).context("cannot start the workers")?;
    #[cfg(debug_assertions)]
    arguments.faults.begin(&proxy);

    proxy.offer_tls(Some(certificates.load()?));

    let stops = Stops::default();
    let tasks = TaskTracker::new();
    if let Some(writers) = arguments.datadir.as_deref().map(WritersFile::open) {
        proxy.remember_writers(writers.writers());
        tasks.spawn(writers.keep(Arc::clone(&proxy), stops.now.clone()));
    }
    let suspicions = Suspicions::default();
    let monitor = monitoring::monitor(&proxy, suspicions.clone(), &tasks);
    let lookout = monitor.lookout().clone();
    let (log, switching) =
        (Arc::clone(monitor.log()), Switching::new(&proxy, &tasks, arguments.datadir.as_deref()));
    let plane = Arc::new(Plane::new(Arc::clone(&proxy), stops.clone(), certificates, log, switching.clone()));
    let admin = Admin::start(layers, Arc::<Plane>::clone(&plane)).map_err(cannot)?;
    proxy.is_kept_by(Arc::new(Keeper::new(&admin)));
    tasks.spawn(nuthatch_proxy::keep_lines(Arc::clone(&proxy), stops.now.clone()));
    // The first client should be greeted as its server would greet it.
    nuthatch_proxy::scout(&proxy).await;

    tasks.spawn(nuthatch_proxy::keep_house(Arc::clone(&proxy), stops.now.clone()));
    tasks.spawn(nuthatch_proxy::keep_time(Arc::clone(&proxy), stops.now.clone()));
    let ids = Arc::new(TableIds::new(proxy.exact().tables_max()));
    tasks.spawn(catalogues::keep(Arc::clone(&proxy), Arc::clone(&ids), stops.now.clone()));
    tasks.spawn(following::keep(Arc::clone(&proxy), ids, stops.now.clone()));
    tasks.spawn(monitoring::keep(Arc::clone(&proxy), monitor, stops.now.clone()));
    tasks.spawn(catching_up::keep(Arc::clone(&proxy), stops.now.clone()));
    tasks.spawn(switching::guard(switching.clone(), suspicions.clone(), lookout, stops.now.clone()));
    tasks.spawn(switching::see(switching.clone(), stops.now.clone()));
    tasks.spawn(switching::rejoin(switching.clone(), suspicions, stops.now.clone()));
    tasks.spawn(switching::take_back(switching.clone(), stops.now.clone()));
    tasks.spawn(switching::look_for_stragglers(switching.clone(), stops.now.clone()));
    if let Some(listener) = admin_listener {
        tasks.spawn(nuthatch_admin::serve(listener, Arc::clone(&admin)));
    }
    if let Some(listener) = metrics_listener {
        tasks.spawn(nuthatch_admin::metrics::serve(listener, plane, stops.now.clone()));
    }
    for listener in listeners {
        tracing::info!(address = %listener.address(), workers, "ready for MySQL clients");
        tasks.spawn(listener.serve(Arc::clone(&proxy), stops.soon.clone()));
    }
    tasks.close();

    let patience = Duration::from_secs(arguments.drain_seconds.unwrap_or(DRAIN_SECONDS));
    wait_and_drain(&proxy, &stops, signals, patience).await;
    switching.finish().await;
    admin.stop();
    stops.now.cancel();
    drop(tokio::time::timeout(Duration::from_secs(2), tasks.wait()).await);
    proxy.stop();
    Ok(())
}

/// Waits for the first wish to stop, drains, and cuts the drain short at the second.
async fn wait_and_drain(proxy: &Proxy, stops: &Stops, mut signals: Signals, patience: Duration) {
    tokio::select! {
        name = signals.next() => tracing::info!(signal = name, "stopping: sessions may finish what they have open"),
        () = stops.soon.cancelled() => tracing::info!("stopping by order of an operator"),
        () = stops.now.cancelled() => {}
    }
    stops.soon.cancel();
    tokio::select! {
        cut_off = proxy.drain(patience) => match cut_off {
            0 => tracing::info!("all sessions have ended"),
            cut_off => tracing::warn!(cut_off, "the time for the drain is over: sessions were cut off"),
        },
        name = signals.next() => {
            tracing::warn!(signal = name, "stopping at once");
            proxy.stop_sessions().await;
        }
        () = stops.now.cancelled() => proxy.stop_sessions().await,
    }
}

impl Settings {
    /// Flags win over the file, key by key; what flags say of servers and users changes what was saved.
    fn gather(flags: &ServeArguments) -> anyhow::Result<Self> {
        let (file, mut seed) = match &flags.config {
            Some(path) => {
                let read = ConfigFile::read(path)?;
                (read.arguments, read.seed)
            }
            None => (ServeArguments::default(), Seed::default()),
        };
        let of_file = seed::of_flags(&file.backend, &file.user)?;
        seed.servers.extend(of_file.servers);
        seed.users.extend(of_file.users);
        let pick = |flag: &Option<ListenAddress>, key: Option<ListenAddress>| flag.clone().or(key);
        let arguments = ServeArguments {
            config: None,
            datadir: flags.datadir.clone().or(file.datadir),
            secrets_key: flags.secrets_key.clone().or(file.secrets_key),
            forget_lost_secrets: flags.forget_lost_secrets,
            mysql: if flags.mysql.is_empty() { file.mysql } else { flags.mysql.clone() },
            mysql_socket_mode: flags.mysql_socket_mode.or(file.mysql_socket_mode),
            admin: pick(&flags.admin, file.admin),
            metrics: pick(&flags.metrics, file.metrics),
            backend: Vec::new(),
            user: Vec::new(),
            workers: flags.workers.or(file.workers),
            drain_seconds: flags.drain_seconds.or(file.drain_seconds),
            log_level: flags.log_level.clone().or(file.log_level),
            faults: flags.faults,
        };
        Ok(Self { arguments, seed, overrides: seed::of_flags(&flags.backend, &flags.user)? })
    }
}

/// Where the disk layer and the key of its secrets are.
fn datadir(arguments: &ServeArguments) -> anyhow::Result<Option<Datadir>> {
    let Some(directory) = &arguments.datadir else {
        anyhow::ensure!(
            arguments.secrets_key.is_none() && !arguments.forget_lost_secrets,
            "--secrets-key and --forget-lost-secrets are about what --datadir keeps, and there is none"
        );
        return Ok(None);
    };
    let mut datadir = Datadir::new(directory);
    if let Some(path) = &arguments.secrets_key {
        datadir = datadir.with_key(path.clone());
    }
    if arguments.forget_lost_secrets {
        datadir = datadir.forgetting_lost_secrets();
    }
    Ok(Some(datadir))
}

async fn bind_mysql(arguments: &ServeArguments) -> anyhow::Result<Vec<Listener>> {
    let default = [ListenAddress::Tcp(([0, 0, 0, 0], 6033).into())];
    let addresses = if arguments.mysql.is_empty() { &default[..] } else { &arguments.mysql[..] };
    let mode = arguments.mysql_socket_mode.unwrap_or(0o777);
    let mut listeners = Vec::new();
    for address in addresses {
        let listener = Listener::bind(address, mode).await;
        listeners.push(listener.with_context(|| format!("cannot listen for MySQL clients on {address}"))?);
    }
    Ok(listeners)
}

async fn bind_tcp(
    flag: &str,
    address: &Option<ListenAddress>,
    default: Option<([u8; 4], u16)>,
) -> anyhow::Result<Option<TcpListener>> {
    let address = match address {
        Some(ListenAddress::Tcp(address)) => *address,
        Some(ListenAddress::Unix(path)) => {
            anyhow::bail!("{flag} takes HOST:PORT, and `{}` is the path of a Unix socket", path.display())
        }
        None => match default {
            Some(default) => default.into(),
            None => return Ok(None),
        },
    };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).with_context(|| format!("cannot listen on {address} ({flag})"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Each session is a file descriptor, each backend connection another.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
    {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
}

/// Errors of our crates are fragments that read after "failed to".
fn cannot(error: impl std::error::Error + Send + Sync + 'static) -> anyhow::Error {
    anyhow::Error::new(error).context("failed to start")
}
