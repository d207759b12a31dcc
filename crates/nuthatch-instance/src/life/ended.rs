//! Waiting for the end of a process, whoever has started it.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::thread;

use nuthatch_server::ProcessMark;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::sync::oneshot;

/// A server that is supervised: a child, or one that an earlier supervisor has left.
pub(crate) struct Watched {
    mark: ProcessMark,
    child: Option<Child>,
    /// Gone when it has ended.
    watch: oneshot::Receiver<()>,
}

impl Watched {
    /// One that was just started.
    pub(crate) fn child(child: Child) -> io::Result<Self> {
        let mark = ProcessMark::of(child.id()).ok_or_else(|| io::Error::other("it has ended at once"))?;
        let watch = watch(&mark)?;
        Ok(Self { mark, child: Some(child), watch })
    }

    /// One that another has started.
    pub(crate) fn adopted(mark: ProcessMark) -> io::Result<Self> {
        let watch = watch(&mark)?;
        Ok(Self { mark, child: None, watch })
    }

    pub(crate) fn mark(&self) -> &ProcessMark {
        &self.mark
    }

    /// It has ended; how, in words, where it was a child.
    pub(crate) async fn ended(&mut self) -> String {
        // Nothing is ever sent.
        drop((&mut self.watch).await);
        match self.child.as_mut().map(Child::wait) {
            Some(Ok(status)) => status.to_string(),
            Some(Err(error)) => format!("nobody knows how: {error}"),
            None => "an earlier supervisor has started it, so nobody knows how".into(),
        }
    }
}

/// A thread waits for the process: its descriptor is readable when it has ended (pidfd_open(2)).
fn watch(mark: &ProcessMark) -> io::Result<oneshot::Receiver<()>> {
    let (end, watch) = oneshot::channel();
    if let Some(descriptor) = open(mark)? {
        thread::Builder::new().name("watch".into()).spawn(move || {
            let _until_then = end;
            let wait = || poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], None);
            if let Err(error) = retry_on_intr(wait) {
                tracing::error!(%error, "cannot wait for the server");
            }
        })?;
    }
    Ok(watch)
}

/// `None` where it has ended already.
fn open(mark: &ProcessMark) -> io::Result<Option<OwnedFd>> {
    let Some(pid) = Pid::from_raw(mark.pid()) else { return Ok(None) };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => Ok(Some(descriptor)),
        Err(Errno::SRCH) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
