//! The `admin-*` variables.

use super::{
    define::variables,
    kind::{Effect, Kind, Value, Variable, VariableFault},
};
use crate::secret::Secret;

variables! {
    /// The `admin-*` variables, named as ProxySQL names them.
    pub struct AdminVariables = "admin";

    admin_credentials: secret = "admin:admin", Acts, "Accounts of the admin interface: user:password;user:password.";
    stats_credentials: secret = "stats:stats", Acts, "Accounts that may only read the admin interface.";
    read_only: flag = false, Stored, "The admin interface refuses changes.";
}
