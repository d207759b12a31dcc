//! A primary and two replicas behind relays, a proxy before them that fails over by itself, and an operator who mends what a fault leaves
//! for an operator to mend.
//!
//! The operator saves where servers stand whenever all is well, starts what was killed, builds a server anew that has what the primary
//! does not have, has those follow the primary that a proxy which died has not told, starts threads that a proxy which died has left stopped, sets `read_only` on a replica that was started without, lifts
//! it where nobody takes writes, and has commits wait for replicas again where a server leaves that off. How often is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nuthatch_lab::{Kind, Options, Peers, Relays, Role, ScratchLab, SemiSync};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::chapter::Plan;
use crate::client::{Address, Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::fault::{From, Harm, Relief, Whom};
use crate::history::{Left, Loss, Writer};
use crate::own_mounts::Disks;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::tell;
use crate::verdict::{Finding, Wrong};

pub(crate) const ROLES: [Role; 3] = [Role::Primary, Role::Replica(1), Role::Replica(2)];

/// The account of sessions whose reads are split, and of those whose reads go to the writer. Neither writes despite `read_only`.
pub(crate) const SPLIT: &str = "chaos_split";
pub(crate) const PLAIN: &str = "chaos_plain";
const PASSWORD: &str = "pw";

/// Within which all must be well again behind a fault, and how long things are left to the proxy before the operator acts.
pub(crate) const WELL_WITHIN: Duration = Duration::from_secs(90);
const ACTS_AFTER: Duration = Duration::from_secs(3);

/// How long a server may take to do what the operator asks of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Within which what is not used any more must be gone.
const LEFT_WITHIN: Duration = Duration::from_secs(20);

/// Between two looks, and between two cuts of connections.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
pub(crate) const CUT_PAUSE: Duration = Duration::from_millis(60);

/// How long a server whose disk was full takes to see that there is room: a minute (`MY_WAIT_FOR_USER_TO_FIX_PANIC` of both), and some.
pub(crate) const ROOM_WITHIN: Duration = Duration::from_secs(75);

/// Of each server's own disk. What a run writes, and a copy of the system's tables, fit.
const DISK_MIB: u32 = 512;

/// How long a commit waits for a replica: longer than any fault lasts. A replica that could be promoted waits likewise for one of its own,
/// with the first transaction that it applies, so that is short.
const COMMIT_WAITS_MS: u32 = 20_000;
const APPLIER_WAITS_MS: u32 = 200;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    // Before its servers.
    proxy: Proxy,
    setup: Setup,
    lab: ScratchLab,
    kind: Kind,
    semi_sync: SemiSync,
    disks: Disks,
    /// Whose disk is full, and how that will end.
    full: Option<(Role, Relief)>,
    /// What was told of lost transactions, by proxies that are gone too.
    losses: BTreeSet<[String; 5]>,
    /// How often the operator had to do what.
    pub(crate) mended: BTreeMap<&'static str, u32>,
    // Behind the proxy, which writes there.
    data: TempDir,
}

/// What one server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    takes_writes: bool,
    /// Of its replication's two threads, those that run; none where it follows nobody.
    threads: Option<usize>,
    /// The port of whom it follows.
    source: Option<u16>,
    /// Why they do not.
    errors: Vec<String>,
}

