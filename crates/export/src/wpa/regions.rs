//! Regions of interest as SQL tables: their instances, and the activities of threads derived from
//! them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use etwkit_analysis::region::RegionInstance;
use etwkit_sql::literal::quoted;
use etwkit_terminal::errors::advised;

/// The table of instances.
pub(crate) const TABLE: &str = "region";

/// Start of joins with the table of activities.
pub(crate) const ACTIVITY_JOIN: &str = "JOIN activity ";

/// Largest number of instances that become rows of SQL text.
const MAX_INSTANCES: usize = 10_000;

/// Columns of [`TABLE`] with their types.
const COLUMNS: [(&str, &str); 14] = [
    ("region", "VARCHAR"),
    ("friendly_name", "VARCHAR"),
    ("region_guid", "VARCHAR"),
    ("instance", "VARCHAR"),
    ("provider", "VARCHAR"),
    ("start_event", "VARCHAR"),
    ("start_process", "VARCHAR"),
    ("start_process_name", "VARCHAR"),
    ("stop_process", "VARCHAR"),
    ("stop_process_name", "VARCHAR"),
    ("fields", "VARCHAR"),
    ("start_tid", "BIGINT"),
    ("stop_tid", "BIGINT"),
    ("start_ns", "BIGINT"),
];

/// Columns of the table `activity`.
const ACTIVITY: [(&str, &str); 5] = [
    ("process_key", "INTEGER"),
    ("tid", "INTEGER"),
    ("start_ns", "BIGINT"),
    ("stop_ns", "BIGINT"),
    ("name", "VARCHAR"),
];

/// Returns the definitions of both tables, each followed by a comma.
///
/// # Errors
/// There are too many instances.
pub(crate) fn tables(instances: &[RegionInstance]) -> Result<String> {
    if instances.len() > MAX_INSTANCES {
        let text = format!(
            "the file of regions has {} instances in this trace",
            instances.len()
        );
        return Err(advised(
            text,
            format!("choose regions with fewer: at most {MAX_INSTANCES} can be written"),
        ));
    }
    let mut columns = COLUMNS.to_vec();
    columns.push(("stop_ns", "BIGINT"));
    let rows: Vec<Vec<String>> = instances.iter().map(row).collect();
    // Only for the join of activities; regions themselves are rows of the first table.
    let activity: Vec<Vec<String>> = segments(instances).iter().map(Segment::row).collect();
    Ok(table(TABLE, &columns, &rows) + &table("activity", &ACTIVITY, &activity))
}

fn table(name: &str, columns: &[(&str, &str)], rows: &[Vec<String>]) -> String {
    // Types are stated, since a column with only `NULL`, or with numbers in some rows, would get a
    // type that joins and sums cannot use.
    let casts: Vec<String> = (1..)
        .zip(columns)
        .map(|(n, (name, kind))| format!("CAST(column{n} AS {kind}) AS {name}"))
        .collect();
    // `VALUES` needs a row; an empty table has one that no condition lets through.
    let none = [vec!["NULL".to_owned(); columns.len()]];
    let (rows, condition) = if rows.is_empty() {
        (&none[..], "\nWHERE false")
    } else {
        (rows, "")
    };
    let rows: Vec<String> = rows
        .iter()
        .map(|row| format!("({})", row.join(", ")))
        .collect();
    let mut sql = String::new();
    // Writing into a string does not fail.
    let _ = writeln!(
        sql,
        "{name} AS (SELECT {} FROM (VALUES {}) AS made{condition}),",
        casts.join(", "),
        rows.join(", ")
    );
    sql
}

fn row(of: &RegionInstance) -> Vec<String> {
    let process = |name: &Option<String>, pid: Option<i64>| {
        let name = name.as_deref().unwrap_or("Unknown");
        pid.map_or_else(|| "Unknown".to_owned(), |pid| format!("{name} ({pid})"))
    };
    let text = |text: Option<&str>| text.map_or_else(|| "NULL".to_owned(), quoted);
    let number =
        |number: Option<i64>| number.map_or_else(|| "NULL".to_owned(), |number| number.to_string());
    vec![
        text(Some(&of.region)),
        text(of.friendly_name.as_deref()),
        text(Some(&of.region_guid)),
        text(of.instance.as_deref()),
        text(of.provider.as_deref()),
        text(of.start_event.as_deref()),
        text(Some(&process(&of.start_process, of.start_pid))),
        text(Some(of.start_process.as_deref().unwrap_or("Unknown"))),
        text(Some(&process(&of.stop_process, of.stop_pid))),
        text(Some(of.stop_process.as_deref().unwrap_or("Unknown"))),
        text(of.start_fields.as_deref()),
        number(of.start_tid),
        number(of.stop_tid),
        number(Some(of.start_ns)),
        number(of.stop_ns),
    ]
}

