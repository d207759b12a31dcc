//! Another server in the place of a primary that is gone.
//!
//! 1. *Evidence*: this proxy does not reach it, no replica is connected to it, and one at least tries in vain (`evidence.rs`).
//! 2. *Choice*: the replica that has received all that any other has (`choice.rs`). Up to here nothing is touched.
//! 3. *Votes*: named locks on the majority of all servers (`votes.rs`), looked for again before each step from here on.
//! 4. *Fencing*: the operator's command; then our connections to the old primary are cut, and nothing is sent there any more.
//! 5. Nobody receives anything more of it, the heir applies what it has received, and what it lacks of what was acknowledged is known.
//! 6. **Its read_only is lifted.** Until then every failure leaves things as they were; from then on there is no way back.
//! 7. Statements go there, the others follow it.

mod catch_up;
mod choice;
mod demand;
mod evidence;
mod fencing;
mod field;
mod lift;

use std::pin::pin;
use std::sync::Arc;

use nuthatch_config::{AccessFinding, LossMax, ServerName};
use nuthatch_sql::KnownGtids;
use tokio::join;
use tokio::time::{Instant, timeout};

use crate::at_once;
use crate::dialect::{self, Followed};
use crate::following::{AT_LEISURE, follow, forget_source, may_follow};
use crate::hindrance::{self, Finding, Weight, refused};
use crate::link::{Failure, Link};
use crate::loss::{Lacking, allow};
use crate::order::KnownServer;
use crate::steps::{Outcome, Step, Steps};
use crate::survey::Survey;
use crate::traffic::{Promoted, Replaced, Traffic};
use crate::votes::{LOOK, Votes, majority};
use catch_up::{catch_up, hold};
use choice::{Wanted, choose};
pub use demand::{Cause, Demand};
pub use evidence::Silence;
use evidence::{Connections, Look, Verdict, judge};
pub use fencing::FenceCommand;
use field::{Field, look, receive};
use lift::{Stop, lift};

/// What came of a failover.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// What was done.
    pub steps: Vec<Step>,
    /// Who takes the writes now, or may, if somebody new was told to.
    pub promoted: Option<Promoted>,
    /// Whether replicas were told to connect to the old primary anew: that is not to be done often.
    pub has_disturbed: bool,
}

/// Says whether there would be a failover, to whom, and why not. Nothing is touched.
pub async fn check_failover(traffic: &Arc<dyn Traffic>, demand: &Demand) -> Vec<Finding> {
    let old = match old_primary(demand) {
        Ok(old) => old,
        Err(why) => return vec![refused(why)],
    };
    let (seen, field) = join!(look(old, demand.look), Field::ask(demand, &old.0));
    let mut findings = Vec::new();
    match judge(&old.0, &seen, demand.silence, &field.views(&old.0), Connections::AsTheyWere) {
        Verdict::Gone(words) => findings.push(hindrance::fine(words)),
        Verdict::NotGone(words) => findings.push(refused(words)),
        Verdict::LetThemConnectAnew(names) => findings.push(hindrance::warning(format!(
            "{} does not answer, and replicas are connected to it as far as they know: they would be told to connect anew \
             ({})",
            old.0,
            names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ))),
    }
    match heir(&field, demand, &old.0) {
        Ok(place) => {
            let heir = &field.asked[place].1;
            findings.push(hindrance::fine(format!("{} would take the writes", heir.name)));
            findings.push(match loss(traffic, demand, heir, &old.0) {
                Ok(lost) if lost.iter().flatten().all(Lacking::is_none) => {
                    hindrance::fine(loss_in_words(&lost))
                }
                Ok(lost) => hindrance::warning(loss_in_words(&lost)),
                Err(why) => refused(why),
            });
        }
        Err(why) => findings.extend(why),
    }
    let missing = field.missing.iter().map(|(_, why)| hindrance::warning(why.clone()));
    findings.extend(missing);
    let (reached, needed) = (field.asked.len(), majority(demand.configured));
    if reached < needed {
        let what = format!(
            "this proxy reaches {reached} of the pair's {} servers, and a majority of all takes {needed}",
            demand.configured
        );
        findings.push(match demand.cause {
            Cause::Auto => refused(what),
            Cause::Order => hindrance::warning(what),
        });
    }
    findings.sort_by_key(|one| one.weight);
    findings
}

