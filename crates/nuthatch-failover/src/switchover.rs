//! A planned change of the primary.
//!
//! 1. New statements wait. What is under way ends, or is ended when its time is over.
//! 2. The old primary is made read-only; what it has then is all that was acknowledged.
//! 3. The new one has applied all of that. It stops following.
//! 4. **Its read_only is lifted.** Until then every failure leaves the old primary as it was; from then on there is no way back, as
//!    somebody may have written there: what fails is told as left to do.
//! 5. Statements go there. The others follow it.

mod followers;
mod interrupted;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{AccessFinding, ServerName};
use tokio::time::{Instant, sleep};

use crate::acknowledgements::{AT_FIRST, Acknowledgements};
use crate::dialect;
use crate::gtid::Gtids;
use crate::hindrance::{self, Finding, Weight, refused};
use crate::link::{Failure, Link};
use crate::order::{Begun, Limits, Order};
use crate::steps::{Outcome, Step, Steps};
use crate::survey::Survey;
use crate::traffic::Traffic;
use crate::votes;
pub use interrupted::{Interrupted, look_at_interrupted, take_back};

/// The servers of a pair, each asked.
struct Field {
    old: (Link, Survey),
    new: (Link, Survey),
    others: Vec<(Link, Survey)>,
    /// Of those that could not be asked.
    findings: Vec<Finding>,
    /// What runs on the old primary by itself.
    events: Vec<Event>,
}

/// An event that is enabled.
struct Event {
    schema: String,
    name: String,
    /// User and host.
    definer: (String, String),
}

/// Says what would hinder the switchover, and what is to be known of it. Nothing is touched.
pub async fn check(traffic: &Arc<dyn Traffic>, order: &Order) -> Vec<Finding> {
    let mut field = match Field::survey(order).await {
        Ok(field) => field,
        Err(findings) => return findings,
    };
    let mut findings = field.judge();
    findings.extend(field.of_accounts(order).await);
    findings.extend(hindrance::of_work(&traffic.unfinished(order.cluster.hostgroup)));
    if findings.iter().all(|one| one.weight != Weight::Refused) {
        findings.push(hindrance::fine(format!(
            "{} can take the writes of hostgroup {}",
            order.to, order.cluster.hostgroup
        )));
    }
    findings.sort_by_key(|one| one.weight);
    findings
}

/// Has the new primary take the writes, or leaves things as they were; see the module's doc. To be run to its end: it must not be dropped.
pub async fn switch_over(traffic: &Arc<dyn Traffic>, order: &Order) -> (Outcome, Vec<Step>) {
    let mut steps = Steps::begin("switchover");
    let mut field = match Field::survey(order).await {
        Ok(field) => field,
        Err(findings) => return (Outcome::Refused(findings), steps.taken),
    };
    let findings = field.judge();
    if findings.iter().any(|one| one.weight == Weight::Refused) {
        return (Outcome::Refused(findings), steps.taken);
    }
    let outcome = field.switch(traffic, order, &mut steps).await;
    (outcome, steps.taken)
}

impl Field {
    async fn survey(order: &Order) -> Result<Self, Vec<Finding>> {
        let cluster = &order.cluster;
        let Some(writer) = &cluster.writer else {
            let what = format!(
                "hostgroup {} has no writer: there is nothing to change by a switchover",
                cluster.hostgroup
            );
            return Err(vec![refused(what)]);
        };
        if *writer == order.to {
            return Err(vec![refused(format!(
                "{writer} is the writer of hostgroup {} already",
                cluster.hostgroup
            ))]);
        }
        if !cluster.servers.iter().any(|(name, ..)| *name == order.to) {
            let what = format!("{} does not stand in the pair of hostgroup {}", order.to, cluster.hostgroup);
            return Err(vec![refused(what)]);
        }
        if order.replication.user.is_empty() {
            let what = "replicas need an account to log in to the new primary with: set mysql-replication_username and \
                        mysql-replication_password (GRANT REPLICATION SLAVE ON *.* TO it)";
            return Err(vec![refused(what)]);
        }
        let (mut old, mut new, mut others, mut findings) = (None, None, Vec::new(), Vec::new());
        for server in &cluster.servers {
            let name = &server.0;
            let is_needed = name == writer || *name == order.to;
            match Survey::at(server, order.limits.answer).await {
                Ok(one) if name == writer => old = Some(one),
                Ok(one) if *name == order.to => new = Some(one),
                Ok(one) => others.push(one),
                Err(failure) if is_needed => return Err(vec![refused(failure.to_string())]),
                Err(failure) => findings.push(hindrance::warning(format!("{failure}: it will not follow"))),
            }
        }
        findings.extend(Self::try_replication(order).await);
        match (old, new) {
            (Some((mut link, _)), Some(new)) => {
                let survey = Self::of_primary(&mut link, &new.1, order.limits.answer)
                    .await
                    .map_err(|failure| vec![refused(failure.to_string())])?;
                Ok(Self { old: (link, survey), new, others, findings, events: Vec::new() })
            }
            _ => Err(vec![refused(format!("{writer} is not among the servers of the pair any more"))]),
        }
    }

