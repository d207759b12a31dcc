//! A replica that takes the source's side of semi-synchronous replication too, and has no replicas of its own.
//!
//! Each commit of its applier waits there for an acknowledgement that nobody gives, up to `rpl_semi_sync_…_timeout` (10 s, or for ever). What
//! it applies is acknowledged already: by itself. So while a server is waited for that is to take the writes, that side is off, and on
//! again before the first write.

use std::time::Duration;

use crate::link::{Failure, Link};

/// How long a server is waited for that is to take the writes, before it is asked whether it waits itself.
pub(crate) const AT_FIRST: Duration = Duration::from_millis(100);

/// What the variables begin with: those of MariaDB and of MySQL before 8.0.26, and of MySQL since.
const SOURCE_SIDES: [&str; 2] = ["rpl_semi_sync_master", "rpl_semi_sync_source"];

/// Whether a server waits for acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Acknowledgements {
    /// As it was found; not looked at yet.
    #[default]
    Unseen,
    /// As it was found.
    Left,
    /// It does not, as it was told: the name that its variables begin with.
    Forgone(&'static str),
}

impl Acknowledgements {
    /// Has the server wait for none, if it would and has nobody who gives any.
    ///
    /// # Errors
    /// What the server was told is not known to be done: the connection is lost. That it may not be told is none.
    pub(crate) async fn forgo(&mut self, link: &mut Link) -> Result<(), Failure> {
        if *self != Self::Unseen {
            return Ok(());
        }
        *self = Self::Left;
        let Some(side) = waiting_side(link).await? else { return Ok(()) };
        match link.ask(&switch(side, false)).await {
            Ok(_) => {}
            Err(Failure::Refused { .. }) => return Ok(()),
            Err(lost) => return Err(left_off(side, lost)),
        }
        *self = Self::Forgone(side);
        Ok(())
    }

    /// The server waits again as it did.
    ///
    /// # Errors
    /// It may not: with what is left to do.
    pub(crate) async fn restore(self, link: &mut Link) -> Result<(), Failure> {
        let Self::Forgone(side) = self else { return Ok(()) };
        link.ask(&switch(side, true)).await.map(drop).map_err(|failure| left_off(side, failure))
    }
}

fn switch(side: &str, is_on: bool) -> String {
    format!("SET GLOBAL {side}_enabled = {}", u8::from(is_on))
}

/// The server may be left not to wait for anybody.
fn left_off(side: &str, failure: Failure) -> Failure {
    let to_do = format!("it may not wait for replicas any more: SET GLOBAL {side}_enabled = 1");
    match failure {
        Failure::Lost { server, why } => Failure::Lost { server, why: format!("{why}; {to_do}") },
        Failure::NotLetIn { server, user, why } => {
            Failure::NotLetIn { server, user, why: format!("{why}; {to_do}") }
        }
        Failure::Refused { server, sql, why, code } => {
            Failure::Refused { server, sql, why: format!("{why}; {to_do}"), code }
        }
    }
}

/// The source's side, if commits wait on it and no replica is there.
async fn waiting_side(link: &mut Link) -> Result<Option<&'static str>, Failure> {
    let status = link.ask("SHOW GLOBAL STATUS LIKE 'Rpl\\_semi\\_sync\\_%'").await?;
    let known: Vec<[String; 2]> = status.texts().collect();
    let value = |name: String| {
        let row = known.iter().find(|[known, _]| known.eq_ignore_ascii_case(&name));
        row.map_or("", |[_, value]| value.as_str())
    };
    Ok(SOURCE_SIDES
        .into_iter()
        .find(|side| value(format!("{side}_status")) == "ON" && value(format!("{side}_clients")) == "0"))
}
