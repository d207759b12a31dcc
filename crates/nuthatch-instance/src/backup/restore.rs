//! A backup becomes an instance: a new one, or takes the place of one's data.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nuthatch_server::{ServerError, make_private_dir, remove_leftover};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::add::{Wanted, add_filled};
use crate::backup::fill::{Filled, Origin, Using, fill};
use crate::error::InstanceError;
use crate::life::start::start_locked;
use crate::life::state::State;
use crate::life::stop::stop_locked;
use crate::name::InstanceName;
use crate::progress::Progress;
use crate::remove::Data;
use crate::root::{Place, Root, is_held};
use crate::users::refuse_if_used;

/// A new instance has the backup's data, and was not started yet.
///
/// # Errors
/// As [`add`](crate::add()), and what is wrong with the backup; nothing of the instance is left then.
pub fn restore_new(
    root: &Root,
    wanted: &Wanted,
    origin: Origin,
    using: &Using,
    progress: &mut dyn Progress,
) -> Result<Filled, InstanceError> {
    add_filled(root, wanted, progress, |making, progress| {
        fill(root, making, &making.record()?, origin, using, progress)
    })
}

/// The instance has the backup's data in the place of its own, and runs if it ran. Gives where its own are kept.
///
/// # Errors
/// [`InstanceError::Refused`] while somebody uses it; what is wrong with the backup: then it goes on with its own data.
pub fn restore_over(
    root: &Root,
    name: &InstanceName,
    origin: Origin,
    using: &Using,
    own: Data,
    life: &Life<'_>,
    progress: &mut dyn Progress,
) -> Result<(Filled, Option<PathBuf>), InstanceError> {
    let place = root.find(name)?;
    let _lock = place.lock()?;
    refuse_if_used(root, &place, "restore over")?;
    let beside = begin_beside(root, &place)?;
    let record = place.record()?;
    let filled = fill(root, &beside.place, &record, origin, using, progress)?;
    refuse_if_used(root, &place, "restore over")?;
    let kept = take_over(root, &place, &beside, life, progress)?;
    if own == Data::Keep {
        return Ok((filled, Some(kept)));
    }
    remove_leftover(&kept).map_err(ServerError::file("remove", &kept))?;
    Ok((filled, None))
}

/// How an instance is stopped and started on the way.
#[derive(Clone, Copy, Debug)]
pub struct Life<'a> {
    /// This program, whose process supervises it.
    pub program: &'a Path,
    /// How long to wait for its end, and for its start.
    pub within: Duration,
}

/// A directory like an instance's, where its next data are made.
pub(crate) struct Beside {
    pub(crate) place: Place,
    _lock: fs::File,
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(remove_leftover(self.place.dir()));
    }
}

/// Data can be made there; its root has the instance's password.
pub(crate) fn begin_beside(root: &Root, place: &Place) -> Result<Beside, InstanceError> {
    let beside = &root.restoring(place.name());
    if is_held(&beside.dir().join("lock")) {
        return Err(InstanceError::Refused(format!("work on {}: another command does", place.name())));
    }
    check_one_disk(root, place)?;
    remove_leftover(beside.dir()).map_err(ServerError::file("remove", beside.dir()))?;
    make_private_dir(beside.dir()).map_err(ServerError::file("make the directory", beside.dir()))?;
    let beside = Beside { place: beside.clone(), _lock: beside.lock()? };
    beside.place.write(&beside.place.password_file(), place.password()?.reveal())?;
    Ok(beside)
}

/// Directories change places only on one file system, and what is kept goes to another one of its directories.
pub(crate) fn check_one_disk(root: &Root, place: &Place) -> Result<(), InstanceError> {
    let data = place.data();
    let device = |path: &Path| {
        let there = path.ancestors().find(|path| path.exists()).unwrap_or(path);
        fs::metadata(there).map(|found| found.dev()).map_err(ServerError::file("look at", there))
    };
    let own = device(&data)?;
    for other in [place.dir().to_owned(), root.removed_dir()] {
        if device(&other)? != own || data.is_symlink() {
            return Err(InstanceError::Refused(format!(
                "put data in the place of {}: it is on another file system than {}, or a link, and both have to change places at once",
                data.display(),
                other.display()
            )));
        }
    }
    Ok(())
}

/// The data beside take the place of the instance's, at once; it runs if it ran. Gives where its own went.
pub(crate) fn take_over(
    root: &Root,
    place: &Place,
    beside: &Beside,
    life: &Life<'_>,
    progress: &mut dyn Progress,
) -> Result<PathBuf, InstanceError> {
    let did_run = State::load(place)?.live_server().is_some();
    stop_locked(place, life.within, progress)?;
    let exchanged = exchange(root, place, &beside.place.data()).and_then(|kept| {
        let words = beside.place.init_file();
        if words.exists() {
            fs::rename(&words, place.init_file()).map_err(ServerError::file("rename", &words))?;
        }
        Ok(kept)
    });
    if did_run {
        start_locked(root, place, life.program, life.within, progress)?;
    }
    exchanged
}

/// `fresh` and the instance's data change places, which no crash can cut in two; its own are in `removed` then.
pub(crate) fn exchange(root: &Root, place: &Place, fresh: &Path) -> Result<PathBuf, InstanceError> {
    let kept = root.kept_dir(place.name());
    exchange_into(&kept, place, fresh)?;
    Ok(kept)
}

/// The same with the directory where its own are to be.
pub(crate) fn exchange_into(kept: &Path, place: &Place, fresh: &Path) -> Result<(), InstanceError> {
    make_private_dir(kept).map_err(ServerError::file("make the directory", kept))?;
    // All that can fail comes before.
    for path in [place.record_file(), place.password_file(), place.option_file()]
        .into_iter()
        .filter(|path| path.exists())
    {
        let Some(name) = path.file_name() else { continue };
        fs::copy(&path, kept.join(name)).map_err(ServerError::file("keep", &path))?;
    }
    let (theirs, own) = (kept.join("data"), place.data());
    fs::rename(fresh, &theirs).map_err(ServerError::file("rename", fresh))?;
    renameat_with(CWD, &theirs, CWD, &own, RenameFlags::EXCHANGE)
        .map_err(|error| ServerError::file("put new data in the place of", &own)(error.into()))?;
    Ok(())
}
