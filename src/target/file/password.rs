//! Fetching passwords from where the targets file says.
//!
//! Must not know: whose they are.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::wire::PasswordSource;
use crate::model::Secret;

/// Fetches each source once: a command may ask its user something.
pub(super) struct Passwords<'a> {
    /// From which relative paths of files start.
    directory: &'a Path,
    known: BTreeMap<PasswordSource, Secret>,
}

impl<'a> Passwords<'a> {
    pub(super) fn new(directory: &'a Path) -> Self {
        Self { directory, known: BTreeMap::new() }
    }

    /// The password, without the line end that files and commands put behind it. An empty
    /// literal is an empty password: nothing else takes its place.
    pub(super) fn fetch(&mut self, source: &PasswordSource) -> Result<Secret, String> {
        if let Some(secret) = self.known.get(source) {
            return Ok(secret.clone());
        }
        let text = match source {
            PasswordSource::Literal(text) => text.clone(),
            PasswordSource::Env(name) => from_environment(name)?,
            PasswordSource::File(path) => {
                let path = self.directory.join(path);
                let read = std::fs::read_to_string(&path);
                without_line_end(read.map_err(|e| format!("{}: {e}", path.display()))?)
            }
            PasswordSource::Command(words) => from_command(words)?,
        };
        let secret = Secret::new(text);
        self.known.insert(source.clone(), secret.clone());
        Ok(secret)
    }
}

fn from_environment(name: &str) -> Result<String, String> {
    // The system's calls would panic on such a name.
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!("{name:?} is no name of an environment variable"));
    }
    std::env::var(name).map_err(|_| format!("the environment variable {name} is not set"))
}

/// Standard input and error stay the user's, so that the command can ask.
fn from_command(words: &[String]) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("`command` is empty")?;
    let output = Command::new(program).args(arguments).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot run `{program}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{program}` ended with {}", output.status));
    }
    let text = String::from_utf8(output.stdout);
    Ok(without_line_end(text.map_err(|_| format!("`{program}` said what is not UTF-8"))?))
}

fn without_line_end(mut text: String) -> String {
    let end = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
    let length = end.unwrap_or(&text).len();
    text.truncate(length);
    text
}
