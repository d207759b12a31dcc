//! The host of one end of a replication: this one, or another one.

use std::net::IpAddr;

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
        let odd = |error: serde_json::Error| {
            InstanceError::Refused(format!(
                "understand {}: is its nuthatch of the same version? {error}",
                ssh.host()
            ))
        };
        let said = ssh.ask(&serde_json::to_string(request).map_err(odd)?)?;
        match serde_json::from_slice(&said).map_err(odd)? {
            Answer::Refused(what) => {
                Err(InstanceError::Refused(format!("work on {}: failed to {what}", ssh.host())))
            }
            answer => Ok(answer),
        }
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

    /// How it is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Here(_) => "this host",
            Self::There(ssh) => ssh.host(),
        }
    }
}

fn odd(answer: &Answer) -> InstanceError {
    InstanceError::Refused(format!(
        "understand the answer {answer:?}: is the other host's nuthatch of the same version?"
    ))
}
