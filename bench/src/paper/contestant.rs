//! Who takes part.

use std::fmt;

use serde::Serialize;

/// What clients connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Contestant {
    /// MariaDB without a query cache.
    Direct,
    /// MariaDB with its own.
    Native,
    /// The proxy before the first of these, with its cache off.
    Off,
    /// The same with its cache on.
    On,
    /// The same with users of whom it looks into nothing.
    FastForward,
    /// Another proxy, given by `--peer`, with a time to live.
    Peer,
    /// The canned-reply server.
    Floor,
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Direct => "direct",
            Self::Native => "own cache",
            Self::Off => "off",
            Self::On => "on",
            Self::FastForward => "fast-forward",
            Self::Peer => "peer",
            Self::Floor => "floor",
        })
    }
}

impl Contestant {
    /// Has something to be filled before it is measured.
    pub(super) fn has_a_cache(self) -> bool {
        matches!(self, Self::Native | Self::On | Self::Peer)
    }
}
