//! Trials against a server that does what the test says. Bounds on time are generous: what is
//! asserted is the order of things and the counts, not the speed of the machine.

mod open_loop;
mod scripted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gridbench::exec::{Phase, TrialEvent, TrialSetup, run_trial};
use gridbench::model::{Interrupt, StatementMode, TrialStatus};
use scripted::{Act, Scripted, counts, program, reason, run, setup};

/// A script's condition that holds the first time it is asked.
fn once() -> impl Fn() -> bool {
    let done = AtomicBool::new(false);
    move || !done.swap(true, Ordering::SeqCst)
}

#[test]
fn the_phases_come_in_their_order_and_load_starts_when_all_sessions_stand() {
    let server = Scripted::new(|_| Act::Answer);
    let mut seen = Vec::new();
    let mut early = None;
    let setup = TrialSetup { warmup: Duration::from_millis(100), ..setup(3, 300) };
    let output = run_trial(&server, &setup, &Interrupt::default(), &mut |event| match event {
        TrialEvent::Connected { sessions } => seen.push(format!("{sessions} up")),
        TrialEvent::Interval(interval) => assert!(interval.events > 0),
        TrialEvent::Window { start, end } => {
            seen.push("window told".to_owned());
            assert_eq!(end - start, Duration::from_millis(300));
        }
        TrialEvent::Phase(phase) => {
            if phase == Phase::Warmup {
                early = Some(server.transcripts().iter().map(Vec::len).sum::<usize>());
            }
            seen.push(format!("{phase:?}"));
        }
    });
    let expected = ["Connect", "1 up", "2 up", "3 up", "window told", "Warmup", "Measure", "Drain"];
    assert_eq!(seen, expected);
    assert_eq!(early, Some(3), "three logins and nothing else before the warm-up");
    assert_eq!(output.measurement.status, TrialStatus::Done);
    for transcript in server.transcripts() {
        assert_eq!(transcript.last().unwrap(), "QUIT");
        assert_eq!(transcript[transcript.len() - 2], "COMMIT");
    }
}

#[test]
fn queries_are_events_times_the_statements_of_the_program() {
    let server = Scripted::new(|_| Act::Answer);
    let output = run(&server, &setup(4, 400));
    let m = &output.measurement;
    assert!(m.events > 0);
    assert_eq!(m.queries, 20 * m.events);
    let (read, write, other) = (14 * m.events, 4 * m.events, 2 * m.events);
    assert_eq!((m.queries_read, m.queries_write, m.queries_other), (read, write, other));
    assert_eq!(m.latency.unwrap().count, m.events);
    assert_eq!(output.latency.count(), m.events);
    assert!(m.latency.unwrap().min_us >= 20_000, "twenty answers of a millisecond each");
    assert_eq!((m.measured_us, m.load_threads, m.events_unfinished), (400_000, 2, 0));
    let cpu = (m.client_cpu_us.unwrap(), m.client_cpu_max_us.unwrap());
    assert!(cpu.1 <= cpu.0 && cpu.0 <= 2 * cpu.1, "of two threads: {cpu:?}");
    assert_eq!(m.client_run_delay_us, Some(0));
    assert!(m.timer_lateness_p99_us.unwrap() <= m.timer_lateness_max_us.unwrap());
    assert!(m.client_bound.is_some());
    assert_eq!((m.pace, m.rate_met()), (None, None));
    assert_eq!(m.service.unwrap().count, m.events);
    assert_eq!(output.service.summary(), m.service);
    let points = m.statements.iter().find(|s| s.kind.name() == "point_select").unwrap();
    assert_eq!((points.count, points.errors), (10 * m.events, 0));
    assert!(points.latency.unwrap().min_us >= 1000);
}

#[test]
fn what_was_due_in_the_warmup_is_not_counted() {
    // The only event takes longer than warm-up and window together: it belongs to the warm-up.
    let server = Scripted::new(|seen| match seen.sql {
        "BEGIN" => Act::AnswerAfter(Duration::from_millis(500)),
        _ => Act::Answer,
    });
    let warmup = Duration::from_millis(100);
    let output = run(&server, &TrialSetup { warmup, ..setup(2, 200) });
    assert_eq!((output.measurement.events, output.measurement.queries), (0, 0));
    assert!(output.measurement.statements.iter().all(|kind| kind.count == 0));
    assert!(reason(&output.measurement).contains("no event"));
}

