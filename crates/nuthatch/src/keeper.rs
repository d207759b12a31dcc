//! The admin interface as the data plane sees it: it keeps the configuration.

use std::sync::{Arc, Weak};

use nuthatch_admin::Admin;
use nuthatch_proxy::{ConfigurationKeeper, Granting, Wish};

/// Hands what clients want changed on to the admin interface, as long as that is there.
#[derive(Debug)]
pub(crate) struct Keeper(Weak<Admin>);

impl Keeper {
    pub(crate) fn new(admin: &Arc<Admin>) -> Self {
        Self(Arc::downgrade(admin))
    }
}

impl ConfigurationKeeper for Keeper {
    fn grant(&self, wish: Wish) -> Granting {
        let admin = self.0.upgrade();
        Box::pin(async move {
            let Wish { name, value, user, host } = wish;
            match admin {
                Some(admin) => admin.put_in_force(name, value, user, host).await,
                None => Err(format!("the proxy is stopping: mysql-{name} stays as it is")),
            }
        })
    }
}
