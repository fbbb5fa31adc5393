//! Who may reach the daemon's servers. They listen on this machine's loopback unless the command line says
//! otherwise; what others reach without proof of who they are is one line of the log at the start.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Where a server listens unless the command line says otherwise.
pub(crate) const DEFAULT_HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What a server asks of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Nothing, and it can ask for nothing.
    Never,
    /// Nothing, though it could.
    None,
    /// Nothing, but the way to it is encrypted.
    Encrypted,
    /// A certificate.
    Certificate,
}

/// What is wrong with a server on an address, if anything; `harm` is what its clients can do.
fn exposure(server: &str, address: SocketAddr, proof: Proof, harm: &str) -> Option<String> {
    if address.ip().to_canonical().is_loopback() || proof == Proof::Certificate {
        return None;
    }
    let remedy = match proof {
        Proof::Never => "listen on 127.0.0.1, or restrict access with a firewall",
        Proof::None => {
            "listen on 127.0.0.1, or require client certificates: --grpc-server-ssl and --grpc-server-with-client-auth"
        }
        _ => "listen on 127.0.0.1, or require client certificates: --grpc-server-with-client-auth",
    };
    Some(format!(
        "{server} on {address} is open to all: whoever reaches this machine there can {harm}; {remedy}"
    ))
}

/// Says in the log where a server of control planes listens, and that it is open where it is.
pub(crate) fn announce(server: &str, address: SocketAddr, proof: Proof) {
    tracing::info!("{server} server listening on {address}");
    warn_if_open(server, address, proof, "change the switch's tables and program");
}

/// Says in the log that a listener is open where it is, and what its clients can do.
pub(crate) fn warn_if_open(server: &str, address: SocketAddr, proof: Proof, harm: &str) {
    if let Some(warning) = exposure(server, address, proof, harm) {
        tracing::warn!("{warning}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_servers_are_named_with_a_remedy_and_others_are_not() {
        let found = |address: &str, proof| {
            exposure("P4Runtime", address.parse().expect("an address"), proof, "do harm")
        };
        for loopback in ["127.0.0.1:9559", "127.8.0.1:1", "[::1]:9559", "[::ffff:127.0.0.1]:9559"] {
            assert_eq!(found(loopback, Proof::Never), None);
        }
        for open in ["0.0.0.0:9559", "[::]:9559", "192.0.2.1:9559"] {
            assert_eq!(found(open, Proof::Certificate), None);
            let text = found(open, Proof::None).expect("it is open");
            assert!(text.contains(open) && text.contains("--grpc-server-ssl"), "{text}");
            let text = found(open, Proof::Encrypted).expect("it is open");
            assert!(text.contains("--grpc-server-with-client-auth") && !text.contains("-ssl"), "{text}");
            let text = found(open, Proof::Never).expect("it is open");
            assert!(text.contains("firewall") && !text.contains("--grpc"), "{text}");
        }
    }
}
