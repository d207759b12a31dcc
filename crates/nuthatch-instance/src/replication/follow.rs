//! Having one instance of this host follow a source, and not any more.
//!
//! The login is tried as the server will use it, before anything is touched; what fails behind that is taken back: options, events, source,
//! what is remembered.

use std::time::Duration;

use nuthatch_server::{Deadline, Kind, Password, lock};

use crate::ask::{PATIENTLY, Session, wait_for};
use crate::backup::events::{self, Event};
use crate::certificates;
use crate::change::{Change, OptionsBefore, change};
use crate::error::InstanceError;
use crate::replication::account::{quiet, secretly};
use crate::replication::dialect::{self, Secrecy};
use crate::replication::fitness::{Beginning, Looked, refuse_errant};
use crate::replication::foreign::Login;
use crate::replication::link::Link;
use crate::replication::request::{Order, Trust};
use crate::replication::standing::{Asked, Standing};
use crate::replication::status::{Following, Status};
use crate::root::{Place, Root};

/// How long a replica may take to reach its source and begin to apply.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);

/// The instance follows the source, and does so again when its server starts.
///
/// # Errors
/// [`InstanceError::Refused`], [`InstanceError::Statement`]: nothing is changed then.
pub(crate) fn follow(root: &Root, order: &Order) -> Result<(), InstanceError> {
    let place = root.find(&order.name)?;
    let _lock = lock(&place.dir().join("replication.lock"))?;
    place.give(&place.dir().join("replication.lock"))?;
    let password = order.password.open()?;
    wait_for(refuse_other_source(&place, order))?;
    wait_for(async { login(order, &password).open().await?.ask("SELECT 1").await.map(drop) })?;
    if order.again {
        return follow_again(&place, order, &password);
    }
    let before = OptionsBefore::note(&place, &order.options)?;
    if !order.options.is_empty() {
        change(root, &place, &Change { set: order.options.clone(), ..Change::default() })?;
    }
    let (mut told, mut silenced) = (Told::Nothing, Vec::new());
    let begun = wait_for(silence(&place, &mut silenced))
        .and_then(|()| wait_for(refuse_late(&place, order, &password)))
        .and_then(|()| tell(&place, order, &password, &mut told))
        .and_then(|()| start(&place));
    if begun.is_err() {
        // What has failed says more than what cannot be taken back behind it.
        drop(match told {
            Told::Nothing => forget_notes(&place),
            Told::Source => forget(&place),
        });
        drop(wait_for(async { events::enable(&mut Session::open(&place).await?, &silenced).await }));
        drop(before.take_back(root, &place));
    }
    begun
}

/// Where nobody writes to it, no event of its own does: they are its source's to run. Which were enabled is told first.
async fn silence(place: &Place, silenced: &mut Vec<Event>) -> Result<(), InstanceError> {
    let kind = place.record()?.server.kind;
    let mut session = Session::open(place).await?;
    let is_written_to =
        session.in_force("read_only").await.is_some_and(|value| value == "0" || value == "OFF");
    if is_written_to {
        return Ok(());
    }
    *silenced = events::enabled(&mut session).await?;
    events::disable(&mut session, kind, silenced).await
}

/// Whether the server may have been told its source.
enum Told {
    Nothing,
    Source,
}

/// By another login, or in another manner; the source stays.
fn follow_again(place: &Place, order: &Order, password: &Password) -> Result<(), InstanceError> {
    stop(place)?;
    let mut told = Told::Nothing;
    if let Err(error) = tell(place, order, password, &mut told) {
        // As it was, it may go on.
        drop(start(place));
        return Err(error);
    }
    start(place)
}

/// Another command may have had it follow somebody since it was looked at.
async fn refuse_other_source(place: &Place, order: &Order) -> Result<(), InstanceError> {
    let kind = place.record()?.server.kind;
    let table = Session::open(place).await?.ask(dialect::status(kind), PATIENTLY).await?;
    let sources: Vec<String> = dialect::statuses(&table).iter().map(Status::source).collect();
    match (order.again, sources.as_slice()) {
        (false, []) => return Ok(()),
        (true, [one]) if *one == order.link.source => return Ok(()),
        _ => {}
    }
    let now = if sources.is_empty() { "nobody".to_owned() } else { sources.join(" and ") };
    Err(InstanceError::Refused(format!(
        "have {} replicate from {}: meanwhile it follows {now}, as another command has told it",
        place.name(),
        order.link.source
    )))
}

/// What was written between the look at both and this moment, since which nobody writes where the replica is read-only.
async fn refuse_late(place: &Place, order: &Order, password: &Password) -> Result<(), InstanceError> {
    if order.is_mutual {
        return Ok(());
    }
    let own = Standing::of(&mut Session::open(place).await?).await?;
    let other = Standing::of(&mut login(order, password).open().await?).await?;
    let replica = Looked { name: place.name().as_str(), address: "", standing: &own };
    let source = &order.link.source;
    refuse_errant(replica, Looked { name: source, address: source, standing: &other })
}

