//! How long a reply is waited for.
//!
//! Must not know: connections. One timer serves all statements of a connection: it is set anew when
//! it rings, not with each of them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep};

use crate::driver::DriverError;

/// The timer of one connection.
pub(super) struct Patience {
    limit: Duration,
    timer: Pin<Box<Sleep>>,
}

impl Patience {
    /// Within a runtime.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, timer: Box::pin(sleep(limit)) }
    }

    /// Ready when a statement that began then has waited for too long.
    pub(super) fn poll(&mut self, began: Instant, context: &mut Context<'_>) -> Poll<DriverError> {
        let due = began + self.limit;
        loop {
            ready!(self.timer.as_mut().poll(context));
            if Instant::now() >= due {
                let limit = self.limit.as_secs_f64();
                let message = format!("no reply within {limit} s (read_timeout)");
                return Poll::Ready(DriverError::Lost { address: "the server".into(), message });
            }
            self.timer.as_mut().reset(due.into());
        }
    }
}
