//! The metrics endpoint: just enough of HTTP/1.1 for a scraper.
//!
//! One request for each connection, `GET /metrics` and nothing else. A peer that sends too much or too slowly is cut.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::text;
use crate::accept::accept;
use crate::data_plane::DataPlane;

/// The most bytes that a request's head may have.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// The most time that one scrape may take, from the connection to its end.
const SCRAPE_MAX: Duration = Duration::from_secs(10);

/// Scrapes at one time; more wait to be accepted.
const SCRAPES_MAX: usize = 16;

/// Answers scrapes until `stop` is cancelled, then lets those in progress end.
pub async fn serve(listener: TcpListener, plane: Arc<dyn DataPlane>, stop: CancellationToken) {
    let scrapes = TaskTracker::new();
    let places = Arc::new(Semaphore::new(SCRAPES_MAX));
    while let Some((stream, _)) = accept(&listener, &stop).await {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            break;
        };
        let plane = Arc::clone(&plane);
        scrapes.spawn(async move {
            // A scraper that is cut or gone needs no answer.
            drop(tokio::time::timeout(SCRAPE_MAX, scrape(stream, plane.as_ref())).await);
            drop(place);
        });
    }
    scrapes.close();
    scrapes.wait().await;
}

async fn scrape(mut stream: TcpStream, plane: &dyn DataPlane) -> std::io::Result<()> {
    let head = read_head(&mut stream).await?;
    let response = respond(&head, || text(plane));
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}

async fn read_head(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while head.len() < HEAD_BYTES_MAX && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece).await? {
            0 => break,
            len => head.extend_from_slice(&piece[..len]),
        }
    }
    Ok(head)
}

/// The whole response to a request's head.
fn respond(head: &[u8], metrics: impl FnOnce() -> String) -> String {
    let line = head.split(|&b| b == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&b| b == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(|&b| b == b'?').next().unwrap_or_default();
    match (method, path) {
        (b"GET", b"/metrics") => {
            response("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", "", &metrics())
        }
        (_, b"/metrics") => {
            response("405 Method Not Allowed", "text/plain", "Allow: GET\r\n", "only GET is answered\n")
        }
        (b"", _) => response("400 Bad Request", "text/plain", "", "this is not HTTP\n"),
        _ => response("404 Not Found", "text/plain", "", "the metrics are at /metrics\n"),
    }
}

fn response(status: &str, content_type: &str, more: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_get_metrics_is_answered() {
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n"),
            ("GET /metrics?x=1 HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"),
            ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"),
            ("", "HTTP/1.1 400 Bad Request\r\n"),
            ("\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"),
        ] {
            let response = respond(head.as_bytes(), || "# EOF\n".to_owned());
            assert!(response.starts_with(expected), "{head:?}: {response}");
        }
    }
}