#[test]
fn a_deadlock_is_rolled_back_and_tried_again_within_the_same_sample() {
    let first = once();
    let late = once();
    let server = Scripted::new(move |seen| match seen.sql {
        sql if sql.starts_with("UPDATE") && first() => Act::Refuse(1213, "Deadlock found"),
        "ROLLBACK" if late() => Act::AnswerAfter(Duration::from_millis(300)),
        _ => Act::Answer,
    });
    let m = run(&server, &setup(1, 100)).measurement;
    let transcript = &server.transcripts()[0];
    // LOGIN, BEGIN, ten lookups, four ranges, and the update that fails.
    let refused = 16;
    assert!(transcript[refused].starts_with("UPDATE"));
    assert_eq!(transcript[refused + 1], "ROLLBACK");
    assert_eq!(transcript[refused + 2], "BEGIN");
    assert_ne!(transcript[2], transcript[refused + 3], "the draws are fresh");
    assert_eq!((m.status, m.events), (TrialStatus::Done, 1));
    assert_eq!((m.queries, m.queries_retried), (20, 15));
    assert_eq!(counts(&m.errors), [(1213, 1)]);
    assert_eq!(m.errors[0].message, "Deadlock found");
    assert!(m.latency.unwrap().min_us >= 300_000, "the failed try is part of the sample");
}

#[test]
fn an_event_is_given_up_after_a_hundred_tries() {
    for (deadlocks, retried, errors_of_begin) in [(99, 99, 99), (100, 99, 100)] {
        let left = Mutex::new(deadlocks);
        let server = Scripted::new(move |seen| {
            let mut left = left.lock().unwrap();
            if !seen.sql.starts_with("SELECT") || *left == 0 {
                return Act::Answer;
            }
            *left -= 1;
            Act::Refuse(1205, "Lock wait timeout exceeded")
        });
        let m = run(&server, &setup(1, 1500)).measurement;
        // Of each failed try only BEGIN had been answered; the last one is not tried again.
        assert_eq!(m.queries_retried, retried);
        assert_eq!(counts(&m.errors), [(1205, errors_of_begin)]);
        assert_eq!((m.status, m.queries), (TrialStatus::Done, 20 * m.events));
    }
}

#[test]
fn errors_are_counted_for_each_code_and_the_event_starts_anew() {
    let sent = Arc::new(Mutex::new(BTreeMap::new()));
    let log = sent.clone();
    let server = Scripted::new(move |seen| {
        let code = match seen.sql {
            sql if seen.number % 50 == 9 && sql.starts_with("SELECT") => 1317,
            sql if seen.number % 35 == 2 && sql.starts_with("SELECT") => 3024,
            _ => return Act::Answer,
        };
        *log.lock().unwrap().entry(code).or_insert(0) += 1;
        Act::Refuse(code, "as scripted")
    });
    let m = run(&server, &setup(4, 600)).measurement;
    let sent: Vec<(u16, u64)> = sent.lock().unwrap().iter().map(|(&c, &n)| (c, n)).collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(counts(&m.errors), sent);
    assert_eq!((m.status, m.queries), (TrialStatus::Done, 20 * m.events));
    let refused: u64 = sent.iter().map(|(_, count)| count).sum();
    assert_eq!(m.statements.iter().map(|kind| kind.errors).sum::<u64>(), refused);
    let in_seconds: u64 = m.intervals.iter().map(|interval| interval.errors).sum();
    assert!(in_seconds <= refused && in_seconds + 8 > refused);
    let rollbacks = server.transcripts().iter().flatten().filter(|s| *s == "ROLLBACK").count();
    assert_eq!(rollbacks as u64, refused);
}

