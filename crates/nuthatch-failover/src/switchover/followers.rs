//! Who follows the new primary when it takes the writes: the old one, and its other replicas.

use super::{Field, Steps};
use crate::dialect::{self, Followed};
use crate::gtid::Gtids;
use crate::link::{Failure, Link};
use crate::order::Order;
use crate::survey::Survey;

impl Field {
    /// Returns what is left to do.
    pub(super) async fn have_others_follow(&mut self, order: &Order, steps: &mut Steps) -> Vec<String> {
        let mut left = Vec::new();
        let new_name = self.new.1.name.clone();
        let over_tls = self.new.1.follows.first().is_some_and(|channel| channel.over_tls);
        let followed =
            Followed { host: &new_name.host, port: new_name.port, user: &order.replication.user, over_tls };
        if let Err(failure) = forget_source(&mut self.new).await {
            left.push(format!("{new_name} still knows whom it followed: {failure}"));
        }
        if self.old.1.runs_events {
            left.extend(self.move_events().await);
        }
        let begins_at = self.old.1.has.clone();
        let password = order.replication.password.expose();
        match follow(&mut self.old.0, &followed, password, Some(&begins_at)).await {
            Ok(()) => steps.took(format!("{} follows {new_name}", self.old.1.name)),
            Err(failure) => left.push(format!("{} does not follow {new_name}: {failure}", self.old.1.name)),
        }
        for (link, survey) in &mut self.others {
            if !follows_alone(survey, &self.old.1) {
                continue;
            }
            match follow(link, &followed, password, None).await {
                Ok(()) => steps.took(format!("{} follows {new_name}", survey.name)),
                Err(failure) => left.push(format!("{} does not follow {new_name}: {failure}", survey.name)),
            }
        }
        left
    }

    /// Events run on the new primary: those that ran on the old one.
    async fn move_events(&mut self) -> Vec<String> {
        let (new, name) = (&mut self.new.0, self.new.1.name.clone());
        match enable_events(new).await {
            Ok(()) => Vec::new(),
            Err(failure) => vec![format!("events do not all run on {name}: {failure}")],
        }
    }
}

/// Whether it follows that server by GTID, and nobody else.
fn follows_alone(survey: &Survey, source: &Survey) -> bool {
    matches!(&survey.follows[..], [one] if one.leads_to(source) && one.by_gtid)
}

async fn forget_source((link, survey): &mut (Link, Survey)) -> Result<(), Failure> {
    for channel in &survey.follows {
        link.ask(&dialect::forget_replication(link.flavor, &channel.name)).await?;
    }
    Ok(())
}

/// `begins_at` is what a server has that followed nobody before.
async fn follow(
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

/// A replica has events disabled that run on its source; enabled here, they are disabled there when it follows.
async fn enable_events(link: &mut Link) -> Result<(), Failure> {
    let sql = "SELECT EVENT_SCHEMA, EVENT_NAME, DEFINER FROM information_schema.EVENTS \
               WHERE STATUS IN ('SLAVESIDE_DISABLED', 'REPLICA_SIDE_DISABLED')";
    let events = link.ask(sql).await?.rows;
    for event in &events {
        let text = |place: usize| {
            let value = event.get(place).and_then(Option::as_deref).unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        };
        let definer = text(2);
        let (user, host) = definer.rsplit_once('@').unwrap_or((&definer, "%"));
        link.ask(&format!(
            "ALTER DEFINER = {}@{} EVENT {}.{} ENABLE",
            name(user),
            name(host),
            name(&text(0)),
            name(&text(1))
        ))
        .await?;
    }
    link.ask("SET GLOBAL event_scheduler = ON").await.map(drop)
}

fn name(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}