    /// Asks the old primary, after the others: what they have was there before. A transaction of its own that only the new one has is being
    /// committed, and waited for: MySQL counts it as executed when replicas may have applied it already.
    async fn of_primary(link: &mut Link, new: &Survey, patience: Duration) -> Result<Survey, Failure> {
        let survey = Survey::of(link).await?;
        if !survey.has.lacks_only_of(&new.has, &survey.uuid) {
            return Ok(survey);
        }
        link.has_applied(&new.has, patience).await?;
        Survey::of(link).await
    }

    /// Whether others can log in to the new primary; the account may be for their hosts only.
    async fn try_replication(order: &Order) -> Option<Finding> {
        let mut servers = order.cluster.servers.iter();
        let (name, address, login) = servers.find(|(name, ..)| *name == order.to)?;
        let login = nuthatch_net::AskerLogin {
            user: order.replication.user.clone(),
            password: nuthatch_net::BackendPassword::of(order.replication.password.expose()),
            ..login.as_ref().ok()?.clone()
        };
        let failure = Link::open(name, address, &login, order.limits.answer).await.err()?;
        Some(hindrance::warning(format!(
            "{failure}; if it is for the hosts of replicas only, that is as it should be"
        )))
    }

    fn judge(&self) -> Vec<Finding> {
        let others: Vec<_> = self.others.iter().map(|(_, survey)| survey.clone()).collect();
        let mut findings = self.findings.clone();
        findings.extend(hindrance::of_servers(&self.old.1, &self.new.1, &others));
        findings
    }

    /// Accounts that write although the server is read-only. MySQL's super_read_only binds all.
    async fn of_accounts(&mut self, order: &Order) -> Vec<Finding> {
        let link = &mut self.old.0;
        if !link.is_mariadb() {
            return Vec::new();
        }
        let sql = "SELECT GROUP_CONCAT(DISTINCT GRANTEE SEPARATOR ', ') AS accounts FROM information_schema.USER_PRIVILEGES \
                   WHERE PRIVILEGE_TYPE IN ('SUPER', 'READ_ONLY ADMIN', 'READ ONLY ADMIN')";
        let own =
            order.cluster.servers.iter().find_map(|(.., login)| Some(login.as_ref().ok()?.user.clone()));
        match link.ask(sql).await {
            Ok(answer) => {
                let accounts = answer.text("accounts").unwrap_or_default();
                let of_others = accounts.split(", ").filter(|account| {
                    !own.as_ref().is_some_and(|own| account.starts_with(&format!("'{own}'@")))
                });
                let of_others: Vec<_> = of_others.filter(|account| !account.is_empty()).collect();
                match of_others.is_empty() {
                    true => Vec::new(),
                    false => vec![hindrance::warning(format!(
                        "these accounts write although {} is read-only, and must not: {}",
                        link.name,
                        of_others.join(", ")
                    ))],
                }
            }
            Err(failure) => vec![refused(failure.to_string())],
        }
    }

