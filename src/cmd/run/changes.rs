//! Whether a server is still what the run began with.
//!
//! Must not know: what follows for a trial.

use std::time::Duration;

use crate::cmd::dataset;
use crate::model::{Endpoint, Evidence, Measurement, ServerRecord, SpecId};
use crate::store::RunDir;

/// Whether something happened to the server during a trial that may have changed it: looking
/// after every trial would cost the server more than most trials need.
pub(super) fn is_likely(measurement: &Measurement, evidence: &Evidence) -> bool {
    measurement.reconnects > 0 || evidence.trouble.is_some()
}

/// A server that does not answer for so long is not asked: its trials say it themselves.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is no more as it was when this run first saw the server; empty too where it does not
/// answer, which the trials say themselves.
pub(super) fn of(directory: &RunDir, spec: &SpecId, endpoint: &Endpoint) -> Vec<String> {
    let known = directory.description().servers.iter().find(|known| known.spec == *spec);
    let (Some(known), Ok((info, _))) = (known, dataset::server_info_within(endpoint, PATIENCE))
    else {
        return Vec::new();
    };
    directory.server_changes(&ServerRecord { info, ..known.clone() })
}

/// That, in a sentence.
pub(super) fn words(changes: &[String]) -> String {
    format!("the server is not what the run began with: {}", changes.join("; "))
}
