//! Removing an instance, which destroys: its data are kept in the root's `removed` unless they are not wanted.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nuthatch_server::{ServerError, make_private_dir, remove_file, remove_leftover};

use crate::error::InstanceError;
use crate::life::state::State;
use crate::life::stop::stop_locked;
use crate::life::systemd;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::root::{Place, Root};
use crate::users::refuse_if_used;

/// What becomes of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// They are kept, as the server left them when it ended.
    Keep,
    /// They are gone.
    Destroy,
}

/// The instance is gone. It was stopped as it stops when asked to, so what is kept is a whole backup. Gives where that is.
///
/// # Errors
/// [`InstanceError::Refused`] while somebody uses it, and nothing was touched; [`InstanceError::StillRunning`].
pub fn remove(
    root: &Root,
    name: &InstanceName,
    data: Data,
    within: Duration,
    progress: &mut dyn Progress,
) -> Result<Option<PathBuf>, InstanceError> {
    let place = root.find(name)?;
    let _lock = place.lock()?;
    refuse_if_used(root, &place, "remove")?;
    if data == Data::Keep {
        check_movable(root, &place)?;
    }
    stop_locked(&place, within, progress)?;
    if State::load(&place)?.live_server().is_some() {
        return Err(InstanceError::Refused(format!("remove {name}: its server was started again meanwhile")));
    }
    if systemd::is_in_charge() {
        systemd::control("disable", name)?;
    }
    let removing = root.removing(name);
    root.clear(removing.dir())?;
    fs::rename(place.dir(), removing.dir()).map_err(ServerError::file("rename", place.dir()))?;
    remove_file(&place.link_file())?;
    let kept = match data {
        Data::Keep => match keep(root, &removing) {
            Ok(kept) => Some(kept),
            Err(error) => {
                // Its data are the first to be moved: nothing was.
                fs::rename(removing.dir(), place.dir())
                    .map_err(ServerError::file("rename back", removing.dir()))?;
                return Err(error);
            }
        },
        Data::Destroy => None,
    };
    remove_leftover(removing.dir()).map_err(ServerError::file("remove", removing.dir()))?;
    progress.step(&Step::Note(format!("{name} is removed")));
    Ok(kept)
}

/// What is kept is moved, which goes within one file system alone.
fn check_movable(root: &Root, place: &Place) -> Result<(), InstanceError> {
    let device =
        |path: &Path| path.ancestors().find_map(|path| fs::metadata(path).ok()).map(|found| found.dev());
    if device(&place.data()) == device(&root.removed_dir()) {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "remove {}: its data are kept in {}, which is on another file system; say --destroy-data, and move them yourself before",
        place.name(),
        root.removed_dir().display()
    )))
}

/// Data, what is remembered and root's password go to a directory of their own.
fn keep(root: &Root, removing: &Place) -> Result<PathBuf, InstanceError> {
    let kept = root.kept_dir(removing.name());
    make_private_dir(&kept).map_err(ServerError::file("make the directory", &kept))?;
    for path in [removing.data(), removing.record_file(), removing.password_file(), removing.option_file()] {
        let Some(name) = path.file_name() else { continue };
        match fs::rename(&path, kept.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ServerError::file("keep", path)(error).into());
            }
            _ => {}
        }
    }
    Ok(kept)
}
