//! Where a lab keeps what: the names of its files, and who may read them.
//!
//! ```text
//! DIR/lab.json           state: processes, ports, sockets, versions; no secrets
//! DIR/password           password of the lab's account, and nothing else (no newline)
//! DIR/nuthatch_monitor.password, …  the same of the accounts for each duty
//! DIR/client.cnf         the lab's own login as root, for the command-line client
//! DIR/primary.sock       Unix socket
//! DIR/relay.sock         where the relay before the servers is told what to do, if there is one
//! DIR/primary/my.cnf     the server's options
//! DIR/primary/error.log  what the server says
//! DIR/primary/data/      its data directory
//! DIR/replica-1/…        the same for each replica
//! ```
//!
//! The directory is 0700 and its files are 0600. Only what the lab made is ever removed.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nuthatch_server::{Password, SOCKET_PATH_MAX, lock, make_private_dir, tail};

use crate::duty::Duty;
use crate::error::LabError;
use crate::role::Role;

const STATE: &str = "lab.json";
pub(crate) const LOCK: &str = "lab.lock";

/// The directory of one lab.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    dir: PathBuf,
}

impl Layout {
    /// Makes the directory, or takes an empty one or a lab's.
    pub(crate) fn create(dir: &Path) -> Result<Self, LabError> {
        make_private_dir(dir).map_err(LabError::file("make the directory", dir))?;
        let dir = dir.canonicalize().map_err(LabError::file("find the directory", dir))?;
        let layout = Self { dir };
        if !layout.state().exists() && layout.holds_foreign_files()? {
            return Err(LabError::NotALab { dir: layout.dir });
        }
        Ok(layout)
    }

    /// The directory of a lab that was made before.
    pub(crate) fn open(dir: &Path) -> Result<Self, LabError> {
        let no_lab = || LabError::NoLab { dir: dir.into() };
        let Ok(absolute) = dir.canonicalize() else { return Err(no_lab()) };
        let layout = Self { dir: absolute };
        if layout.state().exists() { Ok(layout) } else { Err(no_lab()) }
    }

    fn holds_foreign_files(&self) -> Result<bool, LabError> {
        let entries = fs::read_dir(&self.dir).map_err(LabError::file("list", &self.dir))?;
        Ok(entries.flatten().any(|entry| entry.file_name() != LOCK))
    }

    /// Waits until no other process changes this lab; others wait until the file is dropped.
    pub(crate) fn lock(&self) -> Result<File, LabError> {
        Ok(lock(&self.dir.join(LOCK))?)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.join(STATE)
    }

    pub(crate) fn password(&self) -> PathBuf {
        self.dir.join("password")
    }

    pub(crate) fn duty_password(&self, duty: Duty) -> PathBuf {
        self.dir.join(format!("{}.password", duty.user()))
    }

    pub(crate) fn relay_log(&self) -> PathBuf {
        self.dir.join("relay.log")
    }

    pub(crate) fn client_config(&self) -> PathBuf {
        self.dir.join("client.cnf")
    }

    pub(crate) fn server(&self, role: Role) -> PathBuf {
        self.dir.join(role.to_string())
    }

    pub(crate) fn data(&self, role: Role) -> PathBuf {
        self.server(role).join("data")
    }

    pub(crate) fn server_config(&self, role: Role) -> PathBuf {
        self.server(role).join("my.cnf")
    }

    pub(crate) fn init_file(&self, role: Role) -> PathBuf {
        self.server(role).join("init.sql")
    }

    /// What fills the server's disk, if it has one of its own.
    pub(crate) fn filler(&self, role: Role) -> PathBuf {
        self.server(role).join("filler")
    }

    pub(crate) fn error_log(&self, role: Role) -> PathBuf {
        self.server(role).join("error.log")
    }

    /// Galera's state transfer, and what it notes.
    pub(crate) fn transfer(&self) -> PathBuf {
        self.dir.join("transfer")
    }

    /// Where the socket of a server, or of the relay, shall be: in the lab, or in a new directory with a short name if that is too
    /// deep.
    pub(crate) fn choose_socket(&self, owner: &str) -> Result<PathBuf, LabError> {
        let name = format!("{owner}.sock");
        let path = self.dir.join(&name);
        if path.as_os_str().len() <= SOCKET_PATH_MAX {
            return Ok(path);
        }
        let make = || {
            let random = Password::generate()?;
            let short = PathBuf::from(format!("/tmp/nuthatch-{}", random.reveal()));
            DirBuilder::new().mode(0o700).create(&short)?;
            Ok(short.join(&name))
        };
        make().map_err(LabError::file("make a directory for the socket of", &path))
    }

    /// The saved password of the lab's account.
    pub(crate) fn load_password(&self) -> Result<Option<Password>, LabError> {
        Ok(Password::load(&self.password())?)
    }

    /// The last lines of the server's error log, each indented, for an error message.
    pub(crate) fn log_tail(&self, role: Role) -> String {
        tail(&self.error_log(role))
    }

    /// Removes what the lab made, and the directory itself if nothing else is in it.
    pub(crate) fn remove(&self, roles: &[Role], sockets: &[PathBuf]) -> Result<(), LabError> {
        for dir in roles.iter().map(|role| self.server(*role)).chain([self.transfer()]) {
            absent_is_fine(fs::remove_dir_all(&dir)).map_err(LabError::file("remove", dir))?;
        }
        for socket in sockets {
            absent_is_fine(fs::remove_file(socket)).map_err(LabError::file("remove", socket))?;
            if let Some(parent) = socket.parent().filter(|parent| *parent != self.dir) {
                absent_is_fine(fs::remove_dir(parent)).map_err(LabError::file("remove", parent))?;
            }
        }
        let of_duties = Duty::ALL.map(|duty| self.duty_password(duty));
        let others =
            [self.password(), self.client_config(), self.relay_log(), self.state(), self.dir.join(LOCK)];
        for file in of_duties.into_iter().chain(others) {
            absent_is_fine(fs::remove_file(&file)).map_err(LabError::file("remove", file))?;
        }
        match fs::remove_dir(&self.dir) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            outcome => absent_is_fine(outcome).map_err(LabError::file("remove", &self.dir)),
        }
    }
}

fn absent_is_fine(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_server::write_private;

    use super::*;

    #[test]
    fn directory_with_other_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("letter.txt"), "dear").unwrap();
        assert!(matches!(Layout::create(dir.path()), Err(LabError::NotALab { .. })));
    }

    #[test]
    fn removal_spares_what_the_lab_did_not_make() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::create(&dir.path().join("lab")).unwrap();
        write_private(&layout.state(), "{}").unwrap();
        fs::write(layout.dir().join("letter.txt"), "dear").unwrap();
        layout.remove(&[Role::Primary], &[]).unwrap();
        assert!(layout.dir().join("letter.txt").exists());
        assert!(!layout.state().exists());
    }

    #[test]
    fn deep_lab_gets_a_short_socket() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::create(&dir.path().join("d".repeat(100))).unwrap();
        let socket = layout.choose_socket("primary").unwrap();
        assert!(socket.as_os_str().len() <= SOCKET_PATH_MAX);
        fs::remove_dir(socket.parent().unwrap()).unwrap();
    }
}
