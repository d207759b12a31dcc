//! The answer to a statement that the session does not give by itself: from the cache, or by a server and then stored.
//!
//! One way for both protocols: what differs is how the statement is named in the cache, how it is sent, and what its text tells of
//! the session afterwards. The steps that need no waiting are in [`begin`] and [`heard`], and are also done
//! [on the seat](super::attend); here is what waits between them.

mod again;
mod begin;
mod early;
mod heard;
mod open;
mod record;
mod replay;
mod stale;
mod store;
mod together;

pub(in crate::session::life) use again::after_lost_lease;
pub(crate) use begin::{begin, begin_refreshing, lease, take_turn};
pub(crate) use heard::{conclude, heard};
pub(crate) use replay::{LostTransaction, replay};
pub(in crate::session::life) use store::key_at_hand;

use std::time::Duration;

use nuthatch_cache::Entry;
use nuthatch_net::{Framed, Stream};
use nuthatch_wire::AnswerEnd;
use tokio::time::sleep;

use crate::backend::CheckOutError;
use crate::roster::SessionEnd;
use crate::session::inquiry::{Answered, Inquiry, Stage, capture_of};
use crate::session::lease::causal::await_server;
use crate::session::lease::put_away::put_away;
use crate::session::lease::question::{way, way_and_client};
use crate::session::life::answer::again::{
    ask_a_server, ask_after, ask_again, end_others, has_other_transactions,
};
use crate::session::life::answer::begin::count_asked;
use crate::session::life::answer::early::{has_ended_it, tell_early};
use crate::session::life::answer::open::open;
use crate::session::life::answer::stale::instead_of;
use crate::session::life::answer::together::{tell_others, wait};
use crate::session::life::arrival::hit::serve_hit;
use crate::session::life::replies::reply_trouble;
use crate::session::parts::{Ground, Held};
use crate::session::statement::{Asked, Plan};
use crate::session::way::{Departure, Rest, Trouble, WhenLate};
use crate::session::whole::Session;
use crate::shared::answers::{Brought, HitPlan};

/// Sees an inquiry through, however far it has come.
pub(crate) async fn see_through(session: &mut Session, mut inquiry: Box<Inquiry>) -> Result<(), SessionEnd> {
    if matches!(inquiry.stage, Stage::Waits(_) | Stage::Opens)
        && let Some(entry) = Box::pin(look_up_later(session, &mut inquiry)).await
    {
        let now_ms = session.ground.latest_us / 1000;
        return Box::pin(serve_hit(session, entry, now_ms)).await;
    }
    match ask(session, &mut inquiry).await {
        Ok(end) => {
            let hangs_up = inquiry.asked.plan.facts.hangs_up(&end);
            conclude(session, inquiry, &end);
            if hangs_up { Err(SessionEnd::Quit) } else { Ok(()) }
        }
        Err(trouble) => {
            if let Some(leading) = inquiry.take_leading().filter(|_| !matches!(trouble, Trouble::End(_))) {
                tell_others(&session.ground, &inquiry.asked.plan, leading, Brought::Nothing);
            }
            if let Some(entry) = instead_of_answer(session, &inquiry, &trouble) {
                let now_ms = session.ground.latest_us / 1000;
                return Box::pin(serve_hit(session, entry, now_ms)).await;
            }
            session.ground.observe(&inquiry.asked.plan, 0, 0);
            if inquiry.is_told && !matches!(trouble, Trouble::End(_)) {
                return Ok(());
            }
            Box::pin(reply_trouble(session, trouble)).await
        }
    }
}

/// What is past its time, in the place of an answer that does not come.
fn instead_of_answer(session: &mut Session, inquiry: &Inquiry, trouble: &Trouble) -> Option<Entry<HitPlan>> {
    if !inquiry.may_be_stale {
        return None;
    }
    session.ground.look_at_clock();
    let Asked { request, plan, .. } = &inquiry.asked;
    instead_of(session, request, plan, trouble)
}

/// Waits while somebody else asks for the same, or has the snapshot opened. Returns the entry that answers it; without one it is to be asked.
async fn look_up_later(session: &mut Session, inquiry: &mut Inquiry) -> Option<Entry<HitPlan>> {
    let found = match std::mem::take(&mut inquiry.stage) {
        Stage::Waits(waiting) => wait(session, inquiry, *waiting).await,
        _ => open(session, inquiry).await,
    };
    match found {
        Ok(Some(entry)) => Some(entry),
        Ok(None) => {
            let Asked { plan, caching, .. } = &inquiry.asked;
            count_asked(&session.ground, &mut session.dealings, plan, *caching);
            None
        }
        Err(trouble) => {
            inquiry.stage = Stage::Failed(trouble);
            None
        }
    }
}

/// What is heard of a statement whose client has its answer: another one is none, and its connection is closed for it.
fn as_told(answered: Result<AnswerEnd, Trouble>) -> Result<AnswerEnd, Trouble> {
    answered.and_then(|end| if has_ended_it(&end) { Ok(end) } else { Err(Trouble::Unfit) })
}

/// Returns when the delay of the statement is over.
async fn hold_back(ground: &mut Ground, plan: &Plan) -> Result<(), Trouble> {
    let delay_ms = plan.delay_ms(&ground.snapshot.mysql);
    if delay_ms > 0 {
        let waiting = Box::pin(ground.worker.with_tokio(sleep(Duration::from_millis(delay_ms))));
        ground.handle.while_client_waits(waiting).await?;
        ground.look_at_clock();
    }
    Ok(())
}