impl Ground {
    pub(crate) fn new(plan: &Plan, setup: Setup) -> Self {
        let Plan { kind, semi_sync, disks, writers, .. } = *plan;
        let extra = match semi_sync {
            SemiSync::Off => vec![],
            SemiSync::AfterSync => vec![format!("{}_timeout={APPLIER_WAITS_MS}", semi_sync_word(kind))],
        };
        let lab = ScratchLab::up(&Options {
            installation: servers::installation(kind),
            replicas: 2,
            semi_sync,
            relays: Relays::Here,
            disk_mib: (disks == Disks::Own).then_some(DISK_MIB),
            buffer_pool_mib: 32,
            extra,
            ..Options::default()
        });
        let lab = lab.expect("a lab comes up");
        prepare(&mut direct(&lab, Role::Primary).expect("it answers"), kind, writers);
        servers_have_all(&lab);
        let data = tempfile::tempdir().expect("a directory");
        let setup = complete(setup, &lab, &data);
        let proxy = Proxy::start(&setup);
        let mut operator = proxy.operator();
        for statement in [
            "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (10, 20)",
            "LOAD MYSQL SERVERS TO RUNTIME",
            "SAVE MYSQL SERVERS TO DISK",
            "SAVE MYSQL USERS TO DISK",
            "SAVE MYSQL QUERY RULES TO DISK",
            "SAVE MYSQL VARIABLES TO DISK",
        ] {
            operator.ok(statement);
        }
        let (losses, mended) = (BTreeSet::new(), BTreeMap::new());
        let mut ground = Self { proxy, setup, lab, kind, semi_sync, disks, full: None, losses, mended, data };
        ground.await_well();
        ground
    }

    pub(crate) fn address(&self) -> Address {
        Address::Tcp(self.proxy.mysql)
    }

    pub(crate) fn login(user: &str) -> Login {
        Login::new(user, PASSWORD)
    }

    /// Whether that can be done here.
    pub(crate) fn allows(&self, harm: Harm) -> bool {
        self.disks == Disks::Own || !matches!(harm, Harm::FullDisk { .. })
    }

    /// Does the harm, and tells what it came to.
    pub(crate) fn harm(&mut self, harm: Harm) -> String {
        let (primary, replicas) = self.standing();
        let role = |whom| match whom {
            Whom::Primary => primary,
            Whom::Replica(place) => replicas[place],
        };
        match harm {
            Harm::Kill(whom) => self.lab.kill(role(whom)).expect("it dies"),
            Harm::Stop(whom) => self.lab.stop(role(whom)).expect("it ends"),
            Harm::Freeze(whom) => self.lab.freeze(role(whom)).expect("it stands still"),
            Harm::Part(whom, from, direction) => {
                let others: Vec<_> = ROLES.into_iter().filter(|other| *other != role(whom)).collect();
                let peers = match from {
                    From::All => Peers::All,
                    From::Outside => Peers::Outside,
                    From::Other(place) => Peers::One(others[place]),
                };
                self.lab.partition(role(whom), peers, direction).expect("a relay");
            }
            // See `cut`.
            Harm::Cut(_) => {}
            Harm::ReadOnly => self.set_read_only(primary, 1),
            Harm::Writable(place) => self.set_read_only(replicas[place], 0),
            Harm::Delay(place) => self.lab.set_lag(replicas[place], 2).expect("it is told"),
            Harm::Apply(place) => {
                let sql = format!("STOP {} SQL_THREAD", servers::replica_word(self.kind));
                self.direct(replicas[place]).ok(sql);
            }
            Harm::FullDisk { whom, then } => {
                self.lab.fill_disk(role(whom)).expect("it has a disk of its own");
                self.full = Some((role(whom), then));
            }
            Harm::KillProxy => self.restart_proxy(Signal::KILL),
            Harm::StopProxy => self.restart_proxy(Signal::TERM),
            Harm::KillBoth { after_ms } => {
                self.lab.kill(primary).expect("it dies");
                // It is in the middle of a failover then, or before, or behind.
                std::thread::sleep(Duration::from_millis(after_ms));
                self.restart_proxy(Signal::KILL);
            }
        }
        format!("{harm:?} with {primary} as primary")
    }

    /// The next connection that passes so many bytes is cut there.
    pub(crate) fn cut(&self, whom: Whom, direction: nuthatch_lab::Direction, bytes: u64) {
        let (primary, replicas) = self.standing();
        let role = match whom {
            Whom::Primary => primary,
            Whom::Replica(place) => replicas[place],
        };
        self.lab.cut_after(role, direction, bytes).expect("a relay");
    }

