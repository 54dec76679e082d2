//! Diagnosis against planted causes: each card, sick and healthy; and the same causes
//! found by hand, with the questions that the rules stand on.

use std::io::Cursor;

use etwkit_base::shell;
use etwkit_synth::Truth;
use etwkit_synth::cards::{CARDS, Case};
use etwkit_synth::truth::Acted;
use etwkit_testkit::is_exhaustive;
use serde_json::Value;

use crate::extracts::support::kept_as;
use crate::support::{ALL_RULES, Answer, Exit, json_lines, run};

/// What the rules say of a case, and what is true of it.
struct Diagnosed {
    truth: Truth,
    findings: Vec<Value>,
    /// Faults of the longest pieces of findings.
    misplaced: Vec<String>,
    /// Rules of the planted causes, and the culprits that their questions in the library of SQL have.
    by_hand: Vec<(String, Vec<Value>)>,
    /// Their rows in which one victim lost more time than all of them together.
    dearer: Vec<String>,
}

/// Returns the fault of a row of a rule in which one victim lost more time than all victims together.
fn dearer_than_all(rule: &str, row: &Value) -> Option<String> {
    let cost = row["cost_ns"].as_i64()?;
    let total = row["total_ns"].as_i64()?;
    let (culprit, victim) = (&row["culprit"], &row["process_key"]);
    (cost > total).then(|| {
        format!("{rule}, {culprit}: process {victim} lost {cost} ns of {total} ns of all victims")
    })
}

/// Writes a trace of a case with its symbols, and extracts it.
fn extract(trace: &[u8], case: &Case, extract: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("t.etl"), trace).unwrap();
    for file in case.symbols() {
        let to = path("symbols").join(&file.path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, file.text).unwrap();
    }
    let [trace, symbols] = ["t.etl", "symbols"].map(|name| path(name).to_str().unwrap().to_owned());
    let Answer { err, exit, .. } =
        run(&["extract", "--symbols", &symbols, "--out", extract, &trace]);
    assert_eq!(exit, Exit::Answered, "{err}");
}

/// Asks all rules of a case, or the named one.
fn diagnose(case: &Case, rule: Option<&str>) -> Diagnosed {
    let mut trace = Cursor::new(Vec::new());
    let (_, truth) = case.write(&mut trace).unwrap();
    let trace = trace.into_inner();
    let extract = kept_as(&("case", &trace), |out| extract(&trace, case, out));
    let rules = rule.unwrap_or(ALL_RULES);
    let findings = json_lines(&run(&["diagnose", "--json", "--rule", rules, &extract]).out);
    // Where there is none, a line says so.
    let findings = findings
        .into_iter()
        .filter(|row| row["nothing"].is_null())
        .collect::<Vec<_>>();
    let misplaced = misplaced(&extract, &findings);
    let mut dearer = Vec::new();
    let by_hand: Vec<_> = truth
        .causes
        .iter()
        .map(|cause| {
            let question = format!("@rules/{}", cause.rule);
            let rows = json_lines(&run(&["sql", "--format", "json", &extract, &question]).out);
            let of_rule = |row| dearer_than_all(&cause.rule, row);
            dearer.extend(rows.iter().filter_map(of_rule));
            (
                cause.rule.clone(),
                rows.iter()
                    .map(|row| row["culprit"].clone())
                    .filter(|culprit| !culprit.is_null())
                    .collect(),
            )
        })
        .collect();
    Diagnosed {
        truth,
        findings,
        misplaced,
        by_hand,
        dearer,
    }
}

