//! The targets file: where a site's own servers are.
//!
//! Must not know: whether anything answers there.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::model::{Address, Endpoint, Secret, SessionOptions, SpecId, Tls, TlsMode};
use crate::written::{
    Diagnostics, Fault, Faults, Located, Place, Section, Source, SourceText, Table,
};

mod address;
mod hidden;
mod place;
mod source;

use address::{SPEC, stands_for};
use hidden::without_secrets;
use place::Draft;
use source::{TextSource, Texts, is_open};

/// Where each spec's server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets {
    /// In the order in which they are asked: whoever stands first for a spec has it.
    named: Vec<Named>,
    warnings: Vec<String>,
}

/// A target under its name, which may be a pattern; `{spec}` still stands in its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    pattern: String,
    endpoint: Endpoint,
}

impl Targets {
    /// The server of a spec: its own, else that of the narrowest pattern; `None` where the file
    /// names none.
    pub fn endpoint(&self, spec: &SpecId) -> Option<Endpoint> {
        let named = self.named.iter().find(|named| stands_for(&named.pattern, spec.as_str()))?;
        Some(for_spec(&named.endpoint, spec))
    }

    /// What the user should hear, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

fn for_spec(endpoint: &Endpoint, spec: &SpecId) -> Endpoint {
    let put = |text: &str| text.replace(SPEC, spec.as_str());
    let at = |address: &Address| match address {
        Address::Tcp { host, port } => Address::Tcp { host: put(host), port: *port },
        Address::Unix(path) => Address::Unix(PathBuf::from(put(&path.to_string_lossy()))),
    };
    Endpoint {
        address: at(&endpoint.address),
        others: endpoint.others.iter().map(at).collect(),
        user: put(&endpoint.user),
        database: endpoint.database.as_deref().map(put),
        ..endpoint.clone()
    }
}

const KIND: &str = "targets";
/// A targets file is a screenful; what is larger is another file.
const MAX_BYTES: usize = 1_000_000;
const DEFAULT_PORT: u16 = 3306;
/// Where the password is looked for if the file says nothing of one.
const PASSWORD_VARIABLE: &str = "GRIDBENCH_PASSWORD";

/// Reads a targets file; what it says only where to find is fetched.
///
/// # Errors
/// Every fault with its place: what is no TOML, an unknown key, a target without an address or
/// with two, a password that cannot be had. No password is shown.
pub fn read_targets(path: &Path) -> Result<Targets, Diagnostics> {
    let name = path.display().to_string();
    let whole = |message: String| {
        let fault = Fault::new("unreadable", format!("{name}: {message}"));
        Diagnostics::new(KIND, vec![SourceText::new(&name, "")], vec![fault])
    };
    let bytes = read(path).map_err(|error| whole(error.to_string()))?;
    let text = Source { name: &name, bytes: &bytes }.text(KIND, MAX_BYTES)?;
    let faults = Faults::default();
    let table = Table::parse(text, &faults);
    let mut targets = None;
    if faults.is_empty() {
        targets = Some(Reader::new(path, &faults).targets(&table));
    }
    match targets {
        Some(targets) if faults.is_empty() => Ok(targets),
        _ => {
            let shown = SourceText::new(&name, &without_secrets(text, &table));
            Err(Diagnostics::new(KIND, vec![shown], faults.into_vec()))
        }
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file under way.
struct Reader<'a> {
    path: &'a Path,
    directory: &'a Path,
    faults: &'a Faults,
    texts: Texts<'a>,
}

/// The value of a target itself, or of the defaults.
fn either<'d, T>(
    own: &'d Draft,
    defaults: &'d Draft,
    field: impl Fn(&'d Draft) -> &'d Option<Located<T>>,
) -> Option<&'d Located<T>> {
    field(own).as_ref().or(field(defaults).as_ref())
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, faults: &'a Faults) -> Self {
        let directory = path.parent().unwrap_or(Path::new(""));
        Self { path, directory, faults, texts: Texts::new(directory) }
    }

