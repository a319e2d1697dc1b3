//! A session that stands: connected, logged in, its statements prepared.
//!
//! Must not know: phases, or what is sent later.

use std::future::Future;
use std::time::Duration;

use tokio::time::timeout;

use crate::driver::{Driver, DriverError, Session};
use crate::workload::Program;

/// Makes a session and, where all of the program's statements may stand at a time, prepares them
/// in the order of their slots; else each is prepared when it is first sent. Each step (the
/// connection, each statement) may take up to `limit`.
pub(super) async fn stand<D: Driver>(
    driver: &D,
    program: &Program,
    handles_max: usize,
    limit: Duration,
) -> Result<D::Session, DriverError> {
    let mut session = within(limit, "connecting", driver.connect()).await?;
    let statements = program.prepared();
    session.expect_statements(statements, handles_max);
    if statements.len() <= handles_max {
        for slot in 0..statements.len() {
            let prepared = within(limit, "preparing a statement", session.prepare(slot)).await;
            prepared.map_err(|error| with_statement(error, &statements[slot]))?;
        }
    }
    Ok(session)
}

/// What the server refuses, with the statement that it refused.
pub(super) fn with_statement(error: DriverError, sql: &str) -> DriverError {
    const CHARS: usize = 200;
    match error {
        DriverError::Server { code, sqlstate, message } => {
            let mut shown: String = sql.chars().take(CHARS).collect();
            if shown.len() < sql.len() {
                shown.push('…');
            }
            let message = format!("{message}; the statement was: {shown}");
            DriverError::Server { code, sqlstate, message }
        }
        lost => lost,
    }
}

async fn within<T>(
    limit: Duration,
    step: &str,
    work: impl Future<Output = Result<T, DriverError>>,
) -> Result<T, DriverError> {
    timeout(limit, work).await.unwrap_or_else(|_| {
        Err(DriverError::Lost {
            address: "the server".into(),
            message: format!("{step} took longer than {} ms", limit.as_millis()),
        })
    })
}

/// The pauses before the tries of something that failed: 10 ms, doubled up to 1 s.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(Self::FIRST)
    }
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_secs(1);

    /// The next pause.
    pub(super) fn next_pause(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_statement_is_named_up_to_a_length() {
        let error = |sql: &str| {
            let (sqlstate, message) = ("42000".into(), "no".into());
            with_statement(DriverError::Server { code: 1064, sqlstate, message }, sql).to_string()
        };
        assert_eq!(error("SELEKT 1"), "server error 1064 (42000): no; the statement was: SELEKT 1");
        assert!(error(&"é".repeat(300)).ends_with(&format!("was: {}…", "é".repeat(200))));
    }

    #[test]
    fn pauses_double_up_to_a_second() {
        let mut backoff = Backoff::default();
        let pauses: Vec<u128> = (0..9).map(|_| backoff.next_pause().as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    }
}
