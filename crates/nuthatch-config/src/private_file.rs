//! A file for its owner only, which is the old one or the new one, whenever the machine stops.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Puts a file with these bytes in the place of what is there, if anything is. It is on the disk when this returns.
///
/// # Errors
/// As the operating system says.
pub fn replace_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut unfinished = path.to_owned().into_os_string();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    // What is left there by a crash goes. A file or link that somebody else has put there must not become the new one.
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}
