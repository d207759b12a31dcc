//! Who follows the new primary when it takes the writes: the old one, and its other replicas.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Event, Field, Steps};
use crate::dialect::{self, Followed};
use crate::gtid::Gtids;
use crate::link::{Failure, Link};
use crate::order::Order;
use crate::survey::Survey;

/// How long a server may take until it fetches from its new source.
const TO_CONNECT: Duration = Duration::from_secs(10);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

impl Field {
    /// Returns what is left to do.
    pub(super) async fn have_others_follow(&mut self, order: &Order, steps: &mut Steps) -> Vec<String> {
        let mut left = Vec::new();
        let new_name = self.new.1.name.clone();
        let over_tls = self.new.1.follows.first().is_some_and(|channel| channel.over_tls);
        let followed = |delay_s| Followed {
            host: &new_name.host,
            port: new_name.port,
            user: &order.replication.user,
            over_tls,
            delay_s,
        };
        if let Err(failure) = forget_source(&mut self.new).await {
            left.push(format!("{new_name} still knows whom it followed: {failure}"));
        }
        if self.old.1.runs_events {
            left.extend(enable_events(&mut self.new.0, &self.events).await);
        }
        let begins_at = self.old.1.has.clone();
        let password = order.replication.password.expose();
        match follow(&mut self.old.0, &followed(0), password, Some(&begins_at)).await {
            Ok(()) => steps.took(format!("{} follows {new_name}", self.old.1.name)),
            Err(why) => left.push(format!("{} does not follow {new_name}: {why}", self.old.1.name)),
        }
        for (link, survey) in &mut self.others {
            let Some(delay_s) = may_follow(survey, &self.old.1) else { continue };
            match follow(link, &followed(delay_s), password, None).await {
                Ok(()) => steps.took(format!("{} follows {new_name}", survey.name)),
                Err(why) => left.push(format!("{} does not follow {new_name}: {why}", survey.name)),
            }
        }
        left
    }
}

/// With how much delay a replica will follow, if it follows the old primary by GTID, nobody else, and runs: others are left as they are.
fn may_follow(survey: &Survey, source: &Survey) -> Option<u64> {
    match &survey.follows[..] {
        [one] if one.leads_to(source) && one.by_gtid && one.name.is_empty() && one.runs() => {
            Some(one.delay_s)
        }
        _ => None,
    }
}

async fn forget_source((link, survey): &mut (Link, Survey)) -> Result<(), Failure> {
    for channel in &survey.follows {
        link.ask(&dialect::forget_replication(link.flavor, &channel.name)).await?;
    }
    Ok(())
}

/// `begins_at` is what a server has that followed nobody before. Returns when it fetches.
async fn follow(
    link: &mut Link,
    followed: &Followed<'_>,
    password: &str,
    begins_at: Option<&Gtids>,
) -> Result<(), String> {
    let told = tell_to_follow(link, followed, password, begins_at).await;
    told.map_err(|failure| failure.to_string())?;
    let began = Instant::now();
    loop {
        let survey = Survey::of(link).await.map_err(|failure| failure.to_string())?;
        match survey.follows.first() {
            Some(channel) if channel.runs() => return Ok(()),
            Some(channel) if began.elapsed() > TO_CONNECT => {
                let (fetches, applies, error) = (&channel.fetches, &channel.applies, &channel.error);
                return Err(format!("its threads say {fetches} and {applies}: {error}"));
            }
            None if began.elapsed() > TO_CONNECT => return Err("it says that it follows nobody".to_owned()),
            _ => sleep(PAUSE).await,
        }
    }
}

async fn tell_to_follow(
    link: &mut Link,
    followed: &Followed<'_>,
    password: &str,
    begins_at: Option<&Gtids>,
) -> Result<(), Failure> {
    let (order, told) = dialect::follow(link.flavor, followed, password);
    link.ask(dialect::stop_replication(link.flavor)).await?;
    if let (true, Some(begins_at)) = (link.is_mariadb(), begins_at) {
        link.ask(&format!("SET GLOBAL gtid_slave_pos = '{begins_at}'")).await?;
    }
    link.tell_secretly(&order, &told).await?;
    link.ask(dialect::start_replication(link.flavor)).await.map(drop)
}

/// A replica has events disabled that run on its source; enabled here, they are disabled there when it follows. Returns what is left to do.
async fn enable_events(link: &mut Link, events: &[Event]) -> Vec<String> {
    let mut left = Vec::new();
    for event in events {
        let sql = format!(
            "ALTER DEFINER = {}@{} EVENT {}.{} ENABLE",
            name(&event.definer.0),
            name(&event.definer.1),
            name(&event.schema),
            name(&event.name)
        );
        if let Err(failure) = link.ask(&sql).await {
            left.push(format!("an event does not run yet: {failure}"));
        }
    }
    if let Err(failure) = link.ask("SET GLOBAL event_scheduler = ON").await {
        left.push(format!("no events run yet: {failure}"));
    }
    left
}

fn name(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}
