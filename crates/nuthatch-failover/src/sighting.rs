//! What a primary has in its binlog, looked at again and again while it is there: when it is gone, what nobody has received of that is lost.

use std::time::Duration;

use nuthatch_sql::{KnownGtids, ServerFlavor};

use crate::link::{Failure, Link};
use crate::order::KnownServer;

/// Looks at one primary, over a connection that stays.
#[derive(Debug, Default)]
pub struct Sighting(Option<Link>);

impl Sighting {
    /// What it has now; none where it does not answer, or has no binlog with GTIDs.
    ///
    /// # Errors
    /// A sentence: it is there, and does not let the account in or tell it.
    pub async fn look(
        &mut self,
        server: &KnownServer,
        patience: Duration,
    ) -> Result<Option<KnownGtids>, String> {
        match self.try_look(server, patience).await {
            Ok(seen) => Ok(seen),
            Err(failure) if failure.is_of_account() => Err(failure.to_string()),
            // The monitor tells of who is not there.
            Err(_) => Ok(None),
        }
    }

    async fn try_look(
        &mut self,
        server: &KnownServer,
        patience: Duration,
    ) -> Result<Option<KnownGtids>, Failure> {
        let mut link = match self.0.take().filter(|link| link.name == server.0) {
            Some(link) => link,
            None => Link::to(server, patience).await?,
        };
        let seen = ask(&mut link).await?;
        self.0 = Some(link);
        Ok(seen)
    }
}

async fn ask(link: &mut Link) -> Result<Option<KnownGtids>, Failure> {
    let sql = match link.flavor {
        ServerFlavor::MariaDb(_) => "SELECT @@global.gtid_binlog_state AS seen",
        ServerFlavor::MySql(_) => "SELECT @@global.gtid_executed AS seen",
    };
    let text = link.ask(sql).await?.text("seen").unwrap_or_default();
    Ok(KnownGtids::parse(link.flavor, &text))
}