    async fn switch(&mut self, traffic: &Arc<dyn Traffic>, order: &Order, steps: &mut Steps) -> Outcome {
        let hostgroup = order.cluster.hostgroup;
        if let Err(failure) = self.prepare(order, steps).await {
            return Outcome::Refused(vec![refused(failure.to_string())]);
        }
        for warning in self.of_accounts(order).await {
            steps.took(warning.to_string());
        }
        traffic.begins(&Begun {
            hostgroup,
            old: self.old.1.name.clone(),
            new: order.to.clone(),
            ran_events: self.old.1.runs_events,
        });
        let holding = traffic.hold(hostgroup, &format!("a switchover to {} is under way", order.to));
        steps.took(format!("statements of hostgroup {hostgroup} wait"));
        if let Err(why) = waiting::until_finished(&*holding, traffic, &order.limits, steps).await {
            return Outcome::RolledBack(why);
        }
        let mut handed_over = self.hand_over(order, steps).await;
        if handed_over.is_ok() {
            handed_over = self.lift(steps).await;
        }
        if let Err(failure) = handed_over {
            let left = self.take_back(order, steps).await;
            let why = failure.to_string();
            if !left.is_empty() {
                return Outcome::Unfinished { why, left };
            }
            if steps.is_read_only() {
                traffic.has_become(&self.old.1.name, &AccessFinding::Writable);
            }
            return Outcome::RolledBack(why);
        }
        // The old one first: it is cut off, and what is exact of it forgotten, before the new one is sent anything.
        traffic.has_become(&self.old.1.name, &AccessFinding::ReadOnly);
        traffic.has_become(&self.new.1.name, &AccessFinding::Writable);
        drop(holding);
        steps.took(format!("statements of hostgroup {hostgroup} go to {}", order.to));
        let left = self.have_others_follow(order, steps).await;
        match left.is_empty() {
            true => Outcome::Done,
            false => Outcome::Unfinished { why: format!("{} takes the writes", order.to), left },
        }
    }

    /// Nobody else changes the old primary; what must be allowed is; and while statements still run, the new primary has what the old one
    /// had: so they wait for little.
    async fn prepare(&mut self, order: &Order, steps: &mut Steps) -> Result<(), Failure> {
        let Limits { transactions, pins, catch_up, .. } = order.limits;
        let at_most = transactions + pins + catch_up * 2 + votes::AT_MOST;
        votes::take(&mut self.old.0, at_most).await?;
        votes::take(&mut self.new.0, at_most).await?;
        for (link, _) in &mut self.others {
            votes::take(link, at_most).await?;
        }
        // It is so already: this asks for the right.
        self.new.0.ask("SET GLOBAL read_only = 1").await?;
        if self.old.1.runs_events {
            self.events = events(&mut self.old.0).await?;
        }
        let has = Survey::of(&mut self.old.0).await?.has;
        wait_for(&mut self.new.0, &has, &self.old.1.name, order).await?;
        steps.took(format!("{} is near enough", order.to));
        Ok(())
    }

    /// The old primary takes no more writes, and the new one has all of them: it can take its own.
    async fn hand_over(&mut self, order: &Order, steps: &mut Steps) -> Result<(), Failure> {
        let (old, old_survey) = &mut self.old;
        let (new, _) = &mut self.new;
        // Somebody else may have changed roles meanwhile.
        for (link, is_read_only) in [(&mut *old, false), (&mut *new, true)] {
            let now = Survey::of(link).await?;
            if now.is_read_only != is_read_only {
                let why = "somebody else has changed its read_only meanwhile".to_owned();
                return Err(Failure::Lost { server: now.name, why });
            }
        }
        if old_survey.runs_events {
            steps.note_events_ended();
            old.ask("SET GLOBAL event_scheduler = OFF").await?;
        }
        steps.note_read_only();
        old.take_writes(false).await?;
        steps.took(format!("{} is read-only", old.name));
        let mut has = Survey::of(old).await?.has;
        let began = Instant::now();
        loop {
            wait_for(new, &has, &old.name, order).await?;
            // Who may write despite read_only, may have.
            let now = Survey::of(old).await?.has;
            if now == has {
                break;
            }
            if began.elapsed() > order.limits.catch_up {
                let why =
                    "somebody writes there although it is read-only (SUPER, READ_ONLY ADMIN)".to_owned();
                return Err(Failure::Lost { server: old.name.clone(), why });
            }
            has = now;
        }
        steps.took(format!("{} has all of it: {has}", new.name));
        steps.note_replication_stopped();
        new.ask(dialect::stop_replication(new.flavor)).await?;
        old_survey.has = has;
        Ok(())
    }