/// Has another server take the writes, or leaves things as they were; see the module's doc. To be run to its end: it must not be dropped.
pub async fn fail_over(traffic: &Arc<dyn Traffic>, demand: &Demand) -> Report {
    let mut steps = Steps::begin("failover");
    let mut course = Course { traffic, demand, has_disturbed: false, promoted: None };
    let outcome = course.run(&mut steps).await;
    let Course { has_disturbed, promoted, .. } = course;
    Report { outcome, steps: steps.taken, promoted, has_disturbed }
}

/// One failover.
struct Course<'a> {
    traffic: &'a Arc<dyn Traffic>,
    demand: &'a Demand,
    has_disturbed: bool,
    promoted: Option<Promoted>,
}

/// What was touched before the heir takes writes.
#[derive(Default)]
struct Touched {
    is_fenced: bool,
    /// Receive nothing any more, each with the name of its channel.
    deaf: Vec<(ServerName, String)>,
}

impl Touched {
    fn has_deafened(&self, server: &ServerName) -> bool {
        self.deaf.iter().any(|(name, _)| name == server)
    }
}

impl Course<'_> {
    async fn run(&mut self, steps: &mut Steps) -> Outcome {
        let demand = self.demand;
        let refuse = |why: String| Outcome::Refused(vec![refused(why)]);
        let old = match old_primary(demand) {
            Ok(old) => old,
            Err(why) => return refuse(why),
        };
        let (seen, mut field) = join!(look(old, demand.look), Field::ask(demand, &old.0));
        let gone = match self.is_gone(&old.0, &seen, &mut field).await {
            Ok(words) => words,
            Err(why) => return refuse(why),
        };
        match heir(&field, demand, &old.0) {
            Err(findings) => return Outcome::Refused(findings),
            Ok(place) => {
                if let Err(why) = loss(self.traffic, demand, &field.asked[place].1, &old.0) {
                    return refuse(why);
                }
            }
        }
        let needed = match demand.cause {
            Cause::Auto => majority(demand.configured),
            Cause::Order => 1,
        };
        let links = field.asked.iter_mut().map(|(link, _)| link);
        let may_do_without = |name: &ServerName| demand.keeps_out(name) && demand.to.as_ref() != Some(name);
        let mut votes = match Votes::take(links, needed, demand.configured, may_do_without).await {
            Ok(votes) => votes,
            Err(why) => return refuse(why),
        };
        steps.took(gone);
        steps.took(format!("this proxy has {} votes of {}", votes.taken(), demand.configured));
        self.replace(old, &mut field, &mut votes, steps).await
    }

    /// Whether the primary is gone, with what shows it; or why that is not certain.
    async fn is_gone(&mut self, old: &ServerName, seen: &Look, field: &mut Field) -> Result<String, String> {
        let silence = self.demand.silence;
        let mut verdict = judge(old, seen, silence, &field.views(old), Connections::AsTheyWere);
        if let Verdict::LetThemConnectAnew(names) = &verdict {
            self.has_disturbed = true;
            if let Err(failure) = field.connect_anew(names).await {
                let left = self.have_all_receive(names, field).await;
                return Err([vec![failure.to_string()], left].concat().join("; "));
            }
            field.ask_again().await;
            verdict = judge(old, seen, silence, &field.views(old), Connections::Anew);
        }
        match verdict {
            Verdict::Gone(words) => Ok(words),
            Verdict::NotGone(why) => Err(why),
            Verdict::LetThemConnectAnew(_) => {
                Err(format!("replicas of {old} do not say whether it is there"))
            }
        }
    }

    /// With the votes: everything else.
    async fn replace(
        &mut self,
        old: &KnownServer,
        field: &mut Field,
        votes: &mut Votes,
        steps: &mut Steps,
    ) -> Outcome {
        let (hostgroup, traffic) = (self.demand.cluster.hostgroup, self.traffic);
        let holding = traffic.hold(hostgroup, &format!("a failover is under way: {} is gone", old.0));
        let mut touched = Touched::default();
        let began = Instant::now();
        // A silent one takes as long as may be waited for it.
        let patience = self.demand.look;
        let (prepared, mut seen) =
            join!(self.prepare(old, field, votes, &mut touched, steps), look(old, patience));
        if began.elapsed() > patience * 2 {
            seen = look(old, patience).await;
        }
        let prepared = match prepared {
            Ok(_) if seen == Look::Answers => Err(Stop::AsBefore(format!("{} answers again", old.0))),
            Ok(place) => {
                if let Some(promoted) = &self.promoted {
                    traffic.promotes(hostgroup, promoted);
                }
                lift(place, field, votes, steps).await.map(|()| place)
            }
            Err(why) => Err(Stop::AsBefore(why)),
        };
        let over_tls = self.promoted.as_ref().is_some_and(|promoted| promoted.over_tls);
        let place = match prepared {
            Ok(place) => place,
            Err(Stop::AsBefore(why)) => {
                let left = self.take_back(&old.0, field, &touched, steps).await;
                return match left.is_empty() {
                    true => Outcome::RolledBack(why),
                    false => Outcome::Unfinished { why, left },
                };
            }
            // The old one stays fenced: two that take writes are worse than none.
            Err(Stop::Unknown { why, left }) => {
                traffic.replaced(hostgroup, &Replaced { old: &old.0, new: None, over_tls });
                return Outcome::Unfinished { why, left };
            }
        };
        let new = field.asked[place].1.name.clone();
        traffic.replaced(hostgroup, &Replaced { old: &old.0, new: Some(&new), over_tls });
        traffic.has_become(&new, &AccessFinding::Writable);
        drop(holding);
        steps.took(format!("statements of hostgroup {hostgroup} go to {new}"));
        let left = self.have_others_follow(place, field, &touched, steps).await;
        match left.is_empty() {
            true => Outcome::Done,
            false => Outcome::Unfinished { why: format!("{new} takes the writes"), left },
        }
    }

    /// The old primary is fenced, nobody receives anything of it any more, and the heir has applied all that it has received.
    async fn prepare(
        &mut self,
        old: &KnownServer,
        field: &mut Field,
        votes: &mut Votes,
        touched: &mut Touched,
        steps: &mut Steps,
    ) -> Result<usize, String> {
        let (demand, name) = (self.demand, &old.0);
        if let Some(command) = &demand.fence {
            self.run_fence_command(command, name, field, votes).await?;
            steps.took(format!("mysql-failover_fence_command says that {name} is fenced"));
        }
        touched.is_fenced = true;
        self.traffic.fence(demand.cluster.hostgroup, name, "it was gone, and a failover was begun");
        steps.took(format!("this proxy's connections to {name} are cut"));
        // What takes long, while nothing else is touched: should this proxy end meanwhile, replicas go on as before.
        let place = heir(field, demand, name).map_err(|findings| words(&findings))?;
        catch_up(field, votes, place, demand).await?;
        votes.stay_awake(deafen(field, touched)).await??;
        field.ask_again().await;
        let place = heir(field, demand, name).map_err(|findings| words(&findings))?;
        hold(votes, field, place).await?;
        let lost = loss(self.traffic, demand, &field.asked[place].1, name)?;
        steps.took(loss_in_words(&lost));
        let [lost, lost_of_seen] = lost;
        let heir = &field.asked[place].1;
        let over_tls = heir.follows.first().is_some_and(|channel| channel.over_tls);
        let new = heir.name.clone();
        self.promoted = Some(Promoted { old: name.clone(), new, lost, lost_of_seen, over_tls });
        let received = catch_up(field, votes, place, demand).await?;
        steps.took(format!("{} has applied all that it has received: {received}", field.asked[place].1.name));
        for silenced in silence_kept_out(field, demand).await? {
            steps.took(format!("{silenced}, which was replaced before, is made read-only: it took writes"));
        }
        Ok(place)
    }

    /// The command says that the old primary is fenced; the votes are this proxy's all the while. It is waited for in any case: half of a fence
    /// is none.
    async fn run_fence_command(
        &self,
        command: &FenceCommand,
        old: &ServerName,
        field: &mut Field,
        votes: &mut Votes,
    ) -> Result<(), String> {
        let place = heir(field, self.demand, old).map_err(|findings| words(&findings))?;
        let mut running = pin!(command.run(old, self.demand.cluster.hostgroup));
        let mut held = Ok(());
        loop {
            match timeout(LOOK, &mut running).await {
                Ok(ended) => return ended.and(held),
                Err(_elapsed) if held.is_ok() => held = hold(votes, field, place).await,
                Err(_elapsed) => {}
            }
        }
    }

    /// Everything is as it was before. Returns what could not be undone.
    async fn take_back(
        &mut self,
        old: &ServerName,
        field: &mut Field,
        touched: &Touched,
        steps: &mut Steps,
    ) -> Vec<String> {
        self.promoted = None;
        let mut left = Vec::new();
        for (name, channel) in &touched.deaf {
            let known = field.asked.iter_mut().find(|(link, _)| link.name == *name);
            left.extend(self.have_receive(known.map(|(link, _)| link), name, channel).await.err());
        }
        // Another one may have taken its place before, and nobody know.
        if touched.is_fenced && !self.demand.keeps_out(old) {
            self.traffic.readmit(self.demand.cluster.hostgroup, old);
        }
        if left.is_empty() && touched.is_fenced {
            steps.took("what was done is undone".to_owned());
        }
        left
    }

    /// Replicas that were told to connect anew receive, however that ended. Returns what could not be done.
    async fn have_all_receive(&self, names: &[ServerName], field: &mut Field) -> Vec<String> {
        let named = field.asked.iter_mut().filter(|(link, _)| names.contains(&link.name));
        let telling = named.filter_map(|(link, survey)| {
            let [channel] = &survey.follows[..] else { return None };
            let name = link.name.clone();
            Some(async move { self.have_receive(Some(link), &name, &channel.name).await })
        });
        at_once::all(telling).await.into_iter().filter_map(Result::err).collect()
    }

    /// A replica receives again what its source sends; told over another connection where that one is lost. An error says what is left to do.
    async fn have_receive(
        &self,
        known: Option<&mut Link>,
        name: &ServerName,
        channel: &str,
    ) -> Result<(), String> {
        if let Some(link) = known
            && receive(link, channel, true).await.is_ok()
        {
            return Ok(());
        }
        let to_do = |why: String| format!("{name} receives nothing: start its IO thread ({why})");
        let server = self.demand.cluster.servers.iter().find(|(known, ..)| known == name);
        let (_, address, login) = server.ok_or_else(|| to_do("nobody knows it any more".to_owned()))?;
        let login = login.as_ref().map_err(|why| to_do(why.clone()))?;
        let told = async {
            let mut link = Link::open(name, address, login, self.demand.answer).await?;
            receive(&mut link, channel, true).await
        };
        told.await.map_err(|failure: Failure| to_do(failure.to_string()))
    }

    /// Returns what is left to do.
    async fn have_others_follow(
        &self,
        place: usize,
        field: &mut Field,
        touched: &Touched,
        steps: &mut Steps,
    ) -> Vec<String> {
        let (mut link, survey) = field.asked.swap_remove(place);
        // Somebody looks for those already.
        field.asked.retain(|(_, survey)| !self.demand.keeps_out(&survey.name));
        let missing = field.missing.iter().filter(|(name, _)| !self.demand.keeps_out(name));
        let mut left: Vec<_> = missing.map(|(_, why)| format!("{why}: it does not follow yet")).collect();
        let everything = survey.everything();
        if let Err(failure) = link.ask(dialect::stop_replication(link.flavor)).await {
            left.push(format!("{} still applies what it has received: {failure}", survey.name));
        } else if let Err(failure) = forget_source(&mut link, &survey).await {
            left.push(format!("{} still knows whom it followed: {failure}", survey.name));
        }
        match sleeping_events(&mut link).await {
            Ok(events) if events.is_empty() => {}
            Ok(events) => steps.took(format!(
                "which events ran on the old primary is not known: enable those that did ({events})"
            )),
            Err(failure) => left.push(format!("look for events that do not run any more: {failure}")),
        }
        let over_tls = self.promoted.as_ref().is_some_and(|promoted| promoted.over_tls);
        let (replication, everything) = (&self.demand.replication, &everything);
        let heir = &survey;
        let following = field.asked.iter_mut().map(|(link, its)| async move {
            let delay_s = may_follow(its, heir, everything, touched.has_deafened(&its.name))?;
            let followed = Followed { source: &heir.name, user: &replication.user, over_tls, delay_s };
            match follow(link, &followed, replication.password.expose(), None, AT_LEISURE).await {
                Ok(()) => Ok(format!("{} follows {}", its.name, heir.name)),
                Err(why) => Err(format!("{} does not follow {}: {why}", its.name, heir.name)),
            }
        });
        for followed in at_once::all(following).await {
            match followed {
                Ok(what) => steps.took(what),
                Err(why) => left.push(why),
            }
        }
        left
    }
}

