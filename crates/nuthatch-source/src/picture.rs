//! A look at one server: what is asked, in order.

use std::sync::Arc;

use nuthatch_net::BackendAddress;
use nuthatch_sql::{Catalogue, ServerFlavor, StoredCode};

use crate::connection::{Connection, Login};
use crate::definitions::Definitions;
use crate::privileges::prove;
use crate::question::{Question, Server};
use crate::replication::{Replication, replication};
use crate::session_effects::Assignable;
use crate::settings::{Isolation, Settings};
use crate::sketch::draw;
use crate::standing::{NotASource, replica_status, standing};
use crate::status::Status;
use crate::stored_code::stored_code;
use crate::variables::Variables;
use crate::{BufferPool, PictureError, TableIds};

/// Names and texts come in UTF-8 and in one form, whole, whatever the server's defaults are.
const PREPARATIONS: [Question; 2] = [
    Question { what: "names in UTF-8", sql: "SET NAMES utf8mb4" },
    Question {
        what: "whole answers",
        sql: "SET SESSION sql_mode = '', sql_quote_show_create = 1, sql_big_selects = 1, sql_select_limit = 18446744073709551615, \
              autocommit = 1",
    },
];

const ALL_VARIABLES: Question = Question { what: "all global variables", sql: "SHOW GLOBAL VARIABLES" };

/// What was found on one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its tables.
    pub catalogue: Catalogue,
    /// What its functions, triggers and views leave in sessions.
    pub stored_code: Arc<StoredCode>,
    /// Its family and version.
    pub flavor: ServerFlavor,
    /// What new sessions begin with.
    pub isolation: Isolation,
    /// All global variables, by name.
    pub variables: Vec<[Vec<u8>; 2]>,
    /// Whether its answers may be stored.
    pub source: Result<(), NotASource>,
    /// How it replicates.
    pub replication: Replication,
    /// Tables that are not in the catalogue because no number was left for them.
    pub tables_left_out: usize,
    /// For how many seconds the server had been running at the end of the look, if it tells.
    pub uptime_s: Option<u64>,
    /// How well memory serves its reads, if it tells.
    pub buffer_pool: Option<BufferPool>,
}

/// Logs in, asks, and closes. `wants_columns`: which columns' values can be told apart is asked too. Sets no time limit: dropping the future closes the connection.
///
/// Cost: about a dozen questions, however many tables there are; 2,000 tables take half a second to two.
///
/// # Errors
/// See [`PictureError`]. There is no picture without the proof that the account sees everything.
pub async fn look(
    server: &BackendAddress,
    login: &Login,
    ids: &TableIds,
    wants_columns: bool,
) -> Result<Picture, PictureError> {
    let (mut connection, flavor) = Connection::open(server, login).await?;
    let picture = picture(&mut connection, flavor, ids, wants_columns).await;
    connection.close().await;
    picture
}

async fn picture(
    server: &mut impl Server,
    flavor: ServerFlavor,
    ids: &TableIds,
    wants_columns: bool,
) -> Result<Picture, PictureError> {
    for preparation in PREPARATIONS {
        server.ask(preparation).await?;
    }
    prove(server, flavor).await?;
    let status = replica_status(server, flavor).await?;
    let standing = standing(server, flavor).await?;
    let settings = Settings::read(server).await?;
    let (suits, isolation) = (standing.and_then(|()| settings.suit(flavor)), settings.isolation()?);
    let variables = Variables::read(server, ALL_VARIABLES).await?.into_pairs();
    let definitions = Definitions::read(server, flavor, wants_columns).await?;
    let stored_code = Arc::new(stored_code(&definitions, &Assignable::read(server).await?));
    let replication = replication(server, flavor, &status, &settings, suits, &definitions.routines).await;
    let source = if status.is_empty() { suits } else { Err(NotASource::Replica) };
    // Last, because it is told as of now.
    let figures = Status::read(server).await?;
    let (uptime_s, buffer_pool) = (figures.uptime_s(), figures.buffer_pool(&settings));
    let (catalogue, tables_left_out) = draw(&definitions, flavor, ids);
    Ok(Picture {
        catalogue,
        stored_code,
        flavor,
        isolation,
        variables,
        source,
        replication,
        tables_left_out,
        uptime_s,
        buffer_pool,
    })
}

#[cfg(test)]
mod tests;
