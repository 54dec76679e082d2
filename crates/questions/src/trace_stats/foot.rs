//! Lines below the rows of `dump trace-stats`: the whole trace, its losses, and the cost of
//! tracing.

use etwkit_question::Format::{Fixed, Megabytes, Milliseconds};
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::declare;
use etwkit_question::{Answer, Line};
use etwkit_question::{Result, ask};
use etwkit_sql::Session;

declare! {
    /// Numbers of the whole trace.
    row OfTrace {
        seconds: f64 = "Length of the trace, or of the part that was extracted, in seconds.",
        events: Option<i64> = "Events.",
        record_bytes: Option<i64> = "Bytes of their records.",
        lost_events: i64 = "Events that the recorder lost.",
        lost_buffers: i64 = "Buffers that it lost.",
        silent_seconds: Option<i64> = "Seconds without any event, between the first and the last one.",
        tracing_ns: Option<i64> = "Sampled CPU of code that writes events.",
        cpu_ns: Option<i64> = "Sampled CPU of everything.",
        named: i64 = "Functions with names in the modules that write events.",
    }
}

/// Condition on the stack tags of the code that writes events.
const TRACING: &str = "tag_set = 'default' AND tag LIKE '%ETW%Tracing%'";

/// Condition on the functions whose names show the cost: the kernel and `ntdll.dll` write events.
const NAMED: &str = "lower(module) IN ('ntoskrnl.exe', 'ntkrnlmp.exe', 'ntkrnlpa.exe', 'ntkrpamp.exe', 'ntdll.dll') \
                     AND NOT starts_with(method, '+')";

/// Nouns of a number of events.
const EVENTS: [&str; 2] = ["event", "events"];

/// Adds lines about the whole trace below the rows.
pub(super) fn with_foot(answer: Answer, session: &Session) -> Result<Answer> {
    // Aggregates without groups are one row even if a table is empty, so the joins keep the trace.
    // Sessions of every kind write the events that are counted.
    let length = Covered::whole(Recorder::Any).length();
    let sql = format!(
        "SELECT CAST({length} AS DOUBLE) / 1e9 AS seconds, c.events, c.record_bytes, t.lost_events, t.lost_buffers,
  c.silent_seconds, g.tracing_ns, g.cpu_ns, n.named
FROM trace t
CROSS JOIN (SELECT sum(events) AS events, sum(record_bytes) AS record_bytes,
  max(second) - min(second) + 1 - count(DISTINCT second) AS silent_seconds FROM event_count) c
CROSS JOIN (SELECT coalesce(sum(cpu_ns) FILTER (WHERE {TRACING}), 0) AS tracing_ns, sum(cpu_ns) AS cpu_ns
  FROM cpu_tag WHERE tag_set = 'default') g
CROSS JOIN (SELECT count(*) AS named FROM cpu_method WHERE {NAMED}) n"
    );
    let whole: Vec<OfTrace> = ask(session, &sql)?;
    let Some(whole) = whole.into_iter().next() else {
        return Ok(answer);
    };
    Ok(answer.with_foot(lines(&whole)))
}

fn lines(whole: &OfTrace) -> Vec<Line> {
    // A trace of a single event has no length.
    let per_second = |number: i64| number as f64 / whole.seconds.max(1e-9);
    let mut all = Vec::new();
    if let Some((events, bytes)) = whole.events.zip(whole.record_bytes) {
        let line = Line::new("The trace: ")
            .counted(events, EVENTS)
            .words(", ")
            .value(Megabytes, bytes)
            .words(" MB; ");
        let rate = per_second(bytes) / 1000.0;
        all.push(
            events_a_second(line, per_second(events))
                .words(" and ")
                .value(Fixed(1), rate)
                .words(" kB a second"),
        );
    }
    let lost = Line::new("Lost: ")
        .counted(whole.lost_events, EVENTS)
        .words(", ")
        .counted(whole.lost_buffers, ["buffer", "buffers"]);
    all.push(match whole.silent_seconds {
        Some(silent) => lost.words("; seconds without any event: ").whole(silent),
        None => lost,
    });
    if let Some((cost, cpu)) = whole.tracing_ns.zip(whole.cpu_ns.filter(|cpu| *cpu > 0)) {
        all.push(tracing_cost(cost, cpu, whole.named > 0));
    }
    all
}

/// Adds the number of events in a second. Few ones have a fraction: half an event is not one.
fn events_a_second(line: Line, rate: f64) -> Line {
    if rate < 10.0 {
        line.value(Fixed(2), rate).words(" events")
    } else {
        line.counted(rate.round() as i64, EVENTS)
    }
}

/// Returns the line about the cost of tracing.
fn tracing_cost(cost: i64, cpu: i64, is_named: bool) -> Line {
    let line = Line::new("Tracing cost: ");
    // Code is recognized by its name. Without names, 0 ms would be a claim that nothing supports.
    if cost == 0 && !is_named {
        return line.words("not known, since no function of the kernel or of ntdll.dll has a name");
    }
    let percent = cost as f64 * 100.0 / cpu as f64;
    line.value(Milliseconds, cost)
        .words(" ms of sampled CPU, ")
        .value(Fixed(2), percent)
        .words(" % of all (code that is named)")
}
