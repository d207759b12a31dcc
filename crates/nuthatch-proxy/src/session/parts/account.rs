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
    name: UserName,
    user: Arc<User>,
    password: Option<Arc<BackendPassword>>,
    place: UserPlace,
    login_charset: Charset,
}

impl Account {
    /// That of a client which has logged in.
    pub(crate) fn new(
        name: Arc<str>,
        user: Arc<User>,
        password: Option<Arc<BackendPassword>>,
        place: UserPlace,
        login_charset: Charset,
    ) -> Self {
        Self { name: UserName::new(name), user, password, place, login_charset }
    }

    /// The same for a session of the proxy's own.
    pub(crate) fn stand_in(&self) -> Self {
        Self {
            name: UserName::new(Arc::clone(&self.name)),
            user: Arc::clone(&self.user),
            password: self.password.clone(),
            place: UserPlace::nowhere(Arc::clone(&self.place.shared)),
            login_charset: self.login_charset.clone(),
        }
    }

    pub(crate) const fn name(&self) -> &UserName {
        &self.name
    }

    /// The user's frontend row in force.
    pub(crate) const fn user(&self) -> &Arc<User> {
        &self.user
    }

    /// How to log in to servers in its name; `None` when no password is known.
    pub(crate) const fn password(&self) -> Option<&Arc<BackendPassword>> {
        self.password.as_ref()
    }

    /// What COM_RESET_CONNECTION goes back to.
    pub(crate) const fn login_charset(&self) -> &Charset {
        &self.login_charset
    }

    /// Another configuration is in force.
    pub(crate) fn take_over(&mut self, user: Arc<User>, password: Option<Arc<BackendPassword>>) {
        (self.user, self.password) = (user, password);
    }

    /// Frees its place among those of its user before its end.
    pub(crate) fn leave_place(&mut self) {
        self.place.leave();
    }
}

/// A user's name. Its hash is made once, and each look-up in the cache takes it.
#[derive(Debug)]
pub(crate) struct UserName {
    name: Arc<str>,
    hash: NameHash,
}

impl UserName {
    fn new(name: Arc<str>) -> Self {
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
    /// That of a session of the proxy's own, which counts against nobody.
    const fn nowhere(shared: Arc<Shared>) -> Self {
        Self { shared, user: None }
    }

    /// Frees the place before its end.
    fn leave(&mut self) {
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
