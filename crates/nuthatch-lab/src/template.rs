//! Empty data directories, made once and copied for each server, because a copy takes a fraction of a second
//! and a new one takes several.
//!
//! A template is complete or not there: it is made under another name and renamed. Two processes that want
//! the same one wait for each other. Nothing is copied from a directory that another user could have written
//! to.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::geteuid;

use crate::dialect::Dialect;
use crate::error::LabError;
use crate::layout::{errors_or_tail, make_private_dir};
use crate::options::Installation;
use crate::progress::{Progress, Step};

/// Moves when templates of older programs must not be used any more.
const FORMAT: u32 = 1;

/// Copies an empty data directory for this installation to `target`, which does not exist before and is
/// complete afterwards.
pub(crate) fn copy_to(
    target: &Path,
    installation: &Installation,
    templates: &Path,
    progress: &mut dyn Progress,
) -> Result<(), LabError> {
    let template = ensure(installation, templates, progress)?;
    let copying = target.with_extension("copying");
    let copy = || {
        remove_leftover(&copying)?;
        copy_dir(&template, &copying)?;
        fs::rename(&copying, target)
    };
    copy().map_err(LabError::file("copy the template to", target))
}

/// The template's directory, made if need be.
fn ensure(
    installation: &Installation,
    templates: &Path,
    progress: &mut dyn Progress,
) -> Result<PathBuf, LabError> {
    make_private_dir(templates).map_err(LabError::file("make the directory", templates))?;
    check_owner(templates)?;
    let template = templates.join(name(installation)?);
    let _lock = lock(&template.with_extension("lock"))?;
    if !template.exists() {
        progress.step(&Step::MakingTemplate(template.clone()));
        make(installation, &template)?;
    }
    Ok(template)
}

/// One template for each build of a server: `mariadb-10.11.19-MariaDB-0_deb12u1-1`. No dot may follow the
/// last number.
fn name(installation: &Installation) -> Result<String, LabError> {
    let dialect = installation.dialect();
    let server = installation.find(dialect.server())?;
    let said = Command::new(&server).arg("--version").stdin(Stdio::null()).output();
    let said = said.map_err(LabError::file("run", &server))?.stdout;
    let said = String::from_utf8_lossy(&said);
    let version =
        said.split_once("Ver ").map_or("unknown", |(_, rest)| rest.split(' ').next().unwrap_or(rest));
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let version: String = version.trim().chars().map(plain).collect();
    Ok(format!("{}-{version}-{FORMAT}", dialect.client().name))
}

fn make(installation: &Installation, template: &Path) -> Result<(), LabError> {
    let dialect = installation.dialect();
    let making = template.with_extension("making");
    remove_leftover(&making).map_err(LabError::file("remove", &making))?;
    initialize(installation, dialect, &making)?;
    for file in dialect.unique_files() {
        remove_leftover(&making.join(file)).map_err(LabError::file("remove", making.join(file)))?;
    }
    fs::rename(&making, template).map_err(LabError::file("rename", &making))
}

fn initialize(installation: &Installation, dialect: &dyn Dialect, data: &Path) -> Result<(), LabError> {
    let program = installation.find(dialect.initializer())?;
    let log = data.with_extension("log");
    // A server that starts removes what others have left among its temporary files, and all that others have there now.
    let temporary = data.with_extension("tmp");
    let run = || {
        remove_leftover(&temporary)?;
        fs::DirBuilder::new().mode(0o700).create(&temporary)?;
        let output = File::create(&log)?;
        let mut command = dialect.initialize(&program, &installation.root, data);
        command.env("TMPDIR", &temporary).stdin(Stdio::null());
        let status = command.stdout(output.try_clone()?).stderr(output).status()?;
        remove_leftover(&temporary)?;
        Ok(status)
    };
    let status = run().map_err(LabError::file("run", &program))?;
    if status.success() {
        return Ok(());
    }
    Err(LabError::Template { program: dialect.initializer().name, status, log_tail: errors_or_tail(&log) })
}

/// Refuses a directory that another user could have prepared, as anyone could under `/tmp`.
fn check_owner(dir: &Path) -> Result<(), LabError> {
    let found = fs::symlink_metadata(dir).map_err(LabError::file("look at", dir))?;
    let own = found.uid() == geteuid().as_raw() && found.is_dir() && found.mode() & 0o022 == 0;
    if own { Ok(()) } else { Err(LabError::Untrusted { path: dir.into() }) }
}

fn lock(path: &Path) -> Result<File, LabError> {
    let lock = || {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        file.lock()?;
        Ok(file)
    };
    lock().map_err(LabError::file("lock", path))
}

pub(crate) fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

pub(crate) fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
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
        assert!(matches!(check_owner(dir.path()), Err(LabError::Untrusted { .. })));
    }
}