#[test]
fn a_server_that_refuses_everything_fails_the_trial_at_once_in_its_own_words() {
    let server = Scripted::new(|seen| match seen.sql {
        sql if sql.starts_with("SELECT") => Act::Refuse(1146, "Table 'sbtest1' doesn't exist"),
        _ => Act::Answer,
    });
    let begin = Instant::now();
    let m = run(&server, &setup(4, 600_000)).measurement;
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert!(reason(&m).contains("1146") && reason(&m).contains("'sbtest1' doesn't exist"));
    assert_eq!(m.events, 0);
    assert!(m.measured_us < 60_000_000);
}

#[test]
fn one_connection_that_fails_does_not_end_the_trial() {
    let server = Scripted::new(|seen| match seen.connection {
        0 if seen.sql != "LOGIN" => Act::Refuse(1290, "read-only"),
        _ => Act::Answer,
    });
    let m = run(&server, &setup(2, 500)).measurement;
    assert_eq!(m.status, TrialStatus::Done);
    assert!(m.events > 0 && m.errors[0].code == 1290 && m.errors[0].count >= 10);
}

#[test]
fn a_lost_connection_is_replaced_and_prepared_again() {
    let mode = StatementMode::Prepared;
    let program = program("oltp_read_only", mode);
    let handles = program.prepared_count();
    let begin = program.prepared().iter().position(|sql| sql == "BEGIN").expect("it is prepared");
    let server = Scripted::new(move |seen| match (seen.connection, seen.number) {
        (0, number) if number == handles + 8 => Act::Lose,
        _ => Act::Answer,
    });
    let m = run(&server, &TrialSetup { program, ..setup(1, 1500) }).measurement;
    let transcripts = server.transcripts();
    assert_eq!(transcripts.len(), 2);
    assert_eq!(transcripts[1][..=handles + 1], transcripts[0][..=handles + 1]);
    assert_eq!(transcripts[1][handles + 1], format!("EXECUTE {begin}"));
    assert_eq!((m.status, m.reconnects), (TrialStatus::Done, 1));
    assert_eq!(counts(&m.errors), [(0, 1)]);
    assert!(m.events > 0);
    assert_eq!(m.queries, 16 * m.events);
}

#[test]
fn a_server_that_is_gone_for_good_fails_the_trial_at_the_end_of_the_window() {
    let server = Scripted::new(|seen| match (seen.connection, seen.number) {
        (0 | 1, 1..100) => Act::Answer,
        _ => Act::Lose,
    });
    let m = run(&server, &setup(2, 1000)).measurement;
    assert!(reason(&m).contains("gone") && reason(&m).contains("reset by peer"));
    assert_eq!((m.reconnects, m.measured_us), (0, 1_000_000));
    assert_eq!(counts(&m.errors), [(0, 2)]);
}

#[test]
fn what_hangs_is_counted_when_the_drain_limit_passes() {
    let server = Scripted::new(|seen| match (seen.connection, seen.number) {
        (0, 40) => Act::Hang,
        _ => Act::Answer,
    });
    let drain_limit = Duration::from_millis(200);
    let begin = Instant::now();
    let m = run(&server, &TrialSetup { drain_limit, ..setup(3, 1000) }).measurement;
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!((m.status, m.events_unfinished), (TrialStatus::Done, 1));
    assert!(m.oldest_unfinished_us.unwrap() > 200_000);
    assert_eq!(m.queries, 20 * m.events);
}

#[test]
fn a_server_that_answers_no_more_fails_the_trial_and_a_slow_one_does_not() {
    let silent = Scripted::new(|seen| match seen.number {
        0..40 => Act::Answer,
        _ => Act::Hang,
    });
    let drain_limit = Duration::from_millis(100);
    let m = run(&silent, &TrialSetup { drain_limit, ..setup(3, 1000) }).measurement;
    let said = reason(&m);
    assert!(said.starts_with("the server did not answer any more from 0."), "{said}");
    assert!(said.ends_with("on; still open 100 ms after it: 3 events"), "{said}");
    assert_eq!((m.events, m.events_unfinished), (3, 3), "what it answered before is kept");
    // Every connection has an event open at the end, none for longer than such an event takes.
    let slow = Scripted::new(|seen| match seen.sql {
        "COMMIT" => Act::AnswerAfter(Duration::from_millis(700)),
        _ => Act::Answer,
    });
    let m = run(&slow, &TrialSetup { drain_limit, ..setup(3, 1000) }).measurement;
    assert_eq!((m.status, m.events_unfinished), (TrialStatus::Done, 3));
}

