//! Running, ready and waiting, by thread, process, reason, method and processor.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::support::{Extract, assert_us, has_all, made_with, us};

#[test]
fn running_ready_and_waiting_of_every_thread_process_and_reason_are_the_truth() {
    let mut threads = 0;
    for (trace, truth) in made_with("sched") {
        if truth["sched"]["threads"].is_null() {
            continue;
        }
        let extract = Extract::of(&[&trace], &[]);
        threads += check_sums(&trace, &extract, &truth["sched"], None);
        check_reasons(&trace, &extract, &truth["sched"]);
        check_open_waits(&trace, &extract, &truth["sched"]);
        check_processors(&trace, &extract, &truth["sched"]);
    }
    assert!(threads > 30 || !has_all(), "{threads}");
}

/// Columns of a thread or process in the order of [`sums`].
const SUMS: [&str; 7] = [
    "switches_in",
    "preempted",
    "run_us",
    "run_open_start_us",
    "run_open_end_us",
    "wait_us",
    "ready_us",
];

/// Sums by thread or process, of what happened up to a time. The truth knows who ran from the start of the
/// session to its end; ours ran from the first event of the kernel logger to its last one, so that what lies
/// outside is added.
fn sums(by: &str, limit_ns: i64) -> String {
    format!(
        "select {by},
            count(in_ns) filter (where in_ns <= {limit_ns}),
            count(*) filter (where prev_state = 1 and in_ns <= {limit_ns}),
            sum(out_ns - in_ns) filter (where out_ns <= {limit_ns}),
            sum(run_ns + (select kernel_start_ns from trace)) filter (where in_ns is null and out_ns <= {limit_ns}),
            sum(coalesce({limit_ns} - in_ns, 0)) filter (where cpu is not null and in_ns <= {limit_ns} and coalesce(out_ns, {after}) > {limit_ns}),
            sum(wait_ns) filter (where in_ns <= {limit_ns}),
            sum(ready_ns) filter (where in_ns <= {limit_ns})
         from context_switch s join thread t on t.thread_key = s.thread_key
         where t.tid <> 0 group by {by}",
        after = i64::MAX
    )
}

/// Compares all threads and processes; returns how many threads there are.
fn check_sums(trace: &str, extract: &Extract, sched: &Value, limit_ns: Option<i64>) -> usize {
    let end = extract.ask("select duration_ns from trace")[0][0]
        .as_i64()
        .unwrap();
    let limit_ns = limit_ns.unwrap_or(end);
    let mut rows: HashMap<String, Vec<Value>> = HashMap::new();
    for row in extract.ask(&sums("s.process_key, t.tid", limit_ns)) {
        rows.insert(
            format!("{}/{}", extract.process(&row[0]), row[1]),
            row[2..].to_vec(),
        );
    }
    let by_process = extract.by_process(&sums("s.process_key", limit_ns));
    for (key, want) in sched["threads"].as_object().unwrap() {
        check_row(&format!("{trace} {key}"), rows.get(key), want);
    }
    for (key, want) in sched["processes"].as_object().unwrap() {
        check_row(&format!("{trace} {key}"), by_process.get(key), want);
    }
    rows.len()
}

fn check_row(what: &str, row: Option<&Vec<Value>>, truth: &Value) {
    let row = row.unwrap_or_else(|| panic!("{what} has no rows"));
    for (value, column) in row.iter().zip(SUMS) {
        if column.ends_with("_us") {
            assert_us(&format!("{what} {column}"), us(value), &truth[column]);
        } else {
            assert_eq!(value, &truth[column], "{what} {column}");
        }
    }
}

fn check_reasons(trace: &str, extract: &Extract, sched: &Value) {
    let mut rows = HashMap::new();
    for row in extract.ask(
        "select s.process_key, t.tid, s.wait_reason, sum(s.wait_ns) from context_switch s
         join thread t on t.thread_key = s.thread_key where s.prev_state = 5 and s.wait_ns is not null group by 1, 2, 3",
    ) {
        rows.insert((format!("{}/{}", extract.process(&row[0]), row[1]), row[2].to_string()), us(&row[3]));
    }
    for (key, want) in sched["threads"].as_object().unwrap() {
        for (reason, waited) in want["wait_us_by_reason"].as_object().unwrap() {
            let ours = rows
                .get(&(key.clone(), reason.clone()))
                .copied()
                .unwrap_or_default();
            assert_us(
                &format!("{trace} {key} waits for reason {reason}"),
                ours,
                waited,
            );
        }
    }
}

