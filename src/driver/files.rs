//! How many sockets a process may hold open.
//!
//! Must not know: who opens them.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit on open files as far as this process may without asking anybody; returns the
/// limit that holds now. A thousand connections need more than the usual 1024.
///
/// # Errors
/// The system does not tell the limits.
pub fn raise_open_files() -> io::Result<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // Refused where a hard limit is itself above what the system allows: the old one then stands.
    let raised = soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
    Ok(if raised { hard } else { soft })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_as_high_as_it_may_be() {
        let raised = raise_open_files().unwrap();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap().0, raised);
        assert_eq!(raise_open_files().unwrap(), raised);
    }
}