/// A stretch of time in which a thread has one activity, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    process_key: i64,
    tid: i64,
    start_ns: i64,
    stop_ns: i64,
    name: Option<String>,
}

impl Segment {
    fn row(&self) -> Vec<String> {
        let name = self
            .name
            .as_deref()
            .map_or_else(|| "NULL".to_owned(), quoted);
        let numbers = [self.process_key, self.tid, self.start_ns, self.stop_ns];
        numbers.iter().map(i64::to_string).chain([name]).collect()
    }
}

/// Distance of moments long before and after every trace, in nanoseconds.
const EDGE: i64 = 4_000_000_000_000_000_000;

/// Splits all of the time of each thread that started and ended an instance into segments: at each
/// moment it has the activity of the last started instance that has not ended.
fn segments(instances: &[RegionInstance]) -> Vec<Segment> {
    let mut threads: BTreeMap<(i64, i64), Vec<&RegionInstance>> = BTreeMap::new();
    for of in instances {
        // Only an instance that starts and ends on one thread describes the activity of that
        // thread.
        let is_of_thread =
            of.start_process_key == of.stop_process_key && of.start_tid == of.stop_tid;
        if let (true, Some(process), Some(tid), Some(_)) =
            (is_of_thread, of.start_process_key, of.start_tid, of.stop_ns)
        {
            threads.entry((process, tid)).or_default().push(of);
        }
    }
    let mut all = Vec::new();
    for ((process_key, tid), of) in threads {
        let mut ends: Vec<i64> = of
            .iter()
            .flat_map(|of| [Some(of.start_ns), of.stop_ns])
            .flatten()
            .collect();
        // Segments cover all of time, so that a row at any time meets exactly one, and joins
        // neither lose nor duplicate rows.
        ends.extend([-EDGE, EDGE]);
        ends.sort_unstable();
        ends.dedup();
        for pair in ends.windows(2) {
            let [start_ns, stop_ns] = *pair else { continue };
            let open = of
                .iter()
                .filter(|of| of.start_ns <= start_ns && of.stop_ns.is_some_and(|s| s >= stop_ns));
            // The last started instance is the innermost one; between two that started together the
            // number decides.
            let last = open.max_by_key(|of| (of.start_ns, of.id));
            let name = last.map(|of| of.instance.clone().unwrap_or_else(|| of.region.clone()));
            all.push(Segment {
                process_key,
                tid,
                start_ns,
                stop_ns,
                name,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(id: i64, tid: i64, start_ns: i64, stop_ns: i64) -> RegionInstance {
        RegionInstance {
            id,
            region: format!("R{id}"),
            start_ns,
            stop_ns: Some(stop_ns),
            start_process_key: Some(1),
            stop_process_key: Some(1),
            start_tid: Some(tid),
            stop_tid: Some(tid),
            ..RegionInstance::default()
        }
    }

    #[test]
    fn a_thread_does_what_it_began_last() {
        let all = segments(&[instance(0, 7, 10, 50), instance(1, 7, 20, 30)]);
        let segments: Vec<(i64, i64, Option<&str>)> = all
            .iter()
            .map(|s| (s.start_ns, s.stop_ns, s.name.as_deref()))
            .collect();
        let (outer, inner) = (Some("R0"), Some("R1"));
        let expected = [
            (-EDGE, 10, None),
            (10, 20, outer),
            (20, 30, inner),
            (30, 50, outer),
            (50, EDGE, None),
        ];
        assert_eq!(segments, expected);
    }

    #[test]
    fn what_ends_on_another_thread_is_the_activity_of_none() {
        let other = RegionInstance {
            stop_tid: Some(8),
            ..instance(0, 7, 10, 50)
        };
        assert_eq!(segments(&[other]), []);
    }
}
