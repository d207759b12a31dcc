//! One MySQL connection over Tokio, either side.
