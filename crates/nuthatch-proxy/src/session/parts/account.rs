//! Who the client is to the proxy and to the servers.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use nuthatch_cache::{Name, NameHash};
use nuthatch_config::User;
use nuthatch_net::BackendPassword;

use crate::shared::Shared;
use crate::state::Charset;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) name: UserName,
    /// The user's frontend row in force.
    pub(crate) user: Arc<User>,
    /// How to log in to servers in its name; `None` when no password is known.
    pub(crate) password: Option<Arc<BackendPassword>>,
    pub(crate) place: UserPlace,
    /// What COM_RESET_CONNECTION goes back to.
    pub(crate) login_charset: Charset,
}

/// A user's name. Its hash is made once, and each look-up in the cache takes it.
#[derive(Debug)]
pub(crate) struct UserName {
    name: Arc<str>,
    hash: NameHash,
}

impl UserName {
    pub(crate) fn new(name: Arc<str>) -> Self {
        Self { hash: NameHash::of(name.as_bytes()), name }
    }

    /// As a part of the cache's key.
    #[inline]
    pub(crate) fn as_name(&self) -> Name<'_> {
        Name::hashed(self.name.as_bytes(), self.hash)
    }
}

impl Deref for UserName {
    type Target = Arc<str>;

    #[inline]
    fn deref(&self) -> &Arc<str> {
        &self.name
    }
}

impl fmt::Display for UserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

/// A session that counts against its user's `max_connections`, for as long as this lives.
#[derive(Debug)]
pub(crate) struct UserPlace {
    shared: Arc<Shared>,
    user: Option<Arc<User>>,
}

impl UserPlace {
    pub(crate) fn take(shared: &Arc<Shared>, user: &Arc<User>) -> Option<Self> {
        let has_room = shared.doors.enter_user(&user.name, user.max_connections);
        has_room.then(|| Self { shared: Arc::clone(shared), user: Some(Arc::clone(user)) })
    }
}

impl UserPlace {
    /// Frees the place before its end.
    pub(crate) fn leave(&mut self) {
        if let Some(user) = self.user.take() {
            self.shared.doors.leave_user(&user.name);
        }
    }
}

impl Drop for UserPlace {
    fn drop(&mut self) {
        self.leave();
    }
}