    /// Ends the harm; what follows from it is another matter: [`Ground::await_well`].
    pub(crate) fn heal(&mut self) {
        self.lab.heal().expect("a relay");
        if let Some((role, relief)) = self.full.take() {
            if relief == Relief::Kill {
                self.lab.kill(role).expect("it dies");
            }
            self.lab.free_disk(role).expect("the filler goes");
        }
        for role in ROLES {
            self.lab.thaw(role).expect("it is there");
            self.lab.start(role).expect("it comes up again");
        }
    }

    /// Returns when the replicas have what the primary has now, and so have seen that there is room again.
    pub(crate) fn await_room(&self) {
        self.lab.await_followers(self.primary(), ROOM_WITHIN).expect("they write down what they receive");
    }

    /// Returns when one server takes writes and the others follow it, and the proxy knows; the operator sees to what the proxy leaves to it.
    pub(crate) fn await_well(&mut self) {
        let watch = Stopwatch::start();
        let mut since_acted = Stopwatch::start();
        loop {
            let looks = ROLES.map(|role| self.look(role));
            let roles = self.roles_by_proxy();
            if self.is_well(&looks, &roles) {
                break;
            }
            let log = || self.proxy.log().lines().rev().take(60).collect::<Vec<_>>().join("\n");
            assert!(watch.elapsed() < WELL_WITHIN, "all is not well: {looks:?}; {roles:?}\n{}", log());
            if since_acted.elapsed() > ACTS_AFTER && self.mend(&looks, &roles) {
                since_acted = Stopwatch::start();
            }
            std::thread::sleep(LOOK_PAUSE);
        }
        if self.semi_sync == SemiSync::AfterSync {
            self.have_commits_wait();
        }
        self.note_losses();
        let mut operator = self.proxy.operator();
        operator.ok("SAVE MYSQL SERVERS TO MEMORY");
        operator.ok("SAVE MYSQL SERVERS TO DISK");
    }

    /// Who takes writes now waits for replicas, as somebody must see to.
    ///
    /// Where that was off, the server turns it on when a replica has all, which may be never as long as others write. Then it is turned off and
    /// on by hand, and holds when one transaction more was acknowledged: who has received that, has received all before it.
    fn have_commits_wait(&mut self) {
        let primary = self.primary();
        let word = semi_sync_word(self.kind);
        for role in ROLES {
            let waits_ms = if role == primary { COMMIT_WAITS_MS } else { APPLIER_WAITS_MS };
            self.direct(role).ok(format!("SET GLOBAL {word}_timeout = {waits_ms}"));
        }
        let mut client = self.direct(primary);
        let mut status = |name: &str| client.table(format!("SHOW STATUS LIKE '{word}_{name}'"))[0][1].clone();
        let (watch, mut turned_on_at) = (Stopwatch::start(), None);
        while status("status") != "ON" || turned_on_at.as_ref() == Some(&status("yes_tx")) {
            assert!(
                watch.elapsed() < WELL_WITHIN,
                "commits wait for no replica: {:?}",
                self.semi_sync(primary)
            );
            if turned_on_at.is_none() && watch.elapsed() > PATIENCE {
                self.count("turned semi-synchronous replication off and on", primary);
                for value in [0, 1] {
                    self.direct(primary).ok(format!("SET GLOBAL {word}_enabled = {value}"));
                }
                turned_on_at = Some(status("yes_tx"));
                // Is in the binlog and does nothing. Others may write nothing any more.
                self.direct(primary).ok("CREATE DATABASE IF NOT EXISTS chaos");
            }
            std::thread::sleep(LOOK_PAUSE);
        }
    }

    /// What the server says of it.
    fn semi_sync(&self, role: Role) -> Vec<Vec<String>> {
        self.direct(role).table("SHOW STATUS LIKE 'rpl_semi_sync%'")
    }

