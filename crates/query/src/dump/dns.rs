//! DNS queries by name.

use std::collections::{BTreeSet, HashMap};

use super::group::Top;
use super::sql::{PROCESS_COLUMNS, ProcessQuery, filtered, range_condition, text_condition};
use super::{Error, Result, ask, has_rows};
use crate::Session;
use crate::range::Range;
use crate::win32_error::win32_error_name;

/// What the total time of several queries is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DnsTotalBy {
    /// The time in which at least one of them was under way.
    #[default]
    Union,
    /// The longest of them. ETWAnalyzer prints this as time without overlaps.
    Longest,
    /// The sum of their durations.
    Sum,
}

/// Orders of names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DnsSort {
    /// Total time.
    #[default]
    Time,
    /// Queries.
    Count,
}

/// Which queries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DnsRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Which names: a filter on text.
    pub query: Option<String>,
    /// Only queries of such a duration, in nanoseconds; one that was not answered has 0.
    pub time: Range,
    /// Only names with such a total time, in nanoseconds.
    pub total_time: Range,
    /// What total time is.
    pub total_by: DnsTotalBy,
    /// Order.
    pub sort: DnsSort,
    /// How many of the largest names.
    pub top: Top,
}

rows! {
    /// All queries for a name.
    pub struct DnsRow {
        /// Name in lower case.
        name: String,
        /// Total time, as it is asked for.
        total_ns: i64,
        /// Time in which at least one query was under way.
        union_ns: i64,
        /// Sum of the durations.
        sum_ns: i64,
        /// Shortest query.
        min_ns: Option<i64>,
        /// Longest query.
        max_ns: Option<i64>,
        /// Queries with start and answer.
        count: i64,
        /// Those of them during which a server did not answer in time.
        timed_out: i64,
        /// Queries without an answer in the trace.
        unanswered: i64,
        /// Answers without a start in the trace.
        unstarted: i64,
        /// Processes that asked.
        processes: i64,
        /// Distinct Win32 errors of the answers, without 0, ascending, with commas between.
        statuses: Option<String>,
        /// Their names, with `;` between. Invalid parameters (87) are left out.
        return_codes: Option<String>,
        /// Distinct adapters, with `;` between.
        adapters: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// A single query.
    pub struct DnsQueryRow {
        /// Process.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Thread that asked.
        tid: Option<i64>,
        /// Name as it was asked for.
        name: String,
        /// Type of resource record.
        query_type: i64,
        /// Start, if in the trace.
        start_ns: Option<i64>,
        /// Answer, if in the trace.
        end_ns: Option<i64>,
        /// Time between.
        duration_ns: Option<i64>,
        /// Win32 error of the answer.
        status: Option<i64>,
        /// Its name.
        status_name: Option<String>,
        /// Whether a server did not answer in time.
        is_timed_out: bool,
        /// Those servers.
        timed_out_servers: Option<String>,
        /// Adapters over which the name was asked for.
        adapters: Option<String>,
        /// Their servers.
        adapter_servers: Option<String>,
        /// Servers that were asked.
        servers: Option<String>,
        /// Records of the answer.
        result: Option<String>,
        /// Whether it was sent to servers as it is.
        is_network: bool,
        /// Whether the caller did not wait for it.
        is_async: bool,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
}

/// What was asked, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DnsAnswer {
    /// Names, ascending.
    pub rows: Vec<DnsRow>,
    /// The queries of each of them, in the order of time.
    pub queries: Vec<Vec<DnsQueryRow>>,
    /// Time in which at least one of the queries of all rows was under way.
    pub union_ns: i64,
}

/// Invalid parameters: what the client says of queries that it answers in another way.
const INVALID_PARAMETER: i32 = 87;

impl DnsRequest {
    fn conditions(&self) -> String {
        let mut all = self.processes.conditions();
        all.extend(text_condition("q.name", self.query.as_deref()));
        all.extend(range_condition("q.duration_ns", self.time));
        filtered(&all)
    }

    /// The question for names.
    #[must_use]
    pub fn sql(&self) -> String {
        let total = match self.total_by {
            DnsTotalBy::Union => "union_ns",
            DnsTotalBy::Longest => "coalesce(max_ns, 0)",
            DnsTotalBy::Sum => "sum_ns",
        };
        let limits: Vec<String> = range_condition("total_ns", self.total_time).into_iter().collect();
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value, CAST(NULL AS VARCHAR) AS return_codes
FROM (
SELECT *, {total} AS total_ns
FROM (
SELECT lower(q.name) AS name, coalesce(union_duration(q.start_ns, q.end_ns), 0) AS union_ns,
  coalesce(sum(q.duration_ns), 0) AS sum_ns, min(q.duration_ns) AS min_ns, max(q.duration_ns) AS max_ns,
  count(q.duration_ns) AS count, count(q.duration_ns) FILTER (WHERE q.is_timed_out) AS timed_out,
  count(*) FILTER (WHERE q.end_ns IS NULL) AS unanswered, count(*) FILTER (WHERE q.start_ns IS NULL) AS unstarted,
  count(DISTINCT q.process_key) AS processes,
  string_agg(DISTINCT CAST(q.status AS VARCHAR), ',') FILTER (WHERE q.status <> 0) AS statuses,
  string_agg(DISTINCT q.adapters, ';') AS adapters
FROM dns_query q
LEFT JOIN process p ON p.process_key = q.process_key{conditions}
GROUP BY lower(q.name)
)
){limits}
ORDER BY sort_value, name DESC",
            sort = match self.sort {
                DnsSort::Time => "total_ns",
                DnsSort::Count => "count",
            },
            conditions = self.conditions(),
            limits = filtered(&limits),
        )
    }

    /// The question for single queries.
    #[must_use]
    pub fn list_sql(&self) -> String {
        format!(
            "SELECT q.*, {PROCESS_COLUMNS}, t.tid, win32_error_name(q.status) AS status_name
FROM dns_query q
LEFT JOIN process p ON p.process_key = q.process_key
LEFT JOIN thread t ON t.thread_key = q.thread_key{}
ORDER BY coalesce(q.start_ns, q.end_ns), q.end_ns, q.process_key, q.name, q.query_type",
            self.conditions()
        )
    }

    /// Asks.
    ///
    /// # Errors
    /// No queries were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<DnsAnswer> {
        if !has_rows(session, "dns_query")? {
            return Err(Error::NotRecorded {
                what: "DNS queries",
                how: "record with the provider Microsoft-Windows-DNS-Client, for example `wpr -start Network`",
            });
        }
        let mut rows: Vec<DnsRow> = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        rows.iter_mut().for_each(tidy);
        let mut queries = vec![Vec::new(); rows.len()];
        let places: HashMap<&str, usize> = rows.iter().map(|row| row.name.as_str()).zip(0..).collect();
        let mut intervals = Vec::new();
        for query in ask::<DnsQueryRow>(session, &self.list_sql())? {
            let place = places.get(query.name.to_lowercase().as_str());
            if let Some(list) = place.and_then(|place| queries.get_mut(*place)) {
                intervals.extend(query.start_ns.zip(query.end_ns));
                list.push(query);
            }
        }
        Ok(DnsAnswer { union_ns: union(intervals), rows, queries })
    }
}

