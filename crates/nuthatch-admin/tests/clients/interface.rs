//! An admin interface on a free port, and the ways to reach it.

use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use nuthatch_admin::{Admin, serve};
use nuthatch_config::{Layers, Seed};
use tokio::net::TcpListener;

use crate::plane::Plane;

/// The line that the command line puts around a statement that failed.
const RULE: &str = "--------------\n";

/// A running interface. It ends with the value.
pub(crate) struct Interface {
    pub(crate) plane: Arc<Plane>,
    pub(crate) admin: Arc<Admin>,
    pub(crate) port: u16,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Interface {
    /// One with empty layers.
    pub(crate) fn start() -> Self {
        Self::with_seed(Seed::default())
    }

    /// One whose layers begin with the seed.
    pub(crate) fn with_seed(seed: Seed) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (layers, _) = Layers::open(None, seed, &Seed::default()).unwrap();
        let plane = Arc::new(Plane::default());
        let admin = Admin::start(layers, plane.clone()).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(serve(listener, admin.clone()));
        Self { plane, admin, port, runtime: Some(runtime) }
    }

    /// A `mariadb` command line, logged in by these credentials, that runs what is added to it.
    pub(crate) fn mariadb(&self, user: &str, password: &str) -> Command {
        let mut command = Command::new("mariadb");
        command.args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--batch"]);
        command.arg(format!("--port={}", self.port)).arg(format!("--user={user}"));
        command.arg(format!("--password={password}")).stdin(Stdio::null());
        command
    }

    /// What the command line prints for these statements, its errors behind its output. The statement that it repeats
    /// above an error, between two lines of hyphens, is left out.
    pub(crate) fn says(&self, user: &str, statements: &str) -> String {
        let printed = printed(&self.mariadb(user, user).args(["--execute", statements]).output().unwrap());
        match printed.split(RULE).collect::<Vec<_>>()[..] {
            [before, _, error] => format!("{before}{}", error.trim_start()),
            _ => printed,
        }
    }

    /// Runs a Python program in which `PORT` is the interface's port; returns what it printed.
    pub(crate) fn python(&self, program: &str) -> String {
        let output = Command::new("/usr/bin/python3")
            .args(["-c", &format!("PORT = {}\n{program}", self.port)])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        printed(&output)
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        self.admin.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Standard output with standard error behind it.
pub(crate) fn printed(output: &Output) -> String {
    let mut text = String::from_utf8(output.stdout.clone()).unwrap();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}
