//! Keeps the revision that a binary was built from, for the manifest of each run.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=.git/HEAD");
    println!("cargo:rerun-if-changed=.git/index");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    if let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
        let suffix = if changed.is_some_and(|text| !text.is_empty()) { "+changes" } else { "" };
        println!("cargo:rustc-env=GRIDBENCH_REVISION={revision}{suffix}");
    }
}
