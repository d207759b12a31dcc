//! COM_CHANGE_USER: another login over the same connection. Pools of drivers use it to begin anew.
//!
//! Source: "COM_CHANGE_USER". Whoever fails is disconnected, as a server does it.

use std::sync::Arc;

use nuthatch_net::{Proving, prove};
use nuthatch_wire::Login;

use crate::roster::SessionEnd;
use crate::session::lease::inheritance::await_defaults;
use crate::session::life::arrival::begin_anew::begin_anew;
use crate::session::life::arrival::login::{
    Admitted, Known, admit, clear_passwords, plain_schema, refused_schema, word,
};
use crate::session::parts::Account;
use crate::session::way::reply;
use crate::session::whole::Session;
use crate::state::Charset;

pub(crate) async fn change_user(session: &mut Session) -> Result<(), SessionEnd> {
    let login = Login::parse_change_user(session.client.payload(), session.client.capabilities())
        .map_err(|error| SessionEnd::Broken(error.into()))?;
    let first = session.client.sequence_shift().wrapping_add(1);
    let shared = Arc::clone(&session.ground.shared);
    let snapshot = Arc::clone(&session.ground.snapshot);
    let user = snapshot.users.frontend(&login.user);
    let known = Known::of(&shared, user);
    let plugin = snapshot.mysql.default_authentication_plugin.as_bytes();
    let proving = {
        let (credential, clear) = (known.credential(user), clear_passwords(&snapshot));
        let (framed, nonce) = session.client.framed_and_nonce();
        let proving = prove(framed, &login, nonce, first, credential, plugin, clear);
        session.ground.handle.unless_ended(Box::pin(proving)).await??
    };
    let Proving { proof, sequence, used_password } = proving;
    // Renumbered when it is sent: what is sent here is numbered by hand.
    session.client.shift_sequence(sequence.wrapping_sub(1));
    // The place of the old user is free for the new one.
    session.account.leave_place();
    match admit(&shared, user, proof, session.client.framed_mut().stream()) {
        Ok(admitted) => {
            shared.doors.learn_password(&admitted.user, admitted.proof);
            let name: Arc<str> = Arc::from(admitted.user.name.as_str());
            let password = shared.doors.backend_password(&snapshot, &name);
            let login_charset = Charset::Collation(shared.greetings.collation_for(login.collation));
            let schema = match &login.schema {
                Some(named) => plain_schema(named, &login_charset),
                None => admitted.user.default_schema.as_deref().unwrap_or_default().as_bytes().to_vec(),
            };
            let Admitted { user, place, .. } = admitted;
            session.account = Account::new(Arc::clone(&name), user, password, place, login_charset);
            (session.context.state.schema, session.context.state.role) = (schema.into(), None);
            await_defaults(&session.ground).await;
            begin_anew(session, session.account.login_charset().clone());
            session.ground.handle.view.lock().user = Some(name);
            session.context.state.charset = session.account.login_charset().of_names_in_change_user();
            let refused = refused_schema(session, login.schema.as_deref()).await;
            session.context.state.charset = session.account.login_charset().clone();
            if let Some(refusal) = refused {
                session.client.send(&session.ground, &reply::err_of_server(&refusal)).await?;
                return Err(SessionEnd::Gone);
            }
            session.client.send(&session.ground, &reply::ok(session.dealings.status(&session.context))).await
        }
        Err(refusal) => {
            let (code, message) = word(&session.ground, &login, used_password, &refusal);
            session.client.send(&session.ground, &reply::err(1, code, &message)).await?;
            Err(SessionEnd::Gone)
        }
    }
}
