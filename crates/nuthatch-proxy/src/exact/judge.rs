//! The way from footprints to clocks, for the test that holds it against real servers.

use std::sync::Arc;

use nuthatch_cache::{ClockOptions, Clocks};
use nuthatch_sql::{Kind, ReadFootprint, WriteFootprint};

use crate::exact::clocks_of::dependencies;
use crate::exact::intent::{Commits, Intent};

/// Says which answers a write takes with it, as sessions would. No part of the data plane.
#[derive(Debug)]
#[doc(hidden)]
pub struct Judge(Arc<Clocks>);

impl Default for Judge {
    fn default() -> Self {
        Self(Arc::new(Clocks::new(ClockOptions::default())))
    }
}

impl Judge {
    /// Whether an answer of that many rows is never served again once the write has been committed. `told` are affected rows and
    /// insert id of its OK packet; none if it failed.
    #[must_use]
    pub fn is_forgotten(
        &self,
        read: &ReadFootprint,
        rows: u64,
        write: WriteFootprint,
        kind: Kind,
        told: Option<(u64, u64)>,
    ) -> bool {
        let (affected_rows, insert_id) = told.unwrap_or_default();
        let intent = Intent::of(&write, kind, false, Commits::No, &self.0);
        let moved = intent.told(affected_rows, insert_id, &self.0).unwrap_or(intent.held);
        let Some(depends) = dependencies(&self.0, read, rows, |_| None) else { return true };
        depends.iter().any(|clock| moved.contains(clock))
    }
}
