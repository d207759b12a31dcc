//! Connections that a session has: for one statement, or held for a reason.

use std::sync::Arc;

use nuthatch_config::HostgroupId;
use nuthatch_net::{Framed, NetError};
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerEnd, AnswerKind, CapabilityFlags, Command, Ending, ErrPacket, ErrorCode, Form};

use crate::backend::{READ_UTF8, Reset, Wanted, clear_passwords};
use crate::exact::Flight;
use crate::roster::{Running, SessionEnd, View};
use crate::session::Session;
use crate::session::after::found_rows::lacks_counts;
use crate::session::after::own_values::check_own_values;
use crate::session::ask::inheritance::pin_of_inheritance;
use crate::session::ask::multiplexing::pin_of_hostgroup;
use crate::session::ask::set::must_set_names_again;
use crate::session::parts::{Account, Client, Context, Ground, Hands, Held, InsertId, Results};
use crate::session::statement::{Facts, Plan, is_profiled};
use crate::session::way::{Elsewhere, Sent, Trouble, Way, command_packet};
use crate::state::{Behind, Charset, SchemaNeed, SessionState, is_read_alike};
use crate::stats::pins::Pins;

impl Session {
    /// Sends the client's COMMIT or ROLLBACK (`text`) also to other connections with a transaction, of which there can
    /// be some when the user's `transaction_persistent` is 0.
    pub(crate) async fn end_other_transactions(&mut self, plan: &Plan, text: &[u8]) -> Result<(), Trouble> {
        let other = |held: &Held| is_other_transaction(held, plan);
        while let Some(place) = self.hands.held.iter().position(other) {
            let mut held = self.hands.held.swap_remove(place);
            let sent = Sent {
                text,
                schema: &[],
                parameters: &[],
                is_prepared: false,
                is_read_otherwise: false,
                is_repeated: false,
            };
            let mut flight = self.start_flight(plan, &sent, &held);
            let outcome = self.order_and_hear(&mut held, text, &mut flight).await;
            (held.in_transaction, held.is_surely_in_transaction) = (outcome.is_err(), false);
            self.put_away(held, outcome.as_ref().err());
            outcome?;
        }
        Ok(())
    }

    /// A connection for one statement, in the session's state: a held one, or one from the hostgroup's pools.
    pub(crate) async fn lease(&mut self, hostgroup: HostgroupId) -> Result<Held, Trouble> {
        let place = held_for(&self.account, &self.hands, hostgroup);
        if let Some(held) = place.and_then(|place| self.hands.held.get(place))
            && must_leave_schema(&self.context, &self.hands, held)
            && !can_leave_schema(&self.hands, &self.results, held)
        {
            // The session has none, or it is gone, and the connection cannot be told to be in none.
            return Err(Trouble::Refused(no_schema()));
        }
        let held = match place {
            Some(place) => {
                let held = self.hands.held.swap_remove(place);
                // Kept only for what the last statement left, it may have died like one in a pool.
                let is_fresh = !self.results.is_state_of(&held);
                Held { is_fresh, was_held: true, ..held }
            }
            None => {
                let held = match self.take_idle(hostgroup) {
                    Some(held) => held,
                    None => Box::pin(self.connect(hostgroup)).await?,
                };
                Held { pins: pin_of_hostgroup(&self.ground, hostgroup), ..held }
            }
        };
        show_running(&self.ground, &held);
        if let Err(trouble) = self.inherit(&held) {
            self.put_away(held, Some(&trouble));
            return Err(trouble);
        }
        match self.context.state.differences(&held.connection.state) {
            0 => Ok(held),
            _ => Box::pin(self.lease_changed(hostgroup, held)).await,
        }
    }

