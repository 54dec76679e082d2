//! Memory of processes and of the machine; power settings.

use etwkit_question::ProcessQuery;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::trace::TraceInfo;
use etwkit_question::{Question, Value};
use etwkit_questions::memory::{MachineRow, MemoryRequest, MemoryRow, MemorySort};
use etwkit_questions::power::PowerRequest;
use etwkit_sql::Session;
use etwkit_trace::table::{MemoryMachine, MemorySample, PowerProfile, PowerSetting};

use super::super::support::rows;
use super::{MS, process, trace};

const MIB: i64 = 1 << 20;

fn session() -> Session {
    let sample = |ms: i64, key: Option<i32>, pid, commit: i64, working_set: i64| MemorySample {
        ts_ns: ms * MS,
        process_key: key,
        pid,
        commit_bytes: commit * MIB,
        working_set_bytes: working_set * MIB,
        private_working_set_bytes: working_set * MIB / 2,
        shared_commit_bytes: (pid == 4).then_some(7 * MIB),
        ..MemorySample::default()
    };
    let machine = |ms: i64, commit: i64, in_use| MemoryMachine {
        ts_ns: ms * MS,
        commit_bytes: Some(commit * MIB),
        in_use_bytes: in_use,
        ..MemoryMachine::default()
    };
    Session::from_batches(vec![
        rows(&[trace()]),
        rows(&[
            process(1, 4, "a.exe"),
            process(2, 8, "b.exe"),
            process(3, 8, "b.exe"),
            process(4, 12, "c.exe"),
        ]),
        rows(&[
            sample(1, Some(1), 4, 100, 50),
            sample(1, Some(2), 8, 30, 20),
            sample(500, Some(1), 4, 300, 50),
            // Process id 8 was reused in between.
            sample(900, Some(1), 4, 80, 60),
            sample(900, Some(3), 8, 40, 10),
            sample(900, Some(4), 12, 90, 5),
            sample(900, None, -1, 0, 200),
        ]),
        rows(&[
            machine(1, 1000, Some(500 * MIB)),
            machine(400, 3000, None),
            machine(900, 1200, Some(400 * MIB)),
        ]),
    ])
    .unwrap()
}

#[track_caller]
fn ask(request: &MemoryRequest) -> Vec<(i64, i64, i64)> {
    let rows = request.ask::<MemoryRow>(&session());
    let rows = rows.unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    rows.iter()
        .map(|row| {
            (
                row.pid.unwrap(),
                row.commit_bytes / MIB,
                row.commit_diff_bytes / MIB,
            )
        })
        .collect()
}

#[test]
fn the_last_sample_and_what_changed_since_the_first() {
    let all = MemoryRequest::default();
    assert_eq!(
        ask(&all),
        [(-1, 0, 0), (8, 40, 0), (4, 80, -20), (12, 90, 0)]
    );
    let pids = |request: &MemoryRequest| {
        ask(request)
            .into_iter()
            .map(|row| row.0)
            .collect::<Vec<_>>()
    };
    let sorted = |sort| {
        pids(&MemoryRequest {
            sort,
            ..all.clone()
        })
    };
    assert_eq!(sorted(MemorySort::WorkingSet), [12, 8, 4, -1]);
    assert_eq!(sorted(MemorySort::SharedCommit), [-1, 8, 12, 4]);
    assert_eq!(sorted(MemorySort::Diff), [-1, 8, 12, 4]);
    // Part of the trace: its own first and last sample.
    let time = Range::parse("0..0.6", Unit::Seconds).unwrap();
    assert_eq!(ask(&MemoryRequest { time, ..all }), [(4, 300, 200)]);
}

#[test]
fn filters_on_what_is_there_at_the_end() {
    let all = MemoryRequest::default();
    let mib = |text: &str| Range::parse(text, Unit::Mebibytes).unwrap();
    for (request, expected) in [
        (
            MemoryRequest {
                commit: mib("50.."),
                ..all.clone()
            },
            &[4, 12][..],
        ),
        (
            MemoryRequest {
                working_set: mib("..50"),
                ..all.clone()
            },
            &[8, 12],
        ),
        (
            MemoryRequest {
                private_working_set: mib("30..30"),
                ..all.clone()
            },
            &[4],
        ),
        (
            MemoryRequest {
                shared_commit: mib("1.."),
                ..all.clone()
            },
            &[4],
        ),
        // A process that started in between counts with all that it has.
        (
            MemoryRequest {
                min_diff: 25,
                ..all.clone()
            },
            &[8, 12],
        ),
        (
            MemoryRequest {
                min_diff: 20,
                ..all.clone()
            },
            &[8, 4, 12],
        ),
        (
            MemoryRequest {
                top: Top {
                    count: Some(1),
                    skip: 0,
                },
                ..all.clone()
            },
            &[12],
        ),
        (
            MemoryRequest {
                processes: ProcessQuery {
                    process: Some("a;c".into()),
                    ..ProcessQuery::default()
                },
                ..all.clone()
            },
            &[4, 12],
        ),
    ] {
        assert_eq!(
            ask(&request)
                .into_iter()
                .map(|row| row.0)
                .collect::<Vec<_>>(),
            expected,
            "{request:?}"
        );
    }
}

