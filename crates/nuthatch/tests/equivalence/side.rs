//! A session on one of the two sides, and what it is answered.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nuthatch_wire::CapabilityFlags;

use crate::client::{Address, Client, Cursor, Failure, Login, Types};
use crate::schema::SCHEMA;
use crate::step::Manner;
use crate::visible;

/// Where sessions of one side come from.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) address: Address,
    pub(crate) login: Login,
}

impl Place {
    pub(crate) fn connect(&self, manner: Manner) -> Result<Client, Failure> {
        let set = |login: Login, flag, wanted| if wanted { login.with(flag) } else { login.without(flag) };
        let login = self.login.clone().schema(SCHEMA);
        let login = set(login, CapabilityFlags::CLIENT_DEPRECATE_EOF, manner.deprecates_eof);
        let login = set(login, CapabilityFlags::CLIENT_SESSION_TRACK, manner.is_told);
        Client::connect(&self.address, &login)
    }
}

/// An error where the grammar of a mode is asked for that the session may not be in.
const REFUSED: &str = "refused";

/// Which packets a statement goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Prepared,
}

/// What the statement is answered, as it is compared. A client that finds the protocol broken panics, which is an answer too.
pub(crate) fn answers(client: &mut Client, sql: &str, form: Form) -> Vec<String> {
    let run = AssertUnwindSafe(|| match form {
        Form::Text => visible::answers(client.query_whole(sql)),
        Form::Prepared => prepared(client, sql),
    });
    let answers = catch_unwind(run).unwrap_or_else(|_| vec![visible::UNREADABLE.to_owned()]);
    answers.iter().map(|answer| comparable(answer, sql)).collect()
}

fn prepared(client: &mut Client, sql: &str) -> Vec<String> {
    let statement = match client.prepare(sql) {
        Ok(statement) => statement,
        Err(Failure::Server(error)) => return vec![visible::one(Err(error), true)],
        Err(Failure::Gone(error)) => return vec![visible::gone(&error)],
    };
    let answers = visible::answers(client.execute_whole(&statement, &[], Types::Sent, Cursor::None));
    client.close(&statement);
    answers
}

/// Without what is another's subject (whether a transaction is open, `twins`) or differs from server to server: costs and times.
fn comparable(answer: &str, sql: &str) -> String {
    let is_plan = ["EXPLAIN", "ANALYZE"].iter().any(|word| sql.starts_with(word));
    if is_plan && !answer.starts_with("error") {
        return "a plan".to_owned();
    }
    // Only in Oracle mode it is more than an error of the grammar, which the proxy does not look at.
    if sql.contains("SQL%ROWCOUNT") && answer.starts_with("error") {
        return REFUSED.to_owned();
    }
    let answer = answer.replace("transaction=true", "transaction=false");
    // MySQL tells by the plan, which follows statistics, whether a column of a join is one of a key.
    if sql.contains(" JOIN ") { without_flags(&answer) } else { answer }
}

/// Without the flags of columns.
fn without_flags(answer: &str) -> String {
    let mut parts = answer.split(" flags=");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()))
}

/// Whether the proxy says that it does not know what is asked: it refuses ROW_COUNT() inside a larger statement, as documented. A question for
/// nothing else it must answer.
pub(crate) fn may_be_refused(sql: &str, proxied: &[String]) -> bool {
    let is_alone = matches!(sql.strip_prefix("SELECT SQL%ROWCOUNT"), Some("" | " FROM DUAL"));
    proxied == [REFUSED] && sql.contains("SQL%ROWCOUNT") && !is_alone
}

/// Whether the session is over on this side.
pub(crate) fn is_over(answers: &[String]) -> bool {
    answers.iter().any(|answer| answer.starts_with(visible::GONE))
}