/// Tables that evidence shows, with the start and the length of their rows.
const PIECES: [(&str, &str, &str); 24] = [
    ("context_switch", "last_out_ns", "wait_ns"),
    ("context_switch", "last_out_ns", "in_ns - last_out_ns"),
    ("context_switch", "in_ns - ready_ns", "ready_ns"),
    ("context_switch", "in_ns", "run_ns"),
    ("cpu_sample", "ts_ns - weight_ns", "weight_ns"),
    ("pmc", "ts_ns - run_ns", "run_ns"),
    ("dpc_isr", "start_ns", "duration_ns"),
    ("disk_io", "init_ns", "io_ns"),
    ("disk_io", "init_ns", "queue_ns"),
    ("disk_io", "complete_ns - service_ns", "service_ns"),
    ("file_io", "start_ns", "duration_ns"),
    ("hard_fault", "start_ns", "duration_ns"),
    ("registry_io", "start_ns", "duration_ns"),
    ("syscall", "enter_ns", "exit_ns - enter_ns"),
    ("dns_query", "start_ns", "duration_ns"),
    ("jit", "start_ns", "duration_ns"),
    ("gc", "start_ns - suspending_ns", "suspending_ns"),
    ("gc", "start_ns - suspending_ns", "suspended_ns"),
    // The runtime looks at its pool each half second, and the event is the end of such a time.
    ("thread_pool", "ts_ns - 500000000", "500000000"),
    ("net_io", "ts_ns", "0"),
    ("user_lock", "acquire_ns - wait_ns", "wait_ns"),
    // A request of the timer and a process that is kept can last until the trace ends.
    (
        "timer_resolution",
        "coalesce(start_ns, 0)",
        "coalesce(end_ns, (SELECT max(duration_ns) FROM trace)) - coalesce(start_ns, 0)",
    ),
    ("process", "start_ns", "stop_ns - start_ns"),
    (
        "process",
        "stop_ns",
        "(SELECT max(duration_ns) FROM trace) - stop_ns",
    ),
];

/// Rules whose pieces have several rows, or a part of one: only their start is that of a row.
const HAVE_LONG_PIECES: [&str; 7] = [
    "cfg-start",
    "registry-storm",
    "retransmits",
    "spin",
    "ui-hang",
    "unused-start",
    "user-lock",
];

/// Returns the faults of the longest pieces of findings: each has to start where a row of its length does.
fn misplaced(extract: &str, findings: &[Value]) -> Vec<String> {
    let pieces: Vec<(&Value, i64)> = findings
        .iter()
        .filter_map(|finding| Some((finding, finding["longest_ns"].as_i64()?)))
        .collect();
    if pieces.is_empty() {
        return Vec::new();
    }
    let starts: Vec<String> = pieces
        .iter()
        .map(|(finding, _)| start_of(finding).to_string())
        .collect();
    let starts = starts.join(", ");
    // One question for all of them: it takes longer to plan than to answer.
    let of_tables: Vec<String> = PIECES
        .iter()
        .map(|(table, start, length)| {
            format!(
                "SELECT {start} AS at_ns, {length} AS length FROM {table} WHERE {start} IN ({starts})"
            )
        })
        .collect();
    let question = of_tables.join(" UNION ALL ");
    let rows = json_lines(&run(&["sql", "--format", "json", extract, &question]).out);
    pieces
        .iter()
        .filter_map(|(finding, length)| misplaced_by(&rows, finding, *length))
        .collect()
}

/// Where the longest piece of a finding starts; nowhere in a trace if it does not say so.
fn start_of(finding: &Value) -> i64 {
    finding["at_ns"].as_i64().unwrap_or(-1)
}

/// Returns the fault of one longest piece, by the rows that start where any of them does.
fn misplaced_by(rows: &[Value], finding: &Value, length: i64) -> Option<String> {
    let at_ns = start_of(finding);
    let lengths: Vec<Option<i64>> = rows
        .iter()
        .filter(|row| row["at_ns"] == at_ns)
        .map(|row| row["length"].as_i64())
        .collect();
    let rule = &finding["rule"];
    let has_parts = HAVE_LONG_PIECES.iter().any(|name| *rule == *name);
    let is_there = lengths
        .iter()
        .any(|of_row| *of_row == Some(length) || has_parts && of_row.is_some());
    (!is_there).then(|| format!("{rule}: no row of {length} ns at {at_ns} ns: {lengths:?}"))
}

/// How far the pieces that rules see may begin before the cause acts, or end behind it: a sample stands for
/// the time since the one before, and a hang has a little of what the window does around it.
const SLACK_NS: i64 = 6_000_000;

/// Rules whose times are seconds of the trace in which events came, or until when what was left behind stays.
const HAVE_OTHER_TIMES: [&str; 2] = ["tracing-cost", "zombies"];

/// Whether the pieces of a finding lie where the cause acts.
fn is_in_time(finding: &Value, acted: Acted) -> bool {
    let time = acted.from_ns - SLACK_NS..=acted.to_ns + SLACK_NS;
    ["from_ns", "to_ns"]
        .iter()
        .all(|name| finding[name].as_i64().is_none_or(|ns| time.contains(&ns)))
}

