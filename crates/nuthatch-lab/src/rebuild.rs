//! A server that is built anew from another one, as an operator does it with what must not rejoin as it is.
//!
//! The other one, a replica, is stopped for as long as its files are copied: what it has at that moment, and whom it follows, the new one
//! has too.

use std::fs;

use nuthatch_server::{copy_dir, remove_leftover};

use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::launch::RESTART_WITHIN;
use crate::progress::Silent;
use crate::role::Role;
use crate::state::State;

impl Lab {
    /// The server has the data of that replica in place of its own, takes no writes, and follows whom that follows. Both run.
    ///
    /// # Errors
    /// [`LabError::BadOption`] where that one follows nobody; what kept either from stopping or starting.
    pub fn rebuild(&mut self, role: Role, from: Role) -> Result<()> {
        let _lock = self.layout.lock()?;
        self.state = State::load(&self.layout)?;
        let client = self.client(self.server_state(from)?)?;
        if role == from || self.state.cluster.is_some() || self.replication(&client).is_none() {
            let what = format!("{from} is no other replica to build {role} from");
            return Err(LabError::BadOption { what });
        }
        if let Some(mark) = self.server_state(role)?.process.clone() {
            self.kill_and_wait(role, &mark)?;
        }
        self.stop_servers(&[from], &mut Silent)?;
        let (source, target) = (self.layout.data(from), self.layout.data(role));
        let copy = || {
            remove_leftover(&target)?;
            copy_dir(&source, &target)?;
            let unique = self.state.installation.kind.unique_files().iter();
            unique.map(|file| target.join(file)).try_for_each(|file| match file.exists() {
                true => fs::remove_file(file),
                false => Ok(()),
            })
        };
        copy().map_err(LabError::file("copy a server's data to", &target))?;
        for one in [from, role] {
            self.spawn(one)?;
            self.await_answer(one, RESTART_WITHIN)?;
            self.server(one)?.query(self.dialect().guard_replica())?;
            self.resume_replication(one, RESTART_WITHIN)?;
        }
        Ok(())
    }
}
