//! What may be found of a failover that nobody finished, and what is done about it.

use crate::order::Account;

/// What was found at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// Nothing, or what is not to be touched.
    None,
    /// Something is to be mended: a sentence.
    Found(String),
    /// It was, and is mended: a sentence.
    Mended(String),
    /// It is, and could not be: a sentence.
    Left(String),
}

/// What is done about it.
#[derive(Clone, Copy, Debug)]
pub enum Care<'a> {
    /// It is told of.
    Look,
    /// It is mended: replicas log in as this account.
    Repair(&'a Account),
}
