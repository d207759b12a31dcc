//! Samples as OpenMetrics text, under the names of their definitions.
//!
//! The rows of the connection pool stand beside the global statistics, labelled by hostgroup and server.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::data_plane::{DataPlane, Reading};
use crate::statistic::{self, Definition, Kind, Label, Sample};
use crate::stats::rows::ConnectionPoolRow;

/// All figures of this moment as OpenMetrics text; each name begins with `nuthatch_`.
pub fn text(plane: &dyn DataPlane) -> String {
    let mut samples = plane.status();
    statistic::sort(&mut samples);
    let figures = Figures { samples, pool: plane.connection_pool(Reading::Keep) };
    let mut registry = Registry::with_prefix("nuthatch");
    registry.register_collector(Box::new(figures));
    let mut out = String::new();
    prometheus_client::encoding::text::encode(&mut out, &registry).expect("a String takes all writes");
    out
}

#[derive(Debug)]
struct Figures {
    samples: Vec<Sample>,
    pool: Vec<ConnectionPoolRow>,
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for family in
            self.samples.chunk_by(|a, b| a.statistic.definition().metric == b.statistic.definition().metric)
        {
            encode_family(&mut encoder, family)?;
        }
        for column in POOL_COLUMNS {
            column.encode(&mut encoder, &self.pool)?;
        }
        Ok(())
    }
}

fn encode_family(encoder: &mut DescriptorEncoder, family: &[Sample]) -> fmt::Result {
    let Some(Definition { metric, help, kind, .. }) =
        family.first().map(|sample| sample.statistic.definition())
    else {
        return Ok(());
    };
    let help = help.trim_end_matches('.');
    let mut encoder = encoder.encode_descriptor(metric, help, None, metric_type(*kind))?;
    for sample in family {
        let (label, value) = match (sample.statistic.definition().label, sample.part) {
            (Label::Fixed(label, value), _) => (label, value.to_owned()),
            (Label::Part(label), Some(part)) => (label, part.to_string()),
            (Label::None | Label::Part(_), _) => return encode_value(encoder, *kind, sample.value),
        };
        encode_value(encoder.encode_family(&[(label, value)])?, *kind, sample.value)?;
    }
    Ok(())
}

fn encode_value(encoder: MetricEncoder<'_>, kind: Kind, value: u64) -> fmt::Result {
    match kind {
        Kind::Counter => ConstCounter::new(value).encode(encoder),
        Kind::Gauge => ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX)).encode(encoder),
    }
}

fn metric_type(kind: Kind) -> MetricType {
    match kind {
        Kind::Counter => MetricType::Counter,
        Kind::Gauge => MetricType::Gauge,
    }
}

/// One column of the connection pool as a metric.
struct PoolColumn {
    metric: &'static str,
    help: &'static str,
    kind: Kind,
    value: fn(&ConnectionPoolRow) -> u64,
}

impl PoolColumn {
    fn encode(&self, encoder: &mut DescriptorEncoder, pool: &[ConnectionPoolRow]) -> fmt::Result {
        if pool.is_empty() {
            return Ok(());
        }
        let mut encoder = encoder.encode_descriptor(self.metric, self.help, None, metric_type(self.kind))?;
        for row in pool {
            let hostgroup = row.hostgroup.to_string();
            let endpoint = format!("{}:{}", row.srv_host, row.srv_port);
            let labels = [("hostgroup", hostgroup), ("endpoint", endpoint)];
            encode_value(encoder.encode_family(&labels)?, self.kind, (self.value)(row))?;
        }
        Ok(())
    }
}

static POOL_COLUMNS: &[PoolColumn] = &[
    PoolColumn {
        metric: "connpool_conns_used",
        help: "Backend connections that serve a session",
        kind: Kind::Gauge,
        value: |row| row.conn_used,
    },
    PoolColumn {
        metric: "connpool_conns_free",
        help: "Backend connections that wait in the pool",
        kind: Kind::Gauge,
        value: |row| row.conn_free,
    },
    PoolColumn {
        metric: "connpool_conns_opened",
        help: "Backend connections that were opened",
        kind: Kind::Counter,
        value: |row| row.conn_ok,
    },
    PoolColumn {
        metric: "connpool_conns_failed",
        help: "Backend connections that could not be opened",
        kind: Kind::Counter,
        value: |row| row.conn_err,
    },
    PoolColumn {
        metric: "connpool_conns_queries",
        help: "Statements sent to the server",
        kind: Kind::Counter,
        value: |row| row.queries,
    },
    PoolColumn {
        metric: "connpool_data_sent_bytes",
        help: "Bytes sent to the server",
        kind: Kind::Counter,
        value: |row| row.bytes_data_sent,
    },
    PoolColumn {
        metric: "connpool_data_recv_bytes",
        help: "Bytes received from the server",
        kind: Kind::Counter,
        value: |row| row.bytes_data_recv,
    },
    PoolColumn {
        metric: "connpool_conns_latency_us",
        help: "The last measured latency of the server in microseconds",
        kind: Kind::Gauge,
        value: |row| row.latency_us,
    },
];
