//! Who may change the roles of a pair: who has the named lock of more than half of **all** its servers, those that are dead included.
//!
//! A lock goes with its connection. It is looked for again before each step, on the heir first: so that connection is the first that the
//! servers close should this proxy stand still (`HELD`), and what is ordered on it then is not done. Two that have a majority have one
//! server in common, so there is one of them.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use nuthatch_config::ServerName;
use tokio::time::{Instant, timeout};

use crate::link::{Failure, Link};

/// Servers close a voting connection on which nothing has been asked for so long.
const HELD: Duration = Duration::from_secs(10);

/// Who has not been seen awake for so long has stood still, and begins anew.
const STANDSTILL: Duration = Duration::from_secs(5);

/// Between two looks whether it is awake.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// How many votes are more than half.
pub(crate) const fn majority(servers: usize) -> usize {
    servers / 2 + 1
}

/// How long what is done to one server, or behind all that is waited for, may take: what a host leaves that dies in between hinders others for
/// no longer.
pub(crate) const AT_MOST: Duration = Duration::from_secs(60);

/// That connection has the lock of its server, which nobody else has then. The server closes it when nothing has been asked on it for so long.
pub(crate) async fn take(link: &mut Link, at_most: Duration) -> Result<(), Failure> {
    link.ask(&format!("SET SESSION wait_timeout = {}", at_most.as_secs().max(1))).await?;
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

/// The same of a vote that is looked for again and again.
pub(crate) async fn take_for_a_while(link: &mut Link) -> Result<(), Failure> {
    take(link, HELD).await
}

/// Votes that must not outlive a proxy that stands still.
#[derive(Debug)]
pub(crate) struct Votes {
    needed: usize,
    taken: usize,
    /// When this proxy was seen awake last.
    awake: Instant,
}

impl Votes {
    /// All of these connections have the locks of their servers, but for those that may be done without; or there are fewer than are needed, or
    /// somebody else has one. They are asked in one order by everybody, so that of two who ask at once one gets all.
    pub(crate) async fn take(
        links: impl Iterator<Item = &mut Link>,
        needed: usize,
        of: usize,
        may_do_without: impl Fn(&ServerName) -> bool,
    ) -> Result<Self, String> {
        let awake = Instant::now();
        let mut links: Vec<_> = links.collect();
        if links.len() < needed {
            return Err(format!(
                "this proxy reaches {} of the pair's {of} servers, and a majority of all takes {needed}",
                links.len()
            ));
        }
        links.sort_by(|one, other| one.name.cmp(&other.name));
        let (mut taken, mut last) = (0, None);
        for link in links {
            match take_for_a_while(link).await {
                Ok(()) => taken += 1,
                // Somebody has it follow just now.
                Err(failure) if may_do_without(&link.name) => last = Some(failure),
                Err(failure) => return Err(failure.to_string()),
            }
        }
        match last.filter(|_| taken < needed) {
            Some(failure) => Err(failure.to_string()),
            None => Ok(Self { needed, taken, awake }),
        }
    }

    /// How many servers have given theirs.
    pub(crate) const fn taken(&self) -> usize {
        self.taken
    }

    /// There are still enough, the heir's among them, and this proxy has not stood still.
    pub(crate) async fn hold(
        &mut self,
        heir: &mut Link,
        others: impl Iterator<Item = &mut Link>,
    ) -> Result<(), String> {
        stood_still_since(self.awake)?;
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
        stood_still_since(began)?;
        self.awake = began;
        Ok(())
    }

    /// Does what keeps the voting connections at work, or takes less than servers leave them open; this proxy does not stand still meanwhile.
    pub(crate) async fn stay_awake<T>(&mut self, work: impl Future<Output = T>) -> Result<T, String> {
        let mut work = pin!(work);
        loop {
            let done = timeout(LOOK, &mut work).await;
            stood_still_since(self.awake)?;
            self.awake = Instant::now();
            if let Ok(done) = done {
                return Ok(done);
            }
        }
    }
}

/// An error where it did, since it was seen awake then.
fn stood_still_since(awake: Instant) -> Result<(), String> {
    let stood = awake.elapsed();
    match stood > STANDSTILL {
        true => Err(format!("this proxy stood still for {} ms: what it has seen is old", stood.as_millis())),
        false => Ok(()),
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

    #[tokio::test(start_paused = true)]
    async fn long_work_is_no_standstill() {
        let mut votes = Votes { needed: 2, taken: 2, awake: Instant::now() };
        let work = tokio::time::sleep(2 * STANDSTILL);
        assert_eq!(votes.stay_awake(work).await, Ok(()));
        // Who is not polled for so long has stood still.
        tokio::time::advance(STANDSTILL + LOOK).await;
        assert!(
            votes.stay_awake(async {}).await.expect_err("it stood still").contains("stood still for 6000 ms")
        );
    }
}
