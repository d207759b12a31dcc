//! Looks at the servers, on whose catalogues the exact cache rests, and looks again when what is known of them is outdated.
//!
//! After each change of a definition that went through the proxy, after each change of the configuration, and from time to time.
//! While nobody wants exact answers no server is asked. What is to be made of it: `looked.rs`; how replicas are watched: `watch.rs`.

mod code_seen;
mod looked;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{Follow, HostgroupId, ServerStatus};
use nuthatch_proxy::{Began, Domain, Domains, Moment, NoDomain, Proxy, Replaced, Source, SourceAccount};
use nuthatch_source::{Login, Picture, PictureError, TableIds, look};
use nuthatch_sql::StoredCode;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use code_seen::CodeSeen;
use looked::{Address, Looked, Members, Pairs, Round, Seen};
use watch::Watches;

/// How long a server may take to answer all that it is asked.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks: many definitions may change one after the other.
const PAUSE: Duration = Duration::from_millis(10);

/// Reads catalogues until `stop`.
pub(crate) async fn keep(proxy: Arc<Proxy>, ids: Arc<TableIds>, stop: CancellationToken) {
    let (said, pairs, watches) = (HashMap::new(), Pairs::new(), Watches::default());
    let (code, started) = (CodeSeen::default(), Instant::now());
    let mut keeper = Keeper { proxy, ids, said, pairs, watches, code, started };
    tokio::select! {
        () = stop.cancelled() => {}
        () = keeper.keep() => {}
    }
}

/// Why a catalogue could not be read as one account.
enum Unread {
    /// The server was not reached, or not in time.
    Lost(NoDomain),
    Refused(NoDomain),
}

const STORED_CODE_NOT_KNOWN: &str = "; a session keeps its connection when a statement fails that may have run a \
                                     trigger or stored function";

struct Keeper {
    proxy: Arc<Proxy>,
    ids: Arc<TableIds>,
    /// What was logged of each hostgroup last.
    said: HashMap<HostgroupId, String>,
    pairs: Pairs,
    watches: Watches,
    code: CodeSeen,
    /// What beginnings of servers are counted from.
    started: Instant,
}

impl Keeper {
    async fn keep(&mut self) {
        loop {
            let interval_ms = self.proxy.snapshot().mysql.query_cache_catalogue_interval_ms;
            drop(timeout(Duration::from_millis(interval_ms), self.proxy.exact().catalogues_outdated()).await);
            while self.proxy.exact().wants_catalogues() && self.read_all().await == Replaced::Outdated {
                sleep(PAUSE).await;
            }
        }
    }

    async fn read_all(&mut self) -> Replaced {
        let (generation, moment) = (self.proxy.exact().catalogue_generation(), self.proxy.exact().moment());
        let (code_changes, times_made) =
            (self.proxy.exact().code_changes(), self.proxy.exact().times_code_was_made());
        let hostgroups = self.look_at_all(moment).await;
        let proxy = Arc::clone(&self.proxy);
        let known = |hostgroup| proxy.exact().known_domain(hostgroup);
        let no_replicas = self.no_replicas();
        let mut round = Round { moment, known: &known, no_replicas, pairs: &mut self.pairs };
        let domains = round.domains(&hostgroups);
        let stored_codes = self.code.behind(&hostgroups, times_made);
        for (hostgroup, domain) in &domains {
            let code = stored_codes.get(hostgroup).and_then(Option::as_deref);
            self.say(*hostgroup, domain, code);
        }
        self.proxy.exact().use_stored_code(code_changes, stored_codes);
        let watched = domains.clone();
        let replaced = self.proxy.exact().use_catalogues(generation, domains);
        match replaced {
            Replaced::Outdated => return replaced,
            Replaced::Done => {}
            Replaced::ChangedBehindOurBack => {
                tracing::warn!(
                    "tables were changed past the proxy, or a server began anew: all exact answers are forgotten"
                );
            }
        }
        self.watch(&watched);
        replaced
    }

