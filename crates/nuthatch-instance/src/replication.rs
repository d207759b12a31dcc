//! Replication of instances: from each other, from those of another host, from any other server.
//!
//! [`replicate`] has an instance follow a source, by GTID, over TLS, with an account that is made for it; [`pair`] does so in both directions
//! with another host, which is reached by [`Ssh`]; [`ailments`] tells what is wrong, and [`heal`] does what is safe. What is refused is refused
//! before anything is touched, and what fails in the middle is taken back.
//!
//! Either end may be of this host or of another one: both are asked by the same [`Request`], which this program [answers](answer).

pub(crate) mod account;
pub(crate) mod already;
pub(crate) mod answer;
pub(crate) mod copy;
pub(crate) mod dialect;
pub(crate) mod end;
pub(crate) mod ending;
pub(crate) mod fitness;
pub(crate) mod follow;
pub(crate) mod foreign;
pub(crate) mod link;
pub(crate) mod pair;
pub(crate) mod repair;
pub(crate) mod replicate;
pub(crate) mod request;
pub(crate) mod route;
pub(crate) mod ssh;
pub(crate) mod standing;
pub(crate) mod status;
pub(crate) mod unapplied;
pub(crate) mod unlogged;
