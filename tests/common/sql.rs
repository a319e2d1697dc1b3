//! Statements beside what is tested.
//!
//! Must not know: what they are for.

use gridbench::driver::adapter::Admin;
use gridbench::model::Endpoint;

/// Runs them on a connection of their own; the rows of the last one.
pub(crate) fn sql(endpoint: &Endpoint, statements: &[&str]) -> Vec<Vec<Option<String>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut admin = Admin::connect(endpoint).await.unwrap();
        let mut rows = Vec::new();
        for statement in statements {
            let answer = admin.rows(statement).await;
            rows = answer.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        admin.close().await;
        rows
    })
}
