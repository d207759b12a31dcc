//! The way of an answer to the client, and what can keep it.

mod capture;
mod departure;
mod passage;
mod reading;
mod relay;
pub(crate) mod reply;
mod transcode;
mod trouble;

pub(crate) use capture::Capture;
pub(crate) use departure::Departure;
pub(crate) use passage::{Forms, Passage};
pub(crate) use reading::{Depends, Reading, Sent};
pub(crate) use relay::{Way, command_packet, unless_cut};
pub(crate) use transcode::transcode;
pub(crate) use trouble::{Answered, Elsewhere, Trouble, UNSUPPORTED_PS};
