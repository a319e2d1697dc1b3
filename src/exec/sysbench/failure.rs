//! Why a run of sysbench is no measurement: its own words, and the remedy where it is known.
//!
//! Must not know: how it was run.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use nix::sys::signal::Signal;

use crate::sysbench::{Run, remedy, words};

use super::process::End;

/// The program cannot be started at all.
pub(super) fn not_started(program: &Path, error: &io::Error) -> String {
    format!("{} cannot be started: {error}", program.display())
}

/// The reason why a run that ended by itself is no measurement; `None` if it is one.
pub(super) fn of(run: &Run, end: &End) -> Option<String> {
    ended_badly(run, end).or_else(|| incomplete(run))
}

/// The reason why a run did not come to a good end, whatever it counted.
pub(super) fn ended_badly(run: &Run, end: &End) -> Option<String> {
    let how = match &end.status {
        Ok(status) if status.success() => return None,
        Ok(status) => match status.signal() {
            Some(number) => format!("was killed by {}", signal_name(number)),
            None => format!("ended with exit code {}", status.code().unwrap_or(-1)),
        },
        Err(error) => format!("ended, and the system does not say how ({error})"),
    };
    Some(told(&format!("sysbench {how}"), run, end))
}

/// It did not do something in time, and was stopped.
pub(super) fn overdue(what: &str, run: &Run, end: &End) -> String {
    told(&format!("sysbench did not {what} and was stopped"), run, end)
}

/// It ended well; what is missing in what it said.
fn incomplete(run: &Run) -> Option<String> {
    let missing = match run.whole_block() {
        Some(block) if block.events == Some(0) => {
            "no event ended in the window; measure for longer, or with fewer connections"
        }
        Some(_) => return None,
        None if run.block.is_some() => "its last report is not whole; is it version 1.0 or 1.1?",
        None => "it printed no report; is it version 1.0 or 1.1?",
    };
    Some(format!("sysbench ended well, but {missing}"))
}

fn told(what: &str, run: &Run, end: &End) -> String {
    let stderr = end.stderr.lines().map(str::trim).find(|line| !line.is_empty());
    let words = words(&run.messages).or_else(|| stderr.map(str::to_owned));
    let mut text = what.to_owned();
    if let Some(words) = &words {
        text = format!("{text}: {words}");
    }
    match words.as_deref().and_then(remedy) {
        Some(remedy) => format!("{text}; {remedy}"),
        None => text,
    }
}

fn signal_name(number: i32) -> String {
    let name = Signal::try_from(number).map(|signal| signal.as_str().to_owned());
    name.unwrap_or_else(|_| format!("signal {number}"))
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;
    use crate::sysbench::parse;

    fn run(text: &str) -> Run {
        parse(text.as_bytes()).pop().unwrap_or_default()
    }

    fn end(wait_status: i32, stderr: &str) -> End {
        End { status: Ok(ExitStatus::from_raw(wait_status)), stderr: stderr.to_owned() }
    }

    #[test]
    fn a_failed_run_is_told_in_its_own_words_with_the_remedy() {
        let said = "FATAL: unable to connect to MySQL server on host 'h', port 1, aborting...\n\
            FATAL: error 1040: Too many connections\n";
        assert_eq!(
            of(&run(said), &end(0x100, "")).unwrap(),
            "sysbench ended with exit code 1: unable to connect to MySQL server on host 'h', \
             port 1, aborting...; error 1040: Too many connections; raise the server's \
             max_connections, or measure with fewer connections"
        );
        assert_eq!(of(&run(""), &end(9, "")).unwrap(), "sysbench was killed by SIGKILL");
        let odd = of(&run(""), &end(0x100, "\ninvalid option: --x\n")).unwrap();
        assert_eq!(odd, "sysbench ended with exit code 1: invalid option: --x");
        let hung = overdue("end within 10 s of its window", &run(""), &end(15, ""));
        assert_eq!(hung, "sysbench did not end within 10 s of its window and was stopped");
    }

    #[test]
    fn a_run_that_ends_well_without_a_report_is_no_measurement() {
        assert!(of(&run(""), &end(0, "")).unwrap().contains("it printed no report"));
        let torn = "Threads started!\nSQL statistics:\n    queries performed:\n";
        assert!(of(&run(torn), &end(0, "")).unwrap().contains("not whole"));
    }
}
