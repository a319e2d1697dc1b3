//! The open loop: events are due by the clock, whatever the server makes of them.

use std::time::{Duration, Instant};

use gridbench::exec::{LoadPolicy, TrialSetup};
use gridbench::model::{Arrivals, MilliRate, OpenLoop, Pace, StatementMode, TrialStatus};

use crate::scripted::{Act, Scripted, program, reason, run, setup};

/// One statement an event, an event each 1/rate seconds, on one thread.
fn open(connections: u32, per_second: u64, duration_ms: u64) -> TrialSetup {
    let open = OpenLoop { rate: MilliRate(per_second * 1_000), arrivals: Arrivals::Fixed };
    TrialSetup {
        program: program("oltp_point_select", StatementMode::Text),
        open_loop: Some(open),
        policy: LoadPolicy::of(Some(open)),
        load_threads: 1,
        ..setup(connections, duration_ms)
    }
}

#[test]
fn each_event_of_the_schedule_is_sent_once_or_counted_as_dropped() {
    for load_threads in [1, 3] {
        let server = Scripted::new(|_| Act::Answer);
        let m = run(&server, &TrialSetup { load_threads, ..open(64, 500, 2_000) }).measurement;
        assert_eq!(m.status, TrialStatus::Done);
        let pace = m.pace.unwrap();
        // What waits when the window ends is dropped. A machine that stands still, as virtual ones
        // do for seconds, leaves that much to wait, and the threads' own timer tells for how long.
        let stood_still_us = m.timer_lateness_max_us.unwrap();
        let excused = 20 + 500 * stood_still_us / 1_000_000;
        assert!(pace.events_dropped <= excused, "{pace:?}, {stood_still_us} us");
        assert_eq!((pace.events_due, m.events + pace.events_dropped), (1_000, 1_000));
        assert_eq!((m.queries, m.events_unfinished), (m.events, 0));
        assert!(m.events > 0);
        let sent = server.transcripts().iter().flatten().filter(|s| s.starts_with("SEL")).count();
        assert_eq!(sent as u64, m.events);
    }
}

#[test]
fn the_connections_take_turns() {
    let server = Scripted::new(|_| Act::AnswerAfter(Duration::ZERO));
    run(&server, &open(10, 1_000, 1_000));
    for transcript in server.transcripts() {
        let sent = transcript.iter().filter(|sql| sql.starts_with("SELECT")).count();
        assert!((60..=140).contains(&sent), "{sent} of 1000 on one of ten connections");
    }
}

#[test]
fn a_poisson_schedule_holds_its_rate_over_the_whole_and_repeats_with_the_seed() {
    let setup = open(64, 500, 2_000);
    let poisson = OpenLoop { arrivals: Arrivals::Poisson, ..setup.open_loop.unwrap() };
    let due = |seed| {
        let server = Scripted::new(|_| Act::Answer);
        let open_loop = Some(poisson);
        let m = run(&server, &TrialSetup { open_loop, seed, ..setup.clone() }).measurement;
        let pace = m.pace.unwrap();
        assert_eq!(m.events + pace.events_dropped, pace.events_due);
        pace.events_due
    };
    // The mean is 1,000, its standard deviation 32.
    assert!((800..=1_200).contains(&due(7)));
    assert_eq!(due(7), due(7));
    assert_ne!([due(7), due(8), due(9)], [due(7); 3]);
}

#[test]
fn an_event_that_waits_for_a_connection_counts_the_wait_as_response_time() {
    // Each tenth of a second an event is due, and the first one takes half a second.
    let server = Scripted::new(|seen| match seen.number {
        2 => Act::AnswerAfter(Duration::from_millis(500)),
        _ => Act::Answer,
    });
    let output = run(&server, &open(1, 10, 1_000));
    let m = &output.measurement;
    let pace = m.pace.unwrap();
    assert_eq!((pace.events_due, m.events + pace.events_dropped), (10, 10));
    // Waits of about 400, 300, 200 and 100 ms, and a service time of a millisecond or two.
    for (percentile, at_least_us) in [(90.0, 400_000), (80.0, 300_000), (70.0, 200_000)] {
        let response = output.latency.percentile_us(percentile).unwrap();
        assert!(response >= at_least_us, "{percentile}: {response}");
    }
    let slow = output.service.percentile_us(100.0).unwrap();
    assert!(slow >= 500_000);
    assert!(output.service.percentile_us(80.0).unwrap() < 100_000);
}

