//! The admin interface as real clients see it: the `mariadb` command line, PyMySQL, mycli, and a scraper.
//!
//! Each test has an interface of its own over a fake data plane. A missing client fails the test.

#![expect(clippy::unwrap_used, reason = "a test may end here")]

mod command_line;
mod interface;
mod metrics;
mod plane;
mod python;
mod transactions;
mod transcript;