    /// Why no answers of replicas are stored.
    fn no_replicas(&self) -> Option<&'static str> {
        match () {
            () if self.proxy.snapshot().mysql.query_cache_replica_interval_ms == 0 => {
                Some("mysql-query_cache_replica_interval_ms is 0")
            }
            () if self.proxy.exact().has_left_binlog() => Some(
                "a session has said how its writes are logged (sql_log_bin, gtid_next, gtid_seq_no or binlog_format): \
                 replicas may lack them",
            ),
            () => None,
        }
    }

    /// Watches those replicas whose answers may be stored.
    fn watch(&mut self, domains: &Domains) {
        let replicas = || domains.values().flatten().flat_map(|domain| &domain.replicas);
        let vouched = || replicas().filter_map(|replica| replica.standing.as_ref().ok());
        self.pairs.retain(|_, pair| vouched().any(|one| Arc::ptr_eq(&one.evidence, &pair.evidence)));
        self.watches.watch(self.pairs.values(), &self.proxy);
    }

    /// Looks at each server once, whatever the number of hostgroups that it stands in.
    async fn look_at_all(&self, moment: Moment) -> Vec<(HostgroupId, Members)> {
        let mut seen: HashMap<Address, Seen> = HashMap::new();
        let mut hostgroups = Vec::new();
        for (hostgroup, sources) in self.proxy.sources() {
            let mut members = Members::new();
            for source in sources {
                match source {
                    Err(why) => members.push((Address::default(), Seen::Refused(why))),
                    Ok(source) => {
                        let address = (source.host.clone(), source.port);
                        let one = match seen.get(&address) {
                            Some(one) => one.clone(),
                            None => self.look_at(&source, moment).await,
                        };
                        seen.insert(address.clone(), one.clone());
                        members.push((address, one));
                    }
                }
            }
            hostgroups.push((hostgroup, members));
        }
        hostgroups
    }

    async fn look_at(&self, source: &Source, moment: Moment) -> Seen {
        let name = format!("{}:{}", source.host, source.port);
        let mut of_it = self.pairs.values().filter(|pair| pair.name == name);
        let was_behind = of_it.all(|pair| pair.evidence.is_behind(moment));
        let mut first = None;
        for account in &source.accounts {
            let login = login(source, account);
            let changes = self.proxy.defaults_changes(&source.host, source.port);
            match self.look_as(source, &login).await {
                Ok(picture) => {
                    self.compare_defaults(source, changes, &picture);
                    let (address, began) = (source.address.clone(), self.began(&picture));
                    return Seen::Looked(Arc::new(Looked { picture, address, login, was_behind, began }));
                }
                Err(unread) => first = first.or(Some(unread)),
            }
        }
        match first.expect("there is an account") {
            Unread::Refused(why) => Seen::Refused(why),
            Unread::Lost(why) => Seen::Lost(why),
        }
    }

    /// Takes note of what sessions of a server begin with, that was looked at just now.
    fn compare_defaults(&self, source: &Source, changes: u64, picture: &Picture) {
        let (host, port) = (source.host.as_str(), source.port);
        let variables = picture.variables.iter().map(|[name, value]| (name.as_slice(), value.as_slice()));
        if self.proxy.note_defaults(host, port, changes, picture.flavor, variables)
            == Replaced::ChangedBehindOurBack
        {
            tracing::warn!(
                host,
                port,
                "what sessions begin with was changed past the proxy (SET GLOBAL): all answers are forgotten"
            );
        }
    }

    /// Of a server that was looked at just now.
    fn began(&self, picture: &Picture) -> Option<Began> {
        let now_ms = i64::try_from(self.started.elapsed().as_millis()).ok()?;
        let uptime_ms = i64::try_from(picture.uptime_s?.checked_mul(1000)?).ok()?;
        now_ms.checked_sub(uptime_ms).map(Began)
    }

    async fn look_as(&self, source: &Source, login: &Login) -> Result<Picture, Unread> {
        let say = |why: String| format!("could not {why}, as {}@{}:{}", login.user, source.host, source.port);
        let wants_columns = self.proxy.snapshot().follows_any();
        match timeout(PATIENCE, look(&source.address, login, &self.ids, wants_columns)).await {
            Ok(Ok(picture)) => Ok(picture),
            Ok(Err(error @ PictureError::Lost(_))) => Err(Unread::Lost(say(error.to_string()).into())),
            Ok(Err(error)) => Err(Unread::Refused(say(error.to_string()).into())),
            Err(_elapsed) => Err(Unread::Lost(say("read the catalogue in time".to_owned()).into())),
        }
    }

    /// Logs what became of a hostgroup, if it is news.
    fn say(
        &mut self,
        hostgroup: HostgroupId,
        domain: &Result<Arc<Domain>, NoDomain>,
        code: Option<&StoredCode>,
    ) {
        let mut news = match self.proxy.exact().wants_exact() {
            true => {
                let follow = self.proxy.snapshot().follow(hostgroup);
                news(domain, self.proxy.server_status(hostgroup, domain), follow)
            }
            false => news_of_code(domain, code),
        };
        if code.is_none() {
            news += STORED_CODE_NOT_KNOWN;
        }
        if self.said.get(&hostgroup) != Some(&news) {
            match domain {
                Ok(domain) => {
                    tracing::info!(hostgroup = hostgroup.0, tables = domain.catalogue.len(), "{news}");
                }
                Err(_) if code.is_some() && !self.proxy.exact().wants_exact() => {
                    tracing::info!(hostgroup = hostgroup.0, "{news}");
                }
                Err(_) => tracing::warn!(hostgroup = hostgroup.0, "{news}"),
            }
            self.said.insert(hostgroup, news);
        }
    }
}

