//! CPU by kind of core, next to processes and methods.

use etwkit_questions::cores::kinds::{CoreKinds, KindUse};
use etwkit_questions::cpu::CpuRequest;
use etwkit_sql::Session;
use etwkit_trace::table::{CpuClass, CpuCore, CpuMethod, CpuMethodClass, CpuProcess};

use super::super::support::rows;
use super::{methods_by_cpu, process};

/// Two cores of class 0, and one of each class that is named. Process 1 runs 30 on class 0 and 10,
/// without a known speed, on class 1; the unknown process runs on class 5 and on an unknown class.
fn session(classes: &[i32]) -> Session {
    let core = |(cpu, class): (i32, i32)| CpuCore {
        cpu,
        efficiency_class: Some(class),
        ..CpuCore::default()
    };
    let cores: Vec<CpuCore> = (0..)
        .zip([0, 0].iter().chain(classes).copied())
        .map(core)
        .collect();
    let class = |process_key, efficiency_class, cpu_ns, measured_ns| CpuClass {
        process_key,
        efficiency_class,
        cpu_ns,
        measured_ns,
        normalized_ns: (measured_ns > 0).then_some(cpu_ns / 2),
        mean_mhz: Some(1000.0),
        nominal_mhz: Some(2000.0),
        core_count: if efficiency_class == Some(0) { 2 } else { 1 },
        first_ns: 5,
        last_ns: 5 + cpu_ns,
        ..CpuClass::default()
    };
    // The same function in two modules of one name.
    let method_class = |path: &str, efficiency_class, cpu_ns| CpuMethodClass {
        process_key: Some(1),
        module: Some("a.dll".into()),
        module_path: Some(path.into()),
        method: "main".into(),
        efficiency_class: Some(efficiency_class),
        cpu_ns,
        core_count: 1,
        ..CpuMethodClass::default()
    };
    let method = |path: &str, cpu_ns| CpuMethod {
        process_key: Some(1),
        module: Some("a.dll".into()),
        module_path: Some(path.into()),
        method: "main".into(),
        cpu_ns,
        ..CpuMethod::default()
    };
    let of_process = |process_key, cpu_ns| CpuProcess {
        process_key,
        cpu_ns,
        samples: cpu_ns,
        ..CpuProcess::default()
    };
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe")]),
        rows(&cores),
        rows(&[of_process(Some(1), 40), of_process(None, 9)]),
        rows(&[
            class(Some(1), Some(0), 30, 30),
            class(Some(1), Some(1), 10, 0),
            class(None, Some(5), 2, 2),
            class(None, None, 7, 7),
        ]),
        rows(&[method("C:\\1\\a.dll", 35), method("C:\\2\\a.dll", 36)]),
        rows(&[
            method_class("C:\\1\\a.dll", 0, 28),
            method_class("C:\\1\\a.dll", 1, 7),
            method_class("C:\\2\\a.dll", 2, 36),
        ]),
    ])
    .unwrap()
}

fn processes(session: &Session) -> Vec<CoreKinds> {
    let answer = CpuRequest::default()
        .process_answer(session)
        .unwrap_or_else(|error| panic!("{error}"));
    answer.rows.into_iter().map(|row| row.kinds).collect()
}

#[test]
fn a_process_has_its_kinds_the_fastest_first() {
    let kinds = processes(&session(&[0, 1, 2, 5]));
    let [unknown, known] = &kinds[..] else {
        panic!("{kinds:?}")
    };
    let fast = KindUse {
        efficiency_class: 1,
        cpu_ns: 10,
        cpu_percent: 25.0,
        normalized_ns: None,
        mean_mhz: None,
        frequency_percent: None,
        used_cores: 1,
        enabled_cores: Some(1),
        duration_ns: 10,
    };
    let slow = KindUse {
        efficiency_class: 0,
        cpu_ns: 30,
        cpu_percent: 75.0,
        normalized_ns: Some(15),
        mean_mhz: Some(1000.0),
        frequency_percent: Some(50.0),
        used_cores: 2,
        enabled_cores: Some(3),
        duration_ns: 30,
    };
    assert_eq!(
        (known.uses(), known.class_other_cpu_ns),
        (vec![fast, slow], None)
    );
    // Classes without columns of their own.
    assert_eq!(
        (unknown.uses(), unknown.class_other_cpu_ns),
        (vec![], Some(9))
    );
}

#[test]
fn methods_of_modules_with_one_name_have_their_own_kinds() {
    let answer = methods_by_cpu().method_answer(&session(&[1, 2])).unwrap();
    let found: Vec<_> = answer.processes[0]
        .rows
        .iter()
        .map(|row| {
            let of = |one: KindUse| (one.efficiency_class, one.cpu_ns, one.cpu_percent);
            (
                row.cpu_ns,
                row.kinds.uses().into_iter().map(of).collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (35, vec![(1, 7, 20.0), (0, 28, 80.0)]),
            (36, vec![(2, 36, 100.0)])
        ]
    );
}

#[test]
fn a_machine_with_one_kind_of_core_has_no_values() {
    assert_eq!(
        processes(&session(&[0])),
        [CoreKinds::default(), CoreKinds::default()]
    );
    let answer = methods_by_cpu().method_answer(&session(&[])).unwrap();
    assert!(
        answer.processes[0]
            .rows
            .iter()
            .all(|row| row.kinds == CoreKinds::default())
    );
}
