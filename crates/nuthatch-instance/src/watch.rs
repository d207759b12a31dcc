//! Each instance watched by itself: figures for a monitoring system, and whether it is well for a load balancer.

pub(crate) mod exposition;
pub(crate) mod figures;
pub(crate) mod health;
pub(crate) mod replicas;
