//! What is said while instances are worked on, and why something failed.

use nuthatch_instance::{InstanceError, Step};

use crate::log::print_line;

/// A line for each step.
pub(super) fn lines(step: &Step) {
    // A closed pipe must not keep anybody from his work.
    drop(print_line(&step.to_string()));
}

/// The error, for the person.
pub(super) fn failed(error: impl Into<InstanceError>) -> anyhow::Error {
    anyhow::Error::new(error.into()).context("failed to work on the instances")
}
