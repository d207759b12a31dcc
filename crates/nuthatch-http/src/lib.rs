//! Just enough of HTTP/1.1 for metrics and health: pages that are asked for with GET, by a scraper or a load balancer.
//!
//! [`serve`] answers one request for each connection; a peer that sends too much or too slowly is cut, and so many are answered at one time.
//! [`accept`] is for any listener.

mod accept;
mod serve;

pub use accept::accept;
pub use serve::{Page, serve};