    /// A connection that had to be waited for.
    async fn connect(&mut self, hostgroup: HostgroupId) -> Result<Held, Trouble> {
        match self.check_out(hostgroup).await {
            // A new connection logs in with the schema.
            Err(trouble) if trouble.is_unknown_schema() => {
                forget_schema(&mut self.ground, &self.account, &mut self.context);
                self.check_out(hostgroup).await
            }
            checked_out => checked_out,
        }
    }

    /// The connection, brought into the session's state.
    async fn lease_changed(&mut self, hostgroup: HostgroupId, mut held: Held) -> Result<Held, Trouble> {
        match self.bring_into_state(&mut held).await {
            Ok(()) => Ok(held),
            Err(trouble) if trouble.is_unknown_schema() => {
                forget_schema(&mut self.ground, &self.account, &mut self.context);
                self.put_away(held, Some(&trouble));
                Box::pin(self.lease(hostgroup)).await
            }
            // One fewer of its kind.
            Err(trouble @ (Trouble::Unfit | Trouble::RefusedAhead(_))) if !held.was_held => {
                self.hands.errand.behind = Behind::Nothing;
                self.put_away(held, Some(&trouble));
                Box::pin(self.lease(hostgroup)).await
            }
            Err(trouble) => {
                self.put_away(held, Some(&trouble));
                Err(trouble)
            }
        }
    }

    /// Whether a server lets the session into its schema; the connection is in it afterwards.
    pub(crate) async fn try_schema(&mut self, hostgroup: HostgroupId) -> Result<(), Trouble> {
        let mut held = self.check_out(hostgroup).await?;
        let outcome = self.bring_into_state(&mut held).await;
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    /// Keeps, puts back or closes a connection after what was done with it. One that is in the middle of an answer, or
    /// failed, is closed; if it carried state of the session, the session cannot go on.
    pub(crate) fn put_away(&mut self, held: Held, trouble: Option<&Trouble>) {
        self.ground.handle.view.lock().running = None;
        held.connection.control.work(false);
        if trouble.is_none_or(Trouble::leaves_connection_usable) && held.connection.ahead.is_empty() {
            self.settle(held);
        } else {
            self.hands.has_lost_state |= self.results.is_state_of(&held);
            if self.results.insert_id == InsertId::At(held.connection.thread_id) {
                self.results.insert_id = InsertId::default();
            }
            match trouble {
                // The session ends while the server is at work.
                Some(Trouble::End(_)) => self.abandon(held.connection),
                _ => drop(held),
            }
        }
    }

    /// An idle connection, if a server of the hostgroup has one: without waiting.
    fn take_idle(&self, hostgroup: HostgroupId) -> Option<Held> {
        let taken = self.ground.shared.hostgroups.take_idle(
            hostgroup,
            &self.wanted(),
            self.ground.latest_us / 1000,
        )?;
        Some(Held::lent(&self.ground, hostgroup, taken))
    }

    async fn check_out(&self, hostgroup: HostgroupId) -> Result<Held, Trouble> {
        let wanted = self.wanted();
        let checking_out = self.ground.shared.hostgroups.check_out(
            hostgroup,
            &wanted,
            &self.ground.snapshot.mysql,
            &self.ground.shared.clock,
        );
        match self.ground.handle.while_client_waits(checking_out).await? {
            Ok(connection) => Ok(Held::lent(&self.ground, hostgroup, connection)),
            Err(error) => {
                self.ground.worker.counters.pool_failure.bump();
                Err(error.into())
            }
        }
    }

    /// What the session needs of a connection.
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        let must_have = match self.hands.errand.is_tracked {
            true => CapabilityFlags::CLIENT_DEPRECATE_EOF,
            false => CapabilityFlags::empty(),
        };
        Wanted {
            user: &self.account.name,
            password: self.account.password.as_deref(),
            shape: self.client.shape,
            must_have,
            state: &self.context.state,
            errand: &self.hands.errand,
            is_own: false,
            worker: &self.ground.worker,
        }
    }

