//! How a replica does, as its server says.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One source of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The thread that fetches: Yes, No, Connecting, Preparing.
    pub(crate) fetching: String,
    /// The one that applies: Yes, No.
    pub(crate) applying: String,
    pub(crate) behind_s: Option<u64>,
    /// Transactions that are fetched and not applied.
    pub(crate) unapplied: Option<u64>,
    pub(crate) over_tls: bool,
    /// Whether by GTID: only then does it begin where it has ended, whatever was lost.
    pub(crate) by_gtid: bool,
    /// The name of the connection, or channel; empty of the one that is made here.
    pub(crate) channel: String,
    /// The last error of each, by number.
    pub(crate) fetch_error: Option<(u32, String)>,
    pub(crate) apply_error: Option<(u32, String)>,
}

/// What a replica is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Following {
    /// It fetches and applies.
    Running,
    /// It tries to reach its source, again and again.
    Connecting,
    /// It was stopped.
    Stopped,
    /// An error has stopped it: it does not go on by itself.
    Broken,
}

impl fmt::Display for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Connecting => "connecting",
            Self::Stopped => "stopped",
            Self::Broken => "broken",
        })
    }
}

impl Status {
    pub(crate) fn source(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub(crate) fn following(&self) -> Following {
        let has_failed = (self.fetching == "No" && self.fetch_error.is_some())
            || (self.applying == "No" && self.apply_error.is_some());
        match (self.fetching.as_str(), self.applying.as_str()) {
            _ if has_failed => Following::Broken,
            ("Yes", "Yes") => Following::Running,
            ("No", _) | (_, "No") => Following::Stopped,
            _ => Following::Connecting,
        }
    }

    /// Whether the source does not let it in: ER_ACCESS_DENIED_ERROR, ER_ACCESS_DENIED_NO_PASSWORD_ERROR, CR_SSL_CONNECTION_ERROR.
    pub(crate) fn login_fails(&self) -> bool {
        self.fetching != "Yes" && matches!(self.fetch_error, Some((1045 | 1698 | 2026, _)))
    }

    /// What went wrong last, in one line; `None` if nothing did.
    pub(crate) fn why(&self) -> Option<String> {
        let errors = [&self.apply_error, &self.fetch_error].into_iter().flatten();
        let errors: Vec<String> = errors.map(|(number, text)| format!("error {number}: {text}")).collect();
        (!errors.is_empty()).then(|| errors.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_follows_from_both_threads_and_their_errors() {
        let error = Some((2003, "no route".to_owned()));
        for (fetching, applying, fetch_error, expected) in [
            ("Yes", "Yes", None, Following::Running),
            ("Connecting", "Yes", error.clone(), Following::Connecting),
            ("Preparing", "Yes", None, Following::Connecting),
            ("No", "Yes", None, Following::Stopped),
            ("No", "Yes", error, Following::Broken),
            ("Yes", "No", None, Following::Stopped),
        ] {
            let status = Status {
                host: "10.0.0.2".into(),
                port: 3307,
                fetching: fetching.into(),
                applying: applying.into(),
                behind_s: None,
                unapplied: None,
                over_tls: true,
                by_gtid: true,
                channel: String::new(),
                fetch_error,
                apply_error: None,
            };
            assert_eq!(status.following(), expected, "{fetching} {applying}");
        }
    }
}
