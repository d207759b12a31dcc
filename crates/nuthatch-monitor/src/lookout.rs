//! Who may call the monitor to a server at once: somebody else has seen that something is wrong with it.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_config::ServerName;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// See the module's doc. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Lookout(Arc<Mutex<HashMap<ServerName, Arc<Notify>>>>);

impl Lookout {
    /// The checks of that server, if it is watched, are made now. Those that are being made are not begun anew.
    pub fn look_at(&self, server: &ServerName) {
        if let Some(call) = self.0.lock().get(server) {
            call.notify_waiters();
        }
    }

    /// By what the checks of that server are called.
    pub(crate) fn calls(&self, server: &ServerName) -> Arc<Notify> {
        Arc::clone(self.0.lock().entry(server.clone()).or_default())
    }

    /// It is not watched any more.
    pub(crate) fn forget(&self, server: &ServerName) {
        self.0.lock().remove(server);
    }
}
