//! What a hit costs.
fn main() {}
