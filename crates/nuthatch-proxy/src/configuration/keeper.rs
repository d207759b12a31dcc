//! Who keeps the configuration, as the data plane sees it: whom to tell what a client's SET GLOBAL wants changed.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// A variable that a client wants to be put in force for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Its name without `mysql-`.
    pub name: &'static str,
    /// Its text.
    pub value: String,
    /// Who asks.
    pub user: String,
    /// The client's address without a port.
    pub host: String,
}

/// What becomes of a [`Wish`]; the error is a sentence for the client.
pub type Granting = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Keeps the configuration, which the data plane only reads. The program implements it over the admin interface, so that the two do not know
/// each other.
pub trait ConfigurationKeeper: fmt::Debug + Send + Sync {
    /// When it is done, every worker decides by the new value.
    fn grant(&self, wish: Wish) -> Granting;
}
