//! The host of one end of a replication: this one, or another one.

use std::net::IpAddr;

use nuthatch_server::Installation;

use crate::error::InstanceError;
use crate::replication::answer::answer;
use crate::replication::request::{Answer, Known, Request, Survey, Which};
use crate::replication::ssh::Ssh;
use crate::root::Root;

/// Who is asked.
#[derive(Clone, Debug)]
pub enum End {
    /// This host.
    Here(Root),
    /// Another one.
    There(Ssh),
}

impl End {
    /// Its answer, which is no refusal.
    pub(crate) fn ask(&self, request: &Request) -> Result<Answer, InstanceError> {
        let ssh = match self {
            Self::Here(root) => return answer(root, request),
            Self::There(ssh) => ssh,
        };
        let text = serde_json::to_string(request).map_err(|error| strange(ssh, &error))?;
        understood(ssh, &ssh.ask(&text, request.within())?)
    }

    /// It has done what it was told.
    pub(crate) fn tell(&self, request: &Request) -> Result<(), InstanceError> {
        match self.ask(request)? {
            Answer::Done => Ok(()),
            other => Err(odd(&other)),
        }
    }

    /// How an instance of it stands.
    pub(crate) fn look(&self, which: Which) -> Result<Known, InstanceError> {
        match self.ask(&Request::Look(which))? {
            Answer::Known(known) => Ok(*known),
            other => Err(odd(&other)),
        }
    }

    /// From which address it comes to that one.
    pub(crate) fn reach(&self, host: &str, port: u16) -> Result<IpAddr, InstanceError> {
        match self.ask(&Request::Reach { host: host.to_owned(), port })? {
            Answer::From(address) => Ok(address),
            other => Err(odd(&other)),
        }
    }

    /// The tables that the answer names.
    pub(crate) fn tables(&self, request: &Request) -> Result<Vec<String>, InstanceError> {
        match self.ask(request)? {
            Answer::Tables(tables) => Ok(tables),
            other => Err(odd(&other)),
        }
    }

    /// What instances it has.
    pub(crate) fn survey(&self) -> Result<Survey, InstanceError> {
        match self.ask(&Request::Survey)? {
            Answer::Survey(survey) => Ok(survey),
            other => Err(odd(&other)),
        }
    }

    /// Which version a server of it is.
    pub(crate) fn version_of(&self, server: &Installation) -> Result<String, InstanceError> {
        match self.ask(&Request::VersionOf(server.clone()))? {
            Answer::Version(version) => Ok(version),
            other => Err(odd(&other)),
        }
    }

    /// How it is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Here(_) => "this host",
            Self::There(ssh) => ssh.host(),
        }
    }
}

/// What another host has said, which is no refusal.
pub(crate) fn understood(ssh: &Ssh, said: &[u8]) -> Result<Answer, InstanceError> {
    match serde_json::from_slice(said).map_err(|error| strange(ssh, &error))? {
        Answer::Refused(what) => {
            Err(InstanceError::Refused(format!("work on {}: failed to {what}", ssh.host())))
        }
        answer => Ok(answer),
    }
}

fn strange(ssh: &Ssh, error: &serde_json::Error) -> InstanceError {
    InstanceError::Refused(format!("understand {}: is its nuthatch of the same version? {error}", ssh.host()))
}

fn odd(answer: &Answer) -> InstanceError {
    InstanceError::Refused(format!(
        "understand the answer {answer:?}: is the other host's nuthatch of the same version?"
    ))
}
