//! Results on disk (a stand-in: only the signatures that pages and comparisons need).
//!
//! Must not know: templates.

use std::path::Path;

use crate::model::ResultSet;

/// Why results could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing has that name.
    #[error("there is no run and no baseline called `{name}`")]
    NotFound {
        /// What was asked for.
        name: String,
    },
}

/// The results of a run or baseline by its name or directory.
pub fn resolve(_out: &Path, name: &str) -> Result<ResultSet, StoreError> {
    Err(StoreError::NotFound { name: name.to_owned() })
}

/// Name of the baseline that a run's matrix is held against.
pub fn baseline_of(_out: &Path, run: &str) -> Result<Option<String>, StoreError> {
    Err(StoreError::NotFound { name: run.to_owned() })
}
