//! Where the instances of a host are, and what of them is where.
//!
//! ```text
//! ROOT/host.toml                 what holds for the host
//! ROOT/defaults.cnf              options of all instances
//! ROOT/templates/NAME.cnf        options of those that are made from it
//! ROOT/empty/                    empty data directories, made once and copied
//! ROOT/instances/NAME/instance.toml  what was chosen for it, and its own options
//! ROOT/instances/NAME/my.cnf     what its server was started with
//! ROOT/instances/NAME/root.password, client.cnf
//! ROOT/instances/NAME/data/, log/, tmp/
//! ROOT/instances/NAME/tls/       its certificate
//! ROOT/instances/NAME/source-ca.pem  the authority of whom it follows
//! ROOT/instances/NAME/run/       socket, state of its processes, locks
//! ROOT/links/NAME.json           whom it follows: not in its directory, which is its servers' user's, because it says what is run to reach that
//! ROOT/tls/                      the host's authority
//! ROOT/removed/NAME-SECONDS/     data of what was removed
//! ```
//!
//! An instance's directory is root's where root works for another user, whose only `data`, `log`, `tmp` and `run` are: what that user could write,
//! root does not believe.
//!
//! An instance that is being made is `.making-NAME`, one that is being removed `.removing-NAME`, data that are to take the place of its own
//! are made in `.restoring-NAME`, a backup is tried in `.verifying-NAME`: none is taken for an instance, and what a crash has left of any is
//! found by its lock, which nobody holds.

use std::fs::{self, File, Permissions, TryLockError};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};

use nuthatch_server::{
    Password, SOCKET_PATH_MAX, ServerError, lock, make_private_dir, remove_leftover, write_for, write_private,
};
use rustix::process::geteuid;

use crate::account::Account;
use crate::clock::{now_s, stamp};
use crate::error::InstanceError;
use crate::host::Host;
use crate::name::InstanceName;
use crate::record::Record;

const MAKING: &str = ".making-";
const REMOVING: &str = ".removing-";
/// Data that are to take the place of an instance's are made there.
const RESTORING: &str = ".restoring-";
/// In a data directory: which server it had last.
pub(crate) const VERSION: &str = "nuthatch-version";
/// A backup is tried there.
const VERIFYING: &str = ".verifying-";

/// The directory of all instances of a host.
#[derive(Clone, Debug)]
pub struct Root {
    dir: PathBuf,
}

/// The directory of one instance, or of one that is being made.
#[derive(Clone, Debug)]
pub struct Place {
    name: InstanceName,
    dir: PathBuf,
}

/// What an earlier crash has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its directory.
    pub dir: PathBuf,
    /// Of which instance it is.
    pub name: String,
}

impl Root {
    /// The directory, made if need be: everybody may enter, and none but its owner look around or write.
    ///
    /// # Errors
    /// [`ServerError::File`].
    pub fn create(dir: &Path) -> Result<Self, InstanceError> {
        for part in [dir.to_owned(), dir.join("instances")] {
            let is_new = !part.exists();
            make_private_dir(&part).map_err(ServerError::file("make the directory", &part))?;
            if is_new {
                fs::set_permissions(&part, Permissions::from_mode(0o711))
                    .map_err(ServerError::file("open to its users", &part))?;
            }
        }
        Self::open(dir)
    }

    /// The directory as it is, which may not be there.
    ///
    /// # Errors
    /// [`ServerError::File`] where its path cannot be told.
    pub fn open(dir: &Path) -> Result<Self, InstanceError> {
        let dir = std::path::absolute(dir).map_err(ServerError::file("find the directory", dir))?;
        Ok(Self { dir })
    }

    /// Its path.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Waits until nobody else chooses for an instance here; others wait until the file is dropped.
    ///
    /// # Errors
    /// [`ServerError::File`].
    pub fn lock(&self) -> Result<File, InstanceError> {
        Ok(lock(&self.dir.join("lock"))?)
    }

    /// What holds for the host; the defaults where nothing is settled.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`], [`ServerError::File`].
    pub fn host(&self) -> Result<Host, InstanceError> {
        let path = self.host_file();
        match read_if_there(&path)? {
            Some(text) => Host::parse(&text, &path),
            None => Ok(Host::default()),
        }
    }

    /// Has this hold for the host from now on.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] where a setting is out of its range, [`ServerError::File`].
    pub fn settle_host(&self, host: &Host) -> Result<(), InstanceError> {
        let path = self.host_file();
        write_private(&path, &host.to_text()?)?;
        // Supervisors read it, whosever they are; no secret is in it.
        fs::set_permissions(&path, Permissions::from_mode(0o644))
            .map_err(ServerError::file("let read", &path))?;
        Ok(())
    }

