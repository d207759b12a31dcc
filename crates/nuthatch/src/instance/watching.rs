//! Metrics and health of the instances, once and over HTTP.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use nuthatch_http::Page;
use nuthatch_instance::{Figures, Health, Root, metrics};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::said::failed;
use crate::log::print_line;
use crate::signals::Signals;

/// `nuthatch instance health`.
pub(super) fn health(root: &Root, as_json: bool) -> anyhow::Result<()> {
    let all = runtime()?.block_on(Figures::all(root)).map_err(failed)?;
    let all: Vec<Health> = all.iter().map(Health::of).collect();
    if as_json {
        print_line(&serde_json::to_string_pretty(&all)?)?;
    } else {
        for one in &all {
            let why = if one.well { "well".to_owned() } else { one.why.join("; ") };
            print_line(&format!("{}: {why}", one.name))?;
        }
    }
    match all.iter().filter(|one| !one.well).count() {
        0 => Ok(()),
        1 => bail!("one instance is not well"),
        several => bail!("{several} instances are not well"),
    }
}

/// `nuthatch instance watch`: until SIGTERM or Ctrl-C.
pub(super) fn watch(root: &Root, listen: SocketAddr) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let listener =
            TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
        print_line(&format!(
            "http://{}/metrics, /health and /health/NAME are served",
            listener.local_addr()?
        ))?;
        let stop = CancellationToken::new();
        let root = root.clone();
        let page = move |path: String| {
            let root = root.clone();
            async move { page(&root, &path).await }
        };
        let serving = nuthatch_http::serve(listener, page, stop.clone());
        let mut signals = Signals::listen()?;
        let told = async {
            signals.next().await;
            stop.cancel();
        };
        tokio::join!(serving, told);
        Ok(())
    })
}

async fn page(root: &Root, path: &str) -> Page {
    let page = match (path, path.strip_prefix("/health/")) {
        ("/metrics", _) => Figures::all(root).await.map(|all| Page::Metrics(metrics(all))),
        ("/health", _) => Figures::all(root).await.map(|all| {
            let all: Vec<Health> = all.iter().map(Health::of).collect();
            of_health(all.iter().all(|one| one.well), &json!(all))
        }),
        (_, Some(name)) => match name.parse().ok().and_then(|name| root.find(&name).ok()) {
            Some(place) => Figures::of(root, place).await.map(|one| {
                let one = Health::of(&one);
                of_health(one.well, &json!(one))
            }),
            None => Ok(UNKNOWN),
        },
        _ => Ok(UNKNOWN),
    };
    page.unwrap_or_else(|error| Page::Unwell(json!({ "why": error.to_string() }).to_string()))
}

const UNKNOWN: Page = Page::Unknown("there are /metrics, /health, and /health/NAME for each instance\n");

fn of_health(is_well: bool, text: &Value) -> Page {
    if is_well { Page::Well(text.to_string()) } else { Page::Unwell(text.to_string()) }
}

/// For what asks and waits.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot begin to ask")
}
