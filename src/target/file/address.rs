//! Addresses as they are written.
//!
//! Must not know: keys, or whether anything answers there.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

use crate::model::Address;

/// Stands for the id of the spec.
pub(super) const SPEC: &str = "{spec}";

/// A host name is at most this long; source: RFC 1035, 2.3.4.
const MAX_HOST_BYTES: usize = 255;

/// `HOST`, `HOST:PORT`, `[V6]`, `[V6]:PORT`, `V6`, `unix:PATH` or `/PATH`, as results print them,
/// too; `port` where it says none.
pub(super) fn address(text: &str, port: u16) -> Result<Address, String> {
    if let Some(path) = text.strip_prefix("unix:").or_else(|| text.starts_with('/').then_some(text))
    {
        return socket(path);
    }
    let text = text.strip_prefix("tcp://").unwrap_or(text);
    let (name, own) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, "")) => (name, None),
            Some((name, rest)) => (name, Some(rest.strip_prefix(':').ok_or("`:` and a port")?)),
            None => return Err("`[` without `]`".to_owned()),
        },
        None => match text.split_once(':') {
            Some((name, own)) if !own.contains(':') => (name, Some(own)),
            _ => (text, None),
        },
    };
    let port = match own {
        None => port,
        Some(own) => own
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or_else(|| format!("`{own}` is no port: a number from 1 to 65535"))?,
    };
    Ok(Address::Tcp { host: host(name)?, port })
}

/// The host of a TCP address, brackets of an IPv6 address taken off.
pub(super) fn host(text: &str) -> Result<String, String> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let is_v6 = inner.split('%').next().is_some_and(|ip| ip.parse::<Ipv6Addr>().is_ok());
    if inner.is_empty() {
        return Err("is empty".to_owned());
    }
    if inner.contains(':') && !is_v6 {
        return Err("has a `:` and is no IPv6 address; a port is written as `port`".to_owned());
    }
    if inner.len() > MAX_HOST_BYTES
        || inner.contains(|c: char| c.is_whitespace() || c.is_control() || "/[]@".contains(c))
    {
        return Err("is neither a name nor an address".to_owned());
    }
    Ok(inner.to_owned())
}

/// The path of a socket.
pub(super) fn socket(path: &str) -> Result<Address, String> {
    match Path::new(path).is_absolute() {
        true => Ok(Address::Unix(PathBuf::from(path))),
        false => Err("is not an absolute path".to_owned()),
    }
}

/// Whether a pattern with `*` for any characters stands for a name.
pub(super) fn stands_for(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp { host: host.to_owned(), port }
    }

    #[test]
    fn addresses_are_read_as_people_and_results_write_them() {
        for (text, expected) in [
            ("db", tcp("db", 3306)),
            ("db:3307", tcp("db", 3307)),
            ("tcp://db:3307", tcp("db", 3307)),
            ("10.0.0.1:1", tcp("10.0.0.1", 1)),
            ("::1", tcp("::1", 3306)),
            ("[::1]", tcp("::1", 3306)),
            ("[fe80::1%eth0]:3307", tcp("fe80::1%eth0", 3307)),
            ("tcp://[::1]:3307", tcp("::1", 3307)),
            ("/run/x.sock", Address::Unix("/run/x.sock".into())),
            ("unix:/run/x.sock", Address::Unix("/run/x.sock".into())),
        ] {
            assert_eq!(address(text, 3306), Ok(expected.clone()), "{text}");
            assert_eq!(address(&expected.to_string(), 3306), Ok(expected), "{text}");
        }
        for text in [
            "", ":1", "db:", "db:0", "db:70000", "db:x", "[::1", "[::1]x", "a:b:c", "unix:x",
            "a b", "user@db", "[]", "a/b",
        ] {
            assert!(address(text, 3306).is_err(), "{text}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, is_right) in [
            ("*", "2c4g", true),
            ("2c4g", "2c4g", true),
            ("2c4g", "2c4gb", false),
            ("*c*g", "88c710g", true),
            ("2c*", "88c710g", false),
            ("*4g", "4g", true),
            ("4*4", "4", false),
            ("a*b*c", "abbc", true),
            ("a*b*c", "acb", false),
        ] {
            assert_eq!(stands_for(pattern, name), is_right, "{pattern} {name}");
        }
    }
}