    /// Sends what differs between the session's state and the connection's, and awaits each answer: a statement must not
    /// run in a state that the server refused.
    async fn bring_into_state(&self, held: &mut Held) -> Result<(), Trouble> {
        if must_leave_schema(&self.context, &self.hands, held) {
            log_in_anew(&self.ground, &self.account, held).await?;
        }
        let state = self.hands.errand.state_before(&self.context.state, &held.connection.state);
        self.bring_into(&state, held).await
    }

    /// Brings a connection into another state than the session's own.
    pub(crate) async fn bring_into(&self, state: &SessionState, held: &mut Held) -> Result<(), Trouble> {
        if state.differences(&held.connection.state) == 0 {
            return Ok(());
        }
        let there = &held.connection;
        if is_profiled(&there.state.settings)
            && !is_profiled(&state.settings)
            && !self.results.is_state_of(held)
        {
            // What changes it would be profiled, for whoever asks next.
            return Err(Trouble::Unfit);
        }
        // DEFAULT would be the server's value, not what `mysql-init_connect` has made it.
        let must_forget = state.user_variables.lacks_some_of(&there.state.user_variables)
            || (there.has_init_connect() && state.settings.lacks_some_of(&there.state.settings));
        // What else is on it would be gone too.
        if must_forget && !self.results.is_state_of(held) {
            self.reset(held).await?;
        }
        let counters = &self.ground.worker.counters;
        if state.role != held.connection.state.role
            && let Some(statement) = &state.role
        {
            // What else is changed may need it. It may have been taken away meanwhile: awaited each time.
            self.order(held, Command::Query, statement.as_bytes(), AnswerKind::Single).await?;
            held.connection.state.role = Some(Arc::clone(statement));
        }
        if state.schema != held.connection.state.schema && !state.schema.is_empty() {
            if !is_read_alike(&state.schema) && !held.connection.state.charset.is_utf8() {
                self.set(held, READ_UTF8, READ_UTF8).await?;
                held.connection.state.charset = Charset::utf8();
                held.connection.state.settings.forget_names();
            }
            counters.backend_init_db.bump();
            let may_follow = self.hands.errand.behind == Behind::All && !held.was_held;
            self.change(held, Command::InitDb, &state.schema, &state.schema, may_follow).await?;
            held.connection.state.schema.clone_from(&state.schema);
        }
        if (state.charset != held.connection.state.charset || must_set_names_again(state, held))
            && let Some(statement) = state.charset.statement()
        {
            counters.backend_set_names.bump();
            self.set(held, statement.as_bytes(), statement.as_bytes()).await?;
            held.connection.state.charset = state.charset.clone();
            held.connection.state.settings.forget_names();
        }
        self.bring_settings(state, held).await?;
        // An open transaction would be committed by it, and its own state is the truth then.
        if Some(state.autocommit) != held.connection.state.autocommit && !held.in_transaction {
            counters.backend_set_autocommit.bump();
            let statement = if state.autocommit { b"SET autocommit=1" } else { b"SET autocommit=0" };
            self.set(held, statement, statement).await?;
            held.connection.state.autocommit = Some(state.autocommit);
        }
        Ok(())
    }

    /// Has the connection take over what a SET sets: see [`Self::change`].
    pub(crate) async fn set(&self, held: &mut Held, statement: &[u8], proof: &[u8]) -> Result<(), Trouble> {
        self.change(held, Command::Query, statement, proof, self.hands.errand.behind != Behind::Nothing).await
    }

    /// Changes the state of a connection: ahead of the statement if that `may_follow` and the server has accepted the like, which is
    /// remembered as `proof`, before; awaited otherwise.
    async fn change(
        &self,
        held: &mut Held,
        command: Command,
        argument: &[u8],
        proof: &[u8],
        may_follow: bool,
    ) -> Result<(), Trouble> {
        let server = Arc::clone(held.connection.server());
        if may_follow && server.accepted.has(&self.account.name, proof) {
            held.connection.add_ahead(&command_packet(command, argument));
            return Ok(());
        }
        self.order(held, command, argument, AnswerKind::Single).await?;
        server.accepted.learn(&self.account.name, proof);
        Ok(())
    }

