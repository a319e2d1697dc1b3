//! `[defaults]` and each `[target.NAME]`: the same keys, read one by one.
//!
//! Must not know: what a target takes from the defaults.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::source::{TextSource, text_source};
use crate::model::TlsMode;
use crate::written::{
    Located, Node, Read, Section, Value, Wrong, charset, duration, integer_u32, named, string,
    wrong_type,
};

const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(86_400);
const MAX_ENDPOINTS: usize = 100;
const MAX_STATEMENTS: usize = 100;
const MAX_STATEMENT_BYTES: usize = 10_000;

/// What one of them says.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) host: Option<Located<TextSource>>,
    pub(super) port: Option<Located<u16>>,
    pub(super) socket: Option<Located<String>>,
    pub(super) endpoints: Option<Located<Vec<String>>>,
    pub(super) user: Option<Located<TextSource>>,
    pub(super) password: Option<Located<TextSource>>,
    pub(super) database: Option<Located<TextSource>>,
    pub(super) tls: Option<Located<TlsMode>>,
    pub(super) tls_ca: Option<Located<String>>,
    pub(super) tls_cert: Option<Located<String>>,
    pub(super) tls_key: Option<Located<String>>,
    pub(super) charset: Option<Located<String>>,
    pub(super) init: Option<Located<Vec<String>>>,
    pub(super) connect_timeout: Option<Located<Duration>>,
    pub(super) read_timeout: Option<Located<Duration>>,
    pub(super) statement_timeout: Option<Located<Duration>>,
}

impl Draft {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let draft = Self {
            host: section.optional("host", text_source),
            port: section.optional("port", port),
            socket: section.optional("socket", path),
            endpoints: section.optional("endpoints", |node| strings(node, MAX_ENDPOINTS)),
            user: section.optional("user", text_source),
            password: section.optional("password", text_source),
            database: section.optional("database", text_source),
            tls: section.optional("tls", named(TlsMode::ALL, TlsMode::name)),
            tls_ca: section.optional("tls_ca", path),
            tls_cert: section.optional("tls_cert", path),
            tls_key: section.optional("tls_key", path),
            charset: section.optional("charset", charset),
            init: section.optional("init", statements),
            connect_timeout: section.optional("connect_timeout", duration(TIMEOUT)),
            read_timeout: section.optional("read_timeout", duration(TIMEOUT)),
            statement_timeout: section.optional("statement_timeout", duration(TIMEOUT)),
        };
        section.finish();
        draft
    }

    /// Whether it says where a server is.
    pub(super) fn has_address(&self) -> bool {
        self.host.is_some() || self.socket.is_some() || self.endpoints.is_some()
    }
}

fn port(node: &Node) -> Read<u16> {
    let read = integer_u32(1..=65_535)(node)?;
    Ok(u16::try_from(read).expect("the range of a port fits into 16 bits"))
}

fn path(node: &Node) -> Read<String> {
    match string(node)? {
        "" => Wrong::new("path", "is empty", "name a file").alone(),
        path if path.contains('\0') => Wrong::new("path", "has a NUL in it", "no path").alone(),
        path => Ok(path.to_owned()),
    }
}

/// A list of strings, at least one.
fn strings(node: &Node, limit: usize) -> Read<Vec<String>> {
    let Value::Array(items) = &node.value else { return wrong_type(node, "a list of strings") };
    if items.is_empty() || items.len() > limit {
        let message = format!("must have at least one and at most {limit} of them");
        return Wrong::new("limit", message, format!("{} here", items.len())).alone();
    }
    let read = |item: &Node| match string(item) {
        Ok(text) => Ok(text.to_owned()),
        Err(wrongs) => Err(wrongs.into_iter().map(|wrong| wrong.within(item.place)).collect()),
    };
    items.iter().map(read).collect()
}

fn statements(node: &Node) -> Read<Vec<String>> {
    let statements = strings(node, MAX_STATEMENTS)?;
    let is_none = |sql: &String| sql.trim().is_empty() || sql.len() > MAX_STATEMENT_BYTES;
    if statements.iter().any(is_none) {
        let message = format!("must be statements of 1 to {MAX_STATEMENT_BYTES} bytes");
        return Wrong::new("statement", message, "one of these").alone();
    }
    Ok(statements)
}
