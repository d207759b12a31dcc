//! Who follows the new primary when it takes the writes: the old one, and its other replicas.

use super::{Event, Field};
use crate::dialect::Followed;
use crate::following::{AT_LEISURE, follow, forget_source};
use crate::link::Link;
use crate::order::Order;
use crate::steps::Steps;
use crate::survey::Survey;

impl Field {
    /// Returns what is left to do.
    pub(super) async fn have_others_follow(&mut self, order: &Order, steps: &mut Steps) -> Vec<String> {
        let mut left = Vec::new();
        let new_name = self.new.1.name.clone();
        let over_tls = self.new.1.follows.first().is_some_and(|channel| channel.over_tls);
        let followed =
            |delay_s| Followed { source: &new_name, user: &order.replication.user, over_tls, delay_s };
        if let Err(failure) = forget_source(&mut self.new.0, &self.new.1).await {
            left.push(format!("{new_name} still knows whom it followed: {failure}"));
        }
        if self.old.1.runs_events {
            left.extend(enable_events(&mut self.new.0, &self.events).await);
        }
        let begins_at = self.old.1.has.clone();
        let password = order.replication.password.expose();
        match follow(&mut self.old.0, &followed(0), password, Some(&begins_at), AT_LEISURE).await {
            Ok(()) => steps.took(format!("{} follows {new_name}", self.old.1.name)),
            Err(why) => left.push(format!("{} does not follow {new_name}: {why}", self.old.1.name)),
        }
        for (link, survey) in &mut self.others {
            let Some(delay_s) = may_follow(survey, &self.old.1) else { continue };
            match follow(link, &followed(delay_s), password, None, AT_LEISURE).await {
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
