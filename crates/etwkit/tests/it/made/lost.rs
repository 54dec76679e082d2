//! Traces that lack buffers, or end inside one.

use std::collections::BTreeSet;

use serde_json::json;

use super::{SLACK_US, Trace, agree, check, counts};

fn check_survivors(trace: &Trace) -> usize {
    let samples = || trace.all("PerfInfo/SampleProf");
    let switches = super::sched::switches(trace);
    let file = &trace.input.session().files()[0];
    let ours = json!({
        "header_buffers_lost": file.header().buffers_lost,
        "header_events_lost": file.header().events_lost,
        "intact_buffers": file.buffers().iter().filter(|buffer| !buffer.is_truncated()).count(),
        "surviving_events": trace.events.len(),
        "surviving_samples_by_core": counts(samples().map(|event| event.cpu)),
        "surviving_samples_by_process": counts(samples().map(|event| trace.owner(event))),
        "surviving_switches_by_cpu": counts(switches.map(|event| event.cpu)),
        "file_cut": trace.damaged,
    });
    let analysis = [
        "after_gap_busy",
        "complete_until_us",
        "complete_until_all_us",
        "gap",
    ];
    agree(
        &format!("{}/lost", trace.name),
        &super::without(&trace.truth["lost"], &analysis),
        &ours,
    )
}

/// No event of the processor lies in the gap, the buffers around it say so.
fn check_gap(trace: &Trace) -> usize {
    let (gap, cpu) = (
        &trace.truth["lost"]["gap"],
        trace.truth["lost"]["gap"]["cpu"].as_u64().unwrap_or(0) as u16,
    );
    let counts = trace.input.session().files()[0].buffer_counts();
    if gap.is_null() {
        assert_eq!((counts.events_lost, counts.buffer_lost), (0, 0));
        return 2;
    }
    let of_cpu: Vec<f64> = trace
        .events
        .iter()
        .filter(|event| event.cpu == cpu)
        .map(|event| event.us)
        .collect();
    let (from, to) = (
        gap["from_us"].as_f64().unwrap(),
        gap["to_us"].as_f64().unwrap(),
    );
    let before = of_cpu
        .iter()
        .copied()
        .filter(|us| *us < from + SLACK_US)
        .fold(0.0, f64::max);
    let after = of_cpu
        .iter()
        .copied()
        .filter(|us| *us >= from + SLACK_US)
        .fold(f64::MAX, f64::min);
    assert!(
        counts.events_lost + counts.buffer_lost > 0,
        "no buffer reports the gap"
    );
    agree(
        &format!("{}/gap", trace.name),
        &json!([from, to]),
        &json!([before, after]),
    )
}

/// The whole buffers of a processor end before its first lost event, what the cut buffer still holds lies
/// behind.
fn check_ends(trace: &Trace) -> usize {
    if trace.truth["lost"]["file_cut"] == false {
        assert!(trace.beyond.is_empty());
        return 0;
    }
    let until = trace.truth["lost"]["complete_until_us"]
        .as_object()
        .unwrap();
    let until = |cpu: u16| until[&cpu.to_string()].as_f64().unwrap();
    for event in &trace.events {
        assert!(
            event.us <= until(event.cpu) + SLACK_US,
            "{} at {} on {}",
            event.name,
            event.us,
            event.cpu
        );
    }
    for event in &trace.beyond {
        assert!(
            event.us >= until(event.cpu) - SLACK_US,
            "{} at {} on {}",
            event.name,
            event.us,
            event.cpu
        );
    }
    let cpus: BTreeSet<u16> = trace.beyond.iter().map(|event| event.cpu).collect();
    assert!(
        cpus.len() <= 1,
        "one buffer is cut, but there are events of {cpus:?}"
    );
    eprintln!(
        "{}: {} events in the buffer that is cut",
        trace.name,
        trace.beyond.len()
    );
    trace.truth["lost"]["complete_until_us"]
        .as_object()
        .unwrap()
        .len()
}

#[test]
fn what_is_left_of_damaged_traces() {
    check(&["lost"], |trace| {
        let limit = trace.truth["before_damage"]["limit_us"].as_f64().unwrap();
        check_survivors(trace)
            + check_gap(trace)
            + check_ends(trace)
            + super::sched::check_switches(trace, "/before_damage/sched", limit)
    });
}
