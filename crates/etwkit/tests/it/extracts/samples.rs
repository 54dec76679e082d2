//! Samples by process, thread, processor and method.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::support::{Extract, assert_us, has_all, made_with, us};

#[test]
fn samples_are_those_of_the_truth() {
    for (trace, truth) in made_with("samples") {
        let truth = &truth["samples"];
        let extract = Extract::of(&[&trace], &[]);
        let totals = extract.ask(
            "select count(*), count(*) filter (where is_idle), count(*) filter (where is_dpc_isr) from cpu_sample",
        );
        let want = ["samples", "idle_samples", "dpc_samples"].map(|key| truth[key].clone());
        assert_eq!(totals[0], want, "{trace}");
        let by_process =
            extract.by_process("select process_key, count(*) from cpu_sample group by 1");
        let by_process: BTreeMap<_, _> = by_process
            .into_iter()
            .map(|(key, row)| (key, row[0].clone()))
            .collect();
        assert_eq!(json!(by_process), truth["by_process"], "{trace}");
        let mut by_thread = BTreeMap::new();
        for row in extract.ask(
            "select s.process_key, t.tid, count(*) from cpu_sample s join thread t on t.thread_key = s.thread_key group by 1, 2",
        ) {
            by_thread.insert(format!("{}/{}", extract.process(&row[0]), row[1]), row[2].clone());
        }
        if truth["by_thread"].is_object() {
            assert_eq!(json!(by_thread), truth["by_thread"], "{trace}");
        }
        let cores = extract.ask("select cpu, count(*) from cpu_sample group by 1");
        let cores: BTreeMap<String, Value> = cores
            .iter()
            .map(|row| (row[0].to_string(), row[1].clone()))
            .collect();
        assert_eq!(json!(cores), truth["by_core"], "{trace}");
    }
}

#[test]
fn inclusive_and_leaf_samples_of_methods_are_those_of_the_truth() {
    let mut methods = 0;
    for (trace, truth) in made_with("samples") {
        let Some(truth) = truth["samples"]["methods"]["rows"].as_object() else {
            continue;
        };
        let extract = Extract::of(&[&trace], &[]);
        let interval = &extract.ask("select max(weight_ns) from cpu_sample")[0][0]
            .as_i64()
            .unwrap();
        let mut rows = HashMap::new();
        for row in extract.ask(
            "select process_key, coalesce(module_path, '?'), method, samples, exclusive_ns from cpu_method",
        ) {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let key = (extract.process(&row[0]), text(&row[1]), text(&row[2]));
            rows.insert(key, (row[3].clone(), row[4].as_i64().unwrap() / interval));
        }
        for (process, list) in truth {
            for want in list
                .as_array()
                .unwrap()
                .iter()
                .filter(|want| want[0] != "?")
            {
                let (module, rva) = (want[0].as_str().unwrap(), want[1].as_str().unwrap());
                let key = (process.clone(), module.to_owned(), format!("+{rva}"));
                let ours = rows
                    .get(&key)
                    .unwrap_or_else(|| panic!("{trace} {key:?} is missing"));
                assert_eq!(
                    (&ours.0, json!(ours.1)),
                    (&want[2], want[3].clone()),
                    "{trace} {key:?}"
                );
                methods += 1;
            }
        }
    }
    assert!(methods > 100 || !has_all(), "{methods}");
}

#[test]
fn every_sample_belongs_to_the_process_that_had_the_id_then() {
    for (trace, truth) in made_with("sample_owner") {
        let extract = Extract::of(&[&trace], &[]);
        let mut rows = HashMap::new();
        for row in extract.ask(
            "select s.ts_ns, s.cpu, s.process_key, t.tid, coalesce(m.path, '?'), hex(coalesce(f.rva, f.address)) from cpu_sample s
             join thread t on t.thread_key = s.thread_key join stack k on k.stack_id = s.stack_id
             join frame f on f.frame_id = k.frame_id left join module m on m.module_id = f.module_id where not s.is_idle",
        ) {
            let leaf = format!("{}+{}", row[4].as_str().unwrap(), row[5].as_str().unwrap());
            let owner = format!("{}/{} {leaf}", extract.process(&row[2]), row[3]);
            rows.insert((row[0].as_i64().unwrap(), row[1].as_i64().unwrap()), owner);
        }
        let owners = &truth["sample_owner"];
        let columns: Vec<&str> = owners["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c.as_str().unwrap())
            .collect();
        let at = |name: &str| {
            columns
                .iter()
                .position(|c| *c == name)
                .unwrap_or_else(|| panic!("{columns:?}"))
        };
        let list = owners["rows"].as_array().unwrap();
        assert!(list.len() > 100);
        for want in list {
            let time = want[at("t_us")].as_f64().unwrap() * 1000.0;
            let cpu = want[at("cpu")].as_i64().unwrap();
            let near = |ns: i64| rows.get(&(ns, cpu));
            let ns = time.floor() as i64;
            let ours = near(ns).or_else(|| near(ns + 1)).or_else(|| near(ns - 1));
            let key = want[at("process")].as_str().unwrap();
            let text = |name: &str| want[at(name)].as_str().unwrap();
            let wanted = format!(
                "{key}/{} {}+{}",
                want[at("tid")],
                text("leaf_module"),
                text("leaf_rva")
            );
            assert_eq!(ours, Some(&wanted), "{trace} at {time}");
        }
    }
}

#[test]
fn dpcs_interrupts_and_marks_are_those_of_the_truth() {
    for (trace, truth) in made_with("dpcs") {
        let extract = Extract::of(&[&trace], &[]);
        let rows = extract.ask(
            "select count(*) filter (where kind <> 'isr'), count(*) filter (where kind = 'isr'),
                sum(duration_ns) filter (where kind <> 'isr'), sum(duration_ns) filter (where kind = 'isr') from dpc_isr",
        );
        let dpcs = &truth["dpcs"];
        assert_eq!(
            rows[0][..2],
            [dpcs["count"].clone(), dpcs["isr_count"].clone()],
            "{trace}"
        );
        assert_us(&format!("{trace} DPCs"), us(&rows[0][2]), &dpcs["total_us"]);
        assert_us(
            &format!("{trace} interrupts"),
            us(&rows[0][3]),
            &dpcs["isr_total_us"],
        );
        let marks = extract.ask("select ts_ns, text from mark order by ts_ns");
        let want = truth["marks"].as_array().unwrap();
        assert_eq!(marks.len(), want.len(), "{trace}");
        for (mark, want) in marks.iter().zip(want) {
            assert_us(&format!("{trace} mark"), us(&mark[0]), &want[0]);
            assert_eq!(mark[1], want[1], "{trace}");
        }
    }
}
