//! The numbers that are kept in the tree, and what has grown since.
//!
//! Instructions are exact for one compiler, one C library and one kind of processor, by which the library chooses how it copies. They tell
//! nothing between two of these: with others than the kept ones nothing is compared, and that is said.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fmt, fs};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// How many percent a number may grow before it fails the check.
const GROWTH_PERCENT_MAX: u64 = 3;

/// What of a processor glibc's copies go by.
const FEATURES: [&str; 5] = ["avx2", "avx512f", "bmi2", "erms", "fsrm"];

/// What was measured, and by what it was built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    rustc: String,
    glibc: String,
    /// Its maker, and what it has of [`FEATURES`].
    cpu: String,
    /// User instructions a query, by contestant and connections.
    instructions: BTreeMap<String, u64>,
}

/// What costs more than it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grown {
    /// Its contestant and connections.
    name: String,
    kept: u64,
    measured: u64,
}

impl Grown {
    pub(super) fn contestant(&self) -> &str {
        self.name.rsplit_once(", ").map_or(&self.name, |(contestant, _connections)| contestant)
    }
}

impl Kept {
    /// Of this compiler, C library and processor, with nothing measured yet.
    ///
    /// # Errors
    /// When one of them cannot be asked for its version.
    pub(super) fn here() -> Result<Self> {
        let (rustc, glibc) = (version_of("rustc", "--version")?, version_of("getconf", "GNU_LIBC_VERSION")?);
        let cpu = kind_of(&fs::read_to_string("/proc/cpuinfo").context("reading /proc/cpuinfo")?);
        Ok(Self { rustc, glibc, cpu, instructions: BTreeMap::new() })
    }

    /// # Errors
    /// When there is no such file, or it is of another form.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is of another form", path.display()))
    }

    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// Of a contestant that is measured again the least counts.
    pub(super) fn add(&mut self, contestant: &str, connections: usize, instructions: f64) {
        // Far below 2^52.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of instructions"
        )]
        let rounded = instructions.round() as u64;
        let least = self.instructions.entry(format!("{contestant}, {connections}")).or_insert(rounded);
        *least = rounded.min(*least);
    }

    /// Why the two cannot be compared.
    pub(super) fn incomparable_to(&self, now: &Self) -> Option<String> {
        let told = |of: &Self| format!("{}, {}, {}", of.rustc, of.glibc, of.cpu);
        (told(self) != told(now)).then(|| format!("kept with {}; measured with {}", told(self), told(now)))
    }

    /// What costs more now than it may.
    pub(super) fn grown_in(&self, now: &Self) -> Vec<Grown> {
        let grown = self.instructions.iter().filter_map(|(name, kept)| {
            let measured = now.instructions.get(name)?;
            let is_grown = measured * 100 > kept * (100 + GROWTH_PERCENT_MAX);
            is_grown.then(|| Grown { name: name.clone(), kept: *kept, measured: *measured })
        });
        grown.collect()
    }
}

/// In a sentence.
impl fmt::Display for Grown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kept, measured } = self;
        let growth = (*measured as f64 / *kept as f64 - 1.0) * 100.0;
        write!(f, "{name}: {measured} instructions, {kept} are kept: {growth:+.1} %")
    }
}

/// Of the first processor that `/proc/cpuinfo` lists.
fn kind_of(cpuinfo: &str) -> String {
    let value = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim())
    };
    let flags: Vec<&str> = value("flags").split_whitespace().collect();
    let has = FEATURES.into_iter().filter(|feature| flags.contains(feature));
    std::iter::once(value("vendor_id")).chain(has).collect::<Vec<_>>().join(" ")
}

fn version_of(program: &str, argument: &str) -> Result<String> {
    let output = Command::new(program).arg(argument).output().with_context(|| format!("asking {program}"))?;
    Ok(String::from_utf8(output.stdout)
        .with_context(|| format!("{program} tells no text"))?
        .trim()
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rustc: &str, pass: u64) -> Kept {
        let instructions = BTreeMap::from([("pass, 1".to_owned(), pass), ("hit, 64".to_owned(), 880)]);
        let [glibc, cpu] = ["glibc 2.36", "GenuineIntel avx2"].map(str::to_owned);
        Kept { rustc: rustc.to_owned(), glibc, cpu, instructions }
    }

    #[test]
    fn what_grows_by_more_than_three_percent_is_told() {
        assert!(kept("1", 10_000).grown_in(&kept("1", 10_300)).is_empty());
        let told = kept("1", 10_000).grown_in(&kept("1", 10_301));
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].contestant(), "pass");
        assert_eq!(told[0].to_string(), "pass, 1: 10301 instructions, 10000 are kept: +3.0 %");
        assert!(kept("1", 10_000).grown_in(&kept("1", 9_000)).is_empty());
    }

    #[test]
    fn least_of_what_is_measured_again_counts() {
        let mut measured = kept("1", 10_301);
        measured.add("pass", 1, 10_299.6);
        measured.add("pass", 1, 10_400.0);
        assert!(kept("1", 10_000).grown_in(&measured).is_empty());
    }

    #[test]
    fn kind_of_a_processor_is_what_copies_go_by() {
        let cpuinfo =
            "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu avx2 erms ht\n\nprocessor\t: 1\n";
        assert_eq!(kind_of(cpuinfo), "GenuineIntel avx2 erms");
        assert_eq!(kind_of(""), "");
    }

    #[test]
    fn other_compilers_are_not_compared() {
        assert_eq!(kept("1", 1).incomparable_to(&kept("1", 2)), None);
        assert!(kept("1", 1).incomparable_to(&kept("2", 1)).is_some_and(|told| told.contains("kept with 1")));
    }
}
