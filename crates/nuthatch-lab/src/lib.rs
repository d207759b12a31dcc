//! Real MariaDB and MySQL servers on this host: create, replicate, look at, stop, remove.
//!
//! A [`Lab`] is a directory with one primary and any number of replicas, or the nodes of a [`Cluster`], started
//! from the programs that Debian (or `tools/side-apt.sh`) provides. After [`Lab::up`] returns, every server
//! answers on its Unix socket and on 127.0.0.1, every replica replicates by GTID, every node is in its cluster,
//! and the lab's accounts exist. The servers outlive the process that started them; [`Lab::open`] finds them
//! again, also for a second hand on the same lab, and [`Lab::down`] leaves no process behind.
//!
//! Servers are killed, frozen, stopped, started and made late by name. With [`Relays`] before them they are
//! also parted from each other and from clients, and connections are cut at a byte. With a disk of their own
//! ([`Options::disk_mib`]) that is filled.
//!
//! Calls block: they start processes and wait for them with deadlines. Nothing here is for the data plane,
//! and nothing here talks the protocol itself: statements go through the servers' own command-line client.

mod accounts;
mod client;
mod cluster;
mod config_file;
mod dialect;
mod dialects;
mod disk;
mod duty;
mod error;
mod galera;
mod group;
mod lab;
mod launch;
mod layout;
mod mariadb;
mod mysql;
mod options;
mod partition;
mod port;
mod progress;
mod rebuild;
mod relay;
mod relay_host;
mod replication;
mod role;
mod scratch;
mod server;
mod state;
mod status;
mod tmpfs;

pub use client::Rows;
pub use duty::{Duty, Login};
pub use error::LabError;
pub use lab::{Lab, Result};
pub use nuthatch_server::{Installation, Kind, Password, stands_still};
pub use options::{Cluster, Options, QueryCache, Relays, SemiSync};
pub use progress::{Progress, Step};
pub use relay::control::Passed;
pub use relay::rules::{Direction, Peers};
pub use relay_host::relay;
pub use role::Role;
pub use scratch::ScratchLab;
pub use server::Server;
pub use status::{AccountStatus, Liveness, Member, Replication, ServerStatus, Status, Thread};
