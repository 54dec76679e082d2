//! A scheduling slice of a thread, or a wait, clipped to a part of the trace: its values as if the
//! trace had started and ended there.

use super::range::Range;
use crate::schedule::{wait_and_ready, was_preempted, was_waiting};
use crate::table::ContextSwitch;

/// Clips a row to a range and computes its lengths; `None` if nothing of it is in the range. `run`
/// is the time on the processor, as far as it is known.
pub(crate) fn clipped(
    mut row: ContextSwitch,
    run: Option<(i64, i64)>,
    range: Range,
) -> Option<ContextSwitch> {
    // Threads that were off the processors to the end have no run to clip.
    if row.cpu.is_none() {
        return off(row, None, range);
    }
    // A slice without a known run still has the end that was recorded.
    let begin = run.map(|(begin, _)| begin).or(row.in_ns).or(row.out_ns)?;
    let end = run.map(|(_, end)| end).or(row.out_ns).or(row.in_ns)?;
    // Its wait and its run are before the range.
    if end < range.start_ns {
        return None;
    }
    // The thread comes back only after the range, so within it the thread is off.
    if begin > range.end_ns {
        let lengths = lengths(&row, range);
        return off(row, lengths, range);
    }
    if row.in_ns.is_some_and(|ns| ns < range.start_ns) {
        // The thread was running at the start of the range; its wait and the ready event are before
        // it.
        row = ContextSwitch {
            thread_key: row.thread_key,
            process_key: row.process_key,
            cpu: row.cpu,
            out_ns: row.out_ns,
            out_priority: row.out_priority,
            ..ContextSwitch::default()
        };
    }
    // Never negative, even if a damaged trace has the switch-out first.
    row.run_ns = run.map(|(begin, end)| range.clip(end).saturating_sub(range.clip(begin)).max(0));
    row.out_ns = row.out_ns.filter(|ns| *ns <= range.end_ns);
    // Without the switch-out the priority is also dropped: it was read at the switch-out.
    row.out_priority = row.out_priority.filter(|_| row.out_ns.is_some());
    (row.wait_ns, row.ready_ns) = lengths(&row, range).unwrap_or((None, None));
    // The ends of a wait move to the edge of the range, while its length is of the part inside.
    row.last_out_ns = row.last_out_ns.map(|ns| range.clip(ns));
    row.readied_ns = row.readied_ns.map(|ns| range.clip(ns));
    Some(row)
}

/// An unclipped row, in the range in which the thread was switched in and in no other.
pub(crate) fn whole(
    mut row: ContextSwitch,
    run: Option<(i64, i64)>,
    range: Range,
) -> Option<ContextSwitch> {
    // A row is in one range only, so that cuts of neighboring ranges have each row once.
    if !row.in_ns.is_some_and(|ns| range.contains(ns)) {
        return None;
    }
    row.run_ns = run.map(|(begin, end)| end.saturating_sub(begin).max(0));
    (row.wait_ns, row.ready_ns) = lengths(&row, Range::ALL).unwrap_or((None, None));
    Some(row)
}

/// A thread that was off the processors up to the end of the range. `lengths` are known if it
/// returned later.
fn off(mut row: ContextSwitch, lengths: Option<Lengths>, range: Range) -> Option<ContextSwitch> {
    // A thread that left a processor after the range is not off in it.
    let last_out = row.last_out_ns.filter(|ns| *ns <= range.end_ns)?;
    // It was made ready after the range: within it, it still waited.
    if row.readied_ns.is_some_and(|ns| ns > range.end_ns) {
        (
            row.readied_ns,
            row.readying_thread_key,
            row.is_readied_by_dpc,
        ) = (None, None, false);
        row.adjust_reason = None;
    }
    let (wait_ns, ready_ns) = lengths.unwrap_or((None, None));
    Some(ContextSwitch {
        cpu: None,
        last_out_ns: Some(range.clip(last_out)),
        readied_ns: row.readied_ns.map(|ns| range.clip(ns)),
        in_ns: None,
        out_ns: None,
        run_ns: None,
        dpc_isr_ns: None,
        wait_ns,
        ready_ns,
        is_open_wait: state_of(&row).is_some_and(was_waiting) && row.readied_ns.is_none(),
        priority: None,
        out_priority: None,
        prev_c_state: None,
        ..row
    })
}

/// State in which the thread was switched out.
fn state_of(row: &ContextSwitch) -> Option<u8> {
    row.prev_state.and_then(|state| u8::try_from(state).ok())
}

/// Wait and ready time, each if known.
type Lengths = (Option<i64>, Option<i64>);

