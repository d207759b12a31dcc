//! What the caller keeps with answers.

use std::sync::Arc;

/// A plan for those who hit: the cache keeps it, and asks it only what it weighs.
pub trait Plan {
    /// What the entry that has it is to be charged for besides its own bytes: what is freed with that entry. It must not change.
    fn weight_bytes(&self) -> u64 {
        0
    }
}

impl Plan for bool {}
impl Plan for u8 {}
impl Plan for u64 {}
impl Plan for usize {}

impl<P: Plan> Plan for Arc<P> {
    fn weight_bytes(&self) -> u64 {
        P::weight_bytes(self)
    }
}