fn check_open_waits(trace: &str, extract: &Extract, sched: &Value) {
    let Some(truth) = sched["open_waits_at_end"].as_object() else {
        return;
    };
    let mut keys = HashSet::new();
    for row in extract.ask(
        "select s.process_key, t.tid, s.last_out_ns, s.wait_reason from context_switch s
         join thread t on t.thread_key = s.thread_key where s.is_open_wait",
    ) {
        let key = format!("{}/{}", extract.process(&row[0]), row[1]);
        let want = truth
            .get(&key)
            .unwrap_or_else(|| panic!("{trace} {key} does not wait at the end"));
        assert_us(
            &format!("{trace} {key} waits since"),
            us(&row[2]),
            &want["since_us"],
        );
        assert_eq!(row[3], want["reason"], "{trace} {key}");
        keys.insert(key);
    }
    let waiting = truth
        .iter()
        .filter(|(_, wait)| wait["state"] == 5)
        .map(|(key, _)| key.clone());
    assert_eq!(keys, waiting.collect(), "{trace}");
}

fn check_processors(trace: &str, extract: &Extract, sched: &Value) {
    let rows = extract.ask(
        "select s.cpu, sum(s.run_ns
                + case when s.in_ns is null then e.kernel_start_ns else 0 end
                + case when s.out_ns is null then e.duration_ns - e.kernel_end_ns else 0 end) filter (where t.tid <> 0),
            count(s.in_ns)
         from context_switch s cross join trace e
         join thread t on t.thread_key = s.thread_key where s.cpu is not null group by 1",
    );
    for row in rows {
        let cpu = row[0].to_string();
        assert_us(
            &format!("{trace} processor {cpu} is busy"),
            us(&row[1]),
            &sched["cpu_busy_us"][&cpu],
        );
        assert_eq!(
            row[2], sched["cpu_switches"][&cpu],
            "{trace} switches of processor {cpu}"
        );
    }
}

#[test]
fn unions_of_methods_are_the_truth() {
    let mut methods = 0;
    for (trace, truth) in made_with("sched") {
        let Some(truth) = truth["sched"]["methods_wait_ready"]["rows"].as_object() else {
            continue;
        };
        for detail in ["full", "summary"] {
            let extract = Extract::of(&[&trace], &["--detail", detail]);
            let mut rows = HashMap::new();
            for row in extract.ask(
                "select process_key, coalesce(module_path, '?'), method, wait_ns, ready_ns from cpu_method",
            ) {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let key = (extract.process(&row[0]), text(&row[1]), text(&row[2]));
                rows.insert(key, (us(&row[3]), us(&row[4])));
            }
            for (process, list) in truth {
                for want in list.as_array().unwrap() {
                    let (module, rva) = (want[0].as_str().unwrap(), want[1].as_str().unwrap());
                    if module == "?" {
                        // Code that was compiled at run time: the truth has its address, we have its name.
                        continue;
                    }
                    let key = (process.clone(), module.to_owned(), format!("+{rva}"));
                    let (wait, ready) = rows.get(&key).copied().unwrap_or_default();
                    assert_us(&format!("{trace} {detail} {key:?} wait"), wait, &want[2]);
                    assert_us(&format!("{trace} {detail} {key:?} ready"), ready, &want[3]);
                    methods += 1;
                }
            }
        }
    }
    assert!(methods > 100 || !has_all(), "{methods}");
}

