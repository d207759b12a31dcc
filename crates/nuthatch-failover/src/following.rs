//! A server follows another one, and fetches from it.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::dialect::{self, Before, Followed};
use crate::gtid::Gtids;
use crate::link::{Failure, Link};
use crate::survey::Survey;
use crate::votes;

/// How long a server may take to do what it is told: it stops behind the statement that it applies, and nobody waits for it any more.
const TO_DO: Duration = Duration::from_secs(10);

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
) -> Result<(), String> {
    let mut told = tell_to_follow(link, followed, password, begins_at).await;
    // It may have stopped, and not started. All of it can be told again.
    if matches!(told, Err(Failure::Lost { .. })) && anew(link).await.is_ok() {
        told = tell_to_follow(link, followed, password, begins_at).await;
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
    votes::take(&mut fresh).await?;
    *link = fresh;
    Ok(())
}

async fn tell_to_follow(
    link: &mut Link,
    followed: &Followed<'_>,
    password: &str,
    begins_at: Option<&Gtids>,
) -> Result<(), Failure> {
    let before = if begins_at.is_some() { Before::Nobody } else { Before::Follower };
    let (order, told) = dialect::follow(link.flavor, followed, password, before);
    let (stop, start) = (dialect::stop_replication(link.flavor), dialect::start_replication(link.flavor));
    link.ask_within(stop, TO_DO, stop).await?;
    if let (true, Some(begins_at)) = (link.is_mariadb(), begins_at) {
        link.ask(&format!("SET GLOBAL gtid_slave_pos = '{begins_at}'")).await?;
    }
    link.ask_within(&order, TO_DO, &told).await?;
    link.ask_within(start, TO_DO, start).await.map(drop)
}