/// What is wrong with a diagnosis; empty if each cause is named, and with its cost, before all else.
fn judge(case: &Case, diagnosed: &Diagnosed) -> Vec<String> {
    let Diagnosed {
        truth,
        findings,
        misplaced,
        by_hand,
        dearer,
    } = diagnosed;
    let mut wrong = [misplaced.as_slice(), dearer.as_slice()].concat();
    for cause in &truth.causes {
        let is_it =
            |finding: &&Value| finding["rule"] == cause.rule && finding["culprit"] == cause.culprit;
        // A cause that costs stands first, or second; one that does not is a note, anywhere.
        let ranked = if cause.cost_ns.is_some() {
            2.max(truth.causes.len())
        } else {
            findings.len()
        };
        let Some(found) = findings.iter().take(ranked).find(is_it) else {
            wrong.push(format!("not found: {} {}", cause.rule, cause.culprit));
            continue;
        };
        let is_victim = |pid: &Value| cause.victims.iter().any(|victim| *pid == victim.pid);
        if cause.cost_ns.is_some() && !is_victim(&found["pid"]) {
            wrong.push(format!(
                "{}: victim {} instead of {:?}",
                cause.rule, found["process"], cause.victims
            ));
        }
        let is_early_or_late = cause.acted.is_some_and(|acted| !is_in_time(found, acted));
        if is_early_or_late && !HAVE_OTHER_TIMES.contains(&cause.rule.as_str()) {
            let (from, to) = (&found["from_ns"], &found["to_ns"]);
            wrong.push(format!(
                "{}: from {from} to {to} ns, and it acts {:?}",
                cause.rule, cause.acted
            ));
        }
        let Some(cost) = cause.cost_ns else { continue };
        let reported = found["cost_ns"].as_i64().unwrap_or_default();
        if (reported - cost).abs() * 20 > cost.abs() {
            wrong.push(format!(
                "{}: cost {reported} ns instead of {cost} ns",
                cause.rule
            ));
        }
    }
    // The question of a rule has the culprits of its findings, and no others.
    for (rule, culprits) in by_hand {
        let found: Vec<&Value> = findings
            .iter()
            .filter(|finding| finding["rule"] == *rule)
            .map(|f| &f["culprit"])
            .collect();
        if !found.iter().all(|culprit| culprits.contains(culprit))
            || !culprits.iter().all(|culprit| found.contains(&culprit))
        {
            wrong.push(format!("@rules/{rule}: {culprits:?} instead of {found:?}"));
        }
    }
    // What costs nothing may stand beside a cause; a machine without a cause has no findings at all.
    let counts = |finding: &&Value| case.is_healthy || finding["severity"] == "cost";
    for finding in findings.iter().filter(counts) {
        let is_planted = truth
            .causes
            .iter()
            .any(|cause| finding["rule"] == cause.rule && finding["culprit"] == cause.culprit);
        if !is_planted {
            wrong.push(format!("false alarm: {}", finding["sentence"]));
        }
    }
    let of = format!(
        "{} seed {} at {} %{}",
        case.name(),
        case.seed,
        case.strength_percent,
        if case.is_healthy { ", healthy" } else { "" }
    );
    wrong
        .into_iter()
        .map(|wrong| format!("{of}: {wrong}"))
        .collect()
}

/// Asks all rules of each case.
fn check(cases: impl IntoIterator<Item = Case>) {
    check_with(cases.into_iter().map(|case| (case, None)));
}