#[test]
fn the_machine() {
    let request = MemoryRequest {
        total_memory: true,
        ..MemoryRequest::default()
    };
    let rows: Vec<MachineRow> = request
        .ask(&session())
        .unwrap_or_else(|e| panic!("{e}\n{}", request.machine_sql()));
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (row.commit_bytes, row.commit_diff_bytes),
        (Some(1200 * MIB), Some(200 * MIB))
    );
    assert_eq!(
        (row.in_use_bytes, row.in_use_diff_bytes),
        (Some(400 * MIB), Some(-100 * MIB))
    );
    assert_eq!((row.memory_bytes, row.samples), (Some(8 << 30), 3));
}

#[test]
fn each_kind_of_sample_answers_without_the_other() {
    let of = |tables| Session::from_batches(tables).unwrap();
    let whole = MemoryRequest {
        total_memory: true,
        ..MemoryRequest::default()
    };
    let sample = MemorySample {
        pid: 4,
        commit_bytes: 5,
        ..MemorySample::default()
    };
    let processes = of(vec![rows(&[trace()]), rows(&[sample])]);
    assert_eq!(
        MemoryRequest::default()
            .ask::<MemoryRow>(&processes)
            .unwrap()
            .len(),
        1
    );
    assert!(
        whole
            .ask::<MachineRow>(&processes)
            .unwrap_err()
            .hint()
            .unwrap()
            .contains("MEMINFO")
    );
    let machine = of(vec![rows(&[trace()]), rows(&[MemoryMachine::default()])]);
    assert_eq!(whole.ask::<MachineRow>(&machine).unwrap().len(), 1);
    assert!(
        MemoryRequest::default()
            .ask::<MemoryRow>(&machine)
            .unwrap_err()
            .hint()
            .unwrap()
            .contains("MEMINFO_WS")
    );
}

#[test]
fn power_settings_of_each_moment() {
    let setting = |ts_ns, kind, guid: &str, value| PowerSetting {
        ts_ns,
        kind,
        setting_guid: guid.into(),
        value: Some(value),
        value_hex: format!("{value:02x}000000"),
        ..PowerSetting::default()
    };
    let (boost, unknown) = (
        "be337238-0d82-4146-a960-4f3749d470c7",
        "00000000-1111-2222-3333-444444444444",
    );
    let of_profile = PowerSetting {
        profile: Some(2),
        power_source: Some("ac"),
        efficiency_class: Some(0),
        ..setting(1, "rundown", "36687f9e-e3a5-4dbf-b1dc-15eb381c6863", 33)
    };
    let session = Session::from_batches(vec![
        rows(&[
            setting(1, "rundown", boost, 2),
            setting(1, "rundown", unknown, 9),
            of_profile,
            setting(5, "change", boost, 0),
        ]),
        rows(&[PowerProfile {
            ts_ns: 0,
            previous: 0,
            profile: 2,
        }]),
    ])
    .unwrap();
    let snapshots = PowerRequest::default().ask(&session).unwrap();
    let [first, second] = &snapshots[..] else {
        panic!("{snapshots:?}")
    };
    let shown = |guid: &str| {
        let row = first.value(guid).unwrap();
        (row.name.clone(), row.value.clone(), row.origin.clone())
    };
    assert_eq!(
        shown(boost),
        ("BoostMode".into(), "Aggressive".into(), "system".into())
    );
    assert_eq!(
        shown(unknown),
        (unknown.into(), "9".into(), "system".into())
    );
    assert_eq!(
        shown("36687f9e-e3a5-4dbf-b1dc-15eb381c6863"),
        ("EnergyPreference".into(), "33 %".into(), "profile 2".into())
    );
    assert_eq!(
        (second.ts_ns, &*second.value(boost).unwrap().value),
        (5, "Disabled")
    );
    let none = Session::from_batches(vec![rows(&[trace()])]).unwrap();
    assert!(PowerRequest::default().ask(&none).unwrap_err().is_nothing());

    // Side by side: a column for each snapshot, here for the settings that differ.
    let asked = PowerRequest {
        diff: true,
        ..PowerRequest::default()
    };
    let mut answer = asked.answer(&session).unwrap();
    let info = TraceInfo {
        file_name: "a.etl".into(),
        ..TraceInfo::default()
    };
    let beside = asked.across(&mut [(&info, &mut answer)]).unwrap().unwrap();
    let table = &beside.parts[0].table;
    let shown: Vec<Value> = (0..table.columns().len())
        .map(|column| table.value(0, column))
        .collect();
    assert_eq!(
        (table.len(), shown),
        (
            1,
            ["BoostMode", "Aggressive", "Disabled"]
                .map(Value::from)
                .to_vec()
        )
    );
    let (mut one, mut same) = (
        asked.answer(&session).unwrap(),
        asked.answer(&session).unwrap(),
    );
    let beside = asked
        .across(&mut [(&info, &mut one), (&info, &mut same)])
        .unwrap()
        .unwrap();
    assert_eq!(
        (
            beside.parts[0].table.columns().len(),
            same.parts[0].foot.len()
        ),
        (3, 2)
    );
}
