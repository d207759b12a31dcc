//! A small filesystem of its own for each server, which can be full without anybody else's being so.
//!
//! It is a tmpfs over the server's directory, so whoever makes such a lab must be allowed to mount: root, or anybody in a user and mount
//! namespace of their own (`unshare --user --map-root-user --mount`), with which it is gone too. Only what is mounted so is ever filled.
//!
//! A limit of the process's (`RLIMIT_FSIZE`) would need no mount, but is no full disk: the server is told EFBIG, which it takes for damage.
//! ENOSPC it knows: what writes the binlog waits for somebody to free space, and looks again after a minute.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use nuthatch_server::remove_file;

use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::role::Role;
use crate::tmpfs::is_mounted;

/// What the filler grows by.
const CHUNK_BYTES: usize = 1 << 20;

impl Lab {
    /// Nothing more fits on the server's disk, until [`free_disk`](Self::free_disk).
    ///
    /// # Errors
    /// [`LabError::BadOption`] where the server has no disk of its own, [`LabError::File`].
    pub fn fill_disk(&self, role: Role) -> Result<()> {
        self.server(role)?;
        let dir = self.layout.server(role);
        if !is_mounted(&dir) {
            return Err(LabError::BadOption { what: format!("{role} has no disk of its own") });
        }
        let path = self.layout.filler(role);
        let fill = || {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            let chunk = vec![0; CHUNK_BYTES];
            loop {
                // A part of it may fit.
                match file.write(&chunk) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
        };
        fill().map_err(LabError::file("fill the disk with", &path))
    }

    /// The server's disk has room again; nothing is done where it has.
    ///
    /// # Errors
    /// [`LabError::NoSuchServer`], [`LabError::File`].
    pub fn free_disk(&self, role: Role) -> Result<()> {
        self.server(role)?;
        Ok(remove_file(&self.layout.filler(role))?)
    }
}