    /// The old primary is as it was before. Returns what could not be undone.
    async fn take_back(&mut self, order: &Order, steps: &mut Steps) -> Vec<String> {
        let mut left = Vec::new();
        if !steps.is_read_only() && !steps.has_ended_events() {
            return left;
        }
        if let Err(failure) = self.is_new_read_only().await {
            // Two that take writes are worse than none.
            left.push(format!(
                "find out whether {} takes writes (SELECT @@global.read_only): {failure}",
                order.to
            ));
            left.push(format!(
                "if not, lift read_only on {}, or on {}, and only on one",
                self.old.1.name, order.to
            ));
            return left;
        }
        let mut on_old: Vec<&str> = Vec::new();
        if steps.is_read_only() {
            on_old.extend(dialect::take_writes(self.old.0.flavor, true));
        }
        if steps.has_ended_events() {
            on_old.push("SET GLOBAL event_scheduler = ON");
        }
        if let Err(failure) = have_done(&mut self.old.0, &on_old).await {
            left.push(format!("on {}, {}: {failure}", self.old.1.name, on_old.join("; ")));
        }
        if steps.has_stopped_replication() {
            let start = [dialect::start_replication(self.new.0.flavor)];
            if let Err(failure) = have_done(&mut self.new.0, &start).await {
                left.push(format!("on {}, {}: {failure}", self.new.1.name, start[0]));
            }
        }
        if left.is_empty() {
            steps.took("what was done is undone".to_owned());
        }
        left
    }

    /// Whether the new primary surely takes no writes, and nothing that it was told is still to be done there.
    async fn is_new_read_only(&mut self) -> Result<(), Failure> {
        have_done(&mut self.new.0, &["SELECT 1"]).await?;
        let survey = Survey::of(&mut self.new.0).await?;
        match survey.is_read_only {
            true => Ok(()),
            false => Err(Failure::Lost { server: survey.name, why: "it takes writes".to_owned() }),
        }
    }

    /// The new primary takes writes. An error says that this is not known, or not so, and that the old one must not.
    async fn lift(&mut self, steps: &mut Steps) -> Result<(), Failure> {
        let link = &mut self.new.0;
        // To say it twice does no harm.
        let lifted = have_done(link, dialect::take_writes(link.flavor, true)).await;
        if lifted.is_ok() {
            steps.took(format!("{} takes writes", link.name));
        }
        lifted
    }
}

/// Returns when the server has applied all of it. It waits for acknowledgements as before.
async fn wait_for(link: &mut Link, has: &Gtids, of: &ServerName, order: &Order) -> Result<(), Failure> {
    let limit = order.limits.catch_up;
    let mut acknowledgements = Acknowledgements::default();
    let waited = async {
        if link.has_applied(has, AT_FIRST.min(limit)).await? {
            return Ok(true);
        }
        acknowledgements.forgo(link).await?;
        link.has_applied(has, limit.saturating_sub(AT_FIRST)).await
    };
    let why = match waited.await {
        Ok(true) => return acknowledgements.restore(link).await,
        Ok(false) => {
            let seconds = limit.as_secs_f64();
            format!("it did not have all of {of} within {seconds} s (mysql-switchover_catch_up_ms)")
        }
        Err(failure) => failure.to_string(),
    };
    let left = acknowledgements.restore(link).await.err();
    let left = left.map_or_else(String::new, |failure| format!("; {failure}"));
    Err(Failure::Lost { server: link.name.clone(), why: why + &left })
}

/// How often a server is tried that has something to be told.
const TRIES_MAX: u32 = 5;

/// The orders are done, all of them, in this order; over other connections if this one is lost, and then what it was told last is over
/// before.
async fn have_done(link: &mut Link, orders: &[&str]) -> Result<(), Failure> {
    let mut tries_left = TRIES_MAX;
    loop {
        let mut failed = None;
        for sql in orders {
            if let Err(failure) = link.ask(sql).await {
                failed = Some(failure);
                break;
            }
        }
        let Some(failure) = failed else { return Ok(()) };
        tries_left -= 1;
        if tries_left == 0 || matches!(failure, Failure::Refused { .. }) {
            return Err(failure);
        }
        match link.relinked().await {
            Ok(fresh) => *link = fresh,
            Err(_) => sleep(RELINK_PAUSE).await,
        }
    }
}

/// The events that are enabled.
async fn events(link: &mut Link) -> Result<Vec<Event>, Failure> {
    let sql =
        "SELECT EVENT_SCHEMA, EVENT_NAME, DEFINER FROM information_schema.EVENTS WHERE STATUS = 'ENABLED'";
    let event = |[schema, name, definer]: [String; 3]| {
        let (user, host) = definer.rsplit_once('@').unwrap_or((&definer, "%"));
        Event { schema, name, definer: (user.to_owned(), host.to_owned()) }
    };
    Ok(link.ask(sql).await?.texts().map(event).collect())
}

const RELINK_PAUSE: Duration = Duration::from_millis(500);
