//! What the caller keeps with answers.

use std::hash::Hash;
use std::sync::Arc;

/// A plan for those who hit. The cache keeps one for all answers that have it and the rest of their kind in common: it tells two apart by what
/// they are, and asks what one weighs. Threads share them.
pub trait Plan: Clone + Eq + Hash + Send + Sync {
    /// What whoever keeps it is to be charged for besides its own bytes: what is freed with it. It must not change.
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
