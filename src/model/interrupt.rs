//! The user's wish to stop, seen by everything that waits.
//!
//! Must not know: signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Counts how often the user asked to stop. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Notes one more request.
    pub fn request(&self) {
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_add(1));
    }

    /// Whether anything that runs should come to an end.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}