/// What the heir lacks of what was acknowledged, and of what was seen; an error says that it is too much.
fn loss(
    traffic: &Arc<dyn Traffic>,
    demand: &Demand,
    heir: &Survey,
    old: &ServerName,
) -> Result<[Option<Lacking>; 2], String> {
    let everything = heir.everything();
    let lacks = |of: Option<KnownGtids>| of.map(|known| everything.lacks(&known));
    let (lost, of_seen) = (lacks(traffic.acknowledged(old)), lacks(traffic.seen(old)));
    // An operator who has said so takes any.
    let max = if demand.cause == Cause::Order { LossMax::Any } else { demand.max_loss };
    allow(lost.as_ref(), of_seen.as_ref(), max, old)?;
    Ok([lost, of_seen])
}

/// The same in words.
fn loss_in_words([lost, of_seen]: &[Option<Lacking>; 2]) -> String {
    match (lost, of_seen.as_ref().filter(|lost| !lost.is_none())) {
        (Some(lost), _) if !lost.is_none() => {
            format!("{} acknowledged transactions are lost: {}", lost.count, lost.gtids)
        }
        (Some(_), Some(lost)) => format!(
            "nothing that was acknowledged here is lost, and {} other transactions: {}",
            lost.count, lost.gtids
        ),
        (None, Some(lost)) => format!(
            "what was acknowledged is not known, {} transactions are lost at least: {}",
            lost.count, lost.gtids
        ),
        (Some(_), None) => "nothing that was acknowledged is lost".to_owned(),
        (None, None) => "what was acknowledged is not known".to_owned(),
    }
}

