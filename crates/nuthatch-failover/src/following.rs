//! A server follows another one, and fetches from it.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::dialect::{self, Before, Followed};
use crate::gtid::Gtids;
use crate::link::{Failure, Link};
use crate::survey::Survey;
use crate::votes;

/// How a server is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Telling {
    /// How long it may take for each order: it stops behind the statement that it applies.
    pub(crate) patience: Duration,
    /// How often it is told where the answer does not come.
    pub(crate) tries: u32,
}

/// Where nobody waits for it.
pub(crate) const AT_LEISURE: Telling = Telling { patience: Duration::from_secs(10), tries: 2 };

/// How long a server may take until it fetches from its new source.
const TO_CONNECT: Duration = Duration::from_secs(10);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A server that follows nobody any more has forgotten whom it followed.
pub(crate) async fn forget_source(link: &mut Link, survey: &Survey) -> Result<(), Failure> {
    for channel in &survey.follows {
        link.ask(&dialect::forget_replication(link.flavor, &channel.name)).await?;
    }
    Ok(())
}

/// With how much delay a replica, which `applies` what it receives or does not, will follow the server that takes the writes and has
/// `everything`; or why it is left as it is.
pub(crate) fn may_follow(
    its: &Survey,
    new: &Survey,
    everything: &Gtids,
    applies: bool,
) -> Result<u64, String> {
    let [channel] = &its.follows[..] else {
        return Err(format!("{} is left as it is: it follows nobody, or several", its.name));
    };
    if !applies || !channel.by_gtid || !channel.name.is_empty() {
        return Err(format!(
            "{} does not follow {}: it does not apply, or not by GTID and without a name",
            its.name, new.name
        ));
    }
    match everything.holds(&its.come_to(), new.server_id) {
        true => Ok(channel.delay_s),
        false => Err(format!("{} has what {} does not have: {}", its.name, new.name, its.come_to())),
    }
}

/// `begins_at` is what a server has that followed nobody before. Returns when it fetches.
pub(crate) async fn follow(
    link: &mut Link,
    followed: &Followed<'_>,
    password: &str,
    begins_at: Option<&Gtids>,
    telling: Telling,
) -> Result<(), String> {
    let mut told = tell_to_follow(link, followed, password, begins_at, telling.patience).await;
    for _ in 1..telling.tries {
        if matches!(told, Err(Failure::Lost { .. })) && anew(link).await.is_ok() {
            told = tell_again(link, followed, password, begins_at.is_some(), telling.patience).await;
        }
    }
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

/// The connection is another one, with its vote.
async fn anew(link: &mut Link) -> Result<(), Failure> {
    let mut fresh = link.relinked().await?;
    votes::take_for_a_while(&mut fresh).await?;
    *link = fresh;
    Ok(())
}

/// How far the last telling has come is not known. What has begun to follow may have applied more since than it began with.
async fn tell_again(
    link: &mut Link,
    followed: &Followed<'_>,
    password: &str,
    followed_nobody: bool,
    patience: Duration,
) -> Result<(), Failure> {
    let survey = Survey::of(link).await?;
    if matches!(&survey.follows[..], [channel] if channel.source == *followed.source) {
        let start = dialect::start_replication(link.flavor);
        return link.ask_within(start, patience, start).await.map(drop);
    }
    tell_to_follow(link, followed, password, followed_nobody.then_some(&survey.has), patience).await
}

async fn tell_to_follow(
    link: &mut Link,
    followed: &Followed<'_>,
    password: &str,
    begins_at: Option<&Gtids>,
    patience: Duration,
) -> Result<(), Failure> {
    let before = if begins_at.is_some() { Before::Nobody } else { Before::Follower };
    let (order, told) = dialect::follow(link.flavor, followed, password, before);
    let (stop, start) = (dialect::stop_replication(link.flavor), dialect::start_replication(link.flavor));
    link.ask_within(stop, patience, stop).await?;
    if let (true, Some(begins_at)) = (link.is_mariadb(), begins_at) {
        link.ask(&format!("SET GLOBAL gtid_slave_pos = '{begins_at}'")).await?;
    }
    link.ask_within(&order, patience, &told).await?;
    link.ask_within(start, patience, start).await.map(drop)
}
