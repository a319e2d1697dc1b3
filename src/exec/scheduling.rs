//! How a load thread stands with the system's scheduler: policy, processors, time taken.
//!
//! Must not know: what a load thread does.

use std::fmt;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::model::OpenLoop;

/// Under which of Linux's policies load threads run. Neither needs a privilege.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadPolicy {
    /// SCHED_BATCH. Where client and server share processors, a thread that is woken for each
    /// reply would push the server off its processor each time. Under this policy it waits for
    /// its turn, and finds more replies when it comes.
    Batch,
    /// SCHED_OTHER, as every other program.
    Normal,
}

impl LoadPolicy {
    /// The policy that serves a loop best. A closed loop wants as much load from as little
    /// processor as there is, and there the wait of one connection is the turn of another. In
    /// an open loop what is due has to be sent when it is due: a thread that gave way would
    /// charge its own wait to the server.
    pub fn of(open_loop: Option<OpenLoop>) -> Self {
        match open_loop {
            None => Self::Batch,
            Some(_) => Self::Normal,
        }
    }

    /// What a load thread that asks for this policy runs under here, by the system's own name.
    /// A sandbox may forbid SCHED_BATCH: the load is as valid as before then, only dearer.
    pub fn in_effect(self) -> String {
        let asked = std::thread::spawn(move || {
            platform::set_policy(self);
            platform::policy_name()
        });
        asked.join().unwrap_or_else(|_| "unknown".to_owned())
    }
}

/// A load thread's wish could not be met.
#[derive(Debug)]
pub(super) struct CannotBind {
    cpus: Vec<u32>,
    why: String,
}

impl fmt::Display for CannotBind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a load thread cannot be bound to processors {:?}: {}", self.cpus, self.why)
    }
}

/// Arranges the calling thread, the n-th of `threads`: with a processor for each of them it gets
/// one of its own, otherwise all share all. No processor named: it stays where it may be.
pub(super) fn arrange(
    policy: LoadPolicy,
    cpus: &[u32],
    (number, threads): (u32, u32),
) -> Result<(), CannotBind> {
    platform::set_policy(policy);
    let own = cpus.get(number as usize).filter(|_| cpus.len() >= threads as usize);
    let cpus = own.map_or(cpus, std::slice::from_ref);
    if cpus.is_empty() {
        return Ok(());
    }
    platform::bind(cpus).map_err(|why| CannotBind { cpus: cpus.to_vec(), why })
}

/// Processor time that the calling thread has taken.
pub(super) fn thread_cpu_time() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

#[cfg(target_os = "linux")]
mod platform {
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::unistd::Pid;
    use preempt_rt::sched::{IntoSchedParams, Scheduler, get_scheduler, set_scheduler};

    use super::LoadPolicy;

    pub(super) fn set_policy(policy: LoadPolicy) {
        let scheduler = match policy {
            LoadPolicy::Batch => Scheduler::SCHED_BATCH,
            LoadPolicy::Normal => Scheduler::SCHED_NORMAL,
        };
        let priority = 0.into_sched_params();
        let _ = set_scheduler(preempt_rt::sched::Pid::current_thread(), scheduler, priority);
    }

    pub(super) fn policy_name() -> String {
        match get_scheduler(preempt_rt::sched::Pid::current_thread()) {
            Ok(Scheduler::SCHED_NORMAL) => "SCHED_OTHER".to_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("unknown ({error})"),
        }
    }

    pub(super) fn bind(cpus: &[u32]) -> Result<(), String> {
        let mut wanted = CpuSet::new();
        let set = cpus.iter().try_for_each(|cpu| wanted.set(*cpu as usize));
        set.and_then(|()| sched_setaffinity(Pid::from_raw(0), &wanted))
            .map_err(|errno| errno.desc().to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::LoadPolicy;

    /// This system has one policy for all.
    pub(super) fn set_policy(_policy: LoadPolicy) {}

    pub(super) fn policy_name() -> String {
        "the system's own".to_owned()
    }

    pub(super) fn bind(_cpus: &[u32]) -> Result<(), String> {
        Err("this system binds no threads".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_in_effect_has_the_systems_name() {
        assert_eq!(LoadPolicy::Batch.in_effect(), "SCHED_BATCH");
        assert_eq!(LoadPolicy::Normal.in_effect(), "SCHED_OTHER");
    }

    #[test]
    fn a_processor_that_is_not_there_is_named() {
        let refused = std::thread::spawn(|| arrange(LoadPolicy::Batch, &[100_000], (0, 1)));
        let words = refused.join().unwrap().unwrap_err().to_string();
        assert!(words.contains("[100000]"), "{words}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_gets_a_processor_of_its_own_where_there_is_one_for_each() {
        use nix::sched::{CpuSet, sched_getaffinity};
        use nix::unistd::Pid;
        let may_use = || {
            let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
            let numbers = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap());
            numbers.map(|cpu| u32::try_from(cpu).unwrap()).collect::<Vec<u32>>()
        };
        let all = may_use();
        let bound = |cpus: &[u32], place| {
            std::thread::scope(|scope| {
                let bound = scope.spawn(|| {
                    arrange(LoadPolicy::Batch, cpus, place).unwrap();
                    may_use()
                });
                bound.join().unwrap()
            })
        };
        let last = *all.last().unwrap();
        assert_eq!(bound(&all, (all.len() as u32 - 1, all.len() as u32)), [last]);
        assert_eq!(bound(&all, (0, all.len() as u32 + 1)), all);
        assert_eq!(bound(&[], (0, 1)), all);
    }
}
