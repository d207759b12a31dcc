//! The heir takes writes: the step behind which there is no way back.

use std::time::Duration;

use nuthatch_config::ServerName;
use tokio::time::sleep;

use super::catch_up::hold;
use super::field::Field;
use crate::link::{Failure, Link};
use crate::steps::Steps;
use crate::votes::{Votes, take_for_a_while};

/// How often the heir is told to take writes, if its connections are lost.
const TRIES_MAX: u32 = 5;
const TRIES_PAUSE: Duration = Duration::from_millis(300);

/// Why the heir does not take writes.
pub(super) enum Stop {
    /// It surely does not.
    AsBefore(String),
    /// Nobody knows.
    Unknown { why: String, left: Vec<String> },
}

impl Stop {
    fn unknown(heir: &ServerName, why: &str) -> Self {
        Self::Unknown {
            why: why.to_owned(),
            left: vec![format!(
                "find out whether {heir} takes writes (SELECT @@global.read_only); if not, lift read_only there and have \
                 the others follow it"
            )],
        }
    }
}

/// The heir takes writes from now on.
pub(super) async fn lift(
    place: usize,
    field: &mut Field,
    votes: &mut Votes,
    steps: &mut Steps,
) -> Result<(), Stop> {
    hold(votes, field, place).await.map_err(Stop::AsBefore)?;
    let mut tries_left = TRIES_MAX;
    loop {
        let (link, survey) = &mut field.asked[place];
        let failure = match link.take_writes(true).await {
            Ok(()) => {
                steps.took(format!("{} takes writes", survey.name));
                return Ok(());
            }
            Err(failure @ Failure::Refused { .. }) => {
                return match link.take_writes(false).await {
                    Ok(()) => Err(Stop::AsBefore(failure.to_string())),
                    Err(_) => Err(Stop::unknown(&survey.name, &failure.to_string())),
                };
            }
            Err(failure) => failure,
        };
        tries_left -= 1;
        if tries_left == 0 {
            return Err(Stop::unknown(&survey.name, &failure.to_string()));
        }
        sleep(TRIES_PAUSE).await;
        let (name, failure) = (survey.name.clone(), failure.to_string());
        let relinked = votes.stay_awake(relink(link)).await;
        // Somebody else may have the other votes by then, and have put another one in its place.
        let held = match relinked {
            Ok(true) => hold(votes, field, place).await,
            Ok(false) => Ok(()),
            Err(why) => Err(why),
        };
        held.map_err(|why| Stop::unknown(&name, &format!("{failure}; {why}")))?;
    }
}

/// Whether there is another connection in the place of one that is lost, with its vote: what was told over that one is over then.
async fn relink(link: &mut Link) -> bool {
    let Ok(mut fresh) = link.relinked().await else { return false };
    let has_vote = take_for_a_while(&mut fresh).await.is_ok();
    if has_vote {
        *link = fresh;
    }
    has_vote
}
