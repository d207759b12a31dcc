//! The two settings of the query cache that MySQL's own words set too: its type and its size.

/// How `query_cache_size` counts: a size is a multiple of it, as in MySQL.
const SIZE_STEP_BYTES: u64 = 1024;

const MIB_BYTES: u64 = 1 << 20;

/// What is cached by itself, without a rule or a comment that asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QueryCacheType {
    /// Nothing. For a session that has said so itself, nothing at all.
    #[default]
    Off,
    /// Every SELECT that can be proven safe, but those with SQL_NO_CACHE.
    On,
    /// Those with SQL_CACHE or `/* nuthatch: cache */`.
    Demand,
}

impl QueryCacheType {
    /// What stands for a type in a setting.
    pub(crate) const SPELLINGS: &'static [&'static str] = &["0", "1", "2", "OFF", "ON", "DEMAND"];

    const ALL: [Self; 3] = [Self::Off, Self::On, Self::Demand];

    /// The type of this number.
    #[must_use]
    pub fn of_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    /// The type of this word, in any case.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word))
    }

    /// 0, 1 or 2.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Off => 0,
            Self::On => 1,
            Self::Demand => 2,
        }
    }

    /// OFF, ON or DEMAND.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "OFF",
            Self::On => "ON",
            Self::Demand => "DEMAND",
        }
    }
}

/// What the query cache may take: a whole number of KiB, which `mysql-query_cache_size_MB` shows in MiB and
/// `query_cache_size` in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueryCacheSize {
    bytes: u64,
}

impl QueryCacheSize {
    /// The largest size that `query_cache_size` takes.
    pub const BYTES_MAX: u64 = 10_485_760_000;

    /// So many MiB.
    #[must_use]
    pub const fn of_mib(mib: u64) -> Self {
        Self { bytes: mib.saturating_mul(MIB_BYTES) }
    }

    /// So many bytes, rounded down to whole KiB.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self { bytes: bytes - bytes % SIZE_STEP_BYTES }
    }

    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Reads MiB: `256`, `0.5`; `None` for what is no such number or above `mib_max`.
    pub(crate) fn parse_mib(text: &str, mib_max: u64) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        if !(1..=FRACTION_DIGITS).contains(&fraction.len()) {
            return None;
        }
        let whole: u64 = whole.parse().ok().filter(|whole| *whole <= mib_max)?;
        let fraction: u64 = format!("{fraction:0<FRACTION_DIGITS$}").parse().ok()?;
        let kib = whole * 1024 + fraction * 1024 / FRACTION_OF_ONE;
        (kib <= mib_max * 1024).then(|| Self::of_bytes(kib * 1024))
    }

    /// In MiB, exactly.
    #[must_use]
    pub fn mib(self) -> String {
        let (whole, kib) = (self.bytes / MIB_BYTES, self.bytes % MIB_BYTES / 1024);
        match kib {
            0 => whole.to_string(),
            _ => {
                let fraction = format!("{:0FRACTION_DIGITS$}", kib * (FRACTION_OF_ONE / 1024));
                format!("{whole}.{}", fraction.trim_end_matches('0'))
            }
        }
    }
}

/// A KiB is 0.0009765625 MiB.
const FRACTION_DIGITS: usize = 10;
const FRACTION_OF_ONE: u64 = 10_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_one_value_in_bytes_and_in_mib() {
        for (bytes, shown) in [
            (0, "0"),
            (1023, "0"),
            (1024, "0.0009765625"),
            (1_000_000, "0.953125"),
            (MIB_BYTES, "1"),
            (3 * MIB_BYTES / 2, "1.5"),
            (QueryCacheSize::BYTES_MAX, "10000"),
        ] {
            let size = QueryCacheSize::of_bytes(bytes);
            assert_eq!(size.mib(), shown, "{bytes}");
            assert_eq!(QueryCacheSize::parse_mib(shown, 10_000), Some(size), "{shown}");
        }
        for kib in 0..2048 {
            let size = QueryCacheSize::of_bytes(kib * 1024);
            assert_eq!(QueryCacheSize::parse_mib(&size.mib(), 10), Some(size), "{kib} KiB");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", ".", "1.", ".5", "-1", "1.5.5", "1e3", "1.x", "11", "10.1", "0.00000000001"] {
            assert_eq!(QueryCacheSize::parse_mib(text, 10), None, "{text}");
        }
    }
}
