//! A password in a file: its first line.

use std::path::Path;

use anyhow::Context;

/// The password. `whose` stands behind "the password" in the error: ` of user …`, or nothing.
pub(crate) fn read(path: &Path, whose: &str) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the password{whose} from {}", path.display()))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