    fn targets(mut self, table: &Table) -> Targets {
        let mut root = Section::root(table, self.faults);
        let defaults = root.optional_section("defaults");
        let place = defaults.as_ref().map(|section| section.place);
        let defaults = defaults.map(Draft::read).unwrap_or_default();
        let sections = root.optional_section("target").map(Section::named).unwrap_or_default();
        root.finish();
        let mut drafts = Vec::new();
        for (name, at, section) in sections {
            if let Err(words) = pattern(&name) {
                self.faults.push(Fault::new("target", words).at(at, "not a target's name"));
            }
            drafts.push((name, at, Draft::read(section)));
        }
        let mut named = Vec::new();
        for (name, at, draft) in &drafts {
            let endpoint = self.endpoint(draft, &defaults, *at);
            named.extend(endpoint.map(|endpoint| Named { pattern: name.clone(), endpoint }));
        }
        // Narrow patterns before wide ones, and the file's order among equals.
        named.sort_by_key(|named| {
            let stars = named.pattern.matches('*').count();
            (stars > 0, usize::MAX - (named.pattern.len() - stars), stars)
        });
        let is_for_all = drafts.iter().any(|(name, ..)| name == "*");
        if let (false, true, Some(at)) = (is_for_all, defaults.has_address(), place) {
            let endpoint = self.endpoint(&Draft::default(), &defaults, at);
            named.extend(endpoint.map(|endpoint| Named { pattern: "*".to_owned(), endpoint }));
        }
        if drafts.is_empty() && !defaults.has_address() && self.faults.is_empty() {
            let words = "no target: give [defaults] a host or a socket, or add [target.SPEC]";
            self.faults.push(Fault::new("empty", words));
        }
        let all = drafts.iter().map(|(.., draft)| draft).chain([&defaults]);
        let warnings = self.warnings(&all.collect::<Vec<_>>());
        Targets { named, warnings }
    }

    fn fault(&self, at: Place, code: &'static str, words: impl Into<String>, label: &str) {
        self.faults.push(Fault::new(code, words).at(at, label));
    }

    /// What a target says itself comes before the defaults. `None` where that is a fault.
    fn endpoint(&mut self, own: &Draft, defaults: &Draft, at: Place) -> Option<Endpoint> {
        let user = either(own, defaults, |draft| &draft.user);
        if user.is_none() {
            let fault = Fault::new("missing", "no `user`").at(at, "nobody logs in here");
            self.faults.push(fault.help("say who, here or in [defaults]: user = \"bench\""));
        }
        let user = user.and_then(|user| self.fetch(user)).filter(|user| !user.is_empty());
        let password = match either(own, defaults, |draft| &draft.password) {
            Some(source) => self.fetch(source),
            None => Some(std::env::var(PASSWORD_VARIABLE).unwrap_or_default()),
        };
        let database = either(own, defaults, |draft| &draft.database);
        let database = match database {
            Some(source) => Some(self.fetch(source)?),
            None => None,
        };
        let addresses = self.addresses(own, defaults, at);
        let tls = self.tls(own, defaults);
        let mut addresses = addresses?.into_iter();
        let address = addresses.next()?;
        let others: Vec<Address> = addresses.collect();
        let is_socket = |address: &Address| matches!(address, Address::Unix(_));
        if tls.mode.is_demanded() && (is_socket(&address) || others.iter().any(is_socket)) {
            let place = either(own, defaults, |draft| &draft.tls).map_or(at, |tls| tls.place);
            let words = format!("`tls = \"{}\"` beside a socket", tls.mode.name());
            let fault = Fault::new("tls", words).at(place, "nobody reads along a socket");
            self.faults.push(fault.help("write tls = \"off\" for this target"));
        }
        Some(Endpoint {
            others,
            database,
            tls,
            session: session(own, defaults),
            ..Endpoint::new(address, user?, Secret::new(password?))
        })
    }

    fn fetch(&mut self, source: &Located<TextSource>) -> Option<String> {
        match self.texts.fetch(&source.value) {
            Ok(text) => Some(text),
            Err(words) => {
                self.fault(source.place, "source", words, "from here");
                None
            }
        }
    }