#[test]
fn a_rate_that_the_server_cannot_serve_is_reported_as_not_met_and_nothing_aborts() {
    let server = Scripted::new(|_| Act::AnswerAfter(Duration::from_millis(20)));
    let begin = Instant::now();
    let m = run(&server, &open(4, 1_000, 1_000)).measurement;
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!((m.status.clone(), m.rate_met()), (TrialStatus::Done, Some(false)));
    let pace = m.pace.unwrap();
    assert_eq!(pace.events_due, 1_000);
    assert_eq!(pace.events_dropped, 1_000 - m.events, "what nobody started is counted");
    assert!(m.events <= 204, "four connections, 20 ms each: {}", m.events);
    assert!(m.latency.unwrap().max_us > 500_000, "who was served late waited long");
}

#[test]
fn a_warm_up_that_is_too_slow_leaves_the_window_to_its_own_events() {
    let server = Scripted::new(|_| Act::AnswerAfter(Duration::from_millis(20)));
    let warmup = Duration::from_millis(500);
    let m = run(&server, &TrialSetup { warmup, ..open(1, 1_000, 300) }).measurement;
    assert_eq!((m.status.clone(), m.rate_met()), (TrialStatus::Done, Some(false)));
    assert!(m.events >= 1);
    assert!(m.latency.unwrap().max_us < 500_000 + 300_000);
}

#[test]
fn gaps_far_below_a_millisecond_are_met() {
    // Timers of whole milliseconds make the median event half a millisecond late, always; a
    // busy machine only now and then.
    let mut late = Vec::new();
    while late.len() < 50 {
        let server = Scripted::new(|_| Act::AnswerAfter(Duration::ZERO));
        let m = run(&server, &open(32, 5_000, 200)).measurement;
        assert_eq!(m.pace.unwrap().events_due, 1_000);
        late.push(m.latency.unwrap().p50_us - m.service.unwrap().p50_us);
        if late.last().is_some_and(|late| *late < 250) {
            return;
        }
    }
    panic!("microseconds late, in each of the tries: {late:?}");
}

#[test]
fn a_connection_that_is_lost_leaves_its_events_to_the_others() {
    let server = Scripted::new(|seen| match (seen.connection, seen.number) {
        (0, 5) => Act::Lose,
        (number, 1) if number >= 4 => Act::AnswerAfter(Duration::from_millis(300)),
        _ => Act::Answer,
    });
    let m = run(&server, &open(4, 200, 1_000)).measurement;
    let pace = m.pace.unwrap();
    assert_eq!((pace.events_due, m.reconnects, m.errors.len()), (200, 1, 1));
    // The one that was under way is lost; the end of the window may cut off a few.
    assert_eq!(m.events + pace.events_dropped, 199);
    assert!(m.events > 150, "in the 300 ms that it took to connect, others served");
}

#[test]
fn a_server_that_hangs_fails_an_open_loop_on_time_too() {
    let server = Scripted::new(|seen| match seen.sql {
        "LOGIN" => Act::Answer,
        _ => Act::Hang,
    });
    let drain_limit = Duration::from_millis(100);
    let begin = Instant::now();
    let m = run(&server, &TrialSetup { drain_limit, ..open(3, 100, 300) }).measurement;
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert!(reason(&m).contains("still open 100 ms after it: 3 events"), "{}", reason(&m));
    assert_eq!(m.pace, Some(Pace { events_due: 30, events_dropped: 27 }));
    assert!(m.oldest_unfinished_us.unwrap() >= 390_000);
}

#[test]
fn a_rate_too_low_for_the_window_says_so() {
    let server = Scripted::new(|_| Act::Answer);
    let slow = OpenLoop { rate: MilliRate(1), arrivals: Arrivals::Fixed };
    let warmup = Duration::from_millis(50);
    let setup = TrialSetup { open_loop: Some(slow), warmup, ..open(2, 1, 200) };
    let m = run(&server, &setup).measurement;
    assert!(reason(&m).contains("no event was due"), "{}", reason(&m));
}