    /// The file with what holds for the host.
    #[must_use]
    pub fn host_file(&self) -> PathBuf {
        self.dir.join("host.toml")
    }

    /// The host's options for all instances.
    #[must_use]
    pub fn defaults_file(&self) -> PathBuf {
        self.dir.join("defaults.cnf")
    }

    /// Where operators' templates are.
    #[must_use]
    pub fn templates_dir(&self) -> PathBuf {
        self.dir.join("templates")
    }

    pub(crate) fn empty_dir(&self) -> PathBuf {
        self.dir.join("empty")
    }

    /// Where the data of what was removed are.
    #[must_use]
    pub fn removed_dir(&self) -> PathBuf {
        self.dir.join("removed")
    }

    /// A directory there that is not there yet.
    pub(crate) fn kept_dir(&self, name: &InstanceName) -> PathBuf {
        let dir = |seconds: u64| self.removed_dir().join(format!("{name}-{seconds}"));
        (now_s()..).map(dir).find(|dir| !dir.exists()).unwrap_or_else(|| dir(0))
    }

    fn instances_dir(&self) -> PathBuf {
        self.dir.join("instances")
    }

    /// All instances, by name.
    ///
    /// # Errors
    /// [`ServerError::File`].
    pub fn names(&self) -> Result<Vec<InstanceName>, InstanceError> {
        let mut names: Vec<InstanceName> =
            self.entries()?.iter().filter_map(|entry| entry.parse().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// All instances that are there or being made, whoever makes them.
    pub(crate) fn claimed(&self) -> Result<Vec<Place>, InstanceError> {
        let claimed = |entry: &String| {
            let name: InstanceName = entry.strip_prefix(MAKING).unwrap_or(entry).parse().ok()?;
            Some(Place { name, dir: self.instances_dir().join(entry) })
        };
        Ok(self.entries()?.iter().filter_map(claimed).filter(|place| place.record_file().exists()).collect())
    }

    /// What a crash has left of instances that were being made or removed.
    ///
    /// # Errors
    /// [`ServerError::File`].
    pub fn leftovers(&self) -> Result<Vec<Leftover>, InstanceError> {
        let left = |entry: &String| {
            let of = [MAKING, REMOVING, RESTORING, VERIFYING].into_iter();
            let name = of.filter_map(|start| entry.strip_prefix(start)).next()?.to_owned();
            let dir = self.instances_dir().join(entry);
            (!is_held(&dir.join("lock"))).then_some(Leftover { dir, name })
        };
        Ok(self.entries()?.iter().filter_map(left).collect())
    }

    /// What a crash has left is gone; data of an instance that was being removed are kept.
    pub(crate) fn clear(&self, leftover: &Path) -> Result<Option<PathBuf>, InstanceError> {
        let file = leftover.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = file.strip_prefix(REMOVING).and_then(|name| name.parse().ok());
        if let Some(name) = name.filter(|_| leftover.join("data").is_dir()) {
            let kept = self.kept_dir(&name);
            make_private_dir(&self.removed_dir())
                .map_err(ServerError::file("make the directory", self.removed_dir()))?;
            fs::rename(leftover, &kept).map_err(ServerError::file("keep", leftover))?;
            return Ok(Some(kept));
        }
        remove_leftover(leftover).map_err(ServerError::file("remove", leftover))?;
        Ok(None)
    }

    fn entries(&self) -> Result<Vec<String>, InstanceError> {
        let dir = self.instances_dir();
        if !dir.exists() {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(&dir).map_err(ServerError::file("list", &dir))?;
        Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    /// One that is there.
    ///
    /// # Errors
    /// [`InstanceError::NoInstance`] with those that are; [`InstanceError::Refused`] for what is no instance of ours.
    pub fn find(&self, name: &InstanceName) -> Result<Place, InstanceError> {
        let place = self.place(name);
        if !place.dir.exists() {
            let have = self.names()?;
            return Err(InstanceError::NoInstance { name: name.clone(), root: self.dir.clone(), have });
        }
        if !place.record_file().exists() {
            return Err(InstanceError::Refused(format!(
                "take {} for an instance: it has no instance.toml, so it was not made by `nuthatch instance add`; nothing there was touched",
                place.dir.display()
            )));
        }
        Ok(place)
    }

    /// Where one of that name is, or would be.
    #[must_use]
    pub fn place(&self, name: &InstanceName) -> Place {
        Place { name: name.clone(), dir: self.instances_dir().join(name.as_str()) }
    }

    pub(crate) fn making(&self, name: &InstanceName) -> Place {
        self.beside(MAKING, name)
    }

    pub(crate) fn removing(&self, name: &InstanceName) -> Place {
        self.beside(REMOVING, name)
    }

    pub(crate) fn restoring(&self, name: &InstanceName) -> Place {
        self.beside(RESTORING, name)
    }

    pub(crate) fn verifying(&self, name: &InstanceName) -> Place {
        self.beside(VERIFYING, name)
    }

    fn beside(&self, start: &str, name: &InstanceName) -> Place {
        Place { name: name.clone(), dir: self.instances_dir().join(format!("{start}{name}")) }
    }
}

impl Place {
    /// Whose it is.
    #[must_use]
    pub fn name(&self) -> &InstanceName {
        &self.name
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn record_file(&self) -> PathBuf {
        self.dir.join("instance.toml")
    }

    /// What the server was started with.
    #[must_use]
    pub fn option_file(&self) -> PathBuf {
        self.dir.join("my.cnf")
    }

    /// For the first start: it locks the server down, and is gone behind it.
    pub(crate) fn init_file(&self) -> PathBuf {
        self.run_dir().join("init.sql")
    }

    /// The file with root's password, for who may read it.
    #[must_use]
    pub fn password_file(&self) -> PathBuf {
        self.dir.join("root.password")
    }

    /// The data directory.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// What is remembered of its last backup.
    pub(crate) fn backup_file(&self) -> PathBuf {
        self.dir.join("backup.toml")
    }

    /// Which data directory it has: another name for each that there was. In it, so that it goes where the data go.
    pub(crate) fn incarnation(&self) -> Result<String, InstanceError> {
        match read_if_there(&self.incarnation_file())? {
            Some(text) => Ok(text.trim().to_owned()),
            None => self.renew_incarnation(),
        }
    }

    /// It is another data directory from now on: binlogs in it are numbered anew.
    pub(crate) fn renew_incarnation(&self) -> Result<String, InstanceError> {
        let incarnation = format!("{}-{}", stamp(now_s()), &Password::fresh()?.reveal()[..6]);
        self.write(&self.incarnation_file(), &format!("{incarnation}\n"))?;
        Ok(incarnation)
    }

    /// Which server the data had last, by its version; `None` where that was not written down. In them, so that it goes where they go.
    pub(crate) fn data_version(&self) -> Result<Option<String>, InstanceError> {
        Ok(read_if_there(&self.data().join(VERSION))?.map(|text| text.trim().to_owned()))
    }

    /// The data have that server now.
    pub(crate) fn note_data_version(&self, version: &str) -> Result<(), InstanceError> {
        self.write(&self.data().join(VERSION), &format!("{version}\n"))
    }

    /// What is to be remembered of it as soon as its data are those of another server.
    pub(crate) fn pending_file(&self) -> PathBuf {
        self.dir.join("pending.toml")
    }

    fn incarnation_file(&self) -> PathBuf {
        self.data().join("nuthatch-incarnation")
    }

    pub(crate) fn tmp_dir(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// The server's Unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.run_dir().join("mysqld.sock")
    }

    /// Whom it follows. What is run to reach that host must not be for the servers' user to choose.
    pub(crate) fn link_file(&self) -> PathBuf {
        let root = self.dir.ancestors().nth(2).unwrap_or(&self.dir);
        root.join("links").join(format!("{}.json", self.name))
    }

    pub(crate) fn state_file(&self) -> PathBuf {
        self.run_dir().join("state.json")
    }

    pub(crate) fn log_dir(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// What the server says.
    #[must_use]
    pub fn error_log(&self) -> PathBuf {
        self.log_dir().join("error.log")
    }

    pub(crate) fn slow_log(&self) -> PathBuf {
        self.log_dir().join("slow.log")
    }

    pub(crate) fn supervisor_log(&self) -> PathBuf {
        self.log_dir().join("supervisor.log")
    }

    pub(crate) fn dirs(&self) -> [PathBuf; 4] {
        [self.dir.clone(), self.tmp_dir(), self.run_dir(), self.log_dir()]
    }

    /// Waits until no other command works on this instance; others wait until the file is dropped.
    ///
    /// # Errors
    /// [`ServerError::File`].
    pub fn lock(&self) -> Result<File, InstanceError> {
        let path = self.dir.join("lock");
        let file = lock(&path)?;
        self.give(&path)?;
        Ok(file)
    }

    /// The option file with which a client logs in as root.
    #[must_use]
    pub fn client_file(&self) -> PathBuf {
        self.dir.join("client.cnf")
    }

    /// What that says.
    pub(crate) fn client_login(&self, password: &Password) -> String {
        format!("[client]\nuser=root\nsocket={}\npassword={}\n", self.socket().display(), password.reveal())
    }

    /// What is remembered of it.
    ///
    /// # Errors
    /// As [`Record::load`].
    pub fn record(&self) -> Result<Record, InstanceError> {
        Record::load(&self.record_file())
    }

    /// The password of its root.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] where it is gone, [`ServerError::File`].
    pub fn password(&self) -> Result<Password, InstanceError> {
        let file = self.password_file();
        Password::load(&file)?.ok_or_else(|| {
            InstanceError::Refused(format!("log in to {}: {} is gone", self.name, file.display()))
        })
    }

    /// Replaces one of its files by one with this text, which nobody but root and its account may read. What is in the instance's directory
    /// itself, root alone may change: root does what it says.
    pub(crate) fn write(&self, path: &Path, text: &str) -> Result<(), InstanceError> {
        Ok(write_for(path, text, owner_around(path)?)?)
    }

    /// The file or directory, which was just made, belongs to whom what is around it belongs to, if root works for another.
    pub(crate) fn give(&self, path: &Path) -> Result<(), InstanceError> {
        let Some((user, group)) = owner_around(path)? else { return Ok(()) };
        lchown(path, Some(user), Some(group)).map_err(ServerError::file("give to its user", path))?;
        if path.is_dir() && !path.is_symlink() {
            open_to_group(path)?;
        }
        Ok(())
    }

    /// Whether a socket in there can have an address.
    pub(crate) fn check_depth(&self) -> Result<(), InstanceError> {
        let bytes = self.socket().as_os_str().len();
        if bytes <= SOCKET_PATH_MAX {
            return Ok(());
        }
        Err(InstanceError::Refused(format!(
            "have a socket at {}: its path has {bytes} bytes, and {SOCKET_PATH_MAX} are possible; take a --root nearer to /",
            self.socket().display()
        )))
    }
}

/// Whose the directory is that a path is in, user and group; `None` where nobody works for another.
fn owner_around(path: &Path) -> Result<Option<(u32, u32)>, InstanceError> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let dir = path.parent().unwrap_or(path);
    let owner = fs::metadata(dir).map_err(ServerError::file("look at", dir))?;
    // A directory of root's alone is one that is being made, or of a host whose servers are root's.
    Ok(Some((owner.uid(), owner.gid())).filter(|owner| *owner != (0, 0)))
}

/// Its group may enter, look around and read.
fn open_to_group(dir: &Path) -> Result<(), InstanceError> {
    fs::set_permissions(dir, Permissions::from_mode(0o750))
        .map_err(ServerError::file("open to its group", dir))?;
    Ok(())
}

/// What an instance consists of is its account's where its server writes; the rest is root's, and the account may read it.
pub(crate) fn give_parts(dir: &Path, account: Option<&Account>) -> Result<(), InstanceError> {
    let Some(account) = account.filter(|_| geteuid().is_root()) else { return Ok(()) };
    for entry in fs::read_dir(dir).map_err(ServerError::file("list", dir))? {
        let path = entry.map_err(ServerError::file("list", dir))?.path();
        if path.is_dir() && !path.is_symlink() {
            give_all(&path, Some(account))?;
            continue;
        }
        lchown(&path, Some(0), Some(account.gid)).map_err(ServerError::file("give to its group", &path))?;
        fs::set_permissions(&path, Permissions::from_mode(0o640))
            .map_err(ServerError::file("open to its group", &path))?;
    }
    lchown(dir, Some(0), Some(account.gid)).map_err(ServerError::file("give to its group", dir))?;
    open_to_group(dir)
}

/// The directory and all in it are the account's afterwards, if root works for another.
pub(crate) fn give_all(dir: &Path, account: Option<&Account>) -> Result<(), InstanceError> {
    let Some(account) = account.filter(|_| geteuid().is_root()) else { return Ok(()) };
    for entry in fs::read_dir(dir).map_err(ServerError::file("list", dir))? {
        let entry = entry.map_err(ServerError::file("list", dir))?;
        let (path, kind) =
            (entry.path(), entry.file_type().map_err(ServerError::file("look at", entry.path()))?);
        if kind.is_dir() {
            give_all(&path, Some(account))?;
        } else {
            lchown(&path, Some(account.uid), Some(account.gid))
                .map_err(ServerError::file("give to its user", &path))?;
        }
    }
    lchown(dir, Some(account.uid), Some(account.gid)).map_err(ServerError::file("give to its user", dir))?;
    Ok(())
}

/// Whether another process holds the lock.
pub(crate) fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// The text of a file; `None` where there is none.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>, InstanceError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ServerError::file("read", path)(error).into()),
    }
}
