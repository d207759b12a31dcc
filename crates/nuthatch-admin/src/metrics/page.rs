//! The metrics endpoint: `GET /metrics` and nothing else.

use std::sync::Arc;

use nuthatch_http::Page;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::text;
use crate::data_plane::DataPlane;

/// Answers scrapes until `stop` is cancelled, then lets those in progress end.
pub async fn serve(listener: TcpListener, plane: Arc<dyn DataPlane>, stop: CancellationToken) {
    let page = move |path: String| {
        let page = match path.as_str() {
            "/metrics" => Page::Metrics(text(plane.as_ref())),
            _ => Page::Unknown("the metrics are at /metrics\n"),
        };
        std::future::ready(page)
    };
    nuthatch_http::serve(listener, page, stop).await;
}