    /// What an operator does who finds things so. Whether there was something to do.
    fn mend(&mut self, looks: &[Option<Look>; 3], roles: &BTreeMap<u16, String>) -> bool {
        let place_of =
            |is_it: &dyn Fn(&Look) -> bool| looks.iter().position(|look| look.as_ref().is_some_and(is_it));
        let writers = looks.iter().flatten().filter(|look| look.takes_writes).count();
        if writers == 0 {
            // Whom the others follow, or who is left.
            let Some(place) = place_of(&|look| look.threads.is_none()) else { return false };
            self.count("lifted read_only", ROLES[place]);
            self.set_read_only(ROLES[place], 0);
            return true;
        }
        let is_writer = |role: Role| roles.get(&self.port(role)).is_some_and(|role| role == "writer");
        let takes_writes = |look: &Option<Look>| look.as_ref().is_some_and(|look| look.takes_writes);
        let writer = ROLES.into_iter().zip(looks).find(|(role, look)| is_writer(*role) && takes_writes(look));
        let Some((writer, _)) = writer else { return false };
        let source = Some(self.port(writer));
        let runs = |look: &Look| !look.takes_writes && look.threads == Some(2) && look.source == source;
        let astray = ROLES
            .into_iter()
            .zip(looks)
            .find(|(role, look)| !is_writer(*role) && look.as_ref().is_some_and(|look| !runs(look)));
        let Some((role, look)) = astray else { return false };
        let stopped = look
            .as_ref()
            .is_some_and(|look| !look.takes_writes && look.threads.is_some_and(|threads| threads < 2));
        if look.as_ref().is_some_and(|look| look.takes_writes && look.threads == Some(2)) {
            // Its own file does not say that it is a replica.
            self.count("set read_only", role);
            self.set_read_only(role, 1);
            return true;
        }
        if look.as_ref().is_some_and(|look| look.threads.is_some() && look.source != source) {
            // The proxy died when it had promoted one, and had not told this one yet.
            self.count("had a replica follow the primary", role);
            if self.lab.follow(role, writer, PATIENCE).is_ok() {
                return true;
            }
        }
        let word = servers::replica_word(self.kind);
        if stopped {
            let mut client = self.direct(role);
            // One that is between two tries to connect sleeps on where it is only started: a minute, where the proxy has it follow that was a
            // primary before.
            client.ok(format!("STOP {word}"));
            client.ok(format!("START {word}"));
            let runs_now = || self.look(role).is_some_and(|look| look.threads == Some(2));
            if (0..30).any(|_| {
                std::thread::sleep(LOOK_PAUSE);
                runs_now()
            }) {
                self.count("started replication anew", role);
                return true;
            }
        }
        let Some(from) = place_of(&runs) else { return false };
        tell(&format!("  {role} is {:?} to the proxy, and says {look:?}", roles.get(&self.port(role))));
        self.count("built a server anew", role);
        self.lab.rebuild(role, ROLES[from]).expect("a server is built anew");
        true
    }

    fn count(&mut self, what: &'static str, role: Role) {
        tell(&format!("  the operator {what}: {role}"));
        *self.mended.entry(what).or_default() += 1;
    }

    fn is_well(&self, looks: &[Option<Look>; 3], roles: &BTreeMap<u16, String>) -> bool {
        let writer = roles.iter().find(|(_, role)| *role == "writer").map(|(port, _)| *port);
        ROLES.into_iter().zip(looks).all(|(role, look)| {
            let Some(look) = look else { return false };
            match roles.get(&self.port(role)).map(String::as_str) {
                Some("writer") => look.takes_writes && look.threads.is_none(),
                Some("reader") => !look.takes_writes && look.threads == Some(2) && look.source == writer,
                _ => false,
            }
        }) && roles.values().filter(|role| *role == "writer").count() == 1
    }

