//! `mysql_servers_ssl_params` into [`SslParams`].

use rusqlite::Connection;

use super::rows::{read_rows, table};
use super::{StoreError, Warnings};
use crate::{
    store::row::{ColumnFault, RowReader},
    tls::{SslParams, TlsVersionList},
};

pub(super) fn read(connection: &Connection, warnings: &mut Warnings) -> Result<Vec<SslParams>, StoreError> {
    let table = table("mysql_servers_ssl_params");
    let rows = read_rows(connection, table, "rowid", name, ssl_params, warnings)?;
    // A row whose versions cannot be spoken stays: without it the server would be connected to by other settings.
    for params in &rows {
        let mut warn = |what: String| {
            let name = named(&params.hostname, &params.port.to_string(), &params.username);
            warnings.push(format!("{name}: column \"tls_version\"{what}"));
        };
        match TlsVersionList::parse(&params.tls_version) {
            Err(fault) => warn(format!(" {fault}; it is not connected to")),
            Ok(_) => TlsVersionList::unspoken(&params.tls_version)
                .for_each(|version| warn(format!(": {version} is not spoken"))),
        }
    }
    Ok(rows)
}

fn name(row: &RowReader<'_>) -> String {
    let column = |column| row.text(column).unwrap_or_default();
    named(&column("hostname"), &column("port"), &column("username"))
}

fn named(host: &str, port: &str, user: &str) -> String {
    match user {
        "" => format!("TLS of {host}:{port}"),
        user => format!("TLS of {host}:{port} for user \"{user}\""),
    }
}

fn ssl_params(row: &RowReader<'_>) -> Result<SslParams, ColumnFault> {
    Ok(SslParams {
        hostname: row.text("hostname")?,
        port: row.number("port")?,
        username: row.text("username")?,
        ca: row.text("ssl_ca")?,
        cert: row.text("ssl_cert")?,
        key: row.text("ssl_key")?,
        capath: row.text("ssl_capath")?,
        crl: row.text("ssl_crl")?,
        crlpath: row.text("ssl_crlpath")?,
        tls_version: row.text("tls_version")?,
    })
}
