//! Who may read, and who may stop a run.
//!
//! Must not know: what is read, what stopping means.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use subtle::ConstantTimeEq;

use super::address::is_own_name;

/// The cookie that stands for the token after it was given once.
pub(super) const COOKIE_NAME: &str = "gridbench";

/// A secret that is told once, at the start: 32 hexadecimal digits.
#[derive(Clone)]
pub struct Token(String);

/// The system gives no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("cannot read random bytes from /dev/urandom: {0}")]
pub struct TokenError(io::Error);

impl Token {
    /// One that nobody can guess.
    ///
    /// # Errors
    /// There are no random bytes.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0_u8; 16];
        let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(TokenError)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// As it is to be told to whoever may use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it was this one that was given; it takes the same time whatever is wrong.
    pub(super) fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Whether the request was meant for this machine, where only it is served.
pub(super) fn is_meant_for_us(headers: &HeaderMap, is_loopback: bool) -> bool {
    !is_loopback || text(headers, HOST.as_str()).is_some_and(is_own_name)
}

/// Whether a request that changes something comes of a page of ours, or of no page at all.
pub(super) fn is_of_our_page(headers: &HeaderMap) -> bool {
    match (headers.get(ORIGIN), text(headers, HOST.as_str())) {
        (None, _) => true,
        (Some(origin), Some(host)) => {
            let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            origin.is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
        }
        (Some(_), None) => false,
    }
}

/// The token of `Authorization: Bearer`.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, AUTHORIZATION.as_str())?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The token of the cookie.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.trim(), value.trim()))
        .find_map(|(name, value)| (name == COOKIE_NAME).then_some(value))
}

/// The value of a header that stands there once and is text.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).into_iter();
    let first = values.next()?;
    if values.next().is_some() { None } else { first.to_str().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: axum::http::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn tokens_are_long_never_the_same_and_not_in_what_is_printed() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.reveal().len(), 32);
        assert!(one.is(one.reveal()) && !one.is(other.reveal()) && !one.is(""));
        assert!(!one.is(&one.reveal()[..31]));
        assert_eq!(format!("{one:?}"), "Token(..)");
    }

    #[test]
    fn another_host_is_refused_only_where_we_are_by_ourselves() {
        let of = |host| headers(&[("host", host)]);
        assert!(is_meant_for_us(&of("localhost:8306"), true));
        assert!(!is_meant_for_us(&of("evil.example"), true));
        assert!(is_meant_for_us(&of("bench-1:8306"), false));
        assert!(!is_meant_for_us(&headers(&[]), true));
        let two = headers(&[("host", "localhost"), ("host", "evil.example")]);
        assert!(!is_meant_for_us(&two, true));
    }

    #[test]
    fn a_page_of_somebody_elses_changes_nothing() {
        let of = |origin| headers(&[("host", "localhost:8306"), ("origin", origin)]);
        assert!(is_of_our_page(&headers(&[("host", "localhost:8306")])));
        assert!(is_of_our_page(&of("http://localhost:8306")));
        for origin in ["http://localhost:1", "null", "http://evil.example", ""] {
            assert!(!is_of_our_page(&of(origin)), "{origin}");
        }
    }

    #[test]
    fn a_token_comes_in_a_header_or_a_cookie() {
        assert_eq!(bearer(&headers(&[("authorization", "bearer  x ")])), Some("x"));
        assert_eq!(bearer(&headers(&[("authorization", "Basic x")])), None);
        let many = headers(&[("cookie", "a=b; gridbench=x"), ("cookie", "gridbench=y")]);
        assert_eq!(cookie(&many), Some("x"));
        assert_eq!(cookie(&headers(&[("cookie", "gridbench")])), None);
    }
}
