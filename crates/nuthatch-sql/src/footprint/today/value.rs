//! Where a value of type TIME stands in a text.

/// A value of type TIME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// Its first token.
    pub(super) first: usize,
    /// Its last.
    pub(super) last: usize,
    /// It is surely one, and of no other type.
    pub(super) is_certain: bool,
}

pub(super) const fn certain(first: usize, last: usize) -> Value {
    Value { first, last, is_certain: true }
}
