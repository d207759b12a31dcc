//! Another schema, where a server must say whether it is there.

use nuthatch_config::HostgroupId;
use nuthatch_wire::{AnswerKind, Command};

use crate::session::after::schema::{learn_name_of_schema, learn_schema};
use crate::session::lease::bring_into::bring_into_state;
use crate::session::lease::check_out::{check_out, lease};
use crate::session::lease::put_away::put_away;
use crate::session::lease::question::order;
use crate::session::parts::{Account, Context, Dealings, Ground, Held};
use crate::session::way::Trouble;
use crate::state::Errand;

/// The session is in that schema, if a server says that it is there. To be told so once more changes nothing, so another one is asked where a
/// connection is lost.
pub(crate) async fn change_schema(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
    schema: &[u8],
) -> Result<(), Trouble> {
    let mut retries_left = ground.snapshot.mysql.query_retries_on_failure;
    dealings.hands.set_errand(Errand::into_schema(&context.state, schema));
    loop {
        let (outcome, carries_nothing) = match lease(ground, account, context, dealings, hostgroup).await {
            Ok(held) => {
                let carries_nothing = dealings.results.can_do_without(&held);
                (ask_for_schema(ground, account, context, dealings, held, schema).await, carries_nothing)
            }
            Err(trouble) => (Err(trouble), !dealings.hands.has_lost_state()),
        };
        match outcome {
            Err(trouble) if carries_nothing && trouble.left_no_trace() && retries_left > 0 => {
                retries_left -= 1;
                ground.worker.counters.retries.bump();
            }
            outcome => return outcome,
        }
    }
}

async fn ask_for_schema(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    mut held: Held,
    schema: &[u8],
) -> Result<(), Trouble> {
    let mut outcome = order(ground, &mut held, Command::InitDb, schema, AnswerKind::Single).await;
    if outcome.is_ok() {
        learn_schema(context, schema, &mut held);
        if held.is_in_unnamed_schema() {
            outcome = learn_name_of_schema(ground, context, &mut held).await;
        }
    }
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    outcome
}

/// Whether a server lets the session into its schema; the connection is in it afterwards.
pub(crate) async fn try_schema(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
) -> Result<(), Trouble> {
    let mut held = check_out(ground, account, context, &dealings.hands, hostgroup, None).await?;
    let outcome = bring_into_state(ground, account, context, dealings, &mut held).await;
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    outcome
}
