//! Samples as OpenMetrics text, under the names of their definitions.
//!
//! The rows of the connection pool, and what servers are, stand beside the global statistics, labelled by hostgroup and server.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::data_plane::{DataPlane, Reading};
use crate::statistic::{self, Definition, Kind, Label, Sample};
use crate::stats::rows::{ConnectionPoolRow, ServerRow};

/// All figures of this moment as OpenMetrics text; each name begins with `nuthatch_`.
pub fn text(plane: &dyn DataPlane) -> String {
    let mut samples = plane.status();
    statistic::sort(&mut samples);
    let pool = plane.connection_pool(Reading::Keep);
    let figures = Figures { samples, pool, servers: plane.servers() };
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
    servers: Vec<ServerRow>,
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
        for column in SERVER_COLUMNS {
            column.encode(&mut encoder, &self.servers)?;
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

/// One column of a table as a metric.
struct Column<Row> {
    metric: &'static str,
    help: &'static str,
    kind: Kind,
    labels: fn(&Row) -> Vec<(&'static str, String)>,
    /// None where the row has no such figure.
    value: fn(&Row) -> Option<u64>,
}

impl<Row> Column<Row> {
    fn encode(&self, encoder: &mut DescriptorEncoder, rows: &[Row]) -> fmt::Result {
        let mut figures = rows.iter().filter_map(|row| Some((row, (self.value)(row)?))).peekable();
        if figures.peek().is_none() {
            return Ok(());
        }
        let mut encoder = encoder.encode_descriptor(self.metric, self.help, None, metric_type(self.kind))?;
        for (row, value) in figures {
            let labels = (self.labels)(row);
            encode_value(encoder.encode_family(&labels.as_slice())?, self.kind, value)?;
        }
        Ok(())
    }
}

fn endpoint(host: &str, port: u16) -> String {
    format!("{host}:{port}")
}

fn labels_of_pool(row: &ConnectionPoolRow) -> Vec<(&'static str, String)> {
    let hostgroup = row.hostgroup.to_string();
    vec![("hostgroup", hostgroup), ("endpoint", endpoint(&row.srv_host, row.srv_port))]
}

/// As ProxySQL numbers them in this metric.
fn number_of_status(status: &str) -> Option<u64> {
    const STATUSES: [&str; 6] =
        ["ONLINE", "SHUNNED", "OFFLINE_SOFT", "OFFLINE_HARD", "SHUNNED_REPLICATION_LAG", "WARMING"];
    Some(STATUSES.iter().position(|known| *known == status)? as u64 + 1)
}

/// What servers are in their clusters, whatever their hostgroups.
static SERVER_COLUMNS: &[Column<ServerRow>] = &[
    Column {
        metric: "server_role",
        help: "1 for the role that the server has in its cluster now",
        kind: Kind::Gauge,
        labels: |row| {
            let writer_hostgroup = row.writer_hostgroup.unwrap_or_default().to_string();
            let role = row.role.clone().unwrap_or_default();
            let endpoint = endpoint(&row.hostname, row.port);
            vec![("endpoint", endpoint), ("role", role), ("writer_hostgroup", writer_hostgroup)]
        },
        value: |row| row.role.is_some().then_some(1),
    },
    Column {
        metric: "server_lag_seconds",
        help: "Seconds that the server is behind its source, where that is looked for and known",
        kind: Kind::Gauge,
        labels: |row| vec![("endpoint", endpoint(&row.hostname, row.port))],
        value: |row| row.lag_s,
    },
];

static POOL_COLUMNS: &[Column<ConnectionPoolRow>] = &[
    Column {
        metric: "connpool_conns_used",
        help: "Backend connections that serve a session",
        kind: Kind::Gauge,
        labels: labels_of_pool,
        value: |row| Some(row.conn_used),
    },
    Column {
        metric: "connpool_conns_free",
        help: "Backend connections that wait in the pool",
        kind: Kind::Gauge,
        labels: labels_of_pool,
        value: |row| Some(row.conn_free),
    },
    Column {
        metric: "connpool_conns_opened",
        help: "Backend connections that were opened",
        kind: Kind::Counter,
        labels: labels_of_pool,
        value: |row| Some(row.conn_ok),
    },
    Column {
        metric: "connpool_conns_failed",
        help: "Backend connections that could not be opened",
        kind: Kind::Counter,
        labels: labels_of_pool,
        value: |row| Some(row.conn_err),
    },
    Column {
        metric: "connpool_conns_queries",
        help: "Statements sent to the server",
        kind: Kind::Counter,
        labels: labels_of_pool,
        value: |row| Some(row.queries),
    },
    Column {
        metric: "connpool_data_sent_bytes",
        help: "Bytes sent to the server",
        kind: Kind::Counter,
        labels: labels_of_pool,
        value: |row| Some(row.bytes_data_sent),
    },
    Column {
        metric: "connpool_data_recv_bytes",
        help: "Bytes received from the server",
        kind: Kind::Counter,
        labels: labels_of_pool,
        value: |row| Some(row.bytes_data_recv),
    },
    Column {
        metric: "connpool_conns_latency_us",
        help: "The last measured latency of the server in microseconds",
        kind: Kind::Gauge,
        labels: labels_of_pool,
        value: |row| Some(row.latency_us),
    },
    Column {
        metric: "connpool_conns_status",
        help: "The server's status: 1 ONLINE, 2 SHUNNED, 3 OFFLINE_SOFT, 4 OFFLINE_HARD, 5 SHUNNED_REPLICATION_LAG, 6 WARMING",
        kind: Kind::Gauge,
        labels: labels_of_pool,
        value: |row| number_of_status(&row.status),
    },
];
