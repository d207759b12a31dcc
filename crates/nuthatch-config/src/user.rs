//! The users a client may be, and as whom the proxy logs in to backends: `mysql_users` in force.
//!
//! Only active rows come in. A row serves clients (`frontend`), backends (`backend`) or both; ProxySQL's two keys,
//! (username, backend) and (username, frontend), hold: at most one row of a name for each side.

use std::{collections::HashMap, sync::Arc};

use crate::{attributes::MultiplexDelays, password::Password, server::HostgroupId};

/// One row of `mysql_users`, typed. `Debug` shows no secret.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one field for each column of ProxySQL's table")]
pub struct User {
    /// Login name, compared byte by byte.
    pub name: String,
    /// What the password column holds.
    pub password: Password,
    /// Always true in a [`Users`] that is in force.
    pub active: bool,
    /// Clients must use TLS.
    pub use_ssl: bool,
    /// Where statements go that no rule sends elsewhere.
    pub default_hostgroup: HostgroupId,
    /// Schema of a client that names none at login.
    pub default_schema: Option<String>,
    /// The client may not change its schema.
    pub schema_locked: bool,
    /// An open transaction stays on its hostgroup whatever the rules say.
    pub transaction_persistent: bool,
    /// Bytes are passed through without rules or cache.
    pub fast_forward: bool,
    /// The row may be used towards backends.
    pub backend: bool,
    /// The row may be used by clients.
    pub frontend: bool,
    /// Client connections allowed for the name; one more gets error 1226.
    pub max_connections: u32,
    /// JSON text, or empty.
    pub attributes: String,
    /// What of it says for how long the user's sessions keep their connections.
    pub delays: MultiplexDelays,
    /// What of it says whether the user's sessions may change and empty the query cache for all.
    pub query_cache_admin: bool,
    /// Free text.
    pub comment: String,
}

impl User {
    /// A row with ProxySQL's defaults: active, both sides, hostgroup 0, 10,000 connections, persistent transactions.
    pub fn new(name: impl Into<String>, password: Password) -> Self {
        Self {
            name: name.into(),
            password,
            active: true,
            use_ssl: false,
            default_hostgroup: HostgroupId(0),
            default_schema: None,
            schema_locked: false,
            transaction_persistent: true,
            fast_forward: false,
            backend: true,
            frontend: true,
            max_connections: 10_000,
            attributes: String::new(),
            delays: MultiplexDelays::default(),
            query_cache_admin: false,
            comment: String::new(),
        }
    }
}

/// All active users.
#[derive(Clone, Debug, Default)]
pub struct Users {
    rows: Vec<Arc<User>>,
    frontend: HashMap<Box<[u8]>, Arc<User>>,
    backend: HashMap<Box<[u8]>, Arc<User>>,
}

/// Two rows of one name would serve the same side.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("user '{name}' has two rows for the {side} side")]
pub struct DuplicateUser {
    /// The name that stands twice.
    pub name: String,
    /// `frontend` or `backend`.
    pub side: &'static str,
}

impl Users {
    /// The active ones of `rows`.
    ///
    /// # Errors
    /// Two active rows of one name for one side.
    pub fn new(rows: impl IntoIterator<Item = User>) -> Result<Self, DuplicateUser> {
        let mut users = Self::default();
        for user in rows.into_iter().filter(|user| user.active) {
            let user = Arc::new(user);
            if user.frontend {
                insert_once(&mut users.frontend, &user, "frontend")?;
            }
            if user.backend {
                insert_once(&mut users.backend, &user, "backend")?;
            }
            users.rows.push(user);
        }
        Ok(users)
    }

    /// The row that a client of this name logs in with. Cost: one hash, no allocation.
    pub fn frontend(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.frontend.get(name)
    }

    /// The row with which the proxy logs in to backends for this name. Cost: one hash, no allocation.
    pub fn backend(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.backend.get(name)
    }

    /// Every row, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<User>> {
        self.rows.iter()
    }
}

impl PartialEq for Users {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

fn insert_once(
    side: &mut HashMap<Box<[u8]>, Arc<User>>,
    user: &Arc<User>,
    side_name: &'static str,
) -> Result<(), DuplicateUser> {
    match side.insert(user.name.as_bytes().into(), Arc::clone(user)) {
        None => Ok(()),
        Some(_) => Err(DuplicateUser { name: user.name.clone(), side: side_name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, frontend: bool, backend: bool) -> User {
        User { frontend, backend, ..User::new(name, Password::Empty) }
    }

    #[test]
    fn row_serves_only_its_sides() {
        let users =
            Users::new([user("app", true, false), user("app", false, true), user("both", true, true)])
                .expect("no name stands twice for a side");
        assert!(users.frontend(b"app").is_some_and(|found| found.frontend && !found.backend));
        assert!(users.backend(b"app").is_some_and(|found| found.backend && !found.frontend));
        assert_eq!(users.frontend(b"both"), users.backend(b"both"));
        assert!(users.frontend(b"APP").is_none());
        assert_eq!(users.iter().count(), 3);
    }

    #[test]
    fn inactive_row_is_not_there() {
        let row = User { active: false, ..user("app", true, true) };
        let users = Users::new([row, user("app", true, true)]).expect("an inactive row is no duplicate");
        assert_eq!(users.iter().count(), 1);
    }

    #[test]
    fn second_row_for_a_side_is_refused() {
        let refused = Users::new([user("app", true, true), user("app", true, false)]);
        assert_eq!(refused, Err(DuplicateUser { name: "app".into(), side: "frontend" }));
    }
}
