//! What an instance may be called: what is a file, a unit of systemd and a label of a metric alike.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// So long at most, so that its socket's path fits into an address.
const CHARS_MAX: usize = 32;

/// The name of an instance: 1 to 32 of `a-z 0-9 _ -`, the first a letter or a digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceName(String);

impl InstanceName {
    /// The name itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no name. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "take the name {text:?}: 1 to {CHARS_MAX} of a-z 0-9 _ - with a letter or a digit first are possible"
)]
pub struct BadName {
    text: String,
}

impl FromStr for InstanceName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins_well = text.bytes().next().is_some_and(is_plain);
        let is_name = text.bytes().all(|byte| is_plain(byte) || b"_-".contains(&byte));
        if begins_well && is_name && text.len() <= CHARS_MAX {
            return Ok(Self(text.to_owned()));
        }
        Err(BadName { text: text.to_owned() })
    }
}

impl TryFrom<String> for InstanceName {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        text.parse()
    }
}

impl From<InstanceName> for String {
    fn from(name: InstanceName) -> Self {
        name.0
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_refused() {
        for bad in ["", "-a", "_a", "A", "a b", "a/b", "../x", "a.b", "ä", "a\n", &"a".repeat(33)] {
            let message = bad.parse::<InstanceName>().unwrap_err().to_string();
            assert!(message.contains("are possible"), "{bad:?}: {message}");
        }
        for good in ["a", "3307", "shop-1", "shop_eu", &"a".repeat(32)] {
            assert_eq!(good.parse::<InstanceName>().unwrap().as_str(), good);
        }
    }
}
