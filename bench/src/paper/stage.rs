//! The proxies of one case, set as it wants them, in front of the servers.

use anyhow::{Context, Result, bail};

use super::case::{Caching, Case, Script, Servers, Setting, Transport};
use super::contestant::Contestant;
use super::ground::{Ground, Placement};
use super::peer::{self, Peer};
use crate::address::Address;
use crate::cpu::Pid;
use crate::database::Database;
use crate::proxy::{CacheRule, Proxy};

/// Connections of a proxy to each server; the default would hold a thousand clients' transactions up.
const BACKENDS_MAX: u32 = 2_000;

/// A case's servers; dropping stops its proxies.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    ground: &'a Ground,
    case: &'a Case,
    placement: Placement,
    proxies: Vec<(Contestant, Proxy)>,
    peer: Option<Peer>,
}

/// Where a contestant is, and whose CPU time it takes.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: Address,
    /// Of the proxy, or what stands in its place.
    pub(super) proxy: Option<Pid>,
    pub(super) servers: Vec<Pid>,
}

/// Reads since the start, by who answered them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reads {
    pub(super) from_cache: u64,
    pub(super) from_server: u64,
}

impl<'a> Stage<'a> {
    /// Set, with empty caches.
    pub(super) fn set(
        ground: &'a Ground,
        case: &'a Case,
        setting: &Setting,
        who: &[Contestant],
        placement: Placement,
    ) -> Result<Self> {
        // Worker threads are of no use on one core.
        let placement = if setting.workers > 1 { Placement::Shared } else { placement };
        let mut stage = Self { ground, case, placement, proxies: vec![], peer: None };
        for &contestant in case.contestants.iter().filter(|contestant| who.contains(contestant)) {
            match contestant {
                Contestant::Off | Contestant::On | Contestant::FastForward => {
                    let proxy = stage
                        .start_proxy(contestant, setting)
                        .with_context(|| format!("the proxy {contestant}"))?;
                    stage.proxies.push((contestant, proxy));
                }
                Contestant::Peer => {
                    let path = ground.peer.as_ref().context("no --peer is given")?;
                    stage.peer = Some(Peer::start(path, case, setting, &ground.addresses(case)?)?);
                }
                Contestant::Native => stage.native()?.execute(&format!(
                    "SET GLOBAL query_cache_size = {}; RESET QUERY CACHE",
                    u64::from(setting.mib) << 20
                ))?,
                Contestant::Direct | Contestant::Floor => {}
            }
        }
        placement.place(&stage.pids()?)?;
        Ok(stage)
    }

    fn start_proxy(&self, contestant: Contestant, setting: &Setting) -> Result<Proxy> {
        let is_exact = contestant == Contestant::On && matches!(self.case.caching, Caching::Exact { .. });
        let rule = if is_exact { CacheRule::Exact } else { CacheRule::Nothing };
        let database = self.ground.behind(self.case)?;
        let proxy = Proxy::start_with(&self.ground.program, database, rule, setting.workers)?;
        if self.case.servers == Servers::Three {
            for server in database.addresses().iter().skip(1) {
                let (host, port) = (server.ip(), server.port());
                proxy.administer(&format!(
                    "INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (0, '{host}', {port})"
                ))?;
            }
        }
        proxy.administer(&format!(
            "UPDATE mysql_servers SET max_connections={BACKENDS_MAX}; LOAD MYSQL SERVERS TO RUNTIME; \
             SET mysql-query_cache_size_MB={}; LOAD MYSQL VARIABLES TO RUNTIME",
            setting.mib
        ))?;
        match (contestant, self.case.caching) {
            (Contestant::On, Caching::Ttl { ms }) => proxy.administer(&format!(
                "INSERT INTO mysql_query_rules (rule_id,active,match_digest,cache_ttl,apply) \
                 VALUES (1,1,'^SELECT',{ms},1); LOAD MYSQL QUERY RULES TO RUNTIME"
            ))?,
            (Contestant::FastForward, _) => {
                proxy.administer("UPDATE mysql_users SET fast_forward=1; LOAD MYSQL USERS TO RUNTIME")?;
            }
            _ => {}
        }
        Ok(proxy)
    }

