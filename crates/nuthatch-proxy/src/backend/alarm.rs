//! Who is told at once that something is wrong with a server, or may be, and looks at it.

use std::fmt;
use std::sync::OnceLock;

use nuthatch_config::ServerName;

type Listener = dyn Fn(&ServerName) + Send + Sync;

/// See the module's doc. The first listener stays.
#[derive(Default)]
pub(crate) struct Alarm(OnceLock<Box<Listener>>);

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Alarm")
    }
}

impl Alarm {
    /// It is told from now on. It must not wait.
    pub(crate) fn tell(&self, listener: impl Fn(&ServerName) + Send + Sync + 'static) {
        drop(self.0.set(Box::new(listener)));
    }

    /// Somebody is to look at that server.
    pub(crate) fn ring(&self, host: &str, port: u16) {
        if let Some(listener) = self.0.get() {
            listener(&ServerName { host: host.to_owned(), port });
        }
    }
}
