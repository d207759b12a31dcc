//! What stored code each server was seen to have, and what is known of hostgroups by that.
//!
//! A server that is not reached now has what it had, as long as none was made through the proxy since: a replica that is dead for hours does
//! not have sessions keep their connections to the others.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_config::HostgroupId;
use nuthatch_proxy::StoredCodes;
use nuthatch_sql::StoredCode;

use super::looked::{Address, Members, Seen};

/// See the module's doc.
#[derive(Debug, Default)]
pub(super) struct CodeSeen(HashMap<Address, Known>);

#[derive(Debug)]
struct Known {
    code: Arc<StoredCode>,
    /// How often code had been made when it was looked at.
    times_made: u64,
}

impl CodeSeen {
    /// The stored code behind each hostgroup but those with a server that was not reached, and of which nothing is known; code had been made
    /// so often when the look was begun.
    pub(super) fn behind(&mut self, hostgroups: &[(HostgroupId, Members)], times_made: u64) -> StoredCodes {
        let members = || hostgroups.iter().flat_map(|(_, members)| members);
        self.0.retain(|known, _| {
            members().any(|(address, seen)| address == known && matches!(seen, Seen::Lost(_)))
        });
        for (address, seen) in members() {
            if let Some(looked) = seen.looked() {
                let code = Arc::clone(&looked.picture.stored_code);
                self.0.insert(address.clone(), Known { code, times_made });
            }
        }
        let of = |address: &Address| {
            self.0.get(address).filter(|known| known.times_made == times_made).map(|known| &known.code)
        };
        let code_of = |members: &Members| {
            let mut code = StoredCode::default();
            for (address, seen) in members {
                match seen {
                    Seen::Refused(_) => return None,
                    Seen::Looked(_) | Seen::Lost(_) => code.add_all(of(address)?),
                }
            }
            Some(Arc::new(code))
        };
        let is_known = |members: &Members| {
            members.iter().all(|(address, seen)| !matches!(seen, Seen::Lost(_)) || of(address).is_some())
        };
        let known = hostgroups.iter().filter(|(_, members)| is_known(members));
        known.map(|(hostgroup, members)| (*hostgroup, code_of(members))).collect()
    }
}
