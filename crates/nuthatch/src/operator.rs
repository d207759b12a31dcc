//! What an operator says to a running proxy from the command line, over its admin interface.

use std::time::Duration;

use anyhow::{Context, bail};
use nuthatch_net::{
    AnswerTable, AskError, Asker, AskerLogin, BackendAddress, BackendPassword, ClearPasswords,
};
use serde_json::{Value, json};

use crate::cli::{AdminArguments, SwitchoverArguments};
use crate::log::print_line;

const ANSWER_BYTES_MAX: usize = 16 << 20;

/// How long a login may take. What is ordered takes as long as it takes: the proxy has limits for that.
const LOGIN_MAX: Duration = Duration::from_secs(10);

/// The variable of the environment that has the admin's password.
const PASSWORD_VARIABLE: &str = "NUTHATCH_ADMIN_PASSWORD";

/// `nuthatch switchover`.
pub(crate) fn switch_over(arguments: &SwitchoverArguments) -> anyhow::Result<()> {
    let check = if arguments.check { " CHECK" } else { "" };
    let to = arguments.to.replace('\'', "''");
    let statement = format!("NUTHATCH SWITCHOVER HOSTGROUP {} TO '{to}'{check}", arguments.hostgroup);
    let answer = ask(&arguments.admin, &statement)?;
    let columns = if arguments.check { ["weight", "finding"] } else { ["at_ms", "step"] };
    show(&answer, columns, arguments.json)?;
    if arguments.check && rows(&answer).any(|[weight, _]| weight == "refused") {
        bail!("a switchover to {} would be refused", arguments.to);
    }
    Ok(())
}

fn show(answer: &AnswerTable, [first, second]: [&str; 2], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let row = |[one, other]: [String; 2]| {
            let one = one.parse::<u64>().map_or(Value::String(one), Value::from);
            json!({ first: one, second: other })
        };
        return print_line(&serde_json::to_string_pretty(&rows(answer).map(row).collect::<Vec<_>>())?);
    }
    let width = rows(answer).map(|[one, _]| one.len()).max().unwrap_or(0);
    rows(answer).try_for_each(|[one, other]| print_line(&format!("{one:>width$}  {other}")))
}

fn rows(answer: &AnswerTable) -> impl Iterator<Item = [String; 2]> {
    answer.rows.iter().map(|row| {
        [0, 1].map(|place| {
            let value = row.get(place).and_then(Option::as_deref).unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        })
    })
}

fn ask(admin: &AdminArguments, statement: &str) -> anyhow::Result<AnswerTable> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (host, port) = admin.admin.rsplit_once(':').context("--admin takes HOST:PORT")?;
        let port = port.parse().context("--admin takes HOST:PORT")?;
        let login = AskerLogin {
            user: admin.user.clone(),
            password: BackendPassword::of(&password(admin)?),
            tls: None,
            clear_passwords: ClearPasswords::Refused,
        };
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
    let Some(path) = &admin.password_file else {
        return Ok(std::env::var(PASSWORD_VARIABLE).unwrap_or_else(|_| "admin".to_owned()));
    };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the password from {}", path.display()))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