    fn look(&self, role: Role) -> Option<Look> {
        let mut client = direct(&self.lab, role)?;
        let takes_writes = client.query("SELECT @@global.read_only").ok()?.value() == "0";
        let status = client.query(format!("SHOW {} STATUS", servers::replica_word(self.kind))).ok()?;
        let rows = status.table();
        let threads = rows.first().map(|row| row.iter().filter(|value| *value == "Yes").count().min(2));
        let values: Vec<_> =
            rows.first().map(|row| status.columns.iter().zip(row)).into_iter().flatten().collect();
        let told = values.iter().filter(|(name, value)| {
            ["Last_IO_Error", "Last_SQL_Error"].contains(&name.as_str()) && !value.is_empty()
        });
        let errors = told.map(|(_, value)| (*value).clone()).collect();
        let port = values.iter().find(|(name, _)| ["Master_Port", "Source_Port"].contains(&name.as_str()));
        let source = port.map(|(_, value)| value.parse().expect("a port"));
        Some(Look { takes_writes, threads, source, errors })
    }

    fn roles_by_proxy(&self) -> BTreeMap<u16, String> {
        let rows = self.proxy.operator().table("SELECT port, role FROM stats_nuthatch_servers");
        rows.into_iter().map(|row| (row[0].parse().expect("a port"), row[1].clone())).collect()
    }

    /// Who takes the writes by the servers' own words, or the first; and the others.
    fn standing(&self) -> (Role, [Role; 2]) {
        let takes_writes = |role: &Role| self.look(*role).is_some_and(|look| look.takes_writes);
        let primary = ROLES.into_iter().find(takes_writes).unwrap_or(Role::Primary);
        let others: Vec<_> = ROLES.into_iter().filter(|role| *role != primary).collect();
        (primary, [others[0], others[1]])
    }

    /// Ends what delays or stops replicas by hand.
    pub(crate) fn undo(&self, harm: Harm, primary: Role) {
        let others: Vec<_> = ROLES.into_iter().filter(|role| *role != primary).collect();
        match harm {
            Harm::ReadOnly => self.set_read_only(primary, 0),
            Harm::Writable(place) => self.set_read_only(others[place], 1),
            Harm::Delay(place) => self.lab.set_lag(others[place], 0).expect("it is told"),
            Harm::Apply(place) => {
                let sql = format!("START {} SQL_THREAD", servers::replica_word(self.kind));
                self.direct(others[place]).ok(sql);
            }
            _ => {}
        }
    }

    pub(crate) fn primary(&self) -> Role {
        self.standing().0
    }

    fn set_read_only(&self, role: Role, value: u8) {
        let mut client = self.direct(role);
        let variables: &[&str] = match (self.kind, value) {
            (Kind::MariaDb, _) => &["read_only"],
            (Kind::MySql, 0) => &["super_read_only", "read_only"],
            (Kind::MySql, _) => &["super_read_only"],
        };
        for variable in variables {
            client.ok(format!("SET GLOBAL {variable} = {value}"));
        }
    }

    fn restart_proxy(&mut self, signal: Signal) {
        self.note_losses();
        self.proxy.signal(signal);
        self.proxy.await_exit();
        self.proxy.start_again(&self.setup);
    }

    pub(crate) fn failovers(&self) -> usize {
        self.proxy.log().matches("takes writes").count()
    }

    pub(crate) fn log(&self) -> String {
        self.proxy.log()
    }

    fn note_losses(&mut self) {
        let sql =
            "SELECT time, old_primary, new_primary, known_by, count FROM stats_nuthatch_lost_transactions";
        let rows = self.proxy.operator().table(sql);
        self.losses.extend(rows.into_iter().map(|row| row.try_into().expect("five columns")));
    }

