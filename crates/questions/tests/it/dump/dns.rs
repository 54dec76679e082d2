//! DNS queries.

use etwkit_question::ProcessQuery;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_questions::dns::{DnsAnswer, DnsRequest, DnsSort, DnsTotalBy};
use etwkit_sql::Session;
use etwkit_trace::table::DnsQuery;

use super::super::support::rows;
use super::{MS, process, trace};

/// A query of process 1 from one millisecond to another.
fn query(name: &str, query_type: i32, start: i64, end: i64) -> DnsQuery {
    DnsQuery {
        process_key: Some(1),
        name: name.into(),
        query_type,
        start_ns: Some(start * MS),
        end_ns: Some(end * MS),
        duration_ns: Some((end - start) * MS),
        status: Some(0),
        ..DnsQuery::default()
    }
}

/// The example of docs/numbers/net.md, and the queries that it leaves out.
fn session() -> Session {
    let queries = [
        query("www.example.com", 1, 0, 21),
        query("WWW.Example.com", 28, 10, 40),
        DnsQuery {
            process_key: Some(2),
            status: Some(9003),
            is_timed_out: true,
            adapters: Some("Wi-Fi;Ethernet".into()),
            ..query("www.example.com", 1, 100, 112)
        },
        DnsQuery {
            status: Some(87),
            adapters: Some("Wi-Fi".into()),
            ..query("mail", 1, 35, 45)
        },
        DnsQuery {
            end_ns: None,
            duration_ns: None,
            status: None,
            ..query("mail", 28, 35, 0)
        },
        DnsQuery {
            start_ns: None,
            duration_ns: None,
            ..query("early", 1, 0, 3)
        },
    ];
    let processes = [process(1, 4, "browser.exe"), process(2, 8, "mail.exe")];
    Session::from_batches(vec![rows(&queries), rows(&processes), rows(&[trace()])]).unwrap()
}

#[track_caller]
fn ask(request: &DnsRequest) -> DnsAnswer {
    request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", request.sql(), request.list_sql()))
}

/// Names with their total time in ms and number of queries.
#[track_caller]
fn totals(request: &DnsRequest) -> Vec<(String, i64, i64)> {
    ask(request)
        .rows
        .into_iter()
        .map(|row| (row.name, row.total_ns / MS, row.count))
        .collect()
}

fn named(name: &str, ms: i64, count: i64) -> (String, i64, i64) {
    (name.to_owned(), ms, count)
}

#[test]
fn total_time_is_that_in_which_a_query_is_under_way() {
    let by = |total_by| {
        totals(&DnsRequest {
            total_by,
            ..DnsRequest::default()
        })
    };
    // 0 to 40 and 100 to 112; the parallel queries overlap from 10 to 21.
    let all = [
        named("early", 0, 0),
        named("mail", 10, 1),
        named("www.example.com", 52, 3),
    ];
    assert_eq!(by(DnsTotalBy::Union), all);
    assert_eq!(by(DnsTotalBy::Longest)[2], named("www.example.com", 30, 3));
    assert_eq!(by(DnsTotalBy::Sum)[2], named("www.example.com", 63, 3));
    // Over all names 0 to 45 and 100 to 112.
    assert_eq!(ask(&DnsRequest::default()).union_ns, 57 * MS);
}

#[test]
fn a_row_says_what_became_of_its_queries() {
    let answer = ask(&DnsRequest::default());
    let [early, mail, www] = &answer.rows[..] else {
        panic!("{answer:?}")
    };
    assert_eq!(
        (early.unstarted, early.unanswered, early.min_ns),
        (1, 0, None)
    );
    assert_eq!(
        (
            mail.unanswered,
            mail.statuses.as_deref(),
            mail.return_codes.as_deref()
        ),
        (1, Some("87"), None)
    );
    assert_eq!(
        (www.min_ns, www.max_ns, www.timed_out, www.processes),
        (Some(12 * MS), Some(30 * MS), 1, 2)
    );
    assert_eq!(
        www.return_codes.as_deref(),
        Some("DNS_ERROR_RCODE_NAME_ERROR")
    );
    assert_eq!(www.adapters.as_deref(), Some("Ethernet;Wi-Fi"));
    let lengths: Vec<usize> = answer.queries.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1, 2, 3]);
    let first = &answer.queries[2][0];
    assert_eq!(
        (first.process.as_deref(), first.status_name.as_deref()),
        (Some("browser.exe"), Some("SUCCESS"))
    );
}

#[test]
fn single_queries_are_filtered_before_they_are_added_up() {
    let long = Range {
        min: 20 * MS,
        max: i64::MAX,
    };
    assert_eq!(
        totals(&DnsRequest {
            time: long,
            ..DnsRequest::default()
        }),
        [named("www.example.com", 40, 2)]
    );
    let short = Range {
        min: MS,
        max: 12 * MS,
    };
    let both = [named("mail", 10, 1), named("www.example.com", 12, 1)];
    assert_eq!(
        totals(&DnsRequest {
            time: short,
            ..DnsRequest::default()
        }),
        both
    );
    let total = Range {
        min: 10 * MS,
        max: 51 * MS,
    };
    assert_eq!(
        totals(&DnsRequest {
            total_time: total,
            ..DnsRequest::default()
        }),
        [named("mail", 10, 1)]
    );
}

#[test]
fn orders_and_filters() {
    let by_count = DnsRequest {
        sort: DnsSort::Count,
        ..DnsRequest::default()
    };
    assert_eq!(
        totals(&by_count).last(),
        Some(&named("www.example.com", 52, 3))
    );
    let one = DnsRequest {
        top: Top {
            count: Some(1),
            skip: 1,
        },
        ..DnsRequest::default()
    };
    assert_eq!(totals(&one), [named("mail", 10, 1)]);
    assert_eq!(ask(&one).union_ns, 10 * MS);
    let query = DnsRequest {
        query: Some("*.EXAMPLE.com".into()),
        ..DnsRequest::default()
    };
    assert_eq!(totals(&query), [named("www.example.com", 52, 3)]);
    let processes = ProcessQuery {
        process: Some("mail".into()),
        ..ProcessQuery::default()
    };
    assert_eq!(
        totals(&DnsRequest {
            processes,
            ..DnsRequest::default()
        }),
        [named("www.example.com", 12, 1)]
    );
}

#[test]
fn what_is_missing_is_named() {
    let nothing = Session::from_batches(vec![]).unwrap();
    let error = DnsRequest::default().ask(&nothing).unwrap_err();
    assert!(
        error.is_nothing()
            && error
                .hint()
                .unwrap()
                .contains("Microsoft-Windows-DNS-Client")
    );
}