    /// Has the server forget what it keeps for a connection of the pool: a variable that was set once can be told from one that
    /// never was, also if it is NULL.
    async fn reset(&self, held: &mut Held) -> Result<(), Trouble> {
        self.ground.worker.counters.resets.bump();
        self.way(held).hear_ahead().await?;
        match self.ground.handle.unless_ended(held.connection.reset()).await? {
            Ok(Reset::Done) => Ok(()),
            Ok(Reset::Doubtful) | Err(_) => Err(Trouble::Unfit),
        }
    }

    /// Makes what the statement asks of the one before it on the connection what it is in the session.
    /// `prepared` is the text of a prepared statement; none for the statement at hand.
    pub(crate) async fn bring_last_results(
        &mut self,
        held: &mut Held,
        facts: &Facts,
        prepared: Option<&[u8]>,
    ) -> Result<(), Trouble> {
        if let Err(elsewhere) = check_own_values(&self.context, facts, held) {
            // No statement follows, behind which it could go.
            self.way(held).hear_ahead().await?;
            return Err(elsewhere);
        }
        let was_asked = self.bring_insert_id(held, facts, prepared).await?;
        let has_diagnostics = held.was_held && self.diagnostics.on == Some(held.connection.thread_id);
        let must_forget = facts.reads_diagnostics && !has_diagnostics;
        let lacks_counts =
            lacks_counts(&self.hands, &self.results, held, facts) || facts.reads_found_rows && must_forget;
        // MySQL keeps no list over a question.
        let has_cleared = was_asked && matches!(self.context.lexing.server, ServerFlavor::MySql(_));
        let lacks_diagnostics = facts.reads_diagnostics
            && (self.diagnostics.list.is_some() || has_cleared && self.diagnostics.on.is_some());
        if lacks_counts || lacks_diagnostics {
            // No statement follows, behind which it could go.
            self.way(held).hear_ahead().await?;
            let elsewhere = if lacks_counts { Elsewhere::Counts } else { Elsewhere::Diagnostics };
            return Err(Trouble::Elsewhere(elsewhere));
        }
        if must_forget {
            // The session's last statement left no warnings, or its connection would be held. MariaDB forgets those of
            // others only for a statement with a table, even if it is none (`DO 0` keeps them).
            let forget = b"SELECT 0 FROM (SELECT 0) AS nothing";
            self.order(held, Command::Query, forget, AnswerKind::ResultSets).await?;
        }
        Ok(())
    }

    async fn order_and_hear(&self, held: &mut Held, text: &[u8], flight: &mut Flight) -> Result<(), Trouble> {
        let mut way = self.way(held);
        way.send(&command_packet(Command::Query, text)).await?;
        let answer = way.read_answer(AnswerKind::ResultSets).await?;
        flight.hear(&match &answer {
            Ok(end) => *end,
            Err(packet) => AnswerEnd { ending: Ending::Err(packet.code), ..AnswerEnd::default() },
        });
        answer.map(drop).map_err(Trouble::Refused)
    }

    /// Sends a command of the proxy's own and awaits its answer.
    pub(crate) async fn order(
        &self,
        held: &mut Held,
        command: Command,
        argument: &[u8],
        kind: AnswerKind,
    ) -> Result<(), Trouble> {
        let mut way = self.way(held);
        way.send(&command_packet(command, argument)).await?;
        way.read_answer(kind).await?.map(drop).map_err(Trouble::Refused)
    }

