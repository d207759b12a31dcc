//! How counters are read.

/// Whether reading the rows also sets them to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestReading {
    /// They go on.
    Keep,
    /// They start anew.
    Reset,
}
