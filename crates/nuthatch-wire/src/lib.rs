//! The MySQL protocol as bytes and types: no socket, clock or runtime.
