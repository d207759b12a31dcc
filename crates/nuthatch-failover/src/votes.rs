//! Who may change the roles of a pair: who has the named lock of more than half of **all** its servers, those that are dead included.
//!
//! A lock goes with its connection. It is looked for again before each step, on the heir first: so that connection is the first that the
//! servers close should this proxy stand still (`HELD`), and what is ordered on it then is not done. Two that have a majority have one
//! server in common, so there is one of them.

use std::time::Duration;

use tokio::time::Instant;

use crate::link::{Failure, Link};

/// Servers close a voting connection on which nothing has been asked for so long.
const HELD: Duration = Duration::from_secs(10);

/// Who has not looked at its votes for so long has stood still, and begins anew.
const STANDSTILL: Duration = Duration::from_secs(5);

/// How many votes are more than half.
pub(crate) const fn majority(servers: usize) -> usize {
    servers / 2 + 1
}

/// That connection has the lock of its server, which nobody else has then.
pub(crate) async fn take(link: &mut Link) -> Result<(), Failure> {
    let answer = link.ask("SELECT GET_LOCK('nuthatch_switchover', 0) AS got").await?;
    match answer.value("got") {
        Some(b"1") => Ok(()),
        _ => Err(Failure::Lost {
            server: link.name.clone(),
            why: "another switchover or failover is under way there (the named lock nuthatch_switchover is taken)"
                .to_owned(),
        }),
    }
}

/// The same, and the server closes the connection on which nothing is asked for.
pub(crate) async fn take_for_a_while(link: &mut Link) -> Result<(), Failure> {
    link.ask(&format!("SET SESSION wait_timeout = {}", HELD.as_secs())).await?;
    take(link).await
}

/// Votes that must not outlive a proxy that stands still.
#[derive(Debug)]
pub(crate) struct Votes {
    needed: usize,
    looked: Instant,
}

impl Votes {
    /// All of these connections have the locks of their servers; or there are fewer than are needed, or somebody else has one. They are
    /// asked in one order by everybody, so that of two who ask at once one gets all.
    pub(crate) async fn take(
        links: impl Iterator<Item = &mut Link>,
        needed: usize,
        of: usize,
    ) -> Result<Self, String> {
        let looked = Instant::now();
        let mut links: Vec<_> = links.collect();
        if links.len() < needed {
            return Err(format!(
                "this proxy reaches {} of the pair's {of} servers, and a majority of all takes {needed}",
                links.len()
            ));
        }
        links.sort_by(|one, other| one.name.cmp(&other.name));
        for link in links {
            take_for_a_while(link).await.map_err(|failure| failure.to_string())?;
        }
        Ok(Self { needed, looked })
    }

    /// There are still enough, the heir's among them, and this proxy has not stood still.
    pub(crate) async fn hold(
        &mut self,
        heir: &mut Link,
        others: impl Iterator<Item = &mut Link>,
    ) -> Result<(), String> {
        let stood_still = |looked: Instant| {
            let stood = looked.elapsed();
            (stood > STANDSTILL).then(|| {
                format!("this proxy stood still for {} ms: what it has seen is old", stood.as_millis())
            })
        };
        if let Some(why) = stood_still(self.looked) {
            return Err(why);
        }
        let began = Instant::now();
        if !has(heir).await {
            return Err(format!("the named lock on {} is lost", heir.name));
        }
        let mut held = 1;
        for link in others {
            held += usize::from(has(link).await);
        }
        if held < self.needed {
            return Err(format!("this proxy has {held} votes left, and {} are needed", self.needed));
        }
        if let Some(why) = stood_still(began) {
            return Err(why);
        }
        self.looked = began;
        Ok(())
    }
}

async fn has(link: &mut Link) -> bool {
    let asked = link.ask("SELECT IS_USED_LOCK('nuthatch_switchover') = CONNECTION_ID() AS own").await;
    asked.is_ok_and(|answer| answer.value("own") == Some(b"1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_majorities_have_a_server_in_common() {
        for servers in 1..20 {
            assert!(2 * majority(servers) > servers && majority(servers) <= servers, "{servers}");
        }
        assert_eq!([1, 2, 3, 4, 5].map(majority), [1, 2, 2, 3, 3]);
    }

    #[test]
    fn connection_outlives_no_standstill() {
        assert!(2 * STANDSTILL <= HELD);
    }
}
