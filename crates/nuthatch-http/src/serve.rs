//! Pages over HTTP.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::accept::accept;

/// The most bytes that a request's head may have.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// The most time that one request may take, from the connection to its end.
const REQUEST_MAX: Duration = Duration::from_secs(10);

/// Requests at one time; more wait to be accepted.
const REQUESTS_MAX: usize = 16;

/// What is answered to a GET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page {
    /// OpenMetrics text.
    Metrics(String),
    /// JSON: all is well.
    Well(String),
    /// JSON: something is not, which a load balancer learns from the status 503.
    Unwell(String),
    /// There is no such page; the text says which there are.
    Unknown(&'static str),
}

/// Answers requests until `stop` is cancelled, then lets those in progress end. `page` is what stands at a path.
pub async fn serve<F, A>(listener: TcpListener, page: F, stop: CancellationToken)
where
    F: Fn(String) -> A + Send + Sync + 'static,
    A: Future<Output = Page> + Send + 'static,
{
    let requests = TaskTracker::new();
    let places = Arc::new(Semaphore::new(REQUESTS_MAX));
    let page = Arc::new(page);
    while let Some((stream, _)) = accept(&listener, &stop).await {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            break;
        };
        let page = Arc::clone(&page);
        requests.spawn(async move {
            // A peer that is cut or gone needs no answer.
            drop(tokio::time::timeout(REQUEST_MAX, answer(stream, page.as_ref())).await);
            drop(place);
        });
    }
    requests.close();
    requests.wait().await;
}

async fn answer<A: Future<Output = Page>>(
    mut stream: TcpStream,
    page: impl Fn(String) -> A,
) -> std::io::Result<()> {
    let head = read_head(&mut stream).await?;
    let response = match path(&head) {
        Ok(path) => page(path).await.respond(),
        Err(refusal) => refusal,
    };
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

/// The path that a request's head asks for, without what stands behind `?`; else the response to it.
fn path(head: &[u8]) -> Result<String, String> {
    let line = head.split(|&b| b == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&b| b == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(|&b| b == b'?').next().unwrap_or_default();
    match method {
        b"GET" => Ok(String::from_utf8_lossy(path).into_owned()),
        b"" => Err(response("400 Bad Request", "text/plain", "", "this is not HTTP\n")),
        _ => {
            Err(response("405 Method Not Allowed", "text/plain", "Allow: GET\r\n", "only GET is answered\n"))
        }
    }
}

impl Page {
    fn respond(&self) -> String {
        const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        match self {
            Self::Metrics(text) => response("200 OK", METRICS, "", text),
            Self::Well(json) => response("200 OK", "application/json", "", json),
            Self::Unwell(json) => response("503 Service Unavailable", "application/json", "", json),
            Self::Unknown(there_are) => response("404 Not Found", "text/plain", "", there_are),
        }
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
    fn only_get_is_answered() {
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", Ok("/metrics")),
            ("GET /metrics?x=1 HTTP/1.0\r\n\r\n", Ok("/metrics")),
            ("POST /metrics HTTP/1.1\r\n\r\n", Err("HTTP/1.1 405 Method Not Allowed\r\n")),
            ("", Err("HTTP/1.1 400 Bad Request\r\n")),
            ("\r\n\r\n", Err("HTTP/1.1 400 Bad Request\r\n")),
        ] {
            match (path(head.as_bytes()), expected) {
                (Ok(path), Ok(expected)) => assert_eq!(path, expected),
                (Err(response), Err(expected)) => {
                    assert!(response.starts_with(expected), "{head:?}: {response}");
                }
                (got, _) => panic!("{head:?}: {got:?}"),
            }
        }
    }

    #[test]
    fn load_balancer_is_told_by_the_status() {
        assert!(Page::Well("{}".into()).respond().starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(Page::Unwell("{}".into()).respond().starts_with("HTTP/1.1 503 "));
        assert!(Page::Unknown("there is /health\n").respond().starts_with("HTTP/1.1 404 "));
    }
}
