//! DNS queries by name.

use etwkit_question::declare;
mod sql;
mod view;

use self::view::{NAMES, NameQueries};
use etwkit_question::Format::Seconds;
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Among, Example, Form, Line, Question, Sums, group, option};

const QUERIED: Among = Among::Texts("name", "names", "SELECT name AS text FROM dns_query");

declare! {
    /// Meaning of the total time of several queries.
    pub words DnsTotalBy {
        "union" => Union = "The time in which at least one of them was under way.",
        "longest" => Longest = "The longest of them. ETWAnalyzer prints this as time without overlaps.",
        "sum" => Sum = "The sum of their durations.",
    }

    /// Orders of names.
    pub words DnsSort {
        "time" => Time = "Total time.",
        "count" => Count = "Queries.",
    }

    /// Options of `dump dns`.
    #[derive(Eq)]
    pub request DnsRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of names, largest first
        top: Top = group(),
        /// Only these names (*, ?, several with ;, ! excludes)
        query: Option<String> = option("NAMES").of(QUERIED),
        /// A line for each query below its name; JSON and CSV have single queries instead of names
        details: bool = option("").shape(),
        /// With --details: only the first N queries of each name
        top_details: Option<usize> = option("N").called("top-details").requires("details").shape(),
        /// With --details: leave the first N queries of each name out
        skip_details: usize = option("N").called("skip-details").requires("details").shape(),
        /// Show the processes that asked, above the names
        show_process: bool = option("").called("show-process").output(),
        /// Show the network adapters over which names were queried
        show_adapter: bool = option("").called("show-adapter").output(),
        /// Show the errors that queries failed with
        show_return_code: bool = option("").called("show-return-code").output(),
        /// Order
        sort: DnsSort = option("ORDER").called("sort-by").shape(),
        /// Meaning of total time: union, the time in which at least one query was under way;
        /// longest, of the longest query; sum
        total_by: DnsTotalBy = option("HOW").called("total-by").shape(),
        /// Only names with this total time (s)
        total_time: Range = option("A..B").called("total-time").unit(Unit::Seconds),
        /// Only queries with this duration (s)
        time: Range = option("A..B").unit(Unit::Seconds),
        /// Only queries that start in this part of the trace (s); those without a start end in it
        range: Range = option("A..B").unit(Unit::Moment),
    }

    /// All queries for a name.
    pub row DnsRow {
        name: String = "Name in lower case.",
        total_ns: i64 = "Total time, computed as `--total-by` says.",
        union_ns: i64 = "Time in which at least one query was under way.",
        sum_ns: i64 = "Sum of the durations.",
        min_ns: Option<i64> = "Shortest query.",
        max_ns: Option<i64> = "Longest query.",
        count: i64 = "Queries with start and answer.",
        timed_out: i64 = "Queries with start and answer during which a server did not answer in time.",
        unanswered: i64 = "Queries without an answer in the trace.",
        unstarted: i64 = "Answers without a start in the trace.",
        processes: i64 = "Processes that asked.",
        statuses: Option<String> =
            "Distinct Win32 errors of the answers, without 0, ascending, with commas between.",
        return_codes: Option<String> = "Names of these errors, with `;` between. Invalid parameters (87) are left out.",
        adapters: Option<String> = "Distinct adapters, with `;` between.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A single query.
    pub row DnsQueryRow: process {
        ..process = "Process.",
        tid: Option<i64> = "Thread that asked.",
        name: String = "The queried name.",
        query_type: i64 = "Type of resource record.",
        start_ns: Option<i64> = "Start, if in the trace.",
        end_ns: Option<i64> = "Answer, if in the trace.",
        duration_ns: Option<i64> = "Time from start to answer.",
        status: Option<i64> = "Win32 error of the answer.",
        status_name: Option<String> = "Name of the error.",
        is_timed_out: bool = "Whether a server did not answer in time.",
        timed_out_servers: Option<String> = "Servers that did not answer in time.",
        adapters: Option<String> = "Adapters over which the name was queried.",
        adapter_servers: Option<String> = "DNS servers of these adapters.",
        servers: Option<String> = "Queried servers.",
        result: Option<String> = "Records of the answer.",
        is_network: bool = "Whether the query itself was sent to servers.",
        is_async: bool = "Whether the caller did not wait for the answer.",
        ..process_details,
    }
}

/// DNS queries, grouped by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DnsAnswer {
    /// Names, ascending.
    pub rows: Vec<DnsRow>,
    /// The queries of each of them, in order of time.
    pub queries: Vec<Vec<DnsQueryRow>>,
    /// Time in which at least one of the queries of all rows was in progress.
    pub union_ns: i64,
}

pub(super) const DNS: Recorded = Recorded::rows(
    "dns_query",
    "DNS queries",
    "record with the provider Microsoft-Windows-DNS-Client, for example `wpr -start Network`",
);

impl Question for DnsRequest {
    const NAME: &'static str = "dns";
    const SENTENCE: &'static str = "DNS queries by name";
    const USUAL: &'static [&'static str] = &[
        "query",
        "time",
        "total-by",
        "show-process",
        "show-adapter",
        "show-return-code",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "names by the time of their queries",
        },
        Example {
            words: "--time 1s.. --show-adapter slow.etl",
            answer: "slow queries and their network adapters",
        },
    ];

    fn form(&self) -> Form<Self> {
        if self.details {
            return Form::made::<DnsQueryRow>(self.list_sql(), Self::compute).top(self.top);
        }
        let form = Form::made::<DnsRow>(self.sql(), Self::compute).top(self.top);
        form.shows_as(&NAMES, |row| NameQueries {
            row,
            queries: Vec::new(),
        })
    }

    fn overall(&self, all: &[Sums]) -> Vec<Line> {
        let sum = |name| {
            all.iter()
                .filter_map(|one| one.get(name).copied())
                .fold(0, i64::saturating_add)
        };
        let line = Line::new("Total: ")
            .value(Seconds(3), sum("total_ns"))
            .words(" s DNS query time for ")
            .counted(sum("count"), ["DNS query", "DNS queries"])
            .words("; ")
            .value(Seconds(3), sum("union_ns"))
            .words(" s with at least one of them under way");
        vec![line]
    }
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
