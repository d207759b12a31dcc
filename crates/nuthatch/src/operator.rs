//! What an operator says to a running proxy from the command line, over its admin interface.

use std::time::Duration;

use anyhow::{Context, bail};
use nuthatch_net::{AnswerTable, AskError, Asker, AskerLogin, BackendAddress};
use serde_json::{Value, json};

use crate::cli::{AdminArguments, FailoverArguments, PairArguments, SwitchoverArguments};
use crate::log::print_line;
use crate::password_file;

const ANSWER_BYTES_MAX: usize = 16 << 20;

/// How long a login may take. What is ordered takes as long as it takes: the proxy has limits for that.
const LOGIN_MAX: Duration = Duration::from_secs(10);

/// The variable of the environment that has the admin's password.
const PASSWORD_VARIABLE: &str = "NUTHATCH_ADMIN_PASSWORD";

/// `nuthatch switchover`.
pub(crate) fn switch_over(arguments: &SwitchoverArguments) -> anyhow::Result<()> {
    match order(&arguments.of, "SWITCHOVER", Some(&arguments.to), arguments.check)? {
        Found::Refused => bail!("a switchover to {} would be refused", arguments.to),
        Found::Fine => Ok(()),
    }
}

/// `nuthatch failover`.
pub(crate) fn fail_over(arguments: &FailoverArguments) -> anyhow::Result<()> {
    match order(&arguments.of, "FAILOVER", arguments.to.as_deref(), arguments.check)? {
        Found::Refused => bail!("a failover of hostgroup {} would be refused", arguments.of.hostgroup),
        Found::Fine => Ok(()),
    }
}

/// What a check came to.
enum Found {
    Fine,
    Refused,
}

/// Has it done, or checked, and shows what was said.
fn order(of: &PairArguments, what: &str, to: Option<&str>, is_check: bool) -> anyhow::Result<Found> {
    let PairArguments { hostgroup, json, admin } = of;
    let to = to.map(|to| format!(" TO '{}'", to.replace('\'', "''"))).unwrap_or_default();
    let check = if is_check { " CHECK" } else { "" };
    let answer = ask(admin, &format!("NUTHATCH {what} HOSTGROUP {hostgroup}{to}{check}"))?;
    let columns = if is_check { ["weight", "finding"] } else { ["at_ms", "step"] };
    show(&answer, columns, *json)?;
    let is_refused = answer.texts().any(|[weight, _]: [String; 2]| weight == "refused");
    Ok(if is_check && is_refused { Found::Refused } else { Found::Fine })
}

fn show(answer: &AnswerTable, [first, second]: [&str; 2], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let row = |[one, other]: [String; 2]| {
            let one = one.parse::<u64>().map_or(Value::String(one), Value::from);
            json!({ first: one, second: other })
        };
        return print_line(&serde_json::to_string_pretty(&answer.texts().map(row).collect::<Vec<_>>())?);
    }
    let width = answer.texts().map(|[one, _]: [String; 2]| one.len()).max().unwrap_or(0);
    answer.texts().try_for_each(|[one, other]| print_line(&format!("{one:>width$}  {other}")))
}

fn ask(admin: &AdminArguments, statement: &str) -> anyhow::Result<AnswerTable> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (host, port) = admin.admin.rsplit_once(':').context("--admin takes HOST:PORT")?;
        let port = port.parse().context("--admin takes HOST:PORT")?;
        let login = AskerLogin::in_the_clear(&admin.user, &password(admin)?);
        let address = BackendAddress::new(host, port);
        let opening = tokio::time::timeout(LOGIN_MAX, Asker::open(&address, &login, ANSWER_BYTES_MAX)).await;
        let mut asker = opening
            .map_err(|_elapsed| anyhow::anyhow!("no answer within {} s", LOGIN_MAX.as_secs()))
            .and_then(|opened| opened.map_err(anyhow::Error::new))
            .with_context(|| format!("cannot reach the proxy's admin interface on {}", admin.admin))?;
        match asker.ask(statement).await {
            Ok(answer) => Ok(answer),
            Err(AskError::Refused { message, .. }) => bail!("{message}"),
            Err(error) => Err(anyhow::Error::new(error).context("the proxy did not answer")),
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "a password of the command line's own")]
fn password(admin: &AdminArguments) -> anyhow::Result<String> {
    match &admin.password_file {
        Some(path) => password_file::read(path, ""),
        None => Ok(std::env::var(PASSWORD_VARIABLE).unwrap_or_else(|_| "admin".to_owned())),
    }
}