#[test]
fn a_warm_up_ends_when_the_rate_is_level_and_at_its_limit_otherwise() {
    let level = Scripted::new(|_| Act::Answer);
    let times = |warmup_max, level: f64| TrialSetup {
        warmup: Duration::from_secs(1),
        warmup_max: Duration::from_secs(warmup_max),
        level,
        ..setup(3, 300)
    };
    let warmed = |server: &Scripted, setup: &TrialSetup| {
        let mut windows = Vec::new();
        let begin = Instant::now();
        let output = run_trial(server, setup, &Interrupt::default(), &mut |event| {
            if let TrialEvent::Window { start, end } = event {
                windows.push(start - begin);
                assert_eq!(end - start, Duration::from_millis(300));
            }
        });
        let m = output.measurement;
        assert_eq!(m.status, TrialStatus::Done);
        assert_eq!(m.queries, 20 * m.events);
        assert!((280_000..400_000).contains(&m.measured_us), "{}", m.measured_us);
        assert!(m.events > 0);
        windows
    };
    // Five seconds are the fewest of which a level is told; whatever the rate, 1000 % is level.
    let windows = warmed(&level, &times(60, 10.0));
    assert_eq!(windows.len(), 2, "the limit is told first, then the true one");
    assert!((5.0..12.0).contains(&windows[1].as_secs_f64()), "{windows:?}");
    // Nothing is within nothing of level: the warm-up takes all that it may.
    let windows = warmed(&level, &times(6, -1.0));
    assert_eq!(windows.len(), 1);
    assert!(windows[0].as_secs_f64() >= 6.0, "{windows:?}");
}

#[test]
fn a_server_that_hangs_for_the_whole_window_fails_the_trial_on_time() {
    let server = Scripted::new(|seen| match seen.sql {
        "LOGIN" => Act::Answer,
        _ => Act::Hang,
    });
    let drain_limit = Duration::from_millis(100);
    let begin = Instant::now();
    let m = run(&server, &TrialSetup { drain_limit, ..setup(3, 300) }).measurement;
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert!(reason(&m).contains("still open 100 ms after it: 3 events"), "{}", reason(&m));
    assert_eq!((m.events, m.events_unfinished), (0, 3));
    assert!(m.oldest_unfinished_us.unwrap() >= 400_000);
}

#[test]
fn a_connection_that_cannot_be_made_fails_the_trial_before_anything_is_sent() {
    let server = Scripted::new(|seen| match seen.connection {
        2 => Act::Refuse(1040, "Too many connections"),
        _ => Act::Answer,
    });
    let mut phases = Vec::new();
    let setup = setup(8, 600_000);
    let output = run_trial(&server, &setup, &Interrupt::default(), &mut |event| {
        if let TrialEvent::Phase(phase) = event {
            phases.push(phase);
        }
    });
    assert!(reason(&output.measurement).contains("Too many connections"));
    assert_eq!(phases, [Phase::Connect]);
    assert!(server.transcripts().iter().flatten().all(|sql| sql == "LOGIN"));
    assert_eq!((output.measurement.measured_us, output.measurement.client_cpu_us), (0, None));
}

#[test]
fn a_login_or_a_prepare_that_hangs_fails_the_trial_after_the_limit() {
    for hanging in ["LOGIN", "PREPARE COMMIT"] {
        let server = Scripted::new(move |seen| match seen.sql == hanging {
            true => Act::Hang,
            false => Act::Answer,
        });
        let program = program("oltp_read_only", StatementMode::Prepared);
        let connect_limit = Duration::from_millis(200);
        let begin = Instant::now();
        let m = run(&server, &TrialSetup { program, connect_limit, ..setup(2, 1000) }).measurement;
        assert!(begin.elapsed() < Duration::from_secs(20));
        assert!(reason(&m).contains("longer than 200 ms"), "{}", reason(&m));
    }
}

