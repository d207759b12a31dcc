//! From a backup's bytes to files: what its last file does not tell of was cut, and is no backup.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::Stdio;

use nuthatch_server::{Kind, ServerError, make_private_dir};

use crate::backup::manifest::{Archive, Manifest};
use crate::backup::pace::{Meter, Pace, pump};
use crate::backup::sealed::SealedReader;
use crate::error::InstanceError;
use crate::tool::{MBSTREAM, Running, tied};

/// The last file of a stream: the manifest.
pub(crate) const LAST_FILE: &str = "nuthatch-manifest.toml";

/// The files are in `into`, which is made for them; gives what the stream says of itself.
pub(crate) fn unpack(
    mut from: SealedReader,
    server: &nuthatch_server::Installation,
    into: &Path,
    sha256: Option<&str>,
    meter: &mut Meter<'_>,
) -> Result<Manifest, InstanceError> {
    make_private_dir(into).map_err(ServerError::file("make the directory", into))?;
    match server.kind {
        Kind::MariaDb => unpack_mbstream(&mut from, server, into, meter)?,
        Kind::MySql => {
            let mut tar = tar::Archive::new(Counted { from: &mut from, meter });
            tar.set_preserve_mtime(false);
            tar.unpack(into).map_err(ServerError::file("unpack the backup to", into))?;
        }
    }
    let read = from.finish().map_err(ServerError::file("read the backup for", into))?;
    if sha256.is_some_and(|wanted| wanted != read) {
        return Err(InstanceError::Refused(
            "use the backup: its bytes are not those that were written (SHA-256 differs)".into(),
        ));
    }
    let path = into.join(LAST_FILE);
    let text = fs::read_to_string(&path).map_err(|_none| {
        InstanceError::Refused(
            "use the backup: it has no end; it was cut, or is none of nuthatch's, or one of another kind of server".into(),
        )
    })?;
    fs::remove_file(&path).map_err(ServerError::file("remove", &path))?;
    let manifest = Manifest::parse(&text, &path)?;
    let archive = match server.kind {
        Kind::MariaDb => Archive::Mbstream,
        Kind::MySql => Archive::Tar,
    };
    if manifest.archive != archive {
        return Err(InstanceError::Refused("use the backup: it is of another kind of server".into()));
    }
    Ok(manifest)
}

fn unpack_mbstream(
    from: &mut SealedReader,
    server: &nuthatch_server::Installation,
    into: &Path,
    meter: &mut Meter<'_>,
) -> Result<(), InstanceError> {
    let program = server.find(MBSTREAM)?;
    let mut command = tied(&program, None);
    command.args(["-x", "-C"]).arg(into).stdin(Stdio::piped()).stdout(Stdio::null());
    let log = into.with_extension("unpacking.log");
    let mut tool = Running::start(&mut command, &program, &log)?;
    let fed = match tool.child().stdin.take() {
        Some(mut to) => pump(from, &mut to, &Pace::new(None), meter),
        None => Ok(()),
    };
    // Whoever ended first is at fault: a pipe that nobody reads any more says nothing.
    let outcome = match fed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => tool.done("unpack the backup"),
        Err(error) => Err(ServerError::file("read the backup for", into)(error).into()),
        Ok(()) => tool.done("unpack the backup"),
    };
    nuthatch_server::remove_file(&log)?;
    outcome
}

struct Counted<'a, 'b, R> {
    from: R,
    meter: &'a mut Meter<'b>,
}

impl<R: Read> Read for Counted<'_, '_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(bytes)?;
        self.meter.add(read);
        Ok(read)
    }
}
