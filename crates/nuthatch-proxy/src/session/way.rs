//! The way of an answer to the client, and what can keep it.

mod capture;
mod departure;
mod pass;
mod passage;
mod print;
mod reading;
mod relay;
pub(crate) mod reply;
mod see_out;
mod transcode;
mod trouble;
mod when_late;

pub(crate) use capture::{Capture, STORED_STATUS};
pub(crate) use departure::{Departure, Rest};
pub(crate) use passage::{Forms, Passage};
pub(crate) use print::Print;
pub(crate) use reading::{Depends, Reading, Sent};
pub(crate) use relay::{Way, command_packet, unless_cut};
pub(crate) use see_out::{TIME_IS_OVER, is_of_time};
pub(crate) use transcode::transcode;
pub(crate) use trouble::{Answered, Elsewhere, Late, Trouble, UNSUPPORTED_PS};
pub(crate) use when_late::WhenLate;
