//! The options of an instance: what is in force, and which file says so.
//!
//! From below to above: what is built in, the host's `defaults.cnf`, the template, the instance's own; what is further up wins. Beside these
//! stands what [every instance has of its own](fixed), which none of them may name.

pub(crate) mod built_in;
pub(crate) mod fixed;
pub(crate) mod layers;
pub(crate) mod option_file;
pub(crate) mod size;
