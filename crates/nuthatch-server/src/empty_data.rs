//! Empty data directories, made once and copied for each server, because a copy takes a fraction of a second
//! and a new one takes several.
//!
//! A template is complete or not there: it is made under another name and renamed. Two processes that want
//! the same one wait for each other. Nothing is copied from a directory that another user could have written
//! to.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::geteuid;

use crate::error::ServerError;
use crate::installation::Installation;
use crate::private::{errors_or_tail, lock, make_private_dir};

/// Moves when templates of older programs must not be used any more.
const FORMAT: u32 = 1;

/// Copies an empty data directory for this installation to `target`, which does not exist before and is
/// complete afterwards. `on_making` is told where, if a first one has to be made, which takes seconds.
///
/// # Errors
/// What kept it from that.
pub fn copy_empty_data(
    target: &Path,
    installation: &Installation,
    templates: &Path,
    on_making: &mut dyn FnMut(&Path),
) -> Result<(), ServerError> {
    let template = ensure(installation, templates, on_making)?;
    let copying = target.with_extension("copying");
    let copy = || {
        remove_leftover(&copying)?;
        copy_dir(&template, &copying)?;
        fs::rename(&copying, target)
    };
    copy().map_err(ServerError::file("copy the template to", target))
}

/// The template's directory, made if need be.
fn ensure(
    installation: &Installation,
    templates: &Path,
    on_making: &mut dyn FnMut(&Path),
) -> Result<PathBuf, ServerError> {
    make_private_dir(templates).map_err(ServerError::file("make the directory", templates))?;
    check_owner(templates)?;
    let template = templates.join(name(installation)?);
    let _lock = lock(&template.with_extension("lock"))?;
    if !template.exists() {
        on_making(&template);
        make(installation, &template)?;
    }
    Ok(template)
}

/// One template for each build of a server: `mariadb-10.11.19-MariaDB-0_deb12u1-1`. No dot may follow the
/// last number.
fn name(installation: &Installation) -> Result<String, ServerError> {
    let version = installation.version()?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let version: String = version.chars().map(plain).collect();
    Ok(format!("{}-{version}-{FORMAT}", installation.kind.client().name))
}

fn make(installation: &Installation, template: &Path) -> Result<(), ServerError> {
    let kind = installation.kind;
    let making = template.with_extension("making");
    remove_leftover(&making).map_err(ServerError::file("remove", &making))?;
    initialize(installation, &making)?;
    for file in kind.unique_files() {
        remove_leftover(&making.join(file)).map_err(ServerError::file("remove", making.join(file)))?;
    }
    fs::rename(&making, template).map_err(ServerError::file("rename", &making))
}

fn initialize(installation: &Installation, data: &Path) -> Result<(), ServerError> {
    let program = installation.find(installation.kind.initializer())?;
    let log = data.with_extension("log");
    // A server that starts removes what others have left among its temporary files, and all that others have there now.
    let temporary = data.with_extension("tmp");
    let run = || {
        remove_leftover(&temporary)?;
        fs::DirBuilder::new().mode(0o700).create(&temporary)?;
        let output = File::create(&log)?;
        let mut command = installation.kind.initialize(&program, &installation.root, data);
        command.env("TMPDIR", &temporary).stdin(Stdio::null());
        let status = command.stdout(output.try_clone()?).stderr(output).status()?;
        remove_leftover(&temporary)?;
        Ok(status)
    };
    let status = run().map_err(ServerError::file("run", &program))?;
    if status.success() {
        return Ok(());
    }
    Err(ServerError::EmptyData {
        program: installation.kind.initializer().name,
        status,
        log_tail: errors_or_tail(&log),
    })
}

/// Refuses a directory that another user could have prepared, as anyone could under `/tmp`.
fn check_owner(dir: &Path) -> Result<(), ServerError> {
    let found = fs::symlink_metadata(dir).map_err(ServerError::file("look at", dir))?;
    let own = found.uid() == geteuid().as_raw() && found.is_dir() && found.mode() & 0o022 == 0;
    if own { Ok(()) } else { Err(ServerError::Untrusted { path: dir.into() }) }
}

/// Nothing is there afterwards, whatever it was.
///
/// # Errors
/// The system's.
pub fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Copies a directory to one that does not exist before, and that only its owner may enter.
///
/// # Errors
/// The system's; then a part of it is there.
pub fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn directory_that_others_may_write_to_is_untrusted() {
        let dir = tempfile::tempdir().unwrap();
        check_owner(dir.path()).unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(check_owner(dir.path()), Err(ServerError::Untrusted { .. })));
    }
}
