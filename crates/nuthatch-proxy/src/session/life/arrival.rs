//! How clients come in, and what is answered to what they send at once.

pub(crate) mod attributes;
pub(crate) mod begin_anew;
pub(crate) mod change_user;
pub(crate) mod compressed;
pub(crate) mod configuration;
pub(crate) mod fast_forward;
pub(crate) mod hit;
pub(crate) mod login;
