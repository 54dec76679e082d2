//! Rows of answers, and sums over instances.

use std::collections::HashSet;

etwkit_question::declare! {
    /// One occurrence of a region.
    pub row RegionInstance {
        id: i64 =
            "Number of the instance: all instances of a file of regions in a trace, in the order of their starts.",
        parent_id: Option<i64> = "Number of the instance around it.",
        depth: i64 = "Number of instances around it.",
        region: String = "Name of the region.",
        friendly_name: Option<String> = "Its friendly name, if it has one.",
        region_guid: String = "Its GUID.",
        instance: Option<String> = "Name of the instance.",
        start_ns: i64 = "Start.",
        stop_ns: Option<i64> = "End; missing if it did not end.",
        duration_ns: Option<i64> = "Length.",
        start_process_key: Option<i64> = "Process of the event that it started with.",
        start_pid: Option<i64> = "Its process id.",
        start_process: Option<String> = "Its name.",
        start_tid: Option<i64> = "Thread id of that event.",
        stop_process_key: Option<i64> = "Process of the event that it ended with.",
        stop_pid: Option<i64> = "Its process id.",
        stop_process: Option<String> = "Its name.",
        stop_tid: Option<i64> = "Thread id of that event.",
        provider: Option<String> = "Provider of the event that it started with.",
        start_event: Option<String> = "Name of that event.",
        stop_event: Option<String> = "Name of the event that it ended with.",
        start_fields: Option<String> = "Fields of the event that it started with, as JSON.",
        stop_fields: Option<String> = "Fields of the event that it ended with, as JSON.",
        metadata: Option<String> = "What the file says about the region: `name=value`, separated by `;`.",
    }

    /// Sums of the instances of a region.
    pub row RegionRow {
        region: String = "Name of the region.",
        friendly_name: Option<String> = "Its friendly name, if it has one.",
        region_guid: String = "Its GUID.",
        depth: i64 = "Number of regions around it in the file.",
        count: i64 = "Instances that ended.",
        duration_ns: i64 = "Sum of their durations; instances at the same time add up.",
        min_duration_ns: Option<i64> = "Shortest.",
        max_duration_ns: Option<i64> = "Longest.",
        mean_duration_ns: Option<f64> = "Mean.",
        first_start_ns: Option<i64> = "Start of the first one.",
        last_stop_ns: Option<i64> = "End of the last one.",
        names: i64 = "Distinct names of instances.",
        open_starts: i64 = "Starts without an end, in the whole trace.",
        open_stops: i64 = "Ends without a start, in the whole trace.",
    }
}

/// Returns the sums of instances that ended.
pub(super) fn sum<'i>(instances: impl Iterator<Item = &'i RegionInstance>) -> RegionRow {
    let mut row = RegionRow::default();
    let mut names = HashSet::new();
    for instance in instances {
        // What did not end has no length, and is counted as an open start instead.
        let Some((stop, duration)) = instance.stop_ns.zip(instance.duration_ns) else {
            continue;
        };
        row.count += 1;
        row.duration_ns = row.duration_ns.saturating_add(duration);
        row.min_duration_ns = Some(
            row.min_duration_ns
                .map_or(duration, |min| min.min(duration)),
        );
        row.max_duration_ns = row.max_duration_ns.max(Some(duration));
        let first = row
            .first_start_ns
            .map_or(instance.start_ns, |first| first.min(instance.start_ns));
        row.first_start_ns = Some(first);
        row.last_stop_ns = row.last_stop_ns.max(Some(stop));
        names.extend(instance.instance.as_deref());
    }
    row.names = names.len() as i64;
    // Of no instance there is no mean, and 0 would look like a very short one.
    row.mean_duration_ns = (row.count > 0).then(|| row.duration_ns as f64 / row.count as f64);
    row
}