/// The old primary, and how it is reached.
fn old_primary(demand: &Demand) -> Result<&KnownServer, String> {
    let cluster = &demand.cluster;
    let hostgroup = cluster.hostgroup;
    let Some(writer) = &cluster.writer else {
        return Err(format!("nobody knows who was the writer of hostgroup {hostgroup}"));
    };
    if demand.to.as_ref() == Some(writer) {
        return Err(format!("{writer} is the writer of hostgroup {hostgroup} already"));
    }
    if demand.replication.user.is_empty() {
        return Err(
            "replicas need an account to log in to the new primary with: set mysql-replication_username and \
                    mysql-replication_password (GRANT REPLICATION SLAVE ON *.* TO it)"
                .to_owned(),
        );
    }
    let known = cluster.servers.iter().find(|(name, ..)| name == writer);
    known.ok_or_else(|| format!("{writer} is not among the servers of the pair any more"))
}

fn heir(field: &Field, demand: &Demand, old: &ServerName) -> Result<usize, Vec<Finding>> {
    let surveys = field.surveys();
    let old = field.primary(old, &surveys);
    let Demand { may_write, kept_out, .. } = demand;
    choose(&surveys, &Wanted { old, may_write, kept_out, to: demand.to.as_ref() })
}

fn words(findings: &[Finding]) -> String {
    let refusals = findings.iter().filter(|one| one.weight == Weight::Refused);
    refusals.map(|one| one.what.as_str()).collect::<Vec<_>>().join("; ")
}

