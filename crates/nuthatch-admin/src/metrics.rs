//! The same figures for machines: OpenMetrics text, by SQL and over HTTP.
//!
//! [`text`] is what `SHOW PROMETHEUS METRICS` shows and what [`serve`] answers to `GET /metrics`.

mod exposition;
mod page;

pub use exposition::text;
pub use page::serve;