/// The server knows its source, and what is remembered of it is written down.
fn tell(place: &Place, order: &Order, password: &Password, told: &mut Told) -> Result<(), InstanceError> {
    let kind = place.record()?.server.kind;
    let authority = match &order.trust {
        Trust::Authority(authority) => Some(certificates::keep_of_source(place, authority)?),
        Trust::Encrypted | Trust::Clear => None,
    };
    let secrecy = match (&authority, &order.trust) {
        (Some(authority), _) => Secrecy::Verified(authority),
        (None, Trust::Clear) => Secrecy::Clear,
        (None, _) => Secrecy::Encrypted,
    };
    let source = (order.host.as_str(), order.port);
    let statement = dialect::follow(kind, source, &order.link.user, password, &secrecy);
    order.link.save(place)?;
    wait_for(async {
        let mut session = quiet(place).await?;
        if order.beginning == Beginning::FromAllItHas && !order.again {
            session.ask("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_current_pos", PATIENTLY).await?;
        }
        if kind == Kind::MariaDb && order.is_mutual && !order.again {
            await_source(&mut session, order, password).await?;
        }
        let answer = secretly(&mut session, &statement, password).await;
        if !matches!(answer, Err(InstanceError::Statement { .. })) {
            *told = Told::Source;
        }
        answer.map(drop)
    })
}

/// It fetches and applies, and has begun to.
pub(crate) fn start(place: &Place) -> Result<(), InstanceError> {
    let kind = place.record()?.server.kind;
    wait_for(async {
        let mut session = Session::open(place).await?;
        session.ask(dialect::start(kind), PATIENTLY).await?;
        await_running(&mut session, place, kind).await
    })
}

/// The source has all that the server begins from: MariaDB refuses a position that it has not reached yet.
async fn await_source(
    session: &mut Session,
    order: &Order,
    password: &Password,
) -> Result<(), InstanceError> {
    const TRIES: u32 = 8;
    let begins = session.ask("SELECT @@GLOBAL.gtid_slave_pos AS begins", PATIENTLY).await?;
    let begins = dialect::text(&begins.text("begins").unwrap_or_default());
    if begins == "''" {
        return Ok(());
    }
    let mut source = login(order, password).open().await?;
    // Within the time that an answer may take.
    let sql = format!("SELECT MASTER_GTID_WAIT({begins}, 4) AS outcome");
    for _ in 0..TRIES {
        if source.ask(&sql).await?.text("outcome").as_deref() == Some("0") {
            return Ok(());
        }
    }
    Err(InstanceError::Refused(format!(
        "have {} replicate: its source has not applied yet what it begins from; again when it has",
        order.name
    )))
}

/// As the server will log in.
fn login<'a>(order: &'a Order, password: &'a Password) -> Login<'a> {
    Login { host: &order.host, port: order.port, user: &order.link.user, password, trust: &order.trust }
}

/// Both threads run, and go on running for a moment: a source that refuses what it is asked for says so behind the login. Else with the error.
pub(crate) async fn await_running(
    session: &mut Session,
    place: &Place,
    kind: Kind,
) -> Result<(), InstanceError> {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    const LOOKS: u32 = 10;
    let mut running = 0;
    let deadline = Deadline::after(BEGINS_WITHIN);
    loop {
        let status = status(session, kind).await?;
        let following = status.as_ref().map(Status::following);
        let why = status.and_then(|status| status.why());
        match (following, why) {
            (Some(Following::Running), _) if running == LOOKS => return Ok(()),
            (Some(Following::Running), _) => running += 1,
            (Some(_), Some(why)) => return Err(not_begun(place, &why)),
            _ if deadline.is_over() => {
                let why = format!("it has not begun after {} s", BEGINS_WITHIN.as_secs());
                return Err(not_begun(place, &why));
            }
            _ => running = 0,
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn not_begun(place: &Place, why: &str) -> InstanceError {
    InstanceError::Refused(format!("have {} replicate: {why}", place.name()))
}

/// How the instance's one source does; `None` without one.
pub(crate) async fn status(session: &mut Session, kind: Kind) -> Result<Option<Status>, InstanceError> {
    let table = session.ask(dialect::status(kind), PATIENTLY).await?;
    Ok(dialect::statuses(&table).into_iter().next())
}

/// The instance follows nobody, and nothing is remembered of it. Its options stay.
pub(crate) fn forget(place: &Place) -> Result<(), InstanceError> {
    let kind = place.record()?.server.kind;
    wait_for(async {
        let mut session = quiet(place).await?;
        session.ask(dialect::stop(kind), PATIENTLY).await?;
        session.ask(dialect::forget(kind), PATIENTLY).await.map(drop)
    })?;
    forget_notes(place)
}

/// Nothing is remembered of its source.
fn forget_notes(place: &Place) -> Result<(), InstanceError> {
    certificates::forget_source(place)?;
    Link::remove(place)
}

/// The instance fetches and applies nothing until its server, or it, is started.
pub(crate) fn stop(place: &Place) -> Result<(), InstanceError> {
    let kind = place.record()?.server.kind;
    wait_for(async { Session::open(place).await?.ask(dialect::stop(kind), PATIENTLY).await.map(drop) })
}
