//! End to end: a real `nuthatch serve` between the tests' own client and real MariaDB servers.
//!
//! Each test names what is promised. Each has a proxy process of its own, most share the servers, with a schema each.
//! Modules by subject; `stage` is what most tests begin with.

mod deadline;

mod client;
mod servers;

mod proxy;

mod stage;

mod cache;
mod malformed;
mod process;
mod routing;
mod session;
mod twins;
mod two_ways;