    /// The same, with the client at its other end.
    pub(crate) fn way_and_client<'a>(&'a mut self, held: &'a mut Held) -> (Way<'a>, &'a mut Framed) {
        let (form, hides_state) = (Form::of(self.client.shape), !self.context.is_told_of_changes);
        let status = self.status();
        let (handle, worker) = (&*self.ground.handle, &*self.ground.worker);
        let Client { framed, attributes, .. } = &mut self.client;
        let (connection, attributes) = (&mut held.connection, attributes.as_deref());
        (Way { handle, worker, connection, form, hides_state, status, attributes, flight: None }, framed)
    }

    /// The way to a connection and back.
    pub(crate) fn way<'a>(&'a self, held: &'a mut Held) -> Way<'a> {
        let (form, hides_state) = (Form::of(self.client.shape), !self.context.is_told_of_changes);
        let (handle, worker, connection) =
            (&*self.ground.handle, &*self.ground.worker, &mut *held.connection);
        let status = self.status();
        Way { handle, worker, connection, form, hides_state, status, attributes: None, flight: None }
    }

    /// Keeps the connection while there is a reason, and puts it back otherwise.
    pub(crate) fn settle(&mut self, mut held: Held) {
        let running = self.ground.handle.view.lock().running.take();
        held.connection.control.work(false);
        held.pins = held.pins.without(Pins::OLDER_DEFAULTS).with(pin_of_inheritance(&self.context, &held));
        let reasons = held.reasons();
        if !reasons.is_empty() {
            self.ground.worker.counters.pins.bump();
            self.ground.worker.pinned_by.count(reasons.without(held.counted));
            held.counted = reasons;
            self.hands.held.push(held);
        } else {
            if self.diagnostics.on == Some(held.connection.thread_id) {
                self.diagnostics.on = None;
            }
            self.hands.left = running.map(|running| (running.server, held.hostgroup, running.thread_id));
            self.ground.shared.hostgroups.check_in(held.connection, self.ground.latest_us / 1000);
        }
    }

    /// Lets go of what was kept only so that the statement just before could be asked about.
    pub(crate) async fn forget_diagnostics(&mut self) -> Result<(), SessionEnd> {
        (self.diagnostics.list, self.diagnostics.on) = (None, None);
        if !self.hands.held.is_empty() {
            self.forget_diagnostics_of_held().await?;
        }
        Ok(())
    }

    async fn forget_diagnostics_of_held(&mut self) -> Result<(), SessionEnd> {
        if matches!(self.results.insert_id, InsertId::At(_)) {
            Box::pin(self.keep_insert_id_of_held()).await?;
        }
        let mut place = 0;
        while let Some(held) = self.hands.held.get_mut(place) {
            held.pins = held.pins.without(Pins::PASSING);
            if held.pins.is_empty() && !held.in_transaction {
                let held = self.hands.held.swap_remove(place);
                self.ground.shared.hostgroups.check_in(held.connection, self.ground.latest_us / 1000);
            } else {
                place += 1;
            }
        }
        Ok(())
    }

    /// Gives back everything, whatever it was held for. What carries state of the session is reset first, or closed.
    pub(crate) fn let_go(&mut self) {
        for held in std::mem::take(&mut self.hands.held) {
            if !held.in_transaction && !held.pins.leaves_state_behind() {
                self.ground.shared.hostgroups.check_in(held.connection, self.ground.latest_us / 1000);
            } else {
                self.reset_and_put_back(held);
            }
        }
        self.statements.names = None;
        if let Some(prepared) = &mut self.statements.prepared {
            prepared.forget_all();
        }
    }
}

fn is_other_transaction(held: &Held, plan: &Plan) -> bool {
    held.in_transaction && held.hostgroup != plan.hostgroup
}

