//! What sessions of servers begin with, as the program finds it.

use nuthatch_sql::ServerFlavor;

use crate::backend::{Compared, Defaults};
use crate::exact::Replaced;
use crate::shared::Shared;

/// The number of the last change of what sessions of a server begin with, to give to [`note_defaults`] with what is read from now
/// on.
pub(super) fn defaults_changes(shared: &Shared, host: &str, port: u16) -> u64 {
    shared.hostgroups.defaults.of(host, port).last_change()
}

/// Takes note of a server's global variables, unless a change of them was seen meanwhile. If they were changed past the proxy, no
/// answer is served any more that was stored before: it may have been of sessions of either kind.
pub(super) fn note_defaults<'a>(
    shared: &Shared,
    host: &str,
    port: u16,
    changes: u64,
    flavor: ServerFlavor,
    variables: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) -> Replaced {
    let Some(found) = Defaults::of(variables, flavor) else { return Replaced::Done };
    match shared.hostgroups.defaults.of(host, port).compare(changes, found) {
        Compared::AsKnown => Replaced::Done,
        Compared::TooLate => Replaced::Outdated,
        Compared::Changed => {
            shared.hostgroups.servers_at(host, port).for_each(|server| server.close_idle());
            let clocks = &shared.exact.clocks;
            clocks.raise(vec![clocks.everything()]).settle();
            shared.answers.cache.flush();
            Replaced::ChangedBehindOurBack
        }
    }
}
