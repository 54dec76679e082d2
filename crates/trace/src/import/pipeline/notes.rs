//! Notes about an import, for readers of the numbers.

use etwkit_etl::clock::Clock;

use super::collect::Collected;
use super::line::Attached;
use crate::directory::Directory;
use crate::health::{self, diagnostic};
use crate::table::Diagnostic;

/// The note about addresses of code that .NET runtimes compiled and did not list.
pub(crate) fn not_listed(addresses: u64) -> Option<Diagnostic> {
    diagnostic(
        "info",
        "jit_without_rundown",
        addresses,
        "addresses of jitted code that have no name: no rundown",
    )
}

/// Counts of problems that no row shows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Notes {
    /// References to stacks that are defined nowhere.
    pub(crate) unknown_keys: u64,
    /// Number of objects that were not followed because too many existed at the same time.
    pub(crate) not_followed: u64,
    /// Pauses of .NET programs for collections that are not in the trace.
    pub(crate) pauses: u64,
    /// Threads that belong to no process that is known.
    pub(crate) unknown_threads: u64,
    /// Events that nothing describes.
    pub(crate) not_described: u64,
    /// Events that ended before their last field.
    pub(crate) incomplete: u64,
    /// Events that were counted without their kind.
    pub(crate) kinds_together: u64,
}

impl Notes {
    /// The rows of `diagnostic`. Counts of zero have no row.
    pub(crate) fn diagnostics(
        self,
        collected: &Collected,
        attached: Attached,
        clock: &Clock,
    ) -> Vec<Diagnostic> {
        let notes = [
            (
                "warning",
                "gap",
                gaps(&collected.directory),
                "stretches of time in which events of a processor are missing: the waits of threads \
                 and service times of disks in that time are not known, and not counted",
            ),
            (
                "info",
                "switch_stack_by_thread",
                attached.switches_by_thread,
                "stacks of context switches that were found by time and thread",
            ),
            (
                "info",
                "switch_stack_by_processor",
                attached.switches_by_processor,
                "stacks of context switches that name another thread than the one that came: found by time and \
                 processor, where only one switch matches",
            ),
            (
                "info",
                "stack_without_event",
                attached.unattached - attached.late,
                "stacks whose event is in no table that shows stacks",
            ),
            (
                "warning",
                "stack_too_late",
                attached.late,
                "stacks that came when the rows of their time had been written, because too many rows waited for \
                 stacks: events may lack them",
            ),
            (
                "info",
                "stack_key_unknown",
                self.unknown_keys,
                "events whose stack is defined nowhere in the trace",
            ),
            (
                "warning",
                "stack_key_dropped",
                collected.directory.dropped_definitions,
                "definitions of stacks that were not kept, because there are too many for a file of this size: \
                 events lack these stacks",
            ),
            (
                "warning",
                "object_not_followed",
                self.not_followed,
                "handles, objects, mapped files, commits or locks that were not followed, because too many \
                 existed at the same time",
            ),
            (
                "warning",
                "il_map_dropped",
                collected.dropped_maps,
                "maps of .NET code to lines that were not kept, because there are too many: frames may lack \
                 their lines",
            ),
            (
                "info",
                "pause_without_collection",
                self.pauses,
                "pauses of .NET programs for collections that are not in the trace: no row of gc has them",
            ),
            (
                "info",
                "thread_by_other_events",
                collected.directory.threads.derived(),
                "threads that no thread event describes: stacks and headers of other events name their process",
            ),
            (
                "info",
                "thread_without_process",
                self.unknown_threads,
                "threads of which no event names the process: their rows belong to none",
            ),
            (
                "info",
                "event_not_described",
                self.not_described,
                if collected.is_of_sequence {
                    "events whose layout is not known: they are kept as bytes. This recording wrote a sequence \
                     of files, and another one may describe them: name all of them with --one-session"
                } else {
                    "events whose layout is not known: they are kept as bytes"
                },
            ),
            (
                "info",
                "event_incomplete",
                self.incomplete,
                "events that ended before their last field",
            ),
            (
                "warning",
                "event_kinds_together",
                self.kinds_together,
                "events of kinds that event_count counts in one row, because there are too many kinds",
            ),
        ];
        let counted = notes
            .into_iter()
            .filter_map(|(s, kind, n, text)| diagnostic(s, kind, n, text));
        let ring = health::ring_start(collected.directory.complete_since, clock)
            .and_then(|text| diagnostic("warning", "ring_start", 1, &text));
        let disagreement = collected.processors.disagreement();
        let told = disagreement
            .iter()
            .map(|text| ("processors_disagree", text))
            .chain(
                collected
                    .parts
                    .iter()
                    .map(|text| ("part_of_recording", text)),
            )
            .filter_map(|(kind, text)| diagnostic("info", kind, 1, text));
        counted.chain(ring).chain(told).collect()
    }
}

/// Number of gaps, except for those before the first events in a ring of buffers.
fn gaps(directory: &Directory) -> u64 {
    let is_before_ring = |end: i64| directory.complete_since.is_some_and(|since| end <= since);
    let gaps = directory.gaps.iter();
    gaps.filter(|gap| gap.begin != i64::MIN || !is_before_ring(gap.end))
        .count() as u64
}
