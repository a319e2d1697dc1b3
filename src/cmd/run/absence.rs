//! A server that is away between two trials is waited for, and not for ever.
//!
//! Must not know: what follows for the trials.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::cmd::dataset;
use crate::model::{Endpoint, Interrupt};

/// How long: a server that was killed is back within it, and one that hangs costs it once.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);

/// Waits until the server answers: whether it was away. `waiting` is called when it is.
///
/// # Errors
/// What was wrong last, when the time was over or the user had enough.
pub(super) fn wait(
    endpoint: &Endpoint,
    patience: Duration,
    interrupt: &Interrupt,
    waiting: impl FnOnce(),
) -> anyhow::Result<bool> {
    let begun = Instant::now();
    let ask = || dataset::server_info_within(endpoint, ANSWER.min(patience));
    let Err(mut error) = ask() else { return Ok(false) };
    waiting();
    while begun.elapsed() < patience {
        if interrupt.is_requested() {
            bail!("interrupted");
        }
        sleep(PAUSE);
        match ask() {
            Ok(_) => return Ok(true),
            Err(again) => error = again,
        }
    }
    let seconds = patience.as_secs();
    Err(error).with_context(|| format!("the server was away for {seconds} s after a trial"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, Secret};
    use std::net::TcpListener;

    #[test]
    fn a_server_that_never_answers_is_given_up_on_time() {
        // It accepts, and says nothing: as a server that is stopped.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let address = Address::Tcp { host: "127.0.0.1".into(), port };
        let endpoint = Endpoint::new(address, "nobody", Secret::new(""));
        let begun = Instant::now();
        let mut told = 0;
        let patience = Duration::from_secs(1);
        let error = wait(&endpoint, patience, &Interrupt::default(), || told += 1).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_eq!(error.to_string(), "the server was away for 1 s after a trial");
        assert_eq!(told, 1);
        let interrupt = Interrupt::default();
        interrupt.request();
        let error = wait(&endpoint, PATIENCE, &interrupt, || ()).unwrap_err();
        assert_eq!(error.to_string(), "interrupted");
    }
}
