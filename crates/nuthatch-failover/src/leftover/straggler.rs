//! A replica that was left behind: it tries in vain to connect to a server that is gone, or was told to receive nothing more of it, while
//! another one takes the writes.
//!
//! A failover has replicas receive nothing more before another one takes the writes, and tells all others to follow that at its end. Who was
//! not there then, or was not told because the proxy ended before, is found by this, whoever did the failover. It follows the primary only if
//! that has all that it has.

use std::time::Duration;

use super::care::{Care, Leftover};
use crate::dialect::Followed;
use crate::following::{Telling, follow, may_follow};
use crate::link::Failure;
use crate::order::KnownServer;
use crate::survey::{Channel, Survey};
use crate::votes;

/// Looks at a replica of a pair whose servers are `pair`, and whose writes `writer` takes.
pub(super) async fn look(
    replica: &KnownServer,
    writer: &KnownServer,
    pair: &[KnownServer],
    care: Care<'_>,
    patience: Duration,
) -> Result<Leftover, Failure> {
    let (mut link, survey) = Survey::at(replica, patience).await?;
    let [channel] = &survey.follows[..] else { return Ok(Leftover::None) };
    let source = pair.iter().find(|(name, ..)| *name == channel.source);
    let (true, Some(source)) = (survey.is_read_only && channel.source != writer.0, source) else {
        return Ok(Leftover::None);
    };
    let is_left_behind = match stands(channel) {
        Stands::InVain => true,
        // Who takes part in a chain of replicas was stopped by somebody.
        Stands::Deaf => !is_a_replica(source, patience).await,
        Stands::Otherwise => false,
    };
    if !is_left_behind {
        return Ok(Leftover::None);
    }
    let (_, of_primary) = Survey::at(writer, patience).await?;
    if of_primary.is_read_only || channel.leads_to(&of_primary) {
        return Ok(Leftover::None);
    }
    let gone = &channel.source;
    let Care::Repair(replication) = care else {
        return Ok(Leftover::Found(format!(
            "{} follows {gone}, of which it receives nothing, and {} takes the writes",
            survey.name, of_primary.name
        )));
    };
    if of_primary.name.port == 0 {
        let (name, new) = (&survey.name, &of_primary.name);
        return Ok(Leftover::Left(format!(
            "{new} is known by its socket only: {name} cannot follow it there"
        )));
    }
    let applies = channel.applies == "Yes";
    let delay_s = match may_follow(&survey, &of_primary, &of_primary.everything(), applies) {
        Ok(delay_s) => delay_s,
        Err(why) => return Ok(Leftover::Left(why)),
    };
    votes::take(&mut link, votes::AT_MOST).await?;
    let followed =
        Followed { source: &of_primary.name, user: &replication.user, over_tls: channel.over_tls, delay_s };
    // Nobody changes roles meanwhile, and it is looked for again.
    let telling = Telling { patience, tries: 1 };
    Ok(match follow(&mut link, &followed, replication.password.expose(), None, telling).await {
        Ok(()) => Leftover::Mended(format!("a replica that was left behind follows {} now", of_primary.name)),
        Err(why) => Leftover::Left(format!("{} does not follow {}: {why}", survey.name, of_primary.name)),
    })
}

/// What a replica's threads say of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// It tries to connect.
    InVain,
    /// It receives nothing, and applies what it has: so a failover has it.
    Deaf,
    /// It is connected, or somebody has stopped it.
    Otherwise,
}

fn stands(channel: &Channel) -> Stands {
    match (channel.fetches.as_str(), channel.applies.as_str()) {
        ("Connecting", _) => Stands::InVain,
        ("No", "Yes") => Stands::Deaf,
        _ => Stands::Otherwise,
    }
}

/// Whether that server is there, and a replica itself.
async fn is_a_replica(server: &KnownServer, patience: Duration) -> bool {
    let asked = Survey::at(server, patience).await;
    asked.is_ok_and(|(_, survey)| survey.is_read_only && !survey.follows.is_empty())
}
