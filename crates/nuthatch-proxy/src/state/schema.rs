//! The default schema of a session or a connection.

use std::ops::Deref;

use nuthatch_cache::{Name, NameHash};

/// A schema's name, in UTF-8 whatever the session talks in; empty for none. Its hash is made once, and each look-up in the cache takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    name: Box<[u8]>,
    hash: NameHash,
}

impl Schema {
    /// As a part of the cache's key.
    #[inline]
    pub(crate) fn as_name(&self) -> Name<'_> {
        Name::hashed(&self.name, self.hash)
    }

    /// Back to none.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Default for Schema {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl Deref for Schema {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.name
    }
}

impl From<Vec<u8>> for Schema {
    fn from(name: Vec<u8>) -> Self {
        Self { hash: NameHash::of(&name), name: name.into() }
    }
}

impl From<&[u8]> for Schema {
    fn from(name: &[u8]) -> Self {
        Self { hash: NameHash::of(name), name: name.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_hash_is_that_of_the_name_that_it_has_now() {
        let mut schema = Schema::from(b"shop".as_slice());
        assert_eq!(schema.as_name(), Name::new(b"shop"));
        schema.clone_from(&Schema::from(b"stock".to_vec()));
        assert_eq!(schema.as_name(), Name::new(b"stock"));
        schema.clear();
        assert_eq!((schema.as_name(), schema.is_empty()), (Name::new(b""), true));
    }
}