    /// What was told of what is lost.
    pub(crate) fn loss(&mut self) -> Loss {
        if self.semi_sync == SemiSync::AfterSync {
            return Loss::None;
        }
        // A proxy that was started anew looks who takes the writes, and tells then.
        let kept = self.data.path().join("nuthatch-losses.json");
        await_that("what was to be lost is told, or nothing is", || {
            std::fs::read_to_string(&kept).map_or(true, |lines| !lines.contains("Expected"))
        });
        self.note_losses();
        let told =
            self.losses.iter().filter(|row| row[3] == "acknowledged").map(|row| row[4].parse::<u64>().ok());
        let told: Option<u64> = told.sum();
        let is_unknown = self.log().contains("are lost with the old primary is not known");
        told.filter(|_| !is_unknown).map_or(Loss::Unknown, Loss::Told)
    }

    fn direct(&self, role: Role) -> Client {
        direct(&self.lab, role).expect("it answers")
    }

    fn port(&self, role: Role) -> u16 {
        self.lab.server(role).expect("it is there").port()
    }

    /// What is there when nobody writes any more, the same on all servers, and what the proxy shows otherwise. Nothing else is left.
    pub(crate) fn left(&self) -> (Left, Vec<Finding>) {
        servers_agree(self);
        let primary = self.primary();
        let mut client = self.direct(primary);
        let number = |text: &String| -> u64 { text.parse().expect("a number") };
        let rows = client.table("SELECT writer, number, COUNT(*) FROM chaos.w GROUP BY writer, number");
        let rows = rows.iter().map(|row| {
            ((Writer::try_from(number(&row[0])).expect("a writer"), number(&row[1])), number(&row[2]))
        });
        let rows = rows.collect();
        let sql = "SELECT id, version FROM chaos.r ORDER BY id";
        let versions = client.table(sql);
        let mut stale = Vec::new();
        for user in [SPLIT, PLAIN] {
            let mut through =
                Client::connect(&self.address(), &Self::login(user)).expect("the proxy lets it in");
            for row in &versions {
                let shown = through.value(format!("SELECT version FROM chaos.r WHERE id = {}", row[0]));
                if shown != row[1] {
                    let account = format!("in the end {user} is shown {shown} in place of {row:?}");
                    stale.push(Finding { wrong: Wrong::Stale, account });
                }
            }
            through.quit();
        }
        let versions = versions
            .iter()
            .map(|row| (Writer::try_from(number(&row[0])).expect("a writer"), number(&row[1])))
            .collect();
        self.await_nothing_left();
        (Left { rows, versions }, stale)
    }

    fn await_nothing_left(&self) {
        let mut operator = self.proxy.operator();
        let figure = |name: &str| {
            format!("SELECT Variable_Value FROM stats_mysql_global WHERE Variable_Name = '{name}'")
        };
        for (what, sql) in [
            ("connections in use", "SELECT SUM(ConnUsed) FROM stats_mysql_connection_pool".to_owned()),
            ("statements in lines", "SELECT COALESCE(SUM(waiting), 0) FROM stats_nuthatch_lines".to_owned()),
            ("writes that are pending", figure("Query_Cache_Writes_Pending")),
        ] {
            await_that(&format!("there are no {what}"), || operator.value(&sql) == "0");
        }
        let primary = self.primary();
        for role in ROLES {
            let mut client = self.direct(role);
            await_that(&format!("nobody has the named lock on {role}"), || {
                client.value("SELECT IS_USED_LOCK('nuthatch_switchover')") == "NULL"
            });
            let threads = format!(
                "SELECT COUNT(*) FROM information_schema.processlist WHERE user IN ('{SPLIT}', '{PLAIN}')"
            );
            let of_pool = format!("FROM stats_mysql_connection_pool WHERE srv_port = {}", self.port(role));
            let free = format!("SELECT SUM(ConnFree) {of_pool}");
            let watch = Stopwatch::start();
            let number = |text: String| -> u64 { text.parse().expect("a number") };
            // The exact cache watches each replica beside the primary, with a connection to each of the two that is not of the pool.
            let of_cache_max = if role == primary { 2 } else { 1 };
            while !(0..=of_cache_max)
                .contains(&number(client.value(&threads)).wrapping_sub(number(operator.value(&free))))
            {
                assert!(
                    watch.elapsed() < LEFT_WITHIN,
                    "{role} has other connections than the proxy's: {:?}; {:?}",
                    client.table("SHOW PROCESSLIST"),
                    operator.table(format!("SELECT hostgroup, status, ConnUsed, ConnFree {of_pool}"))
                );
                std::thread::sleep(LOOK_PAUSE);
            }
        }
    }
}

