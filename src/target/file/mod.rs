//! The targets file: where a site's own servers are.
//!
//! Must not know: whether anything answers there.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::TargetError;
use crate::model::{Address, Endpoint, SpecId};

mod password;
mod wire;

use password::Passwords;
use wire::{File, Place};

/// Where each spec's server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets {
    endpoints: BTreeMap<SpecId, Endpoint>,
    every_other: Option<Endpoint>,
    warnings: Vec<String>,
}

impl Targets {
    /// The server of a spec: its own, else the one for all; `None` where the file names none.
    pub fn endpoint(&self, spec: &SpecId) -> Option<Endpoint> {
        self.endpoints.get(spec).or(self.every_other.as_ref()).cloned()
    }

    /// What the user should hear, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// A targets file is a screenful; what is larger is another file.
const MAX_BYTES: u64 = 1_000_000;
/// The name of the target that stands for every spec without one of its own.
const EVERY_OTHER: &str = "*";
const DEFAULT_PORT: u16 = 3306;

/// Reads a targets file; passwords are fetched from where it says.
///
/// # Errors
/// [`TargetError::Targets`] with the line: what is no TOML, an unknown key, a target without
/// an address or with two, a password that cannot be had.
pub fn read_targets(path: &Path) -> Result<Targets, TargetError> {
    let text = read_text(path).map_err(|message| whole_file(path, message))?;
    let reader = Reader { path, text: &text, defaults: Place::default() };
    let file: File = toml::from_str(&text).map_err(|error| {
        let message = error.message().trim().to_owned();
        reader.fault(error.span(), message)
    })?;
    Reader { defaults: file.defaults.unwrap_or_default(), ..reader }.targets(file.target)
}

fn read_text(path: &Path) -> Result<String, String> {
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("larger than {MAX_BYTES} bytes: this is no targets file"));
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8: this is no targets file".to_owned())
}

fn whole_file(path: &Path, message: String) -> TargetError {
    TargetError::Targets { path: path.to_owned(), line: None, message }
}

/// A file under way: its text gives the lines of faults.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    defaults: Place,
}

type Span = Option<Range<usize>>;

impl Reader<'_> {
    fn targets(
        &self,
        named: BTreeMap<Spanned<String>, Spanned<Place>>,
    ) -> Result<Targets, TargetError> {
        let mut passwords = Passwords::new(self.path.parent().unwrap_or(Path::new("")));
        let mut endpoints = BTreeMap::new();
        let mut every_other = None;
        for (name, place) in &named {
            let endpoint = self.endpoint(Some(place), &mut passwords)?;
            if name.get_ref() == EVERY_OTHER {
                every_other = Some(endpoint);
                continue;
            }
            let spec = SpecId::new(name.get_ref());
            let spec = spec.map_err(|error| self.fault(Some(name.span()), error.to_string()))?;
            endpoints.insert(spec, endpoint);
        }
        let has_address = self.defaults.host.is_some() || self.defaults.socket.is_some();
        if every_other.is_none() && has_address {
            every_other = Some(self.endpoint(None, &mut passwords)?);
        }
        if endpoints.is_empty() && every_other.is_none() {
            let message = "no target: give [defaults] a host or a socket, or add [target.SPEC]";
            return Err(whole_file(self.path, message.to_owned()));
        }
        Ok(Targets { endpoints, every_other, warnings: self.warnings(&named) })
    }

    /// What a target says itself comes before the defaults.
    fn endpoint(
        &self,
        target: Option<&Spanned<Place>>,
        passwords: &mut Passwords,
    ) -> Result<Endpoint, TargetError> {
        let empty = Place::default();
        let own = target.map_or(&empty, Spanned::get_ref);
        let span = target.map(Spanned::span);
        let Some(user) = own.user.as_ref().or(self.defaults.user.as_ref()) else {
            let message = "no `user`: say who logs in, here or in [defaults]";
            return Err(self.fault(span, message.to_owned()));
        };
        let password = match own.password.as_ref().or(self.defaults.password.as_ref()) {
            Some(source) => passwords
                .fetch(source.get_ref())
                .map_err(|message| self.fault(Some(source.span()), message))?,
            None => crate::model::Secret::default(),
        };
        let database = own.database.as_ref().or(self.defaults.database.as_ref());
        let database = database.map(|name| name.get_ref().clone());
        let endpoint = Endpoint::new(self.address(own, span)?, user.get_ref(), password);
        Ok(Endpoint { database, ..endpoint })
    }

    fn address(&self, own: &Place, span: Span) -> Result<Address, TargetError> {
        // A target's own socket replaces the defaults' host, and the other way round.
        let has_own = own.host.is_some() || own.socket.is_some();
        let place = if has_own { own } else { &self.defaults };
        let port = own.port.as_ref().or(self.defaults.port.as_ref());
        match (&place.host, &place.socket) {
            (Some(_), Some(socket)) => {
                let message = "both `host` and `socket`: a server is reached by one of them";
                Err(self.fault(Some(socket.span()), message.to_owned()))
            }
            (Some(host), None) if host.get_ref().trim().is_empty() => {
                Err(self.fault(Some(host.span()), "`host` is empty".to_owned()))
            }
            (Some(host), None) => {
                let port = port.map_or(Ok(DEFAULT_PORT), |port| self.port(port))?;
                Ok(Address::Tcp { host: host.get_ref().clone(), port })
            }
            (None, Some(socket)) if !Path::new(socket.get_ref()).is_absolute() => {
                let message = "`socket` is not an absolute path";
                Err(self.fault(Some(socket.span()), message.to_owned()))
            }
            (None, Some(socket)) => match &own.port {
                Some(port) => {
                    let message = "`port` beside `socket`: a socket has none";
                    Err(self.fault(Some(port.span()), message.to_owned()))
                }
                None => Ok(Address::Unix(PathBuf::from(socket.get_ref()))),
            },
            (None, None) => {
                let message = "neither `host` nor `socket`, here or in [defaults]";
                Err(self.fault(span, message.to_owned()))
            }
        }
    }

    fn port(&self, port: &Spanned<i64>) -> Result<u16, TargetError> {
        let number = u16::try_from(*port.get_ref()).ok().filter(|port| *port != 0);
        let message = || format!("`port` is {}, not a number from 1 to 65535", port.get_ref());
        number.ok_or_else(|| self.fault(Some(port.span()), message()))
    }

    fn warnings(&self, named: &BTreeMap<Spanned<String>, Spanned<Place>>) -> Vec<String> {
        let places = named.values().map(Spanned::get_ref).chain([&self.defaults]);
        let mut passwords = places.filter_map(|place| place.password.as_ref());
        let literal = passwords.any(|source| source.get_ref().is_literal());
        let mode = fs::metadata(self.path).map_or(0, |metadata| metadata.permissions().mode());
        let path = self.path.display();
        let warning = format!(
            "{path} holds a password and other users can read it: chmod 600 {path}, or use \
             password = {{ env = \"NAME\" }}"
        );
        if literal && mode & 0o044 != 0 { vec![warning] } else { Vec::new() }
    }

    fn fault(&self, span: Span, message: String) -> TargetError {
        let before = span.and_then(|span| self.text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        TargetError::Targets { path: self.path.to_owned(), line, message }
    }
}

#[cfg(test)]
mod tests;
