//! Text that must not reach a log, an error or a `Debug` output.

use std::fmt;

/// A secret in clear. Only [`Secret::expose`] shows it; `Debug` shows that there is one, not how long it is.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself. Do not format what this returns.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_empty() { "Secret(empty)" } else { "Secret(..)" })
    }
}
