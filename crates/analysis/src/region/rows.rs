//! Rows of answers, and sums over instances.

use std::collections::HashSet;

use serde::Serialize;

/// One time that a region lasted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegionInstance {
    /// Number of the instance: those of a file of regions and a trace are numbered by their begins.
    pub id: i64,
    /// Number of the instance around it.
    pub parent_id: Option<i64>,
    /// So many instances are around it.
    pub depth: i64,
    /// Name of the region.
    pub region: String,
    /// The name for people, if it has one.
    pub friendly_name: Option<String>,
    /// Its GUID.
    pub region_guid: String,
    /// Name of the instance.
    pub instance: Option<String>,
    /// Begin.
    pub start_ns: i64,
    /// End; missing if it did not end.
    pub stop_ns: Option<i64>,
    /// Length.
    pub duration_ns: Option<i64>,
    /// Process of the event that it began with.
    pub start_process_key: Option<i64>,
    /// Its process id.
    pub start_pid: Option<i64>,
    /// Its name.
    pub start_process: Option<String>,
    /// Thread id of that event.
    pub start_tid: Option<i64>,
    /// Process of the event that it ended with.
    pub stop_process_key: Option<i64>,
    /// Its process id.
    pub stop_pid: Option<i64>,
    /// Its name.
    pub stop_process: Option<String>,
    /// Thread id of that event.
    pub stop_tid: Option<i64>,
    /// Provider of the event that it began with.
    pub provider: Option<String>,
    /// Name of that event.
    pub start_event: Option<String>,
    /// Name of the event that it ended with.
    pub stop_event: Option<String>,
    /// Fields of the event that it began with, as JSON.
    pub start_fields: Option<String>,
    /// Fields of the event that it ended with, as JSON.
    pub stop_fields: Option<String>,
    /// What the file says about the region: `name=value`, with `;` between.
    pub metadata: Option<String>,
}

/// Sums of the instances of a region.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RegionRow {
    /// Name of the region.
    pub region: String,
    /// The name for people, if it has one.
    pub friendly_name: Option<String>,
    /// Its GUID.
    pub region_guid: String,
    /// Regions around it in the file.
    pub depth: i64,
    /// Instances that ended.
    pub count: i64,
    /// Sum of their durations; instances at the same time add up.
    pub duration_ns: i64,
    /// Shortest.
    pub min_duration_ns: Option<i64>,
    /// Longest.
    pub max_duration_ns: Option<i64>,
    /// Mean.
    pub mean_duration_ns: Option<f64>,
    /// Begin of the first one.
    pub first_start_ns: Option<i64>,
    /// End of the last one.
    pub last_stop_ns: Option<i64>,
    /// Distinct names of instances.
    pub names: i64,
    /// Begins without an end, in the whole trace.
    pub open_starts: i64,
    /// Ends without a begin, in the whole trace.
    pub open_stops: i64,
}

/// Sums of instances that ended.
pub(super) fn sum<'i>(instances: impl Iterator<Item = &'i RegionInstance>) -> RegionRow {
    let mut row = RegionRow::default();
    let mut names = HashSet::new();
    for instance in instances {
        let Some((stop, duration)) = instance.stop_ns.zip(instance.duration_ns) else { continue };
        row.count += 1;
        row.duration_ns = row.duration_ns.saturating_add(duration);
        row.min_duration_ns = Some(row.min_duration_ns.map_or(duration, |min| min.min(duration)));
        row.max_duration_ns = row.max_duration_ns.max(Some(duration));
        let first = row.first_start_ns.map_or(instance.start_ns, |first| first.min(instance.start_ns));
        row.first_start_ns = Some(first);
        row.last_stop_ns = row.last_stop_ns.max(Some(stop));
        names.extend(instance.instance.as_deref());
    }
    row.names = names.len() as i64;
    row.mean_duration_ns = (row.count > 0).then(|| row.duration_ns as f64 / row.count as f64);
    row
}
