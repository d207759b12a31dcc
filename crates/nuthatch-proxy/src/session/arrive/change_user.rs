//! COM_CHANGE_USER: another login over the same connection. Pools of drivers use it to begin anew.
//!
//! Source: "COM_CHANGE_USER". Whoever fails is disconnected, as a server does it.

use std::sync::Arc;

use nuthatch_net::{Proving, prove};
use nuthatch_wire::Login;

use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::arrive::login::{Admitted, Known, admit, clear_passwords, plain_schema, word};
use crate::session::ask::inheritance::await_defaults;
use crate::session::parts::Account;
use crate::session::way::reply;
use crate::state::Charset;

impl Session {
    pub(crate) async fn change_user(&mut self) -> Result<(), SessionEnd> {
        let login = Login::parse_change_user(self.client.framed.payload(), self.client.capabilities)
            .map_err(|error| SessionEnd::Broken(error.into()))?;
        let first = self.client.sequence_shift.wrapping_add(1);
        let shared = Arc::clone(&self.ground.shared);
        let snapshot = Arc::clone(&self.ground.snapshot);
        let user = snapshot.users.frontend(&login.user);
        let known = Known::of(&shared, user);
        let plugin = snapshot.mysql.default_authentication_plugin.as_bytes();
        let proving = {
            let (credential, clear) = (known.credential(user), clear_passwords(&snapshot));
            let proving =
                prove(&mut self.client.framed, &login, &self.client.nonce, first, credential, plugin, clear);
            self.ground.handle.unless_ended(Box::pin(proving)).await??
        };
        let Proving { proof, sequence, used_password } = proving;
        // Renumbered when it is sent: what is sent here is numbered by hand.
        self.client.sequence_shift = sequence.wrapping_sub(1);
        // The place of the old user is free for the new one.
        self.account.place.leave();
        match admit(&shared, user, proof, self.client.framed.stream()) {
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
                self.account = Account { name: Arc::clone(&name), user, password, place, login_charset };
                (self.context.state.schema, self.context.state.role) = (schema, None);
                await_defaults(&self.ground).await;
                self.begin_anew(self.account.login_charset.clone());
                self.ground.handle.view.lock().user = Some(name);
                self.context.state.charset = self.account.login_charset.of_names_in_change_user();
                let refused = self.refused_schema(login.schema.as_deref()).await;
                self.context.state.charset = self.account.login_charset.clone();
                if let Some(refusal) = refused {
                    self.client.send(&self.ground, &reply::err_of_server(&refusal)).await?;
                    return Err(SessionEnd::Gone);
                }
                self.client.send(&self.ground, &reply::ok(self.status())).await
            }
            Err(refusal) => {
                let (code, message) = word(&self.ground, &login, used_password, &refusal);
                self.client.send(&self.ground, &reply::err(1, code, &message)).await?;
                Err(SessionEnd::Gone)
            }
        }
    }
}