/// Returns when all servers have the same.
fn servers_agree(ground: &Ground) {
    let sql = "SELECT COUNT(*), COALESCE(SUM(number), 0), COALESCE(SUM(writer * number), 0), \
               (SELECT SUM(version * id) FROM chaos.r) FROM chaos.w";
    let mut clients = ROLES.map(|role| ground.direct(role));
    let watch = Stopwatch::start();
    loop {
        let [first, others @ ..] = clients.each_mut().map(|client| client.table(sql));
        if others.iter().all(|other| *other == first) {
            return;
        }
        let looks = || ROLES.map(|role| ground.look(role));
        assert!(watch.elapsed() < WELL_WITHIN, "servers differ: {first:?}, {others:?}; {:?}", looks());
        std::thread::sleep(LOOK_PAUSE);
    }
}

fn servers_have_all(lab: &ScratchLab) {
    lab.await_replicas(Duration::from_secs(20)).expect("the replicas catch up");
}

fn semi_sync_word(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "rpl_semi_sync_master",
        Kind::MySql => "rpl_semi_sync_source",
    }
}

/// Past relays and proxies.
fn direct(lab: &ScratchLab, role: Role) -> Option<Client> {
    let socket = lab.server(role).expect("it is there").socket().to_owned();
    Client::connect(&Address::Unix(socket), &servers::account(lab)).ok()
}

fn prepare(primary: &mut Client, kind: Kind, writers: Writer) {
    let monitor = match kind {
        Kind::MariaDb => "SLAVE MONITOR",
        Kind::MySql => "REPLICATION CLIENT",
    };
    for statement in [
        "CREATE DATABASE chaos",
        "CREATE TABLE chaos.w (id BIGINT AUTO_INCREMENT PRIMARY KEY, writer INT NOT NULL, number BIGINT NOT NULL, \
         KEY (writer, number)) ENGINE=InnoDB",
        "CREATE TABLE chaos.r (id INT PRIMARY KEY, version BIGINT NOT NULL) ENGINE=InnoDB",
    ] {
        primary.ok(statement);
    }
    for writer in 1..=writers {
        primary.ok(format!("INSERT INTO chaos.r VALUES ({writer}, 0)"));
    }
    for user in [SPLIT, PLAIN] {
        primary.ok(format!("CREATE USER {user}@'%' IDENTIFIED BY '{PASSWORD}'"));
        primary.ok(format!("GRANT ALL ON chaos.* TO {user}@'%'"));
        // What the exact cache asks the server for.
        primary.ok(format!("GRANT SELECT, SHOW VIEW, TRIGGER, {monitor} ON *.* TO {user}@'%'"));
    }
}

fn complete(setup: Setup, lab: &ScratchLab, data: &TempDir) -> Setup {
    let mut setup = setup
        .flags(["--datadir", data.path().to_str().expect("a plain path")])
        .variable("mysql-monitor_enabled", true)
        .variable("mysql-monitor_read_only_interval", 200)
        .variable("mysql-monitor_ping_interval", 300)
        .variable("mysql-monitor_ping_timeout", 300)
        .variable("mysql-failover", "'auto'")
        .variable("mysql-read_write_split", 1)
        .variable("mysql-query_cache_type", 1)
        .before_pair(lab);
    for user in [SPLIT, PLAIN] {
        setup = setup.user(format!("username='{user}', password='{PASSWORD}', default_hostgroup=10"));
    }
    setup.rule(format!("rule_id=1, username='{PLAIN}', destination_hostgroup=10, apply=1"))
}
