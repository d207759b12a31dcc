//! Ports that nobody listens on and no other lab of this user has been given.
//!
//! Ports are taken from below the range that the kernel gives to outgoing connections, so that a busy client
//! cannot take one between the look and the server's bind. Which lab has which is written down in one file for
//! each user: a lab keeps its ports while it is down. Others can still take one: who starts a server must be
//! ready to be given another.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use nuthatch_server::make_private_dir;

use crate::layout::LOCK;

/// Below Linux's default `ip_local_port_range`, above the ports of known services.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// Whether a server could bind this port of 127.0.0.1 now.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// A port of 127.0.0.1 that is free now and belongs to the lab in `dir` from now on, until the lab is removed.
pub(crate) fn claim(dir: &Path) -> io::Result<u16> {
    let mut file = open()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut claims: Vec<(u16, &Path)> =
        text.lines().filter_map(parse).filter(|(_, lab)| exists(lab)).collect();
    let is_taken = |port: u16| claims.iter().any(|(taken, _)| *taken == port);
    let start = random()? % COUNT;
    let port = (0..COUNT)
        .map(|step| FIRST + (start + step) % COUNT)
        .find(|port| !is_taken(*port) && is_free(*port))
        .ok_or_else(|| io::Error::new(io::ErrorKind::AddrInUse, "no port is free"))?;
    claims.push((port, dir));
    let lines: String = claims.iter().map(|(port, lab)| format!("{port} {}\n", lab.display())).collect();
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(lines.as_bytes())?;
    Ok(port)
}

/// `/tmp/nuthatch-lab-UID`: short, because the sockets of scratch labs are below it.
pub(crate) fn place() -> PathBuf {
    std::env::temp_dir().join(format!("nuthatch-lab-{}", geteuid().as_raw()))
}

/// The file of all claims, which no other process reads until it is dropped.
fn open() -> io::Result<File> {
    let place = place();
    make_private_dir(&place)?;
    let found = fs::symlink_metadata(&place)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() || found.mode() & 0o022 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the place of the claims is another user's",
        ));
    }
    let mut options = OpenOptions::new();
    let file =
        options.create(true).truncate(false).read(true).write(true).mode(0o600).open(place.join("ports"))?;
    file.lock()?;
    Ok(file)
}

fn parse(line: &str) -> Option<(u16, &Path)> {
    let (port, lab) = line.split_once(' ')?;
    Some((port.parse().ok()?, Path::new(lab)))
}

fn exists(lab: &Path) -> bool {
    lab.join(LOCK).exists()
}

fn random() -> io::Result<u16> {
    let mut bytes = [0_u8; 2];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u16::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn port_in_use_is_not_free() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(!is_free(listener.local_addr().unwrap().port()));
    }

    #[test]
    fn labs_are_given_different_ports() {
        let labs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        labs.iter().for_each(|lab| fs::write(lab.path().join(LOCK), "").unwrap());
        let claimed: Vec<u16> = (0..40).map(|n| claim(labs[n % 2].path()).unwrap()).collect();
        assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), claimed.len());
        let of_both =
            |text: &str| labs.iter().filter(|lab| text.contains(lab.path().to_str().unwrap())).count();
        let text = || fs::read_to_string(place().join("ports")).unwrap();
        assert_eq!(of_both(&text()), 2);
        // What a lab that is gone had is forgotten at the next claim.
        fs::remove_file(labs[1].path().join(LOCK)).unwrap();
        claim(labs[0].path()).unwrap();
        assert_eq!(of_both(&text()), 1);
    }
}