fn login(source: &Source, account: &SourceAccount) -> Login {
    Login {
        user: account.user.clone(),
        password: account.password.clone(),
        tls: account.tls.clone().map(|tls| (tls, source.host.clone())),
        clear_passwords: source.clear_passwords,
    }
}

/// While nobody wants exact answers.
fn news_of_code(domain: &Result<Arc<Domain>, NoDomain>, code: Option<&StoredCode>) -> String {
    match domain {
        Err(why) if code.is_none() => format!("cannot tell which statements run stored code: {why}"),
        _ => "knows which statements run stored code, as far as that is made through this proxy".to_owned(),
    }
}

/// What is logged of a hostgroup; `status` is its server's, if it stands in it.
fn news(domain: &Result<Arc<Domain>, NoDomain>, status: Option<ServerStatus>, follow: Follow) -> String {
    let past = match follow {
        Follow::Off => "not seen",
        Follow::Bounded | Follow::Exact => "read in its binlog (stats_query_cache_follow)",
    };
    let domain = match (domain, status) {
        (Err(why), _) => return format!("caches no answers as exact: {why}"),
        (Ok(domain), Some(status @ (ServerStatus::OfflineSoft | ServerStatus::OfflineHard))) => {
            return format!(
                "has no answers to cache: {}:{} is {}",
                domain.host,
                domain.port,
                status.as_str()
            );
        }
        (Ok(domain), _) => domain,
    };
    let mut news = match domain.takes_writes {
        true => format!(
            "caches answers of {}:{} as exact: writes past this proxy are {past}",
            domain.host, domain.port
        ),
        false => format!(
            "caches answers of replicas of {}:{} as exact: writes past this proxy are {past}",
            domain.host, domain.port
        ),
    };
    for replica in &domain.replicas {
        news += &match &replica.standing {
            Ok(_) => format!("; {}:{} is watched", replica.host, replica.port),
            Err(why) => format!("; not those of {}:{}: {why}", replica.host, replica.port),
        };
    }
    news
}