/// Waiting and ready time in the range of a row with a switch-out and a switch-in.
fn lengths(row: &ContextSwitch, range: Range) -> Option<Lengths> {
    // All points in time are clipped before lengths are computed, so that waits, ready times and
    // runs of a thread add up to the length of the range.
    let out = range.clip(row.last_out_ns?);
    let into = range.clip(row.in_ns?);
    let was_preempted = state_of(row).is_some_and(was_preempted);
    Some(wait_and_ready(
        out,
        row.readied_ns.map(|ns| range.clip(ns)),
        into,
        was_preempted,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits from 10, ready from 20, runs from 25 to 40.
    fn slice() -> ContextSwitch {
        ContextSwitch {
            cpu: Some(1),
            last_out_ns: Some(10),
            readied_ns: Some(20),
            in_ns: Some(25),
            out_ns: Some(40),
            prev_state: Some(5),
            ..ContextSwitch::default()
        }
    }

    /// Wait, ready, run and whether it was switched in.
    type Clipped = (Option<i64>, Option<i64>, Option<i64>, bool);

    fn part(start_ns: i64, end_ns: i64) -> Option<Clipped> {
        let row = clipped(slice(), Some((25, 40)), Range { start_ns, end_ns })?;
        Some((row.wait_ns, row.ready_ns, row.run_ns, row.in_ns.is_some()))
    }

    #[test]
    fn a_range_keeps_of_a_slice_what_lies_in_it() {
        assert_eq!(part(0, 100), Some((Some(10), Some(5), Some(15), true)));
        assert_eq!(part(15, 30), Some((Some(5), Some(5), Some(5), true)));
        assert_eq!(part(22, 24), Some((Some(0), Some(2), None, false)));
        assert_eq!(part(0, 15), Some((Some(5), Some(0), None, false)));
        assert_eq!(part(30, 35), Some((None, None, Some(5), false)));
        assert_eq!((part(41, 50), part(0, 9)), (None, None));
    }

    #[test]
    fn a_slice_that_is_kept_whole_belongs_to_the_range_of_its_switch_in() {
        let kept = |start_ns, end_ns| {
            let row = whole(slice(), Some((25, 40)), Range { start_ns, end_ns })?;
            Some((row.wait_ns, row.ready_ns, row.run_ns, row.out_ns))
        };
        assert_eq!(kept(25, 30), Some((Some(10), Some(5), Some(15), Some(40))));
        assert_eq!((kept(0, 24), kept(26, 100)), (None, None));
        // A thread that was running at the start of the trace has no switch-in.
        let ran = ContextSwitch {
            in_ns: None,
            last_out_ns: None,
            ..slice()
        };
        assert!(
            whole(
                ran,
                Some((0, 40)),
                Range {
                    start_ns: 0,
                    end_ns: 50
                }
            )
            .is_none()
        );
    }

    #[test]
    fn the_parts_of_a_trace_add_up_to_the_whole() {
        let whole = part(0, 100).unwrap();
        let (mut wait, mut ready, mut run) = (0, 0, 0);
        for start in (0..100).step_by(7) {
            if let Some((waited, was_ready, ran, _)) = part(start, start + 7) {
                wait += waited.unwrap_or_default();
                ready += was_ready.unwrap_or_default();
                run += ran.unwrap_or_default();
            }
        }
        assert_eq!(
            (Some(wait), Some(ready), Some(run)),
            (whole.0, whole.1, whole.2)
        );
    }

    #[test]
    fn a_wait_that_goes_on_behind_the_range_is_open_in_it() {
        let row = clipped(
            slice(),
            Some((25, 40)),
            Range {
                start_ns: 0,
                end_ns: 15,
            },
        )
        .unwrap();
        assert_eq!(
            (row.is_open_wait, row.readied_ns, row.cpu),
            (true, None, None)
        );
        let row = clipped(
            slice(),
            Some((25, 40)),
            Range {
                start_ns: 0,
                end_ns: 22,
            },
        )
        .unwrap();
        assert_eq!((row.is_open_wait, row.readied_ns), (false, Some(20)));
    }

    #[test]
    fn a_thread_that_ran_when_the_trace_began_ran_through_the_range() {
        let row = ContextSwitch {
            cpu: Some(0),
            out_ns: Some(90),
            ..ContextSwitch::default()
        };
        let row = clipped(
            row,
            Some((0, 90)),
            Range {
                start_ns: 10,
                end_ns: 30,
            },
        )
        .unwrap();
        assert_eq!((row.run_ns, row.out_ns), (Some(20), None));
    }
}