/// Ready times in microseconds by process and whether the processor slept deeply before, sorted.
fn readies(sched: &Value) -> HashMap<(i64, bool), Vec<f64>> {
    let columns: Vec<&str> = sched["switch_columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let (new_pid, new_tid, ready) = (at("new_pid"), at("new_tid"), at("ready_us"));
    let (old_tid, c_state) = (at("old_tid"), at("prev_cstate"));
    let mut all: HashMap<(i64, bool), Vec<f64>> = HashMap::new();
    for switch in sched["switches"].as_array().unwrap() {
        let Some(ready) = switch[ready].as_f64().filter(|_| switch[new_tid] != 0) else {
            continue;
        };
        let is_deep = switch[old_tid] == 0 && switch[c_state].as_i64().unwrap() > 0;
        all.entry((switch[new_pid].as_i64().unwrap(), is_deep))
            .or_default()
            .push(ready);
    }
    all.values_mut()
        .for_each(|values| values.sort_by(f64::total_cmp));
    all
}

#[test]
fn percentiles_of_times_ready_are_those_of_the_truth() {
    let (mut compared, mut deep) = (0, 0);
    for (trace, truth) in made_with("sched") {
        if !truth["sched"]["switches"].is_array() {
            continue;
        }
        let extract = Extract::of(&[&trace], &[]);
        let reused = "select pid from process group by pid having count(*) > 1";
        let mut truth = readies(&truth["sched"]);
        let reused: HashSet<i64> = extract
            .ask(reused)
            .iter()
            .map(|row| row[0].as_i64().unwrap())
            .collect();
        truth.retain(|(pid, _), _| !reused.contains(pid));
        let mut rows = extract.ask(
            "select p.pid, r.is_deep_sleep, r.count, r.min_ns, r.p5_ns, r.p25_ns, r.p50_ns, r.p90_ns, r.p95_ns, r.p99_ns, r.max_ns,
                r.sum_ns, r.longest_sum_ns from ready_percentile r join process p on p.process_key = r.process_key where r.method is null",
        );
        rows.retain(|row| !reused.contains(&row[0].as_i64().unwrap()));
        assert_eq!(rows.len(), truth.len(), "{trace}");
        for row in rows {
            let key = (row[0].as_i64().unwrap(), row[1].as_bool().unwrap());
            let values = &truth[&key];
            assert_eq!(row[2], values.len(), "{trace} {key:?}");
            let percentile = |percent: f64| {
                let at = (values.len() - 1) as f64 * percent / 100.0;
                let (low, high) = (values[at.floor() as usize], values[at.ceil() as usize]);
                low + (high - low) * at.fract()
            };
            let percents = [0.0, 5.0, 25.0, 50.0, 90.0, 95.0, 99.0, 100.0];
            for (percent, ours) in percents.into_iter().zip(&row[3..11]) {
                assert_us(
                    &format!("{trace} {key:?} {percent}%"),
                    us(ours),
                    &json!(percentile(percent)),
                );
            }
            let sum: f64 = values.iter().sum();
            let longest: f64 = values[values.len() * 99 / 100..].iter().sum();
            // Each value is cut to a nanosecond.
            let tolerance = 0.6 + values.len() as f64 * 0.06;
            assert!(
                (us(&row[11]) - sum).abs() < tolerance,
                "{trace} {key:?}: {row:?}, the truth is {sum}"
            );
            assert!(
                (us(&row[12]) - longest).abs() < tolerance,
                "{trace} {key:?}: {row:?}, the truth is {longest}"
            );
            compared += 1;
            deep += usize::from(key.1);
        }
    }
    assert!(compared > 10 || !has_all(), "{compared}");
    assert!(deep > 0 || !has_all(), "no processor slept deeply");
}

#[test]
fn the_union_in_sql_is_that_of_the_derived_tables() {
    for (trace, truth) in made_with("sched") {
        if truth["sched"]["threads"].is_null() {
            continue;
        }
        let extract = Extract::of(&[&trace], &[]);
        let unions = extract.by_process(
            "select process_key, union_duration(last_out_ns, last_out_ns + wait_ns), union_duration(in_ns - ready_ns, in_ns)
             from context_switch where in_ns is not null group by 1",
        );
        for (process, row) in
            extract.by_process("select process_key, wait_ns, ready_ns from cpu_process")
        {
            let number = |value: &Value| value.as_i64().unwrap_or_default();
            let ours: Vec<i64> = row.iter().map(number).collect();
            assert_eq!(
                ours,
                unions[&process].iter().map(number).collect::<Vec<_>>(),
                "{trace} {process}"
            );
        }
    }
}

#[test]
fn up_to_the_damage_a_broken_trace_has_the_rows_of_the_truth() {
    for (trace, truth) in made_with("before_damage") {
        let extract = Extract::of(&[&trace], &[]);
        let before = &truth["before_damage"];
        let limit_ns = (before["limit_us"].as_f64().unwrap() * 1000.0).round() as i64;
        assert!(check_sums(&trace, &extract, &before["sched"], Some(limit_ns)) > 5);
    }
}

#[test]
fn behind_a_gap_nothing_is_reported_that_is_not_known() {
    for (trace, truth) in made_with("lost") {
        let extract = Extract::of(&[&trace], &[]);
        let switches = extract
            .ask("select cpu, count(in_ns) from context_switch where cpu is not null group by 1");
        check_survivors(
            &trace,
            &switches,
            &truth["lost"],
            "surviving_switches_by_cpu",
        );
        let samples = extract.ask("select cpu, count(*) from cpu_sample group by 1");
        check_survivors(
            &trace,
            &samples,
            &truth["lost"],
            "surviving_samples_by_core",
        );
        for (cpu, busy) in truth["lost"]["after_gap_busy"].as_object().unwrap() {
            let ns = |key: &str| (busy[key].as_f64().unwrap() * 1000.0).round() as i64;
            let rows = extract.ask(&format!(
                "select sum(s.run_ns) from context_switch s join thread t on t.thread_key = s.thread_key
                 where t.tid <> 0 and s.cpu = {cpu} and s.in_ns >= {} - 1 and s.out_ns <= {} + 1",
                ns("from_us"),
                ns("to_us")
            ));
            assert_us(
                &format!("{trace} processor {cpu} is busy behind the gap"),
                us(&rows[0][0]),
                &busy["busy_us"],
            );
        }
    }
}

/// The truth counts whole buffers; of one that the end of the file cuts we read what is there.
fn check_survivors(trace: &str, rows: &[Vec<Value>], lost: &Value, section: &str) {
    for row in rows {
        let cpu = row[0].to_string();
        let (ours, truth) = (
            row[1].as_u64().unwrap(),
            lost[section][&cpu].as_u64().unwrap(),
        );
        let more = if lost["file_cut"] == true { 200 } else { 0 };
        assert!(
            (truth..=truth + more).contains(&ours),
            "{trace} {section} {cpu}: {ours}, the truth is {truth}"
        );
    }
}
