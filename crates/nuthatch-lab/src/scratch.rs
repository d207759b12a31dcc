//! A lab for a test: made in a place of its own, and gone when the guard is dropped.
//!
//! A test that is killed drops nothing. So the next scratch lab of the same user first removes those whose
//! makers are gone.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::id;
use std::sync::atomic::{AtomicU32, Ordering};

use nuthatch_server::{ProcessMark, make_private_dir};

use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::options::Options;
use crate::port::place;

/// Numbers the labs of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A lab that stops and leaves no file when it is dropped. One in a `static` is never dropped: it goes when
/// the next scratch lab is made, or by [`ScratchLab::sweep`].
#[derive(Debug)]
pub struct ScratchLab {
    /// Always there until the drop.
    lab: Option<Lab>,
}

impl ScratchLab {
    /// A new lab under the system's directory for temporary files. Templates are shared by all scratch labs
    /// of this user.
    ///
    /// # Errors
    /// As [`Lab::up`].
    pub fn up(options: &Options) -> Result<Self> {
        Self::sweep();
        let place = place();
        make_private_dir(&place).map_err(LabError::file("make the directory", &place))?;
        let name = format!("{}-{}", own_name(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = place.join(name);
        match Lab::up(&dir, options) {
            Ok(lab) => Ok(Self { lab: Some(lab) }),
            Err(error) => {
                remove(&dir);
                Err(error)
            }
        }
    }

    /// Removes the scratch labs whose makers are gone; errors are logged, since the next sweep comes.
    pub fn sweep() {
        let Ok(entries) = fs::read_dir(place()) else { return };
        for entry in entries.flatten() {
            if is_abandoned(&entry.file_name().to_string_lossy()) {
                remove(&entry.path());
            }
        }
    }
}

impl Deref for ScratchLab {
    type Target = Lab;

    fn deref(&self) -> &Lab {
        self.lab.as_ref().expect("there until the drop")
    }
}

impl DerefMut for ScratchLab {
    fn deref_mut(&mut self) -> &mut Lab {
        self.lab.as_mut().expect("there until the drop")
    }
}

impl Drop for ScratchLab {
    fn drop(&mut self) {
        if let Some(lab) = self.lab.take()
            && let Err(error) = lab.remove()
        {
            tracing::error!(%error, "a scratch lab is left behind");
        }
    }
}

/// A name for this process that no later one has: `PID-START`.
fn own_name() -> String {
    let start_ticks = ProcessMark::of(id()).map_or(0, |mark| mark.start_ticks());
    format!("{}-{start_ticks}", id())
}

/// Whether `PID-START-NUMBER` names a process that is gone.
fn is_abandoned(name: &str) -> bool {
    let mut parts = name.splitn(3, '-').map(str::parse::<u64>);
    let (Some(Ok(pid)), Some(Ok(start_ticks)), Some(Ok(_))) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Ok(pid) = u32::try_from(pid) else { return false };
    ProcessMark::of(pid).is_none_or(|mark| mark.start_ticks() != start_ticks)
}

fn remove(dir: &Path) {
    let outcome = match Lab::open(dir) {
        Ok(lab) => lab.remove().map_err(|error| error.to_string()),
        Err(LabError::NoLab { .. }) => fs::remove_dir_all(dir).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = outcome {
        tracing::warn!(dir = %dir.display(), error, "a scratch lab could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labs_of_processes_that_are_gone_are_abandoned() {
        assert!(!is_abandoned(&format!("{}-0", own_name())));
        assert!(is_abandoned(&format!("{}-1-0", id())), "the pid was reused");
        assert!(!is_abandoned(".lab-templates"));
        assert!(!is_abandoned("letter.txt"));
    }
}
