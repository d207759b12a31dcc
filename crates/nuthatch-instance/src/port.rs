//! A port that nobody has.
//!
//! Ports are chosen with the root locked, and count as taken from then on, whether their server runs or not: two that are added at the same
//! time never have the same.

use std::net::{IpAddr, TcpListener};

use crate::error::InstanceError;
use crate::host::Host;
use crate::name::InstanceName;

/// The first free one of the host's range; or the wanted one, if nobody has it.
pub(crate) fn choose(
    host: &Host,
    taken: &[(InstanceName, u16)],
    wanted: Option<u16>,
) -> Result<u16, InstanceError> {
    let owner = |port: u16| taken.iter().find(|(_, taken)| *taken == port).map(|(name, _)| name);
    let Some(port) = wanted else {
        let free = |port: &u16| owner(*port).is_none() && is_free(host.address, *port);
        return (host.port_first..=host.port_last).find(free).ok_or_else(|| {
            InstanceError::Refused(format!(
                "find a port: {} to {} of {} are all taken (nuthatch instance host --ports A-B)",
                host.port_first, host.port_last, host.address
            ))
        });
    };
    if let Some(name) = owner(port) {
        return Err(InstanceError::Refused(format!("take port {port}: it is that of {name}")));
    }
    if !is_free(host.address, port) {
        return Err(InstanceError::Refused(format!(
            "take port {port} of {}: somebody listens there (ss -ltnp 'sport = :{port}' tells who), or it may not be listened on",
            host.address
        )));
    }
    Ok(port)
}

/// Whether a server could listen there now.
pub(crate) fn is_free(address: IpAddr, port: u16) -> bool {
    TcpListener::bind((address, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_ports_are_passed_over() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let busy = listener.local_addr().unwrap().port();
        let host = Host { port_first: busy, port_last: busy, ..Host::default() };
        let said = choose(&host, &[], None).unwrap_err().to_string();
        assert!(said.contains("all taken"), "{said}");
        assert!(choose(&host, &[], Some(busy)).unwrap_err().to_string().contains("somebody listens"));
        drop(listener);
        assert_eq!(choose(&host, &[], None).unwrap(), busy);
        let taken = [("shop".parse().unwrap(), busy)];
        assert!(choose(&host, &taken, Some(busy)).unwrap_err().to_string().contains("that of shop"));
    }
}
