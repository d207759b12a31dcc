//! Labs whose servers follow each other, fail, hang and fall behind, of both kinds.

#[path = "../fetched/servers.rs"]
mod fetched;

mod accounts;
mod galera;
mod ground;
mod group;
mod relays;
mod replicas;
