//! The SQL of DNS queries, and their sums.

use std::collections::{BTreeSet, HashMap};

use etwkit_base::intervals::union_length;

use super::view::{NAMES, NameQueries};
use super::{DNS, DnsAnswer, DnsQueryRow, DnsRequest, DnsRow, DnsSort, DnsTotalBy};
use etwkit_question::Answer;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS};
use etwkit_question::{Result, ask};
use etwkit_sql::Session;
use etwkit_sql::win32_error::win32_error_name;

/// Invalid parameters: the status that the client reports for queries that it answers in another
/// way.
const INVALID_PARAMETER: i32 = 87;

impl DnsRequest {
    /// Returns the names; with details also their queries, which replace the names in JSON and CSV.
    pub(super) fn compute(&self, session: &Session) -> Result<Answer> {
        let DnsAnswer {
            rows,
            queries,
            union_ns,
        } = self.ask(session)?;
        let sum = |number: fn(&DnsRow) -> i64| rows.iter().map(number).fold(0, i64::saturating_add);
        let sums = [
            ("total_ns", sum(|row| row.total_ns)),
            ("count", sum(|row| row.count)),
            ("union_ns", union_ns),
        ];
        let single: Option<Vec<DnsQueryRow>> = self.details.then(|| {
            queries
                .iter()
                .flat_map(|queries| self.shown(queries))
                .cloned()
                .collect()
        });
        let names = rows
            .into_iter()
            .zip(queries)
            .map(|(row, queries)| NameQueries { row, queries })
            .collect();
        let answer = Answer::rows(self, &NAMES, names).with_sums(sums);
        Ok(match single {
            Some(single) => answer.with_records(single),
            None => answer,
        })
    }

    /// Returns the queries of a name that are shown, from the first one on.
    pub(super) fn shown<'q>(
        &self,
        queries: &'q [DnsQueryRow],
    ) -> impl Iterator<Item = &'q DnsQueryRow> + use<'q> {
        queries
            .iter()
            .skip(self.skip_details)
            .take(self.top_details.unwrap_or(usize::MAX))
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("q.name", self.query.as_deref())
            .range("q.duration_ns", self.time)
            .time("coalesce(q.start_ns, q.end_ns)", self.range)
    }

    /// Returns the SQL for names, which are compared in lower case, like in DNS.
    #[must_use]
    pub fn sql(&self) -> String {
        let total = match self.total_by {
            DnsTotalBy::Union => "union_ns",
            DnsTotalBy::Longest => "coalesce(max_ns, 0)",
            DnsTotalBy::Sum => "sum_ns",
        };
        let limits = Conditions::new().range("total_ns", self.total_time);
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
  array_to_string(array_sort(array_agg(DISTINCT CAST(q.status AS VARCHAR)) FILTER (WHERE q.status <> 0)), ',') AS statuses,
  array_to_string(array_sort(array_agg(DISTINCT q.adapters) FILTER (WHERE q.adapters IS NOT NULL)), ';') AS adapters
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
        )
    }

    /// Returns the SQL for single queries.
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

    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// No queries were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<DnsAnswer> {
        DNS.check(session, true)?;
        let mut rows: Vec<DnsRow> = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        rows.iter_mut().for_each(tidy);
        // Queries are read once for all names and then assigned, instead of one question for each
        // name.
        let mut queries = vec![Vec::new(); rows.len()];
        let places: HashMap<&str, usize> =
            rows.iter().map(|row| row.name.as_str()).zip(0..).collect();
        let mut intervals = Vec::new();
        for query in ask::<DnsQueryRow>(session, &self.list_sql())? {
            let place = places.get(query.name.to_lowercase().as_str());
            if let Some(list) = place.and_then(|place| queries.get_mut(*place)) {
                intervals.extend(query.start_ns.zip(query.end_ns));
                list.push(query);
            }
        }
        // Computed from the queries, since simultaneous queries for different names overlap, and
        // their times do not add up.
        Ok(DnsAnswer {
            union_ns: union_length(intervals),
            rows,
            queries,
        })
    }
}

/// Removes duplicates from the lists that the SQL joined, and sorts their parts.
fn tidy(row: &mut DnsRow) {
    let parts = |text: &Option<String>, separator: char| -> BTreeSet<String> {
        text.iter()
            .flat_map(|text| text.split(separator))
            .map(str::to_owned)
            .collect()
    };
    let joined =
        |parts: Vec<String>, separator: &str| (!parts.is_empty()).then(|| parts.join(separator));
    // The SQL removes equal lists, but two different lists can share a part.
    row.adapters = joined(parts(&row.adapters, ';').into_iter().collect(), ";");
    let mut statuses: Vec<i32> = parts(&row.statuses, ',')
        .iter()
        .filter_map(|status| status.parse().ok())
        .collect();
    statuses.sort_unstable();
    row.statuses = joined(statuses.iter().map(ToString::to_string).collect(), ",");
    statuses.retain(|status| *status != INVALID_PARAMETER);
    row.return_codes = joined(statuses.into_iter().map(win32_error_name).collect(), ";");
}