/// Asks all rules of each case, or the named one.
fn check_with<'a>(cases: impl IntoIterator<Item = (Case, Option<&'a str>)>) {
    let mut wrong = Vec::new();
    for (case, rule) in cases {
        wrong.extend(judge(&case, &diagnose(&case, rule)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Parts of the cards, so that they are tried on several processors.
const PARTS: usize = 4;

/// Healthy machines are much the same: one of so many is asked all rules, and the others the rule
/// whose cause they lack. With `ETWKIT_ALL` each is asked all of them.
const HEALTHY: usize = 5;

fn check_part(part: usize) {
    let cards = CARDS
        .iter()
        .enumerate()
        .filter(|(at, _)| at % PARTS == part);
    check_with(cards.flat_map(|(at, card)| {
        let seed = 11 + at as u64;
        // No rule may know a culprit by its name: these are called by any letters.
        let renamed = Some(seed ^ 0x5EED);
        let strong = Case {
            strength_percent: 150,
            renamed,
            ..Case::new(vec![card], seed)
        };
        let weak = Case {
            strength_percent: 70,
            ..Case::new(vec![card], seed + 100)
        };
        let twin = Case {
            is_healthy: true,
            ..Case::new(vec![card], seed)
        };
        let all_rules = is_exhaustive() || at % HEALTHY == 0;
        let of_twin = (!all_rules).then_some(card.rule);
        // A weaker cause is no other one; `benches/scoreboard` measures how weak it may be.
        let weak = is_exhaustive().then_some((weak, None));
        [(strong, None), (twin, of_twin)].into_iter().chain(weak)
    }));
}

#[test]
fn each_card_is_named_and_its_twin_raises_no_alarm_1() {
    check_part(0);
}

#[test]
fn each_card_is_named_and_its_twin_raises_no_alarm_2() {
    check_part(1);
}

#[test]
fn each_card_is_named_and_its_twin_raises_no_alarm_3() {
    check_part(2);
}

#[test]
fn each_card_is_named_and_its_twin_raises_no_alarm_4() {
    check_part(3);
}

/// Two causes in one trace; `benches/scoreboard` tries many more.
const PAIRS: [[&str; 2]; 4] = [
    ["filter-scan", "dns-timeout"],
    ["user-lock", "hard-faults"],
    ["ntfs-checkpoint", "certificate-wait"],
    ["logger-taken", "registry-storm"],
];

#[test]
fn of_two_causes_both_are_named_with_the_cost_of_each() {
    check((31..).zip(PAIRS).map(|(seed, names)| {
        Case::new(
            names
                .iter()
                .map(|name| etwkit_synth::cards::find(name).unwrap())
                .collect(),
            seed,
        )
    }));
}

#[test]
fn who_keeps_the_timer_fast_and_does_nothing_is_named_below_half_of_the_trace() {
    let card = CARDS
        .iter()
        .find(|card| card.name == "timer-resolution")
        .unwrap();
    // 25 % and 41 % of the trace. Beside it another program asks while it plays, 39 % of the trace.
    check([30, 50].map(|strength_percent| Case {
        strength_percent,
        ..Case::new(vec![card], 7)
    }));
}

#[test]
fn who_starts_the_session_of_the_kernel_is_named_even_if_less_than_a_second_is_missing() {
    let card = CARDS
        .iter()
        .find(|card| card.name == "logger-taken")
        .unwrap();
    check([Case {
        strength_percent: 25,
        ..Case::new(vec![card], 1900)
    }]);
}

#[test]
fn the_victim_of_dpcs_is_looked_for_where_most_of_them_were() {
    let card = CARDS.iter().find(|card| card.name == "dpc-storm").unwrap();
    // Both devices are network adapters, and the harmless one has the longest DPC, elsewhere.
    check([Case {
        strength_percent: 50,
        ..Case::new(vec![card], 6)
    }]);
}

#[test]
fn rules_of_a_file_are_asked_too() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("team.sql");
    let path = rules.to_str().unwrap();
    let text = "-- rule: no-office\n-- title: An editor runs\n-- severity: note\n-- sentence: {victim} has {threads} threads\n\
        SELECT p.name AS culprit, p.process_key, count(*) AS threads FROM process p JOIN thread t USING (process_key)\n\
        WHERE p.name = 'editor.exe' GROUP BY p.name, p.process_key\n\
        -- rule: broken\n-- title: It is broken\n-- sentence: {culprit}\nSELECT nothing FROM nowhere\n\
        -- rule: asks\n-- title: It asks\n-- sentence: {culprit}\n-- needs: dns_query\nSELECT 'x' AS culprit\n";
    std::fs::write(&rules, text).unwrap();
    let trace = folder
        .path()
        .join("office.etl")
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        run(&["synth", "write", "office", "--out", &trace]).exit,
        Exit::Answered
    );
    let asked = |table: &str| {
        json_lines(
            &run(&[
                "diagnose",
                "--json",
                "--rules",
                path,
                "--rule",
                "no-office;broken;asks",
                "--table",
                table,
                &trace,
            ])
            .out,
        )
    };
    let findings = asked("findings");
    assert_eq!(
        findings[0]["sentence"], "editor.exe (4120) has 4 threads",
        "{findings:?}"
    );
    let asked = asked("rules");
    assert_eq!(
        asked.iter().map(|rule| &rule["state"]).collect::<Vec<_>>(),
        ["found", "failed", "not checked"],
        "{asked:?}"
    );

    let text = run(&["diagnose", "--rules", path, "--rule", "asks", &trace]);
    assert!(
        text.out
            .contains("  asks: no DNS queries (Microsoft-Windows-DNS-Client)\n"),
        "{}",
        text.out
    );

    std::fs::write(&rules, "SELECT 1").unwrap();
    let answer = run(&["diagnose", "--rules", path, &trace]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer.err.contains("team.sql:1:1: expected a line"),
        "{}",
        answer.err
    );
}

#[test]
fn rules_are_explained() {
    let answer = run(&["diagnose", "--explain", "filter-scan"]);
    assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""));
    assert!(
        answer.out.contains("threshold") && answer.out.contains("-- rule: filter-scan"),
        "{}",
        answer.out
    );
    let answer = run(&["diagnose", "--explain", "all"]);
    assert!(
        answer.out.lines().count() > 1 && answer.out.contains("context_switch"),
        "{}",
        answer.out
    );
    let answer = run(&["diagnose", "--explain", "no-such-rule"]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer
            .err
            .contains("--explain: no rule is called \"no-such-rule\"; "),
        "{}",
        answer.err
    );
}