/// Lists that the SQL puts together of lists: each part once, in order.
fn tidy(row: &mut DnsRow) {
    let parts = |text: &Option<String>, separator: char| -> BTreeSet<String> {
        text.iter().flat_map(|text| text.split(separator)).map(str::to_owned).collect()
    };
    let joined = |parts: Vec<String>, separator: &str| (!parts.is_empty()).then(|| parts.join(separator));
    row.adapters = joined(parts(&row.adapters, ';').into_iter().collect(), ";");
    let mut statuses: Vec<i32> =
        parts(&row.statuses, ',').iter().filter_map(|status| status.parse().ok()).collect();
    statuses.sort_unstable();
    row.statuses = joined(statuses.iter().map(ToString::to_string).collect(), ",");
    statuses.retain(|status| *status != INVALID_PARAMETER);
    row.return_codes = joined(statuses.into_iter().map(win32_error_name).collect(), ";");
}

/// Length of the union of intervals.
fn union(mut intervals: Vec<(i64, i64)>) -> i64 {
    intervals.sort_unstable();
    let mut covered = i64::MIN;
    intervals.into_iter().fold(0i64, |sum, (start, end)| {
        let from = start.max(covered);
        covered = covered.max(end);
        sum.saturating_add(end.saturating_sub(from).max(0))
    })
}

/// Name of a type of resource record; its number if it has none here.
#[must_use]
pub fn type_name(number: i64) -> String {
    match number {
        1 => "A",
        2 => "NS",
        5 => "CNAME",
        6 => "SOA",
        12 => "PTR",
        15 => "MX",
        16 => "TXT",
        28 => "AAAA",
        33 => "SRV",
        35 => "NAPTR",
        64 => "SVCB",
        65 => "HTTPS",
        255 => "ANY",
        _ => return number.to_string(),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_counts_no_time_twice() {
        assert_eq!(union(vec![(20, 40), (0, 10), (5, 15), (22, 30), (40, 41)]), 15 + 21);
        assert_eq!(union(Vec::new()), 0);
    }
}
