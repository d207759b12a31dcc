//! The accounts of the admin interface: who may log in, and what the account may do.
//!
//! They come from `admin-admin_credentials` and `admin-stats_credentials` of the configuration in force. Refused logins
//! are logged at a bounded rate; passwords never are.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::Secret;
use parking_lot::Mutex;
use tokio::time::Instant;

/// What an account may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Everything (`admin-admin_credentials`).
    Full,
    /// Read the statistics and nothing else (`admin-stats_credentials`).
    ReadStats,
}

/// One account.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// In clear; may be empty.
    pub(crate) password: Secret,
    pub(crate) rights: Rights,
}

/// The accounts in force, shared between the clerk, who changes them, and the logins.
#[derive(Clone, Default)]
pub(crate) struct Credentials(Arc<Mutex<Lists>>);

#[derive(Default)]
struct Lists {
    admin: Secret,
    stats: Secret,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

impl Credentials {
    /// Puts other accounts in force for the logins that follow.
    pub(crate) fn replace(&self, admin: Secret, stats: Secret) {
        *self.0.lock() = Lists { admin, stats };
    }

    /// The account of that name.
    pub(crate) fn account(&self, user: &str) -> Option<Account> {
        let lists = self.0.lock();
        [(&lists.admin, Rights::Full), (&lists.stats, Rights::ReadStats)].into_iter().find_map(
            |(list, rights)| {
                let password = password_in(list.expose(), user)?;
                Some(Account { password: Secret::new(password), rights })
            },
        )
    }
}

/// Whether the account may log in from there: `admin`, whose password everyone knows, only from this host, as with
/// ProxySQL.
pub(crate) fn may_come_from(user: &str, address: IpAddr) -> bool {
    user != "admin" || address.to_canonical().is_loopback()
}

/// The password of an account in a list `user:password;user:password`.
fn password_in<'a>(credentials: &'a str, user: &str) -> Option<&'a str> {
    credentials
        .split(';')
        .filter_map(|account| account.trim_start().split_once(':'))
        .find_map(|(name, password)| (name == user).then_some(password))
}

/// Lines about refused logins that are written within [`REFUSALS_WINDOW`]; more are only counted.
const REFUSALS_MAX: u32 = 10;

const REFUSALS_WINDOW: Duration = Duration::from_secs(10);

/// The log of refused logins, at a bounded rate.
#[derive(Debug, Default)]
pub(crate) struct RefusalLog(Mutex<Option<Window>>);

#[derive(Debug, Clone, Copy)]
struct Window {
    began: Instant,
    lines: u32,
}

impl RefusalLog {
    /// Writes down that a login was refused, unless there were many.
    pub(crate) fn write(&self, user: &str, client: IpAddr, reason: &str) {
        if let Some(left_out) = self.line(Instant::now()) {
            tracing::warn!(user, %client, left_out, "refused a login to the admin interface: {reason}");
        }
    }

    /// How many lines were left out before this one, or `None` if this one is left out too.
    fn line(&self, now: Instant) -> Option<u32> {
        let mut window = self.0.lock();
        let current = window.filter(|window| now.duration_since(window.began) < REFUSALS_WINDOW);
        let left_out = match (*window, current) {
            (Some(old), None) => old.lines.saturating_sub(REFUSALS_MAX),
            _ => 0,
        };
        let began = current.map_or(now, |window| window.began);
        let lines = current.map_or(0, |window| window.lines).saturating_add(1);
        *window = Some(Window { began, lines });
        (lines <= REFUSALS_MAX).then_some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_exact_name() {
        let list = "admin:admin;ops:pa:ss; radmin:";
        for (user, password) in [
            ("admin", Some("admin")),
            ("ops", Some("pa:ss")),
            ("radmin", Some("")),
            ("adm", None),
            ("", None),
        ] {
            assert_eq!(password_in(list, user), password, "{user}");
        }
    }

    #[test]
    fn the_list_that_names_an_account_says_its_rights() {
        let credentials = Credentials::default();
        credentials.replace(Secret::new("admin:secret"), Secret::new("stats:look;open:"));
        for (user, expected) in [
            ("admin", Some(("secret", Rights::Full))),
            ("stats", Some(("look", Rights::ReadStats))),
            ("open", Some(("", Rights::ReadStats))),
            ("nobody", None),
        ] {
            let found = credentials.account(user);
            let found = found.as_ref().map(|account| (account.password.expose(), account.rights));
            assert_eq!(found, expected, "{user}");
        }
    }

    #[test]
    fn admin_comes_from_this_host_only() {
        for (user, address, expected) in [
            ("admin", "127.0.0.1", true),
            ("admin", "::ffff:127.0.0.1", true),
            ("admin", "::1", true),
            ("admin", "10.0.0.1", false),
            ("radmin", "10.0.0.1", true),
        ] {
            assert_eq!(may_come_from(user, address.parse().unwrap()), expected, "{user} {address}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn refused_logins_are_logged_at_a_bounded_rate() {
        let log = RefusalLog::default();
        let written = (0..100).filter(|_| log.line(Instant::now()).is_some()).count();
        assert_eq!(written, REFUSALS_MAX as usize);
        tokio::time::advance(REFUSALS_WINDOW).await;
        assert_eq!(log.line(Instant::now()), Some(90));
    }
}
