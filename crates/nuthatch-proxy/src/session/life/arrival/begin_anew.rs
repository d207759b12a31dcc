//! A session that begins anew, as behind COM_RESET_CONNECTION.

use crate::session::lease::environment::renumber_environment;
use crate::session::lease::inheritance::begin_in;
use crate::session::lease::put_away::let_go;
use crate::session::parts::{Beginning, InsertId};
use crate::session::whole::Session;
use crate::state::{Charset, SessionState};

/// Forgets everything of the session but who it is, its schema and its role.
pub(crate) fn begin_anew(session: &mut Session, charset: Charset) {
    let_go(&session.ground, &mut session.dealings.hands, &mut session.statements);
    let (schema, role) =
        (std::mem::take(&mut session.context.state.schema), session.context.state.role.take());
    session.context.state = SessionState { role, ..SessionState::new(schema, charset) };
    session.dealings.diagnostics.forget();
    session.dealings.diagnostics.set_results_charset(None);
    // Servers keep the other count.
    session.dealings.results.set_row_count(0);
    session.dealings.hands.forget_what_ran_last();
    session.dealings.results.set_insert_id(InsertId::default());
    session.ground.handle.set_wait_timeout(None);
    session.context.query_cache_type = None;
    session.dealings.transaction.set_has_written(false);
    // Whatever was open has been undone.
    session.dealings.transaction.forget_touched();
    session.dealings.transaction.set_beginning(Beginning::default());
    session.context.is_told_of_changes = false;
    session.cache.set_next_flag_in(0);
    let Session { ground, account, context, .. } = session;
    begin_in(ground, account, context, ground.shared.hostgroups.defaults.era());
    renumber_environment(&session.ground, &mut session.context);
}
