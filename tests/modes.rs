//! Who may read what gridbench makes: results as the user's umask says, what is private nobody.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const MATRIX: &str = r#"
format = 1
name = "small"
title = "Small"
protocol = { duration = "500ms", warmup = "100ms", concurrency = [2] }
[dataset]
class = "full-cache"
rule = [{ table_size = 100, tables = 2 }]
[[spec]]
cpu = 1
memory = "1GB"
[[scenario]]
id = "reads"
workload = "oltp_read_only"
"#;

/// Everything below a folder, itself first.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder { found.extend(all(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).map_or(0, |data| data.permissions().mode() & 0o7777)
}

/// Runs the matrix on a managed server under a umask; what stood in its home meanwhile.
fn run(folder: &Path, umask: &str) -> Vec<(PathBuf, u32)> {
    fs::write(folder.join("small.toml"), MATRIX).unwrap();
    let mut command = Command::new("sh");
    let line = format!(
        "umask {umask}; exec {} run small.toml --data-dir data",
        env!("CARGO_BIN_EXE_gridbench")
    );
    command.args(["-c", &line]).current_dir(folder).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    let mut seen = Vec::new();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < until, "it does not end");
        let data = folder.join("data");
        let homes = fs::read_dir(&data).into_iter().flatten().filter_map(Result::ok);
        for home in homes.map(|home| home.path()) {
            seen.push((home.clone(), mode(&home)));
            seen.extend(
                ["accounts.sql", "lock"].map(|name| (home.join(name), mode(&home.join(name)))),
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{status}");
    seen.retain(|(_, mode)| *mode != 0);
    seen
}

#[test]
fn what_is_private_is_so_under_any_umask_and_results_follow_it() {
    for (umask, file, directory) in
        [("000", 0o666, 0o777), ("022", 0o644, 0o755), ("077", 0o600, 0o700)]
    {
        let folder = tempfile::tempdir().unwrap();
        let private = run(folder.path(), umask);
        assert!(private.iter().any(|(path, _)| path.ends_with("accounts.sql")), "{private:?}");
        for (path, mode) in private {
            assert_eq!(mode & 0o077, 0, "{} is {mode:o} under {umask}", path.display());
        }
        let results = all(&folder.path().join("results"));
        assert!(results.len() > 10, "{results:?}");
        for path in results {
            let expected = if path.is_dir() { directory } else { file };
            assert_eq!(mode(&path) & !expected, 0, "{} under {umask}", path.display());
            assert_eq!(mode(&path) & 0o400, 0o400, "{} under {umask}", path.display());
            assert_eq!(fs::metadata(&path).unwrap().uid(), nix::unistd::geteuid().as_raw());
        }
    }
}
