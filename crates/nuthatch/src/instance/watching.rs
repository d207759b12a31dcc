//! Metrics and health of the instances, once and over HTTP.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use nuthatch_http::Page;
use nuthatch_instance::{Figures, Health, Root, metrics};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::said::failed;
use crate::log::print_line;

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
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        let told = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            stop.cancel();
        };
        tokio::join!(serving, told);
        Ok(())
    })
}

async fn page(root: &Root, path: &str) -> Page {
    let all = match Figures::all(root).await {
        Ok(all) => all,
        Err(error) => return Page::Unwell(json!({ "why": error.to_string() }).to_string()),
    };
    if path == "/metrics" {
        return Page::Metrics(metrics(all));
    }
    let health: Vec<Health> = all.iter().map(Health::of).collect();
    if path == "/health" {
        let text = json!(health).to_string();
        return if health.iter().all(|one| one.well) { Page::Well(text) } else { Page::Unwell(text) };
    }
    let name = path.strip_prefix("/health/").unwrap_or_default();
    match health.iter().find(|one| one.name.as_str() == name) {
        Some(one) if one.well => Page::Well(json!(one).to_string()),
        Some(one) => Page::Unwell(json!(one).to_string()),
        None => Page::Unknown("there are /metrics, /health, and /health/NAME for each instance\n"),
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot begin to ask")
}
