//! Room for what nests deeper than it should.
//!
//! Must not know: what it is.

/// Does it on a thread with a stack that holds whatever parsers with limits of their own let pass:
/// a TOML document of 80 tables of 80 dots each, a template of 150 calls within each other. That
/// is more than the stack of a thread of a test harness, or of a server's, holds.
pub fn on_a_deep_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    const STACK_BYTES: usize = 32 << 20;
    std::thread::scope(|scope| {
        let deep = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, &work);
        match deep.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // No thread to be had: the stack at hand holds every file that is not hostile.
            Err(_) => work(),
        }
    })
}