#[test]
fn every_option_names_the_rule_that_is_meant() {
    let trace = crate::support::trace("syscalls-5.etl");
    for option in ["--rule", "--fail-on", "--explain"] {
        let asked: &[&str] = match option {
            "--explain" => &["diagnose", option, "filterscan"],
            _ => &["diagnose", option, "filterscan", &trace],
        };
        let answer = run(asked);
        assert_eq!(answer.exit, Exit::Error, "{option}: {}", answer.out);
        assert!(
            answer
                .err
                .contains("no rule is called \"filterscan\"; did you mean filter-scan?"),
            "{option}: {}",
            answer.err
        );
    }
}

#[test]
fn a_name_that_no_rule_has_is_an_error() {
    let trace = crate::support::trace("syscalls-5.etl");
    let asked = |names: &str| run(&["diagnose", "--rule", names, &trace]);
    for (names, expected) in [
        ("filterscan", "did you mean filter-scan?"),
        ("filter-scan;nosuchname", "no rule is called \"nosuchname\""),
        ("!filterscan", "did you mean filter-scan?"),
        ("nosuch*", "no rule is called \"nosuch*\""),
    ] {
        let answer = asked(names);
        assert_eq!(answer.exit, Exit::Error, "{names}: {}", answer.out);
        assert!(answer.err.contains(expected), "{names}: {}", answer.err);
    }
    let pattern = asked("odd-*;s?in");
    assert_eq!(pattern.exit, Exit::Answered, "{}", pattern.err);
}

#[test]
fn the_largest_cost_of_processors_is_the_one_that_its_evidence_shows() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("odd.etl");
    let trace = trace.to_str().unwrap();
    let written = run(&["synth", "write", "odd-status", "--out", trace]);
    assert_eq!(written.exit, Exit::Answered, "{}", written.err);
    let costs = json_lines(&run(&["diagnose", "--table", "costs", "--json", trace]).out);
    let cost = costs
        .iter()
        .find(|cost| cost["kind"] == "processor")
        .unwrap();
    let shown = cost["evidence"].as_str().unwrap();
    let words: Vec<&str> = shown.split(' ').chain(["--json", trace]).collect();
    let rows = json_lines(&run(&words).out);
    assert_eq!(rows[0]["cpu_ns"], cost["cost_ns"], "{shown}");
}

/// Tables add up queries that overlap: their sum is another number than the time that they cost.
#[test]
fn names_that_are_looked_up_at_the_same_time_have_their_sum_in_the_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("slow.etl");
    let trace = trace.to_str().unwrap();
    let written = run(&["synth", "write", "slow-browsing", "--out", trace]);
    assert_eq!(written.exit, Exit::Answered, "{}", written.err);
    let findings = json_lines(&run(&["diagnose", "--rule", "dns-timeout", "--json", trace]).out);
    let sentence = findings[0]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("6 queries with a sum of 72.3 s, up to 12.1 s"),
        "{sentence}"
    );
}