    /// All ways to a target, the first for administration.
    fn addresses(&mut self, own: &Draft, defaults: &Draft, at: Place) -> Option<Vec<Address>> {
        // A target's own address replaces that of the defaults, whatever its kind.
        let from = if own.has_address() { own } else { defaults };
        let port = either(own, defaults, |draft| &draft.port);
        let number = port.map_or(DEFAULT_PORT, |port| port.value);
        match (&from.host, &from.socket, &from.endpoints) {
            (Some(host), None, None) => {
                let text = self.fetch(host)?;
                match address::host(&text) {
                    Ok(host) => Some(vec![Address::Tcp { host, port: number }]),
                    Err(words) => {
                        self.fault(host.place, "address", format!("`host` {words}"), "this");
                        None
                    }
                }
            }
            (None, Some(socket), None) => {
                if let Some(port) = &own.port {
                    self.fault(
                        port.place,
                        "address",
                        "`port` beside `socket`",
                        "a socket has none",
                    );
                }
                match address::socket(&socket.value) {
                    Ok(address) => Some(vec![address]),
                    Err(words) => {
                        self.fault(socket.place, "address", format!("`socket` {words}"), "this");
                        None
                    }
                }
            }
            (None, None, Some(endpoints)) => {
                let mut addresses = Vec::new();
                for text in &endpoints.value {
                    match address::address(text, number) {
                        Ok(address) if addresses.contains(&address) => {
                            let words = format!("`endpoints` names {address} twice");
                            self.fault(endpoints.place, "address", words, "here");
                        }
                        Ok(address) => addresses.push(address),
                        Err(words) => {
                            let words = format!("`endpoints`: `{text}` {words}");
                            let fault = Fault::new("address", words).at(endpoints.place, "here");
                            self.faults
                                .push(fault.help(
                                    "write HOST, HOST:PORT, [IPv6]:PORT or an absolute path",
                                ));
                        }
                    }
                }
                (addresses.len() == endpoints.value.len()).then_some(addresses)
            }
            (None, None, None) => {
                let words = "neither `host`, `socket` nor `endpoints`, here or in [defaults]";
                self.fault(at, "missing", words, "where is it?");
                None
            }
            (host, socket, endpoints) => {
                let places = [
                    host.as_ref().map(|host| host.place),
                    socket.as_ref().map(|socket| socket.place),
                    endpoints.as_ref().map(|endpoints| endpoints.place),
                ];
                let last = places.into_iter().flatten().max().unwrap_or(at);
                let words = "more than one of `host`, `socket` and `endpoints`";
                self.fault(last, "address", words, "a target is reached by one of them");
                None
            }
        }
    }

    fn tls(&mut self, own: &Draft, defaults: &Draft) -> Tls {
        let file =
            |path: Option<&Located<String>>| path.map(|path| self.directory.join(&path.value));
        let certificate = either(own, defaults, |draft| &draft.tls_cert);
        let key = either(own, defaults, |draft| &draft.tls_key);
        if let (Some(lone), None) | (None, Some(lone)) = (certificate, key) {
            let words = "`tls_cert` and `tls_key` belong together";
            self.fault(lone.place, "tls", words, "one of them alone");
        }
        Tls {
            mode: either(own, defaults, |draft| &draft.tls).map_or(TlsMode::Off, |tls| tls.value),
            ca: file(either(own, defaults, |draft| &draft.tls_ca)),
            identity: file(certificate).zip(file(key)),
        }
    }

    fn warnings(&self, drafts: &[&Draft]) -> Vec<String> {
        let passwords = || drafts.iter().filter_map(|draft| draft.password.as_ref());
        let is_literal = |source: &Located<TextSource>| match &source.value {
            TextSource::Literal(text) => !text.is_empty(),
            _ => false,
        };
        let mut warnings = Vec::new();
        if passwords().any(is_literal) && is_open(self.path) {
            let path = self.path.display();
            warnings.push(format!(
                "{path} holds a password and other users can read it: chmod 600 {path}, or use \
                 password = {{ env = \"NAME\" }}"
            ));
        }
        for file in self.texts.open_files(passwords().map(|source| &source.value)) {
            let path = file.display();
            warnings.push(format!("other users can read the password in {path}: chmod 600 {path}"));
        }
        let reads = |draft: &&&Draft| {
            let is_read = |mode| matches!(mode, TlsMode::VerifyCa | TlsMode::VerifyIdentity);
            draft.tls.as_ref().is_some_and(|tls| is_read(tls.value))
        };
        if drafts.iter().any(|draft| draft.tls_ca.is_some()) && !drafts.iter().any(|d| reads(&d)) {
            warnings.push(
                "`tls_ca` is named, but no certificate is held against it: tls = \"verify-ca\" or \
                 \"verify-identity\" does that"
                    .to_owned(),
            );
        }
        warnings
    }
}

fn session(own: &Draft, defaults: &Draft) -> SessionOptions {
    let timeout = |located: Option<&Located<_>>| located.map(|located| located.value);
    SessionOptions {
        charset: either(own, defaults, |draft| &draft.charset).map(|name| name.value.clone()),
        init: either(own, defaults, |draft| &draft.init)
            .map(|init| init.value.clone())
            .unwrap_or_default(),
        connect_timeout: timeout(either(own, defaults, |draft| &draft.connect_timeout)),
        read_timeout: timeout(either(own, defaults, |draft| &draft.read_timeout)),
        statement_timeout: timeout(either(own, defaults, |draft| &draft.statement_timeout)),
        guard: None,
    }
}

/// The id of a spec, or with `*` for any characters of one.
fn pattern(name: &str) -> Result<(), String> {
    let id = name.replace('*', "0");
    SpecId::new(&id).map(|_| ()).map_err(|_| {
        format!(
            "`{name}` is not an id of a spec: 1 to 64 of a-z, 0-9, '-', '_' and '.', and '*' for \
             any of them"
        )
    })
}

#[cfg(test)]
mod tests;