/// What a server says to a statement that needs a schema and has none.
fn no_schema() -> ErrPacket {
    let ErrorCode { code, sql_state } = ErrorCode::NO_DB_ERROR;
    ErrPacket { code, sql_state, message: b"No database selected".to_vec() }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Which held connection a statement for `hostgroup` must or can go to.
fn held_for(account: &Account, hands: &Hands, hostgroup: HostgroupId) -> Option<usize> {
    let persistent = account.user.transaction_persistent;
    let sticky = |held: &Held| held.pins.is_sticky() || (held.in_transaction && persistent);
    let same = |held: &Held| held.hostgroup == hostgroup;
    hands.held.iter().position(sticky).or_else(|| hands.held.iter().position(same))
}

/// Where a statement goes that the rules or the user's default send to `hostgroup`.
pub(crate) fn destination(account: &Account, hands: &Hands, hostgroup: HostgroupId) -> HostgroupId {
    held_for(account, hands, hostgroup)
        .and_then(|place| hands.held.get(place))
        .map_or(hostgroup, |held| held.hostgroup)
}

/// Whether a transaction is open on another connection than that of the statement.
pub(crate) fn has_other_transactions(hands: &Hands, plan: &Plan) -> bool {
    hands.held.iter().any(|held| is_other_transaction(held, plan))
}

/// Whether the connection is in a schema, and the statement must run in none.
fn must_leave_schema(context: &Context, hands: &Hands, held: &Held) -> bool {
    hands.errand.schema == SchemaNeed::Own
        && context.state.schema.is_empty()
        && !held.connection.state.schema.is_empty()
}

/// Whether nothing that is of use is forgotten with the schema.
fn can_leave_schema(hands: &Hands, results: &Results, held: &Held) -> bool {
    let is_asked = held.was_held && hands.errand.asks_of_the_last;
    !results.is_state_of(held) && !is_asked && held.connection.can_log_in_anew()
}

/// Others see which connection works for the session.
fn show_running(ground: &Ground, held: &Held) {
    held.connection.control.work(true);
    let mut view = ground.handle.view.lock();
    let server = held.connection.server();
    view.server = Some(Arc::clone(server));
    let (control, thread_id) = (Arc::clone(&held.connection.control), held.connection.thread_id);
    view.running = Some(Running { control, server: Arc::clone(server), thread_id });
}

/// Somebody dropped the session's schema: it goes on without, as it would on a server.
fn forget_schema(ground: &mut Ground, account: &Account, context: &mut Context) {
    ground.shared.doors.known_schemas.remove(&account.name, &context.state.schema);
    context.state.schema.clear();
}

/// Has the connection leave its schema, and with it all that it carries.
async fn log_in_anew(ground: &Ground, account: &Account, held: &mut Held) -> Result<(), Trouble> {
    ground.worker.counters.backend_change_user.bump();
    let Some(password) = account.password.as_deref() else { return Err(Trouble::Unfit) };
    let clear_passwords = clear_passwords(&ground.snapshot.mysql);
    let outcome = ground.handle.unless_ended(held.connection.log_in_anew(password, clear_passwords)).await?;
    match outcome {
        Ok(Reset::Done) => Ok(()),
        Ok(Reset::Doubtful) | Err(NetError::Refused(_)) => {
            held.connection.server().doubt_new_logins();
            Err(Trouble::Unfit)
        }
        Err(_) => Err(Trouble::Unfit),
    }
}

/// Whether the statement can be sent again, behind awaited changes: it only reads, and nothing of the session was on the connection.
pub(crate) const fn may_wait_instead(held: &Held, facts: &Facts) -> bool {
    !facts.writes && !held.was_held
}

/// Shows which connection is held, and why.
pub(crate) fn show_pins(hands: &Hands, view: &mut View) {
    view.pins.clear();
    view.server = hands.held.first().map(|held| Arc::clone(held.connection.server()));
    view.holds =
        hands.held.first().map(|held| (Arc::clone(held.connection.server()), held.connection.thread_id));
    if let Some(held) = hands.held.first() {
        use std::fmt::Write as _;
        // Writing to a String does not fail.
        let _ok = write!(view.pins, "{}", held.reasons());
    }
}
