//! Rule `proxy-search`: waits that are searches for a proxy, with and without names of functions.

use etwkit_trace::table::DnsQuery;

use super::support::{Machine, diagnosed, found, off};

const MS: i64 = 1_000_000;
const NAMED: [&str; 3] = [
    "ntdll.dll!NtWaitForSingleObject",
    "winhttp.dll!WinHttpGetProxyForUrl",
    "a.exe!Download",
];
const ANSWER: [&str; 3] = [
    "ntdll.dll!NtWaitForSingleObject",
    "winhttp.dll!WinHttpReceiveResponse",
    "a.exe!Download",
];
const NAMELESS: [&str; 3] = [
    "ntdll.dll!NtWaitForSingleObject",
    "winhttp.dll+16",
    "a.exe!Download",
];

/// A program that waits in such a stack from 1 s on, and a name that is looked up in that time.
fn machine(stack: &[&'static str], wait_ms: i64, lookup: Option<(&str, i64, i64)>) -> Machine {
    let mut machine = Machine::new(&["a.exe", "svchost.exe"], 10_000 * MS);
    let stack = machine.stack(stack);
    let to = (1_000 + wait_ms) * MS;
    let wait = off(1, 1_000 * MS).readied_by_dpc(to, 2);
    machine.add(wait.ran(to, to + MS).in_stack(stack));
    machine.lookups = lookup
        .into_iter()
        .map(|(name, from_ms, to_ms)| DnsQuery {
            process_key: Some(2),
            name: name.into(),
            query_type: 1,
            start_ns: Some(from_ms * MS),
            end_ns: Some(to_ms * MS),
            duration_ns: Some((to_ms - from_ms) * MS),
            ..DnsQuery::default()
        })
        .collect();
    machine
}

#[test]
fn a_search_for_a_proxy_is_known_by_its_function() {
    for (stack, wait_ms, is_found) in [
        (&NAMED, 3_000, true),
        (&NAMED, 400, false),
        (&ANSWER, 3_000, false),
    ] {
        let machine = machine(stack, wait_ms, None);
        let found = found(&machine, "proxy-search");
        let facts: Vec<_> = found
            .iter()
            .map(|one| (one.culprit.as_str(), one.pid, one.cost_ns))
            .collect();
        let expected = is_found.then_some(("proxy search", Some(4), Some(wait_ms * MS)));
        assert_eq!(facts, Vec::from_iter(expected), "{stack:?} {wait_ms}");
    }
}

/// Without names it is a wait of the library while somebody looks up `wpad`. No other wait of it proves
/// anything: the rule is not checked then.
#[test]
fn a_search_for_a_proxy_is_known_by_the_name_that_is_looked_up() {
    for (name, to_ms, is_found) in [
        ("wpad", 3_900, true),
        ("WPAD.corp.example", 2_600, true),
        ("wpad", 2_400, false),
        ("wpadding.example", 3_900, false),
    ] {
        let machine = machine(&NAMELESS, 3_000, Some((name, 1_000, to_ms)));
        let diagnosis = diagnosed(&machine, "proxy-search");
        let costs: Vec<_> = diagnosis.findings.iter().map(|one| one.cost_ns).collect();
        let (state, cost) = if is_found {
            ("found", Some(Some(3_000 * MS)))
        } else {
            ("not checked", None)
        };
        assert_eq!(diagnosis.rules[0].state, state, "{name} up to {to_ms} ms");
        assert_eq!(costs, Vec::from_iter(cost), "{name} up to {to_ms} ms");
    }
}

/// The service that looks names up lives as long as the machine runs: what programs wait for afterwards is
/// no search.
#[test]
fn a_lookup_whose_end_was_not_recorded_is_over_after_a_while() {
    for (lookup_s, is_found) in [(49, true), (5, false)] {
        let mut machine = Machine::new(&["a.exe", "svchost.exe"], 60_000 * MS);
        let stack = machine.stack(&NAMELESS);
        let (from, to) = (50_000 * MS, 53_000 * MS);
        let wait = off(1, from).readied_by_dpc(to, 2);
        machine.add(wait.ran(to, to + MS).in_stack(stack));
        machine.lookups = vec![DnsQuery {
            process_key: Some(2),
            name: "wpad".into(),
            query_type: 1,
            start_ns: Some(lookup_s * 1_000 * MS),
            ..DnsQuery::default()
        }];
        let diagnosis = diagnosed(&machine, "proxy-search");
        assert_eq!(diagnosis.findings.is_empty(), !is_found, "{lookup_s}");
    }
}
