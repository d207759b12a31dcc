//! What a host does when it, or another one, asks it something of its instances.

use std::collections::BTreeMap;
use std::time::Duration;

use nuthatch_server::ServerError;

use crate::add::add;
use crate::ask::{PATIENTLY, Session, wait_for};
use crate::certificates;
use crate::change::{Change, change, literal};
use crate::error::InstanceError;
use crate::life::start::{check_options, start};
use crate::life::state::State;
use crate::life::stop::stop;
use crate::name::InstanceName;
use crate::progress::Step;
use crate::replication::dialect::OF_PAIRS;
use crate::replication::request::{Answer, Known, Request, Survey, Which};
use crate::replication::standing::Standing;
use crate::replication::{account, follow, foreign, unlogged};
use crate::root::{Place, Root};
use crate::settling::{parse_assignment, settings_of};
use crate::template::Template;
use crate::users::clients;

/// How long a server may take to answer, and to end.
const WITHIN: Duration = Duration::from_secs(600);

/// The answer to a request, which is done when it is given.
///
/// # Errors
/// As what was asked for; nothing is changed then.
pub fn answer(root: &Root, request: &Request) -> Result<Answer, InstanceError> {
    match request {
        Request::Look(which) => Ok(Answer::Known(Box::new(look(root, &find(root, which)?)?))),
        Request::Reach { host, port } => Ok(Answer::From(foreign::reach(host, *port)?)),
        Request::Tables(name) => Ok(Answer::Tables(unlogged::tables(&root.find(name)?)?)),
        Request::Unlogged(name) => Ok(Answer::Tables(unlogged::unlogged(&root.find(name)?)?)),
        Request::MakeAccount { name, account, password } => {
            account::make(&root.find(name)?, account, &password.open()?)?;
            Ok(Answer::Done)
        }
        Request::DropAccount { name, user, from } => {
            account::remove(&root.find(name)?, user, *from)?;
            Ok(Answer::Done)
        }
        Request::Follow(order) => {
            follow::follow(root, order)?;
            Ok(Answer::Done)
        }
        Request::Forget(name) => {
            follow::forget(&root.find(name)?)?;
            Ok(Answer::Done)
        }
        Request::Survey => Ok(Answer::Survey(survey(root)?)),
        Request::Add(wanted) => {
            Root::create(root.dir())?;
            add(root, wanted, &mut unheard)?;
            run(root, &wanted.name)
        }
        Request::Restart(name) => {
            check_options(root, name)?;
            stop(root, name, WITHIN, &mut unheard)?;
            run(root, name)
        }
        Request::Set { name, options, unset } => {
            let (place, wanted) = (
                root.find(name)?,
                Change { set: options.clone(), unset: unset.clone(), ..Change::default() },
            );
            change(root, &place, &wanted)?;
            have_in_force(&place, options)?;
            Ok(Answer::Done)
        }
        Request::VersionOf(server) => Ok(Answer::Version(server.version()?)),
    }
}

/// A value that the option file has already may be another one at run time: somebody has set it, as a proxy does that fences a server.
fn have_in_force(place: &Place, options: &[String]) -> Result<(), InstanceError> {
    wait_for(async {
        let mut session = Session::open(place).await?;
        for assignment in options {
            let (option, value) = parse_assignment(assignment)?;
            if !OF_PAIRS.contains(&option.as_str()) {
                continue;
            }
            session.ask(&format!("SET GLOBAL {option} = {}", literal(&value)), PATIENTLY).await?;
        }
        Ok(())
    })
}

/// Its server answers.
pub(crate) fn run(root: &Root, name: &InstanceName) -> Result<Answer, InstanceError> {
    let program = std::env::current_exe().map_err(ServerError::file("find", "this program"))?;
    start(root, name, &program, WITHIN, &mut unheard)?;
    Ok(Answer::Done)
}

/// Nobody is there who would read it.
fn unheard(_: &Step) {}

fn survey(root: &Root) -> Result<Survey, InstanceError> {
    let mut instances = BTreeMap::new();
    for name in root.names()? {
        let record = root.find(&name)?.record()?;
        instances.insert(name, record);
    }
    let templates = Template::all(root)?.into_iter().map(|template| (template.name, template.text));
    Ok(Survey { address: root.host()?.address, instances, templates: templates.collect() })
}

fn find(root: &Root, which: &Which) -> Result<Place, InstanceError> {
    let port = match which {
        Which::Named(name) => return root.find(name),
        Which::OnPort(port) => *port,
    };
    for name in root.names()? {
        let place = root.find(&name)?;
        if place.record()?.port == port {
            return Ok(place);
        }
    }
    Err(InstanceError::Refused(format!(
        "find an instance on port {port}: there is none in {}",
        root.dir().display()
    )))
}

/// How an instance stands, whose server must run.
fn look(root: &Root, place: &Place) -> Result<Known, InstanceError> {
    let (name, record) = (place.name(), place.record()?);
    if State::load(place)?.live_server().is_none() {
        return Err(InstanceError::Refused(format!(
            "ask {name}: it does not run (nuthatch instance start {name})"
        )));
    }
    let (standing, clients) = wait_for(async {
        let mut session = Session::open(place).await?;
        Ok((Standing::of(&mut session).await?, clients(&mut session).await?))
    })?;
    let settings = settings_of(root, place)?;
    Ok(Known {
        name: name.clone(),
        host: record.address,
        port: record.port,
        standing,
        own: record.own,
        clients,
        authority: certificates::authority_of(&settings)?,
        lacks: certificates::missing_file(&settings),
    })
}