#[test]
fn the_longest_wait_among_the_costs_is_in_its_evidence() {
    let folder = tempfile::tempdir().unwrap();
    for scenario in ["odd-status", "office", "test-runs"] {
        let trace = folder.path().join(format!("{scenario}.etl"));
        let trace = trace.to_str().unwrap();
        let written = run(&["synth", "write", scenario, "--out", trace]);
        assert_eq!(written.exit, Exit::Answered, "{}", written.err);
        let costs = json_lines(&run(&["diagnose", "--table", "costs", "--json", trace]).out);
        let Some(cost) = costs.iter().find(|cost| cost["kind"] == "wait") else {
            continue;
        };
        let shown = cost["evidence"].as_str().unwrap();
        let mut words = shell::split(shown);
        words.extend(["--json".to_owned(), trace.to_owned()]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let chains = json_lines(&run(&words).out);
        let longest = chains
            .iter()
            .filter(|row| row["link"] == 1 && row["kind"] == "wait")
            .filter_map(|row| row["wait_ns"].as_i64())
            .max();
        assert_eq!(longest, cost["cost_ns"].as_i64(), "{scenario}: {shown}");
        let tid = chains[0]["tid"].to_string();
        let sentence = cost["sentence"].as_str().unwrap();
        let named = format!("in its busiest thread ({tid})");
        assert!(sentence.ends_with(&named), "{scenario}: {sentence}");
    }
}

#[test]
fn a_diagnosis_without_findings_has_no_second_message() {
    let trace = crate::support::trace("sched-5.etl");
    let answer = run(&["diagnose", &trace]);
    assert_eq!(answer.exit, Exit::Nothing, "{}", answer.out);
    assert!(answer.out.contains("No known cause"), "{}", answer.out);
    assert!(!answer.err.contains("no rows in"), "{}", answer.err);
    // Several together say it in place of the texts of each.
    let other = crate::support::trace("power-5.etl");
    let together = run(&["diagnose", "--merge", &trace, &other]);
    let expected = "no known cause was found in 2 extracts; without --merge";
    assert!(together.err.contains(expected), "{}", together.err);
    // An option that left findings out is named all the same.
    let answer = run(&["diagnose", "--no-notes", "--cost", "100s..", &trace]);
    assert!(answer.err.contains("matches --"), "{}", answer.err);
}

#[test]
fn a_trace_that_cannot_show_where_time_went_says_so_first() {
    let trace = crate::support::trace("handles-5.etl");
    let answer = run(&["diagnose", &trace]);
    let expected = "This recording has no context switches, CPU samples or disk I/O";
    assert!(answer.out.contains(expected), "{}", answer.out);
    assert!(
        answer.out.contains("record start cswitch"),
        "{}",
        answer.out
    );
    // A rule that was asked for by its name can be checked without them.
    let answer = run(&["diagnose", "--rule", "object-leak", &trace]);
    assert!(answer.out.contains("1 of 1 rule could"), "{}", answer.out);
}

/// Its provider wrote events of the keywords GC and JIT, and none of the keyword Threading.
#[test]
fn rules_on_dotnet_need_events_of_their_own_keyword() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("jit.etl");
    let trace = trace.to_str().unwrap();
    let written = run(&["synth", "write", "jit-start", "--out", trace]);
    assert_eq!(written.exit, Exit::Answered, "{}", written.err);
    let asked = "jit-start;gc-pause;pool-starvation";
    let line = [
        "diagnose", "--table", "rules", "--rule", asked, "--json", trace,
    ];
    let rules = json_lines(&run(&line).out);
    let outcome = |name: &str| {
        let row = rules.iter().find(|row| row["rule"] == name).unwrap();
        (row["state"].clone(), row["missing"].clone())
    };
    assert_eq!(outcome("jit-start").0, "found");
    assert_eq!(outcome("gc-pause").0, "nothing");
    let (state, missing) = outcome("pool-starvation");
    assert_eq!(state, "not checked");
    assert!(
        missing.as_str().unwrap().contains("keyword Threading"),
        "{missing}"
    );
}

