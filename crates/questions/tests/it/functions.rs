//! Functions by their examples; `union_duration` against a plain count.

use etwkit_sql::functions;
use etwkit_sql::{Options, Session, Source};
use etwkit_trace::table::ContextSwitch;
use proptest::prelude::*;

use super::support::{ask, error, rows};

fn empty() -> Session {
    Session::from_batches(Vec::new()).unwrap()
}

#[test]
fn examples_of_the_reference_hold() {
    let session = empty();
    for function in functions::references() {
        assert_eq!(
            ask(&session, function.example),
            function.answer,
            "{}",
            function.name
        );
        assert!(
            function.call.starts_with(&format!("{}(", function.name)),
            "{}",
            function.name
        );
        assert!(
            function.example.contains(function.name) && function.doc.ends_with('.'),
            "{}",
            function.name
        );
    }
}

#[test]
fn values_that_are_missing_and_columns_of_other_types() {
    let session = empty();
    let from = "FROM (VALUES (1, 'a'), (NULL, NULL)) AS t(n, s)";
    for (sql, want) in [
        ("SELECT hex(n)", "0x1\n-"),
        ("SELECT ms(n)", "1e-6\n-"),
        ("SELECT ms(avg(n))", "1e-6"),
        ("SELECT wildcard_match(s, 'a')", "true\nfalse"),
        ("SELECT wildcard_match(s, '!a')", "false\ntrue"),
        ("SELECT wildcard_match(s, NULL)", "true\ntrue"),
        ("SELECT wildcard_match(s, s)", "true\ntrue"),
        ("SELECT process_match(s, n, '1')", "true\nfalse"),
        (
            "SELECT process_match('cmd.exe', 4711, 'x;cmd(4711)')",
            "true\ntrue",
        ),
        (
            "SELECT ntstatus_name(n), wait_reason_name(n), thread_state_name(n), gc_reason_name(n)",
            "0x00000001|FreePage|Ready|Induced\n-|-|-|-",
        ),
        ("SELECT wait_reason_name(arrow_cast(-1, 'Int32'))", "-1\n-1"),
        (
            "SELECT utc_time(0, n), local_time(n, NULL, 0)",
            "0.000000|1601-01-01 00:00:00.000000\n-|-",
        ),
        ("SELECT union_duration(n, n)", "0"),
        ("SELECT union_duration(NULL, n)", "-"),
        ("SELECT union_duration(n, n - 1)", "-"),
        ("SELECT union_duration(0, n) FILTER (WHERE n > 1)", "-"),
        (
            "SELECT union_duration(-9223372036854775807, 9223372036854775807)",
            "9223372036854775807",
        ),
    ] {
        assert_eq!(ask(&session, &format!("{sql} {from}")), want, "{sql}");
    }
    let refused = error(&session, "SELECT hex('a')").to_string();
    assert!(
        refused.contains("hex(number) expects an integer, found text"),
        "{refused}"
    );
    let refused = error(&session, "SELECT process_match('cmd', 1)").to_string();
    assert!(
        refused.contains("process_match(name, pid, pattern) expects"),
        "{refused}"
    );
}

/// Nanoseconds in `0..100` that an interval covers.
fn counted(intervals: &[(i32, Option<i64>, Option<i64>)], group: i32) -> Option<i64> {
    let of_group = intervals.iter().filter(|(of, ..)| *of == group);
    let valid: Vec<(i64, i64)> = of_group
        .filter_map(|(_, start, end)| Some(((*start)?, (*end)?)))
        .filter(|(start, end)| start <= end)
        .collect();
    let covered = (0..100)
        .filter(|ns| valid.iter().any(|(start, end)| start <= ns && ns < end))
        .count();
    (!valid.is_empty()).then_some(covered as i64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn union_duration_is_the_time_that_any_interval_covers(
        intervals in prop::collection::vec(
            (0..3_i32, prop::option::weighted(0.9, 0..100_i64),
            prop::option::weighted(0.9, 0..100_i64)), 0..300),
        batches in 1..9_usize,
        partitions in 1..5_usize,
    ) {
        let row = |&(thread_key, in_ns, out_ns): &_|
            ContextSwitch { thread_key, in_ns, out_ns, ..ContextSwitch::default() };
        let all: Vec<ContextSwitch> = intervals.iter().map(row).collect();
        let parts = all.chunks(all.len().div_ceil(batches).max(1)).map(rows).collect();
        let options = Options { partitions, ..Options::default() };
        let session = Session::new(vec![Source::batches("x", parts)], &options).unwrap();
        let text = |length: Option<i64>| length.map_or_else(|| "-".to_owned(), |length| length.to_string());
        for group in 0..3 {
            let sql = format!("SELECT union_duration(in_ns, out_ns) FROM context_switch WHERE thread_key = {group}");
            prop_assert_eq!(ask(&session, &sql), text(counted(&intervals, group)));
        }
        let grouped = (0..3).filter(|group| intervals.iter().any(|(of, ..)| of == group));
        let want: Vec<String> = grouped.map(|group| format!("{group}|{}", text(counted(&intervals, group)))).collect();
        let sql = "SELECT thread_key, union_duration(in_ns, out_ns) FROM context_switch GROUP BY 1 ORDER BY 1";
        prop_assert_eq!(ask(&session, sql), want.join("\n"));
    }
}

#[test]
fn many_groups_and_many_gaps() {
    // More groups than a partial aggregation likes to keep, and intervals in descending order.
    let switch = |n: i64| ContextSwitch {
        thread_key: (n / 2) as i32,
        in_ns: Some(1_000_000 - n * 10),
        out_ns: Some(1_000_000 - n * 10 + 3),
        ..ContextSwitch::default()
    };
    let all: Vec<ContextSwitch> = (0..40_000).map(switch).collect();
    let parts = all.chunks(4000).map(rows).collect();
    let session = Session::new(vec![Source::batches("x", parts)], &Options::default()).unwrap();
    let sql = "SELECT count(*), min(d), max(d) FROM (SELECT union_duration(in_ns, out_ns) d FROM context_switch GROUP BY thread_key)";
    assert_eq!(ask(&session, sql), "20000|6|6");
    assert_eq!(
        ask(
            &session,
            "SELECT union_duration(in_ns, out_ns) FROM context_switch"
        ),
        "120000"
    );
}
