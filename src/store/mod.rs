//! Stand-in: replaced at merge.

pub mod baseline;

/// Stand-in.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(String);
