//! What many answers have in common: who asked, where, by which rules, and the packets before the first row.
//!
//! A kind is one for all entries that are of it, and immutable: most of what a short answer
//! would keep is here. Where there is no room among those that are shared, an entry has one of its own and is charged for it.

use std::hash::{Hash, Hasher};
use std::mem::size_of;

use rapidhash::fast::RapidHasher;
use triomphe::ThinArc;

use crate::fill::Fill;
use crate::key::{Key, Protocol};
use crate::plan::Plan;
use crate::weight::thin_bytes;

/// A longer head is each answer's own: it is a small part of a large answer, or nothing that comes again.
pub(crate) const HEAD_BYTES_MAX: usize = 16 << 10;

/// See the module's doc. A clone is one atomic increment.
pub(crate) struct Kind<T>(ThinArc<Common<T>, u8>);

/// Everything of a kind but its bytes, which are user, schema and head, without separators.
///
/// Fills count their hold on a kind in front of it, and hits read the rest: `_room` keeps it off that line.
#[repr(C)]
struct Common<T> {
    _room: [u64; 7],
    plan: T,
    environment: u32,
    hostgroup: u32,
    epoch: u32,
    user_bytes: u16,
    schema_bytes: u16,
    protocol: Protocol,
    membership: Membership,
}

/// Whether others may be of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Membership {
    /// It is shared, since its `Kinds` were emptied so many times.
    Shared(u32),
    /// It is its entry's own.
    Own,
}

/// What a kind is made of; two with the same parts are one.
#[derive(PartialEq, Hash)]
pub(crate) struct Parts<'a, T> {
    plan: &'a T,
    user: &'a [u8],
    schema: &'a [u8],
    environment: u32,
    protocol: Protocol,
    hostgroup: u32,
    epoch: u32,
    head: &'a [u8],
}

impl<'a, T: Plan> Parts<'a, T> {
    /// Those of an answer, with `head` as what it begins with like others. Nothing where a name is longer than any server's.
    pub(crate) fn of(fill: &'a Fill<'_, T>, head: &'a [u8]) -> Option<Self> {
        let Key { user, schema, environment, protocol, .. } = fill.key;
        u16::try_from(user.len()).ok()?;
        u16::try_from(schema.len()).ok()?;
        let epoch = u32::try_from(fill.epoch).unwrap_or(u32::MAX);
        Some(Self {
            plan: &fill.plan,
            user,
            schema,
            environment,
            protocol,
            hostgroup: fill.hostgroup,
            epoch,
            head,
        })
    }

    /// The hash of all.
    pub(crate) fn hashed(&self) -> u64 {
        let mut hasher = RapidHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// What a kind of them weighs.
    pub(crate) fn weight_bytes(&self) -> u64 {
        weight_of(self.plan, self.user.len() + self.schema.len() + self.head.len())
    }
}

impl<T: Plan> Kind<T> {
    /// A new one. Cost: two allocations.
    pub(crate) fn new(parts: &Parts<'_, T>, membership: Membership) -> Self {
        let Parts { plan, user, schema, environment, protocol, hostgroup, epoch, head } = *parts;
        let length = |name: &[u8]| u16::try_from(name.len()).expect("parts have no longer ones");
        let common = Common {
            _room: [0; 7],
            plan: plan.clone(),
            environment,
            hostgroup,
            epoch,
            user_bytes: length(user),
            schema_bytes: length(schema),
            protocol,
            membership,
        };
        Self(ThinArc::from_header_and_slice(common, &[user, schema, head].concat()))
    }

    /// What it is made of.
    pub(crate) fn parts(&self) -> Parts<'_, T> {
        let Common { plan, environment, hostgroup, epoch, protocol, .. } = self.common();
        let (user, schema) = self.names();
        Parts {
            plan,
            user,
            schema,
            environment: *environment,
            protocol: *protocol,
            hostgroup: *hostgroup,
            epoch: *epoch,
            head: self.head(),
        }
    }

    /// What it weighs, whoever is charged for it.
    pub(crate) fn weight_bytes(&self) -> u64 {
        weight_of(self.plan(), self.0.slice.len())
    }
}

impl<T> Kind<T> {
    /// What the filling caller left for those who hit.
    #[inline]
    pub(crate) fn plan(&self) -> &T {
        &self.common().plan
    }

    #[inline]
    pub(crate) fn environment(&self) -> u32 {
        self.common().environment
    }

    #[inline]
    pub(crate) fn protocol(&self) -> Protocol {
        self.common().protocol
    }

    #[inline]
    pub(crate) fn hostgroup(&self) -> u32 {
        self.common().hostgroup
    }

    /// From `2^32` on the configuration is always older than the one in force.
    #[inline]
    pub(crate) fn epoch(&self) -> u32 {
        self.common().epoch
    }

    pub(crate) fn membership(&self) -> Membership {
        self.common().membership
    }

    /// User and schema.
    #[inline]
    pub(crate) fn names(&self) -> (&[u8], &[u8]) {
        let common = self.common();
        let (user, rest) = self.0.slice.split_at(usize::from(common.user_bytes));
        (user, &rest[..usize::from(common.schema_bytes)])
    }

    /// What all answers of this kind begin with; empty if each keeps that itself.
    #[inline]
    pub(crate) fn head(&self) -> &[u8] {
        let common = self.common();
        &self.0.slice[usize::from(common.user_bytes) + usize::from(common.schema_bytes)..]
    }

    /// Where its owners are counted: by fills, and by those who leave.
    #[cfg(test)]
    pub(crate) fn counted_at(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// What a hit reads of it.
    #[cfg(test)]
    pub(crate) fn read_at(&self) -> impl Iterator<Item = usize> {
        let first = std::ptr::from_ref(self.plan()).addr();
        let end = self.0.slice.as_ptr_range().end.addr();
        (first..end).step_by(8)
    }

    /// Whether nobody has it but who asks.
    pub(crate) fn is_unused(&self) -> bool {
        ThinArc::strong_count(&self.0) == 1
    }

    #[inline]
    fn common(&self) -> &Common<T> {
        &self.0.header.header
    }
}

impl<T> Clone for Kind<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// What a kind with so many bytes takes from the allocator.
fn weight_of<T: Plan>(plan: &T, bytes: usize) -> u64 {
    thin_bytes(size_of::<Common<T>>(), bytes) + plan.weight_bytes()
}