    /// Where data are written, a cache begins empty: other contestants have written past it, which it does not see.
    pub(super) fn forget(&self, contestant: Contestant) -> Result<()> {
        if self.case.script == Script::ReadWrite && contestant == Contestant::On {
            self.proxy(contestant)?.administer("PROXYSQL FLUSH QUERY CACHE")?;
        }
        Ok(())
    }

    /// Where a contestant is.
    pub(super) fn target(&self, contestant: Contestant) -> Result<Target> {
        let behind = self.ground.behind(self.case)?;
        let by = |tcp: &Address, unix: &Address| match self.case.transport {
            Transport::Tcp => tcp.clone(),
            Transport::Unix => unix.clone(),
        };
        Ok(match contestant {
            Contestant::Direct => {
                Target { address: by(&behind.tcp(), &behind.unix()), proxy: None, servers: behind.pids()? }
            }
            Contestant::Native => {
                let native = self.native()?;
                Target { address: by(&native.tcp(), &native.unix()), proxy: None, servers: native.pids()? }
            }
            Contestant::Floor => {
                let floor = self.ground.floor.as_ref().context("the floor was not started")?;
                Target { address: floor.tcp.clone(), proxy: Some(floor.pid()), servers: vec![] }
            }
            Contestant::Peer => {
                let peer = self.peer()?;
                Target {
                    address: by(&peer.tcp, &peer.unix),
                    proxy: Some(peer.pid()),
                    servers: behind.pids()?,
                }
            }
            Contestant::Off | Contestant::On | Contestant::FastForward => {
                let proxy = self.proxy(contestant)?;
                Target {
                    address: by(proxy.tcp(), proxy.unix()),
                    proxy: Some(proxy.pid()),
                    servers: behind.pids()?,
                }
            }
        })
    }

    /// What a contestant has read; `None` of one that does not count.
    pub(super) fn reads(&self, contestant: Contestant) -> Result<Option<Reads>> {
        let from_cache = match contestant {
            Contestant::Direct | Contestant::Floor => return Ok(None),
            Contestant::Native => {
                // Its count of SELECTs has those from its cache in it.
                let (hits, all) =
                    (self.native()?.counted("Qcache_hits")?, self.native()?.counted("Com_select")?);
                return Ok(Some(Reads { from_cache: hits, from_server: all.saturating_sub(hits) }));
            }
            Contestant::Peer => self.peer()?.hits()?,
            Contestant::Off | Contestant::On | Contestant::FastForward => {
                peer::hits(self.proxy(contestant)?.admin_port())?
            }
        };
        let from_server = self.ground.behind(self.case)?.counted_by_all("Com_select")?;
        Ok(Some(Reads { from_cache, from_server }))
    }

    /// All processes that take part, but for the load.
    pub(super) fn pids(&self) -> Result<Vec<Pid>> {
        let mut pids = self.ground.pids()?;
        pids.extend(self.proxies.iter().map(|(_, proxy)| proxy.pid()));
        pids.extend(self.peer.as_ref().map(Peer::pid));
        Ok(pids)
    }

    /// Which cores they have.
    pub(super) fn placement(&self) -> Placement {
        self.placement
    }

    fn proxy(&self, contestant: Contestant) -> Result<&Proxy> {
        match self.proxies.iter().find(|(one, _)| *one == contestant) {
            Some((_, proxy)) => Ok(proxy),
            None => bail!("the proxy {contestant} was not started"),
        }
    }

    fn peer(&self) -> Result<&Peer> {
        self.peer.as_ref().context("the peer was not started")
    }

    fn native(&self) -> Result<&Database> {
        self.ground.native.as_ref().context("the server with a query cache was not started")
    }
}

impl Reads {
    /// Of those since `before`, the share that the cache answered; `None` if there were none.
    pub(super) fn hit_ratio_since(self, before: Self) -> Option<f64> {
        let from_cache = self.from_cache.saturating_sub(before.from_cache) as f64;
        let all = from_cache + self.from_server.saturating_sub(before.from_server) as f64;
        (all > 0.0).then(|| from_cache / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_ratio_is_of_the_reads_in_between() {
        let reads = |from_cache, from_server| Reads { from_cache, from_server };
        assert_eq!(reads(40, 110).hit_ratio_since(reads(10, 100)), Some(0.75));
        assert_eq!(reads(1, 1).hit_ratio_since(reads(1, 1)), None);
    }
}
