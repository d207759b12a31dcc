//! Who the client is to the proxy and to the servers.

use std::sync::Arc;

use nuthatch_config::User;
use nuthatch_net::BackendPassword;

use crate::shared::Shared;
use crate::state::Charset;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) name: Arc<str>,
    /// The user's frontend row in force.
    pub(crate) user: Arc<User>,
    /// How to log in to servers in its name; `None` when no password is known.
    pub(crate) password: Option<Arc<BackendPassword>>,
    pub(crate) place: UserPlace,
    /// What COM_RESET_CONNECTION goes back to.
    pub(crate) login_charset: Charset,
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
