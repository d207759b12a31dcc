//! Why who waits for a connection of a hostgroup has got none, in words.

use crate::backend::hostgroup::Hostgroup;
use crate::backend::lent::Lent;
use crate::backend::server::line::LineView;
use crate::backend::server::line::holding::Wait;

/// Servers that are named.
const NAMED_MAX: usize = 4;

/// For so long the same is said again: thousands may be told at a time, and to find it out takes a look at each connection.
const SAID_AGAIN_US: u64 = 20_000;

/// Why who waits for one of its servers has got none.
pub(super) fn why_none(group: &Hostgroup, now_us: u64) -> String {
    if let Some((said_us, words)) = &*group.said.lock()
        && now_us.saturating_sub(*said_us) < SAID_AGAIN_US
    {
        return words.to_string();
    }
    let words = why_none_in(group, &group.line.view(), now_us);
    *group.said.lock() = Some((now_us, words.as_str().into()));
    words
}

/// The same of one whose line was looked at.
pub(super) fn why_none_in(group: &Hostgroup, line: &LineView, now_us: u64) -> String {
    let seconds = |since_us: u64| now_us.saturating_sub(since_us) / 1_000_000;
    match &line.wait {
        Some(Wait::Release { reasons, since_us }) => {
            format!("it has been held for {} s: {reasons}", seconds(*since_us))
        }
        Some(Wait::Server { told, since_us }) => {
            let why = told.as_deref().map(str::to_owned).or_else(|| why_not(group, now_us / 1000));
            let why = why.unwrap_or_else(|| "no server stands in it".to_owned());
            format!("no server of it has taken statements for {} s: {why}", seconds(*since_us))
        }
        None => why_no_connection(group, line, now_us / 1000),
    }
}

fn why_no_connection(group: &Hostgroup, line: &LineView, now_ms: u64) -> String {
    let why_not = why_not(group, now_ms);
    if !group.servers.iter().any(|server| server.takes_new_work(now_ms)) {
        return why_not.unwrap_or_else(|| "no server stands in it".to_owned());
    }
    let lent = Lent::of(group, now_ms);
    let what = match lent.is_full() {
        true => "all connections that its servers may have are in use (mysql_servers.max_connections), ",
        false => "no connection came free, of those in use ",
    };
    let also = why_not.map(|why| format!("; {why}")).unwrap_or_default();
    format!("{what}{lent}; {} wait in line{also}", line.waiting)
}

/// Why servers can be used for nothing new.
fn why_not(group: &Hostgroup, now_ms: u64) -> Option<String> {
    let whys: Vec<_> = group.servers.iter().filter_map(|server| server.why_not(now_ms)).collect();
    let more = match whys.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!whys.is_empty()).then(|| whys.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ") + &more)
}
