//! The names under which MySQL and MariaDB show their query cache.

use crate::assignments::Reads;

/// Defines an enum of names, sorted as servers list them.
macro_rules! names {
    ($(#[$meta:meta])* $Enum:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Enum { $(#[doc = concat!("`", $name, "`.")] $variant,)* }

        impl $Enum {
            /// All of them, sorted by name.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name, as a server writes it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

names! {
    /// A variable of the query cache.
    CacheVariable {
        HaveQueryCache = "have_query_cache",
        Limit = "query_cache_limit",
        MinResUnit = "query_cache_min_res_unit",
        Size = "query_cache_size",
        StripComments = "query_cache_strip_comments",
        Type = "query_cache_type",
        WlockInvalidate = "query_cache_wlock_invalidate",
    }
}

names! {
    /// A figure of the query cache in SHOW STATUS.
    CacheStatus {
        FreeBlocks = "Qcache_free_blocks",
        FreeMemory = "Qcache_free_memory",
        Hits = "Qcache_hits",
        Inserts = "Qcache_inserts",
        LowmemPrunes = "Qcache_lowmem_prunes",
        NotCached = "Qcache_not_cached",
        QueriesInCache = "Qcache_queries_in_cache",
        TotalBlocks = "Qcache_total_blocks",
    }
}

impl CacheVariable {
    /// The variable of this name, in any case.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().copied().find(|variable| variable.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// The variable that `@@…` reads, and whose value of it; none where a server has no such value.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<(Self, Reads)> {
        let name = text.strip_prefix(b"@@")?;
        let scopes =
            [(&b"session."[..], Reads::Session), (b"local.", Reads::Session), (b"global.", Reads::Global)];
        let scoped = scopes.iter().find_map(|(scope, reads)| {
            let (head, name) = name.split_at_checked(scope.len())?;
            head.eq_ignore_ascii_case(scope).then_some((name, *reads))
        });
        let (name, reads) = scoped.unwrap_or((name, Reads::Either));
        let variable = Self::named(name)?;
        let is_there = reads != Reads::Session || variable.is_of_sessions();
        is_there.then_some((variable, reads))
    }

    /// Whether a session may have a value of its own.
    const fn is_of_sessions(self) -> bool {
        matches!(self, Self::Type | Self::StripComments | Self::WlockInvalidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_in_the_scopes_that_they_have() {
        for (text, expected) in [
            ("@@query_cache_type", Some((CacheVariable::Type, Reads::Either))),
            ("@@Session.Query_Cache_Type", Some((CacheVariable::Type, Reads::Session))),
            ("@@local.query_cache_type", Some((CacheVariable::Type, Reads::Session))),
            ("@@global.query_cache_size", Some((CacheVariable::Size, Reads::Global))),
            ("@@query_cache_size", Some((CacheVariable::Size, Reads::Either))),
            ("@@have_query_cache", Some((CacheVariable::HaveQueryCache, Reads::Either))),
            ("@@session.query_cache_size", None),
            ("@@query_cache_sizes", None),
            ("@@qcache_hits", None),
            ("@@version", None),
            ("query_cache_type", None),
        ] {
            assert_eq!(CacheVariable::read(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn names_are_sorted() {
        assert!(CacheVariable::ALL.is_sorted_by_key(|variable| variable.name()));
        assert!(CacheStatus::ALL.is_sorted_by_key(|figure| figure.name()));
    }
}