/// Who applies what it receives receives nothing more. Of others the threads are left as they are: MariaDB begins with an empty relay log
/// where both are started anew.
async fn deafen(field: &mut Field, touched: &mut Touched) -> Result<(), String> {
    let applies = |survey: &Survey| match &survey.follows[..] {
        [one] if one.applies == "Yes" => Some(one.name.clone()),
        _ => None,
    };
    let telling = field.asked.iter_mut().filter_map(|(link, survey)| {
        let channel = applies(survey)?;
        touched.deaf.push((survey.name.clone(), channel.clone()));
        Some(async move { receive(link, &channel, false).await })
    });
    let told: Result<Vec<()>, Failure> = at_once::all(telling).await.into_iter().collect();
    told.map(drop).map_err(|failure| failure.to_string())
}

/// Old primaries that are kept out take no writes any more, as they are found now; returns which did. The heir by order of an operator follows
/// somebody, and is read-only.
async fn silence_kept_out(field: &mut Field, demand: &Demand) -> Result<Vec<ServerName>, String> {
    let mut silenced = Vec::new();
    for (link, _) in field.asked.iter_mut().filter(|(_, survey)| demand.keeps_out(&survey.name)) {
        let in_words = |failure: Failure| failure.to_string();
        if !Survey::of(link).await.map_err(in_words)?.is_read_only {
            link.take_writes(false).await.map_err(in_words)?;
            silenced.push(link.name.clone());
        }
    }
    Ok(silenced)
}

/// Events that do not run because they came from a source, by name.
async fn sleeping_events(link: &mut Link) -> Result<String, Failure> {
    let sql = "SELECT COALESCE(GROUP_CONCAT(EVENT_SCHEMA, '.', EVENT_NAME ORDER BY EVENT_SCHEMA, EVENT_NAME SEPARATOR ', '), '') \
               AS events FROM information_schema.EVENTS WHERE STATUS LIKE '%SIDE_DISABLED'";
    Ok(link.ask(sql).await?.text("events").unwrap_or_default())
}
