//! Whether two hosts reach each other's instances, and those of no third one by mistake.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream};

use crate::ask::SOON;

/// Whether each of two hosts can have that address for the other.
pub(crate) fn between(one: IpAddr, other: IpAddr) -> Result<(), String> {
    to_source(one, other)?;
    to_source(other, one)
}

/// Whether the source's address can be one by which the replica's host reaches it.
pub(crate) fn to_source(source: IpAddr, replica: IpAddr) -> Result<(), String> {
    if source.is_unspecified() {
        return Err(format!("{source} is no address by which another host reaches anybody; {REMEDY}"));
    }
    // What is told on the loopback is always told to the host itself. (Tests have two hosts on one loopback.)
    if source == replica || (source.is_loopback() && !replica.is_loopback()) {
        return Err(format!(
            "the instances of one host listen on {source} and those of the other on {replica}: each needs an address that the other reaches, and \
             is the host it is taken for; {REMEDY}"
        ));
    }
    Ok(())
}

/// Whether it is another host that comes from there.
pub(crate) fn is_another(source: IpAddr, from: IpAddr) -> Result<(), String> {
    if from == source && !from.is_loopback() {
        return Err(format!("it reaches {source} as its own address"));
    }
    Ok(())
}

/// What is done about an address.
const REMEDY: &str = "nuthatch instance host --address IP, before instances are added";

/// Whether this host reaches that one; nobody need listen there yet, and a refusal shows the way as well.
pub(crate) fn reaches(host: IpAddr, port: u16) -> Result<(), String> {
    match TcpStream::connect_timeout(&SocketAddr::new(host, port), SOON) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(format!(
            "this host does not reach {host}:{port}: {error}; both have to reach each other (a firewall, or an address that is another network's)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_that_leads_elsewhere_is_refused() {
        for (source, replica, word) in [
            ("10.0.0.1", "10.0.0.2", ""),
            ("127.0.0.2", "127.0.0.3", ""),
            ("10.0.0.1", "127.0.0.1", ""),
            ("127.0.0.1", "10.0.0.2", "each needs an address"),
            ("127.0.0.1", "127.0.0.1", "each needs an address"),
            ("0.0.0.0", "10.0.0.2", "no address by which"),
            ("::", "10.0.0.2", "no address by which"),
        ] {
            let [source, replica]: [IpAddr; 2] = [source, replica].map(|text| text.parse().unwrap());
            let said = to_source(source, replica).err().unwrap_or_default();
            assert!(said.contains(word) && said.is_empty() == word.is_empty(), "{said}");
        }
        let [real, loopback]: [IpAddr; 2] = ["10.0.0.1", "127.0.0.1"].map(|text| text.parse().unwrap());
        assert!(between(real, loopback).is_err(), "the one there is not reached by anybody");
        assert!(is_another(real, real).is_err() && is_another(loopback, loopback).is_ok());
    }

    #[test]
    fn port_on_which_nobody_listens_is_reached() {
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
        assert_eq!(reaches(free.ip(), free.port()), Ok(()));
    }
}
