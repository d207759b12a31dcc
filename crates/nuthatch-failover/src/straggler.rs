//! A replica that was left behind: it tries in vain to connect to a server that is gone, while another one takes the writes.
//!
//! A failover tells all others to follow the new primary at its end. Who was not there then, or was not told because the proxy ended
//! before, is found by this, whoever did the failover. It follows the primary only if that has all that it has.

use std::time::Duration;

use nuthatch_config::ServerName;

use crate::dialect::Followed;
use crate::following::{follow, may_follow};
use crate::link::{Failure, Link};
use crate::order::{Account, KnownServer};
use crate::survey::Survey;
use crate::votes;

/// How a replica stands to the server that takes the writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Straggler {
    /// It is none: it follows that server or another one that is there, or is not to be touched.
    None,
    /// It is one: a sentence.
    Found(String),
    /// It was one, and follows that server now.
    Follows,
    /// It is one, and could not be made to follow: a sentence.
    Left(String),
}

/// What is done about a straggler.
#[derive(Clone, Copy, Debug)]
pub enum Care<'a> {
    /// It is told of.
    Look,
    /// It is made to follow: replicas log in as this account.
    Repair(&'a Account),
}

/// Looks at a replica of a pair whose servers are `pair`, and whose writes `writer` takes.
pub async fn look_for_straggler(
    replica: &KnownServer,
    writer: &KnownServer,
    pair: &[ServerName],
    care: Care<'_>,
    patience: Duration,
) -> Straggler {
    match look(replica, writer, pair, care, patience).await {
        Ok(found) => found,
        // Who cannot be asked is told of by the monitor.
        Err(failure) => {
            tracing::debug!(replica = %replica.0, %failure, "whether a replica was left behind is not known");
            Straggler::None
        }
    }
}

async fn look(
    replica: &KnownServer,
    writer: &KnownServer,
    pair: &[ServerName],
    care: Care<'_>,
    patience: Duration,
) -> Result<Straggler, Failure> {
    let mut link = Link::to(replica, patience).await?;
    let survey = Survey::of(&mut link).await?;
    let [channel] = &survey.follows[..] else { return Ok(Straggler::None) };
    let tries_in_vain = is_left_behind(&channel.source, &channel.fetches, &writer.0, pair);
    if !survey.is_read_only || !tries_in_vain {
        return Ok(Straggler::None);
    }
    let mut primary = Link::to(writer, patience).await?;
    let of_primary = Survey::of(&mut primary).await?;
    if of_primary.is_read_only || channel.leads_to(&of_primary) {
        return Ok(Straggler::None);
    }
    let gone = &channel.source;
    let Care::Repair(replication) = care else {
        return Ok(Straggler::Found(format!(
            "{} follows {gone}, which it does not reach, and {} takes the writes",
            survey.name, of_primary.name
        )));
    };
    if of_primary.name.port == 0 {
        let (name, new) = (&survey.name, &of_primary.name);
        return Ok(Straggler::Left(format!(
            "{new} is known by its socket only: {name} cannot follow it there"
        )));
    }
    let applies = channel.applies == "Yes";
    let delay_s = match may_follow(&survey, &of_primary, &of_primary.everything(), applies) {
        Ok(delay_s) => delay_s,
        Err(why) => return Ok(Straggler::Left(why)),
    };
    votes::take(&mut link).await?;
    let followed =
        Followed { source: &of_primary.name, user: &replication.user, over_tls: channel.over_tls, delay_s };
    Ok(match follow(&mut link, &followed, replication.password.expose(), None).await {
        Ok(()) => Straggler::Follows,
        Err(why) => Straggler::Left(format!("{} does not follow {}: {why}", survey.name, of_primary.name)),
    })
}

/// Whether who follows `source`, and whose thread says that it `fetches`, follows another server of the pair than the one that writes, and is
/// not connected to it.
fn is_left_behind(source: &ServerName, fetches: &str, writer: &ServerName, pair: &[ServerName]) -> bool {
    fetches == "Connecting" && source != writer && pair.contains(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_follows_the_writer_or_somebody_from_elsewhere_is_none() {
        let name = |host: &str| ServerName { host: host.to_owned(), port: 3306 };
        let pair = ["a", "b", "c"].map(name);
        for (source, fetches, is_one) in [
            ("a", "Connecting", true),
            ("a", "Yes", false),
            ("a", "No", false),
            ("b", "Connecting", false),
            ("elsewhere", "Connecting", false),
        ] {
            assert_eq!(
                is_left_behind(&name(source), fetches, &name("b"), &pair),
                is_one,
                "{source} {fetches}"
            );
        }
    }
}