#[test]
fn an_interrupt_ends_the_trial_in_every_phase() {
    for stop_at in [Phase::Connect, Phase::Warmup, Phase::Measure] {
        let server = Scripted::new(|_| Act::Answer);
        let interrupt = Interrupt::default();
        let setup = TrialSetup {
            warmup: Duration::from_secs(if stop_at == Phase::Measure { 0 } else { 600 }),
            ..setup(4, 600_000)
        };
        let begin = Instant::now();
        let output = run_trial(&server, &setup, &interrupt, &mut |event| {
            if matches!(event, TrialEvent::Phase(phase) if phase == stop_at) {
                interrupt.request();
            }
        });
        assert!(begin.elapsed() < Duration::from_secs(20));
        assert_eq!(output.measurement.status, TrialStatus::Interrupted);
        assert!(output.measurement.measured_us < 20_000_000);
    }
}

#[test]
fn a_trial_that_is_stopped_keeps_the_second_that_it_was_in() {
    let server = Scripted::new(|_| Act::Answer);
    let interrupt = Interrupt::default();
    let begin = Instant::now();
    let m = run_trial(&server, &setup(6, 600_000), &interrupt, &mut |event| {
        if let TrialEvent::Interval(_) = event {
            let pause = Duration::from_millis(1_400).saturating_sub(begin.elapsed());
            std::thread::sleep(pause);
            interrupt.request();
        }
    });
    let m = m.measurement;
    assert_eq!(m.status, TrialStatus::Interrupted);
    let elapsed: Vec<u64> = m.intervals.iter().map(|of| of.elapsed_us).collect();
    assert_eq!(elapsed, [1_000_000, m.measured_us]);
    let events: u64 = m.intervals.iter().map(|of| of.events).sum();
    assert!(m.intervals[1].events > 0 && m.events.abs_diff(events) <= 6, "{} {events}", m.events);
}

#[test]
fn the_same_seed_sends_the_same_statements_on_each_connection() {
    let openings = |seed, load_threads| -> BTreeSet<Vec<String>> {
        let server = Scripted::new(|_| Act::Answer);
        let output = run(&server, &TrialSetup { seed, load_threads, ..setup(4, 500) });
        assert_eq!(output.measurement.status, TrialStatus::Done);
        server.transcripts().into_iter().map(|all| all[..20].to_vec()).collect()
    };
    assert_eq!(openings(7, 1), openings(7, 2));
    assert_eq!(openings(7, 1).len(), 4, "each connection draws its own");
    assert!(openings(7, 1).is_disjoint(&openings(8, 1)));
}

#[test]
fn intervals_cover_the_window_and_sum_to_what_ended_in_it() {
    let server = Scripted::new(|_| Act::Answer);
    let mut shown = Vec::new();
    let setup = setup(6, 2500);
    let output = run_trial(&server, &setup, &Interrupt::default(), &mut |event| {
        if let TrialEvent::Interval(interval) = event {
            shown.push(interval.clone());
        }
    });
    let m = output.measurement;
    assert_eq!(m.intervals, shown);
    let lengths: Vec<(u64, u64)> =
        m.intervals.iter().map(|i| (i.elapsed_us, i.length_us)).collect();
    assert_eq!(lengths, [(1_000_000, 1_000_000), (2_000_000, 1_000_000), (2_500_000, 500_000)]);
    let events: u64 = m.intervals.iter().map(|i| i.events).sum();
    let queries: u64 = m.intervals.iter().map(|i| i.queries).sum();
    // Without warm-up all that ended in the window began in it; six at most ended after it.
    assert!(events <= m.events && m.events <= events + 6);
    assert_eq!(queries, 20 * events);
    assert!(m.intervals.iter().all(|i| i.p95_us.unwrap() >= 20_000));
}

#[test]
fn a_driver_that_panics_fails_the_trial() {
    let server = Scripted::new(|seen| match seen.sql {
        "COMMIT" => Act::Panic,
        _ => Act::Answer,
    });
    let m = run(&server, &setup(2, 1000)).measurement;
    assert!(reason(&m).contains("panicked"));
}

#[test]
fn nothing_to_send_is_a_failure_not_a_hang() {
    let server = Scripted::new(|_| Act::Answer);
    let m = run(&server, &setup(0, 1000)).measurement;
    assert!(reason(&m).contains("nothing to send"));
}
