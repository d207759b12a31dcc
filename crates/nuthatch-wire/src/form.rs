//! Forms of answers: what capabilities change in how an answer looks and not in what it says.

use crate::CapabilityFlags;

/// How answers look on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent capabilities")]
pub struct Form {
    /// `CLIENT_DEPRECATE_EOF`.
    pub deprecate_eof: bool,
    /// `CLIENT_SESSION_TRACK`.
    pub session_track: bool,
    /// `CLIENT_OPTIONAL_RESULTSET_METADATA`.
    pub optional_metadata: bool,
    /// `MARIADB_CLIENT_EXTENDED_METADATA`.
    pub extended_metadata: bool,
}

impl Form {
    /// The capabilities that make it up.
    pub const FLAGS: CapabilityFlags = CapabilityFlags::CLIENT_DEPRECATE_EOF
        .union(CapabilityFlags::CLIENT_SESSION_TRACK)
        .union(CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA)
        .union(CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA);

    /// Whether answers look alike unless they tell of changes.
    #[must_use]
    pub fn is_nearly(self, other: Self) -> bool {
        Self { session_track: other.session_track, ..self } == other
    }

    /// That of a connection with these capabilities.
    #[must_use]
    pub const fn of(capabilities: CapabilityFlags) -> Self {
        Self {
            deprecate_eof: capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF),
            session_track: capabilities.contains(CapabilityFlags::CLIENT_SESSION_TRACK),
            optional_metadata: capabilities.contains(CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA),
            extended_metadata: capabilities.contains(CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA),
        }
    }
}
