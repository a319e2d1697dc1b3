//! Noting that a dataset is not as it was loaded any more.
//!
//! Must not know: who writes to it.

use crate::model::{Dataset, Endpoint};

use super::LoadError;
use super::crew::runtime;
use super::schema::Home;

/// Notes in the dataset's state table that somebody is about to write to it; blocks until that is
/// on disk. Who did so first since it was loaded stays noted.
///
/// # Errors
/// What the server said; the dataset has to stand.
pub fn mark_changed(endpoint: &Endpoint, dataset: &Dataset, by: &str) -> Result<(), LoadError> {
    let home = Home::new(endpoint, dataset, "marking");
    runtime()?.block_on(async {
        let mut admin = home.connect(&home.endpoint).await?;
        home.mark_changed(&mut admin, by).await?;
        admin.close().await;
        Ok(())
    })
}
