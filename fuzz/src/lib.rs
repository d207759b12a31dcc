//! What several fuzz targets share: how a part of the input becomes a parser's settings, or a peer.
//!
//! The settings come first and are few bytes, so that the rest of an input is the peer's bytes as they are and a seed can
//! be written by hand.

mod lexing;
mod peer;

pub use lexing::split_lexing;
pub use peer::{block_on, login_packets, peer_that_sends};