/// Returns when a server shows what the statement needs, or when it goes to who writes.
async fn await_reader(session: &mut Session, plan: &mut Plan) -> Result<(), Trouble> {
    if plan.causal.is_some() {
        let Session { ground, account, dealings, .. } = session;
        await_server(ground, account, dealings, plan).await?;
        ground.look_at_clock();
    }
    Ok(())
}

/// Whether the statement was given to no server, for want of one that shows what it needs: then it begins anew, for who writes.
fn begins_anew(session: &Session, inquiry: &mut Inquiry, answered: &Result<AnswerEnd, Trouble>) -> bool {
    let Inquiry { asked: Asked { plan, .. }, stage, .. } = inquiry;
    let Err(trouble) = answered else { return false };
    if plan.may_be_behind() && trouble.is_of_who_is_behind() {
        session.ground.worker.counters.causal_reads_by_writer.bump();
        plan.go_to_writer();
    } else if !matches!(trouble, Trouble::CheckOut(CheckOutError::Behind)) {
        return false;
    }
    *stage = Stage::New;
    true
}

/// Waits for what goes before the statement, and has a connection for it if that can be at once.
async fn begin_asking(session: &mut Session, inquiry: &mut Inquiry) -> Result<(), Trouble> {
    let plan = &inquiry.asked.plan;
    hold_back(&mut session.ground, plan).await?;
    if plan.facts.transaction.ends && has_other_transactions(&session.dealings.hands, plan) {
        Box::pin(end_others(session, &inquiry.asked)).await?;
    }
    Box::pin(await_reader(session, &mut inquiry.asked.plan)).await?;
    lease(session, inquiry)
}

/// Sends what is left of a statement that has been sent so far, and hears its answer.
async fn hear(session: &mut Session, inquiry: &mut Inquiry, mut held: Held, mut departure: Departure) {
    let Asked { request, plan, .. } = &inquiry.asked;
    let told = match departure.rest {
        None => tell_early(session, request, plan, &held).await,
        Some(_) => Ok(false),
    };
    inquiry.is_told = told.as_ref().is_ok_and(|is_told| *is_told);
    let Session { ground, client, context, dealings, .. } = &mut *session;
    let Departure { flight, kind, rest, .. } = &mut departure;
    let sent = match (told, rest.take().map(|rest| *rest)) {
        (Err(end), _) => Err(end.into()),
        (Ok(_), None) => Ok(()),
        (Ok(_), Some(Rest::All(packet))) => Box::pin(way(ground, &mut held).write(&packet)).await,
        (Ok(_), Some(Rest::Part(rest))) => {
            Box::pin(way(ground, &mut held).write(&rest)).await.map_err(Trouble::having_begun)
        }
        (Ok(_), Some(Rest::Failed(trouble))) => Err(trouble),
    };
    let answered = match sent {
        Ok(()) => {
            let (way, framed) = way_and_client(ground, client, context, dealings, &mut held);
            let mut nobody = Framed::new(Stream::Nowhere);
            let framed = if inquiry.is_told { &mut nobody } else { framed };
            let capture = capture_of(&mut inquiry.filling);
            let way = way.when_late(WhenLate::of(&plan.facts));
            way.hearing(flight).pass_answer(framed, *kind, capture, |_| ()).await
        }
        Err(trouble) => Err(trouble),
    };
    session.ground.look_at_clock();
    let answered = if inquiry.is_told { as_told(answered) } else { answered };
    heard(session, inquiry, held, departure, answered);
}

/// Has a server answer.
async fn ask(session: &mut Session, inquiry: &mut Inquiry) -> Result<AnswerEnd, Trouble> {
    loop {
        match std::mem::take(&mut inquiry.stage) {
            Stage::New => begin_asking(session, inquiry).await?,
            Stage::InLine(in_line) => {
                let turn = session.ground.handle.while_client_waits(in_line.turn()).await?;
                take_turn(session, inquiry, in_line, turn)?;
            }
            Stage::Leased(leased) => {
                let answered = Box::pin(ask_a_server(session, inquiry, leased, None)).await;
                if !begins_anew(session, inquiry, &answered) {
                    return answered;
                }
            }
            Stage::Sent(held, departure) => hear(session, inquiry, held, departure).await,
            Stage::Answered(answered) => {
                let Answered { held, departure, end, rest } = *answered;
                let Session { ground, client, .. } = &mut *session;
                let writing = Box::pin(client.framed_mut().write(&rest));
                let answered = match ground.handle.unless_ended(writing).await {
                    Ok(written) => written.map(|()| end).map_err(|error| SessionEnd::from(error).into()),
                    Err(reason) => Err(SessionEnd::InAnswer(reason).into()),
                };
                session.ground.look_at_clock();
                heard(session, inquiry, held, departure, answered);
            }
            Stage::Lost(held, trouble) if inquiry.is_told => {
                let Session { ground, account, context, dealings, .. } = session;
                put_away(ground, account, context, dealings, held, Some(&trouble));
                // The client was told how it ended.
                let _told = dealings.hands.take_outcome();
                return Err(trouble);
            }
            Stage::Lost(held, trouble) => {
                let answered = Box::pin(ask_again(session, inquiry, held, trouble)).await;
                if !begins_anew(session, inquiry, &answered) {
                    return answered;
                }
            }
            Stage::Noted(held, end) => {
                Box::pin(ask_after(session, &inquiry.asked, &end, held)).await?;
                return Ok(*end);
            }
            Stage::Done(end) => return Ok(end),
            Stage::Waits(_) | Stage::Opens => {}
            Stage::Failed(trouble) => return Err(trouble),
        }
    }
}
