//! The figures as OpenMetrics text: each with the labels `instance`, `host` and `port`.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::clock::now_s;
use crate::watch::figures::{Figures, Live, Source};
use crate::watch::health::Health;

/// A figure of an instance; `None` where it is not known.
enum Read {
    Gauge(fn(&Figures) -> Option<f64>),
    Counter(fn(&Live) -> u64),
}

/// All of them: name, what it is, how it is read.
#[expect(clippy::cast_precision_loss, reason = "metrics are floats")]
const METRICS: [(&str, &str, Read); 15] = [
    ("up", "Whether the server answers", Read::Gauge(|one| Some(f64::from(u8::from(one.live.is_ok()))))),
    (
        "well",
        "Whether nothing is wrong with the instance, as /health says",
        Read::Gauge(|one| Some(f64::from(u8::from(Health::of(one).well)))),
    ),
    (
        "enabled",
        "Whether it starts with the host",
        Read::Gauge(|one| Some(f64::from(u8::from(one.summary.enabled)))),
    ),
    ("crashes", "How often the server crashed lately", Read::Gauge(|one| Some(one.summary.crashes as f64))),
    (
        "pending_options",
        "Options that wait for the next start",
        Read::Gauge(|one| Some(one.summary.pending.len() as f64)),
    ),
    ("uptime_seconds", "Since the server started", Read::Gauge(|one| live(one, |live| live.uptime_s as f64))),
    (
        "connections",
        "Connections that are there",
        Read::Gauge(|one| live(one, |live| live.connections as f64)),
    ),
    (
        "connections_max",
        "Connections that may be",
        Read::Gauge(|one| live(one, |live| live.connections_max as f64)),
    ),
    (
        "buffer_pool_bytes",
        "InnoDB's buffer pool, as it is set",
        Read::Gauge(|one| Some((one.summary.buffer_pool_mib << 20) as f64)),
    ),
    (
        "buffer_pool_filled_ratio",
        "Pages of the buffer pool that hold something",
        Read::Gauge(|one| live(one, |live| ratio(live.pool_pages))),
    ),
    (
        "buffer_pool_warmth_ratio",
        "Of the pages that were dumped at its end, the part that is loaded",
        Read::Gauge(|one| live(one, |live| live.warmth)),
    ),
    ("buffer_pool_read_requests", "Reads of pages", Read::Counter(|live| live.pool_reads.0)),
    (
        "buffer_pool_misses",
        "Reads of pages that the buffer pool did not have",
        Read::Counter(|live| live.pool_reads.1),
    ),
    (
        "disk_left_bytes",
        "What the disk of its data has left",
        Read::Gauge(|one| one.disk_left_bytes.map(|bytes| bytes as f64)),
    ),
    (
        "last_backup_age_seconds",
        "Since its last backup was whole; none was taken where this is missing",
        Read::Gauge(|one| one.summary.last_backup_s.map(|at| now_s().saturating_sub(at) as f64)),
    ),
];

fn live(one: &Figures, read: impl Fn(&Live) -> f64) -> Option<f64> {
    one.live.as_ref().ok().map(read)
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floats")]
fn ratio((part, all): (u64, u64)) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// The text; each name begins with `nuthatch_instance_`.
#[must_use]
pub fn metrics(all: Vec<Figures>) -> String {
    let mut registry = Registry::with_prefix("nuthatch_instance");
    registry.register_collector(Box::new(All(all)));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).expect("a String takes all writes");
    text
}

#[derive(Debug)]
struct All(Vec<Figures>);

impl Collector for All {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for (name, help, read) in &METRICS {
            let kind = match read {
                Read::Gauge(_) => MetricType::Gauge,
                Read::Counter(_) => MetricType::Counter,
            };
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for one in &self.0 {
                let labels = labels(one);
                match read {
                    Read::Gauge(read) => {
                        let Some(value) = read(one) else { continue };
                        ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
                    }
                    Read::Counter(read) => {
                        let Ok(live) = &one.live else { continue };
                        ConstCounter::new(read(live)).encode(family.encode_family(&labels)?)?;
                    }
                }
            }
        }
        self.encode_sources(&mut encoder)
    }
}

impl All {
    fn encode_sources(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let help = "Whether it replicates from that server";
        let mut family = encoder.encode_descriptor("replication_running", help, None, MetricType::Gauge)?;
        for (one, source) in self.sources() {
            let labels = with_source(one, &source.address);
            ConstGauge::new(u64::from(source.is_running)).encode(family.encode_family(&labels)?)?;
        }
        let help = "How far it is behind that server";
        let mut family =
            encoder.encode_descriptor("replication_behind_seconds", help, None, MetricType::Gauge)?;
        for (one, source) in self.sources() {
            let Some(behind_s) = source.behind_s else { continue };
            let labels = with_source(one, &source.address);
            ConstGauge::new(behind_s).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn sources(&self) -> impl Iterator<Item = (&Figures, &Source)> {
        self.0
            .iter()
            .flat_map(|one| one.live.iter().flat_map(|live| &live.sources).map(move |source| (one, source)))
    }
}

fn labels(one: &Figures) -> Vec<(String, String)> {
    let summary = &one.summary;
    let label = |name: &str, value: String| (name.to_owned(), value);
    vec![
        label("instance", summary.name.to_string()),
        label("host", summary.host.clone()),
        label("port", summary.port.to_string()),
    ]
}

fn with_source(one: &Figures, source: &str) -> Vec<(String, String)> {
    let mut labels = labels(one);
    labels.push(("source".to_owned(), source.to_owned()));
    labels
}
