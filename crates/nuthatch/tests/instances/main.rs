//! `nuthatch instance` as a DBA uses it: the program itself, real servers, a root of its own for each test.

mod adding;
mod backups;
mod cloning;
mod converging;
mod fetched;
mod host;
mod living;
mod options;
mod pairs;
mod removing;
mod repairing;
mod replicating;
mod sshd;
mod watching;
mod work;
