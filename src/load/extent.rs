//! How much of a dataset is in.
//!
//! Must not know: how the rest gets there.

use crate::model::{Checksum, Dataset, Endpoint};

use super::LoadError;
use super::crew::runtime;
use super::schema::Home;
use super::state::Standing;

/// Rows of the dataset from which a further load goes on; blocks until the server has said so.
///
/// # Errors
/// What the server said.
pub fn rows_in(endpoint: &Endpoint, dataset: &Dataset) -> Result<u64, LoadError> {
    let home = Home::new(endpoint, dataset, "looking at");
    let server = Endpoint { database: None, ..home.endpoint.clone() };
    runtime()?.block_on(async {
        let mut admin = home.connect(&server).await?;
        let standing = match home.charset_of_schema(&mut admin).await? {
            None => None,
            Some(_) => home.standing(&mut admin).await?,
        };
        admin.close().await;
        let is_ours = |of: &Standing| {
            of.fingerprint.as_deref().is_some_and(|found| home.is_fingerprint(found))
        };
        Ok(standing.filter(is_ours).map_or(0, |standing| rows(&standing, dataset)))
    })
}

fn rows(standing: &Standing, dataset: &Dataset) -> u64 {
    let of_table = |number: u32| match standing.complete.get(&number) {
        Some(check) => check.checksum.rows,
        None => {
            let chunks = standing.chunks_in(number, dataset.table_size).unwrap_or_default();
            chunks.values().map(|Checksum { rows, .. }| rows).sum()
        }
    };
    (1..=dataset.tables).map(of_table).sum()
}
