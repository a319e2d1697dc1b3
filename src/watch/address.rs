//! Where a run is served: an address as typed becomes a listener.
//!
//! Must not know: what is served.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};

/// The port where none is named.
pub const DEFAULT_PORT: u16 = 8306;

/// Why there is no place to serve at.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is no address.
    #[error(
        "--serve: `{text}` is no address; write HOST, HOST:PORT or PORT, for example \
         127.0.0.1:{DEFAULT_PORT} or [::1]:{DEFAULT_PORT}"
    )]
    NoAddress {
        /// As typed.
        text: String,
    },
    /// The name of a host is not known, or has no address.
    #[error("--serve: {host} has no address: {reason}")]
    Unknown {
        /// The host.
        host: String,
        /// As the system said it.
        reason: String,
    },
    /// Somebody else listens there.
    #[error(
        "--serve: {address} is in use, perhaps by another run; name another port, or port 0 for a \
         free one: --serve {free}"
    )]
    InUse {
        /// Where.
        address: SocketAddr,
        /// The same with port 0.
        free: SocketAddr,
    },
    /// It cannot be listened at.
    #[error("--serve: cannot listen at {address}: {source}")]
    Refused {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// A place that is taken, at which nobody is answered yet.
#[derive(Debug)]
pub struct Listener {
    pub(super) socket: TcpListener,
    pub(super) address: SocketAddr,
}

impl Listener {
    /// Where.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether only this machine reaches it.
    pub fn is_loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }
}

/// Listens at an address as typed: `HOST`, `HOST:PORT` or `PORT`, IPv6 in brackets where a port
/// follows.
///
/// # Errors
/// Why not; all of them are to be told before anything is begun.
pub fn listen(text: &str) -> Result<Listener, AddressError> {
    let address = resolve(text)?;
    let refused = |source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => {
            AddressError::InUse { address, free: SocketAddr::new(address.ip(), 0) }
        }
        _ => AddressError::Refused { address, source },
    };
    let socket = TcpListener::bind(address).map_err(refused)?;
    socket.set_nonblocking(true).map_err(refused)?;
    let address = socket.local_addr().map_err(refused)?;
    Ok(Listener { socket, address })
}

fn resolve(text: &str) -> Result<SocketAddr, AddressError> {
    let (host, port) = parse(text)?;
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port));
    }
    let unknown = |reason: String| AddressError::Unknown { host: host.to_owned(), reason };
    let mut found =
        (host, port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?.peekable();
    let first = found.peek().copied().ok_or_else(|| unknown("none was found".to_owned()))?;
    // `localhost` is what people type, and IPv4 is what they mean where it is both.
    Ok(found.find(SocketAddr::is_ipv4).unwrap_or(first))
}

/// Host and port.
fn parse(text: &str) -> Result<(&str, u16), AddressError> {
    let no_address = || AddressError::NoAddress { text: text.to_owned() };
    if text.parse::<IpAddr>().is_ok() {
        return Ok((text, DEFAULT_PORT));
    }
    if let Ok(port) = text.parse() {
        return Ok(("127.0.0.1", port));
    }
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) if host.contains(':') => {
            (host, rest.strip_prefix(':').or_else(|| rest.is_empty().then_some("")))
        }
        Some(_) => return Err(no_address()),
        None => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, Some("")),
        },
    };
    let port = match port.ok_or_else(no_address)? {
        "" if !text.ends_with(':') => DEFAULT_PORT,
        port => port.parse().map_err(|_| no_address())?,
    };
    let is_address = host.parse::<IpAddr>().is_ok();
    if is_address || is_name(host) { Ok((host, port)) } else { Err(no_address()) }
}

fn is_name(host: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let is_number = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    !host.is_empty() && host.len() <= 253 && host.chars().all(known) && !is_number
}

/// Whether a browser that says so in `Host` was sent to this machine by its own name: a name of
/// somebody else's that leads here (DNS rebinding) is not.
pub(super) fn is_own_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The address as a browser can open it: where it is every address of this machine, by a name.
pub(super) fn authority(address: SocketAddr, name: Option<&str>) -> String {
    match (address.ip().is_unspecified(), name) {
        (false, _) => address.to_string(),
        (true, Some(name)) if is_name(name) => format!("{name}:{}", address.port()),
        (true, _) => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_a_port_or_both() {
        let parsed = |text| parse(text).ok().map(|(host, port)| format!("{host} {port}"));
        for (text, expected) in [
            ("127.0.0.1", "127.0.0.1 8306"),
            ("127.0.0.1:80", "127.0.0.1 80"),
            ("9000", "127.0.0.1 9000"),
            ("0", "127.0.0.1 0"),
            ("::1", "::1 8306"),
            ("[::1]", "::1 8306"),
            ("[::1]:80", "::1 80"),
            ("localhost", "localhost 8306"),
            ("bench-1.lan:0", "bench-1.lan 0"),
            ("0.0.0.0:8306", "0.0.0.0 8306"),
        ] {
            assert_eq!(parsed(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            ":",
            ":80",
            "host:",
            "host:x",
            "host:70000",
            "70000",
            "1.2.3",
            "[::1",
            "[::1]x",
            "[1.2.3.4]:80",
            "a b",
            "matrices/x.toml",
            "http://localhost",
            "-",
            "1.2.3.4.5:80",
        ] {
            let is_name = matches!(text, "-");
            assert_eq!(parsed(text).is_some(), is_name, "{text}");
        }
    }

    #[test]
    fn a_port_that_is_taken_is_told_with_the_way_out() {
        let taken = listen("0").unwrap();
        let error = listen(&taken.address().to_string()).unwrap_err();
        assert!(matches!(error, AddressError::InUse { .. }), "{error}");
        assert!(error.to_string().ends_with("--serve 127.0.0.1:0"), "{error}");
    }

    #[test]
    fn a_name_of_somebody_elses_is_not_ours() {
        for host in ["127.0.0.1", "127.0.0.1:8306", "localhost:1", "LOCALHOST", "[::1]:80"] {
            assert!(is_own_name(host), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"] {
            assert!(!is_own_name(host), "{host}");
        }
        for host in ["10.0.0.1", "[::2]:80", "localhost:evil", "localhost@evil.example"] {
            assert!(!is_own_name(host), "{host}");
        }
    }

    #[test]
    fn every_address_is_opened_by_a_name() {
        let all = "0.0.0.0:80".parse().unwrap();
        assert_eq!(authority(all, Some("bench-1")), "bench-1:80");
        assert_eq!(authority(all, Some("<b>")), "127.0.0.1:80");
        assert_eq!(authority(all, None), "127.0.0.1:80");
        assert_eq!(authority("[::1]:80".parse().unwrap(), Some("x")), "[::1]:80");
    }
}
