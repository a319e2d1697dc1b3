//! Finding the server program.
//!
//! Must not know: how a server is started.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::TargetError;
use crate::model::Flavour;

/// A server program that answered to `--version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerBinary {
    /// Absolute path, as it was found.
    pub path: PathBuf,
    /// The line that `--version` prints.
    pub version: String,
    /// The version's number alone, for example `10.11.19`.
    pub number: String,
    /// Its family.
    pub flavour: Flavour,
}

/// In the order of preference within one directory.
const NAMES: [&str; 2] = ["mariadbd", "mysqld"];
/// Where packages put a server that is not on the PATH of an ordinary user.
const USUAL_PLACES: [&str; 9] = [
    "/usr/sbin",
    "/usr/local/sbin",
    "/usr/libexec",
    "/usr/local/libexec",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
    "/opt/homebrew/bin",
    "/opt/homebrew/opt/mysql/bin",
    "/opt/local/lib/mariadb/bin",
];

/// The server at `explicit`; without it, the first one on the PATH, then in the usual places.
///
/// # Errors
/// [`TargetError::ServerNotFound`] with what to install; [`TargetError::NotAServer`] where
/// `explicit` is a directory, cannot be run, or is another program.
pub fn find_server(explicit: Option<&Path>) -> Result<ServerBinary, TargetError> {
    match explicit {
        Some(path) => look_at(path),
        None => search(&places(env::var_os("PATH").as_deref())),
    }
}

fn places(path: Option<&std::ffi::OsStr>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> =
        path.map(|path| env::split_paths(path).collect()).unwrap_or_default();
    places.extend(USUAL_PLACES.iter().map(PathBuf::from));
    // An empty or relative entry of PATH would make the result depend on where we stand.
    places.retain(|place| place.is_absolute());
    let mut seen = std::collections::BTreeSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places
}

/// A program of the right name that is no server (a client's wrapper, a broken package) does
/// not end the search.
fn search(places: &[PathBuf]) -> Result<ServerBinary, TargetError> {
    let candidates = places.iter().flat_map(|place| NAMES.iter().map(|name| place.join(name)));
    let mut servers =
        candidates.filter(|path| path.exists()).filter_map(|path| look_at(&path).ok());
    servers.next().ok_or_else(|| TargetError::ServerNotFound {
        names: NAMES.join(" and "),
        searched: places.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "),
    })
}

/// Runs `--version` and reads what it says.
fn look_at(path: &Path) -> Result<ServerBinary, TargetError> {
    let wrong = |reason: String| TargetError::NotAServer { path: path.to_owned(), reason };
    let metadata = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if metadata.is_dir() {
        let reason = "it is a directory; name the program in it, for example bin/mysqld";
        return Err(wrong(reason.to_owned()));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(wrong("it is not executable".to_owned()));
    }
    let path = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
    let output = version_output(&path).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim();
    let number = version_number(line).filter(|_| output.status.success());
    match number {
        Some(number) => Ok(ServerBinary {
            number: number.to_owned(),
            version: line.to_owned(),
            flavour: Flavour::of_version(line),
            path,
        }),
        None => Err(wrong(format!("`--version` ended with {} and said: {line:?}", output.status))),
    }
}

fn version_output(path: &Path) -> io::Result<Output> {
    let mut command = Command::new(path);
    command.args(["--no-defaults", "--version"]).stdin(Stdio::null()).output()
}

/// The number in `/usr/sbin/mysqld  Ver 9.7.4 for Linux ...`. Clients print such a line too,
/// so the program's own name must be a server's: `mysqld` or `mariadbd`, `mysqld-debug`.
fn version_number(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let name = words.next()?.rsplit('/').next()?;
    let stem = name.split(|c: char| !c.is_ascii_alphabetic()).next()?;
    if !NAMES.contains(&stem) || words.next() != Some("Ver") {
        return None;
    }
    let word = words.next()?;
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let number = word[..end].trim_end_matches('.');
    (number.contains('.') && number.len() <= 32).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARIADB: &str = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
    const MYSQL: &str = "/opt/m/bin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))";

    fn program(dir: &Path, name: &str, says: &str) -> PathBuf {
        let path = dir.join(name);
        fs::create_dir_all(dir).unwrap();
        // Written under another name: a file that is still open for writing cannot be run.
        fs::write(dir.join("new"), format!("#!/bin/sh\necho '{says}'\n")).unwrap();
        fs::set_permissions(dir.join("new"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(dir.join("new"), &path).unwrap();
        path
    }

    #[test]
    fn the_first_server_in_the_first_place_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let (empty, first, second) =
            (root.path().join("0"), root.path().join("1"), root.path().join("2"));
        program(&first, "mysqld", MYSQL);
        program(&second, "mariadbd", MARIADB);
        let found = search(&[empty.clone(), first.clone(), second.clone()]).unwrap();
        assert_eq!(found.path, first.join("mysqld"));
        assert_eq!((found.number.as_str(), found.flavour), ("9.7.4", Flavour::MySql));
        let found = search(&[empty, second]).unwrap();
        assert_eq!((found.number.as_str(), found.flavour), ("10.11.19", Flavour::MariaDb));
        assert_eq!(found.version, MARIADB);
    }

    #[test]
    fn a_program_that_is_no_server_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        program(root.path(), "mariadbd", "hello");
        program(root.path(), "mysqld", MARIADB);
        assert_eq!(search(&[root.path().into()]).unwrap().path, root.path().join("mysqld"));
    }

    #[test]
    fn nothing_found_names_the_places() {
        let root = tempfile::tempdir().unwrap();
        let error = search(&[root.path().into()]).unwrap_err().to_string();
        assert!(error.contains(root.path().to_str().unwrap()), "{error}");
    }

    #[test]
    fn a_path_that_is_no_server_is_refused_with_the_reason() {
        let root = tempfile::tempdir().unwrap();
        let client = "mysqldump  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)";
        let client = program(root.path(), "mysqldump", client);
        let plain = root.path().join("plain");
        fs::write(&plain, "text").unwrap();
        let cases = [
            (root.path().to_owned(), "is a directory"),
            (plain, "not executable"),
            (root.path().join("missing"), "No such file"),
            (client, "--version"),
        ];
        for (path, reason) in cases {
            let error = find_server(Some(&path)).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn relative_and_repeated_entries_of_the_path_do_not_count() {
        let places = places(Some("/a::b:/a:/usr/sbin".as_ref()));
        assert_eq!(places[..2], [PathBuf::from("/a"), PathBuf::from("/usr/sbin")]);
        assert_eq!(places.iter().filter(|place| place.ends_with("usr/sbin")).count(), 1);
    }
}