#[test]
fn evidence_is_a_command_line_that_there_is() {
    for rule in etwkit_analysis::diagnose::rules() {
        for evidence in &rule.evidence {
            // Times of a row stand in place of these columns.
            let template = evidence
                .template
                .replace("{at_s}", "1")
                .replace("{at_end_s}", "2");
            let mut line = shell::split(&template);
            line.push("none.etwx".to_owned());
            let answer = run(&line.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(answer.exit, Exit::Error, "{}: {evidence:?}", rule.name);
            assert!(
                answer.err.contains("cannot open none.etwx"),
                "{}: {}",
                rule.name,
                answer.err
            );
        }
    }
}

#[test]
fn printed_evidence_runs_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("my trace.etl");
    std::fs::copy(crate::support::trace("syscalls-5.etl"), &trace).unwrap();
    let trace = trace.to_str().unwrap();
    let text = run(&["diagnose", "--rule", "odd-status", trace]).out;
    let lines: Vec<Vec<String>> = text
        .lines()
        .filter_map(|line| line.split_once("etwkit dump "))
        .map(|(_, command)| shell::split(&format!("dump {command}")))
        .collect();
    assert!(!lines.is_empty(), "{text}");
    for line in lines {
        assert_eq!(line.last().map(String::as_str), Some(trace), "{text}");
        let answer = run(&line.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(answer.exit, Exit::Answered, "{line:?}: {answer:?}");
    }
}

/// A trace of a card in a folder, and the first finding of its rule.
fn first_finding(folder: &std::path::Path, card: &str) -> (String, Value) {
    let trace = folder.join(format!("{card}.etl"));
    let trace = trace.to_str().unwrap().to_owned();
    let written = run(&["synth", "write", card, "--out", &trace]);
    assert_eq!(written.exit, Exit::Answered, "{}", written.err);
    let rule = etwkit_synth::cards::find(card).unwrap().rule;
    let findings = json_lines(&run(&["diagnose", "--json", "--rule", rule, &trace]).out);
    (trace, findings[0].clone())
}

/// What the first line of evidence prints.
fn first_evidence(trace: &str, finding: &Value, options: &[&str]) -> String {
    let evidence = finding["evidence"].as_str().unwrap();
    let words = shell::split(evidence.lines().next().unwrap());
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.extend(options);
    words.push(trace);
    let answer = run(&words);
    assert_eq!(answer.exit, Exit::Answered, "{words:?}: {}", answer.err);
    answer.out
}

#[test]
fn evidence_has_the_numbers_of_the_finding() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, finding) = first_finding(folder.path(), "low-priority-lock");
    let waits = json_lines(&first_evidence(&trace, &finding, &["--json"]));
    let longest = &finding["longest_ns"];
    assert!(
        waits.iter().any(|row| &row["wait_max_ns"] == longest),
        "{finding}"
    );
    let (trace, finding) = first_finding(folder.path(), "cpi");
    let counted = json_lines(&first_evidence(&trace, &finding, &["--json"]));
    let cpi = counted[0]["cpi"].as_f64().unwrap();
    let said = format!("{cpi:.2} cycles per instruction instead of ");
    let sentence = finding["sentence"].as_str().unwrap();
    assert!(sentence.contains(&said), "{said}: {sentence}");
    for (card, noun) in [("jit-start", "methods"), ("hard-faults", "reads")] {
        let (trace, finding) = first_finding(folder.path(), card);
        let text = first_evidence(&trace, &finding, &[]);
        let total = format!("Total: {} {noun}", finding["count"]);
        assert!(text.contains(&total), "{total}: {text}");
    }
}

/// Without names of functions each program is a culprit of its own, with its own calls and no others.
#[test]
fn access_violations_are_counted_by_program_where_calls_have_no_names() {
    let trace = crate::support::trace("syscalls-5.etl");
    let found = json_lines(&run(&["diagnose", "--json", "--rule", "odd-status", &trace]).out);
    let counts: Vec<(i64, i64)> = found
        .iter()
        .map(|row| (row["pid"].as_i64().unwrap(), row["count"].as_i64().unwrap()))
        .collect();
    // The numbers of the truth beside the trace.
    assert_eq!(counts, [(1328, 16), (1408, 9), (1592, 11), (1492, 15)]);
}
