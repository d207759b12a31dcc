//! The faces for operators: SQL admin listener and metrics.
