//! How a step is run and printed: one line each, `name<TAB>result`, the result without tabs or line ends.
//!
//! What a server refuses is part of a result; any other error makes it begin with `raised`, which fails the step.

use std::fmt::Write as _;
use std::future::Future;
use std::time::Duration;

use md5::{Digest, Md5};

/// A step that takes longer has failed.
const STEP_WITHIN: Duration = Duration::from_secs(20);

/// An environment variable that the runner sets.
pub fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// A port that the runner names.
pub fn port(name: &str) -> u16 {
    env(name).parse().expect("the runner sets ports")
}

/// The lines of one of the scenario's files.
pub fn lines(name: &str) -> Vec<String> {
    let path = format!("{}/{name}", env("DB_SCENARIO"));
    std::fs::read_to_string(path).expect("the scenario is there").lines().map(str::to_owned).collect()
}

/// 20 MiB of text.
pub fn big() -> String {
    "0123456789abcdef".repeat((20 << 20) / 16)
}

/// A long value by its length and hash.
pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    let mut text = format!("{} bytes, ", bytes.as_ref().len());
    for byte in Md5::digest(bytes.as_ref()) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Prints what the step gives.
pub async fn step(name: &str, run: impl Future<Output = String>) {
    let result = match tokio::time::timeout(STEP_WITHIN, run).await {
        Ok(result) => result,
        Err(_) => "raised: no answer".to_owned(),
    };
    println!("{name}\t{}", result.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t"));
}
