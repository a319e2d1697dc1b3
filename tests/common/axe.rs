//! axe-core, which finds in a page what not everybody can read or reach.
//!
//! Must not know: which page.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::browser::Page;

const AXE: &str = "axe-core@4.11.0";

/// Fails where something is found; says so where it cannot be looked for.
pub(crate) fn is_accessible(page: &mut Page, name: &str) {
    match script() {
        Ok(script) => assert_eq!(page.axe(&script), serde_json::json!([]), "{name}"),
        Err(why) => skipped("accessibility", &why),
    }
}

/// Says what is not tested here, and why, whether or not the test passes.
pub(crate) fn skipped(what: &str, why: &str) {
    // Not through a macro, whose words a passing test keeps to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {what}: {why}");
}

/// The script, fetched once; `Err` says why there is none.
fn script() -> Result<String, String> {
    static FETCHING: Mutex<()> = Mutex::new(());
    let _one = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe");
    let script = folder.join("package/axe.min.js");
    if !script.is_file() {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let pack =
            Command::new("npm").args(["pack", "--silent", AXE]).current_dir(&folder).output();
        let pack = pack.map_err(|error| format!("npm: {error}"))?;
        if !pack.status.success() {
            return Err(String::from_utf8_lossy(&pack.stderr).trim().to_owned());
        }
        let name = String::from_utf8_lossy(&pack.stdout).trim().to_owned();
        let unpacked = Command::new("tar").args(["xzf", &name]).current_dir(&folder).status();
        unpacked.map_err(|error| format!("tar: {error}"))?;
    }
    fs::read_to_string(&script).map_err(|error| format!("{}: {error}", script.display()))
}
