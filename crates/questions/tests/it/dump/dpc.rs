//! DPCs and interrupts.

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_questions::dpc::{DpcBy, DpcEvent, DpcRequest, DpcRow, DpcSort};
use etwkit_sql::Session;
use etwkit_trace::table::{DpcIsr, Frame, Method, Module};

use super::super::support::rows;
use super::{MS, trace};

/// Times in milliseconds; the recording has ten seconds.
fn took(kind: &'static str, cpu: i32, frame_id: i32, start: i64, times: (i64, i64)) -> DpcIsr {
    DpcIsr {
        kind,
        cpu,
        frame_id,
        start_ns: start * MS,
        end_ns: (start + times.0) * MS,
        duration_ns: times.0 * MS,
        nested_ns: (times.0 - times.1) * MS,
        ..DpcIsr::default()
    }
}

fn session() -> Session {
    let module = |module_id, name: &str| Module {
        module_id,
        name: name.into(),
        ..Module::default()
    };
    let frame = |frame_id, module_id, rva, method_id| Frame {
        frame_id,
        module_id,
        rva: Some(rva),
        address: 0x1000 + rva,
        method_id,
        ..Frame::default()
    };
    let all = [
        // An interrupt of 2 ms came in between the first DPC.
        took("dpc", 0, 0, 10, (10, 8)),
        took("isr", 0, 1, 12, (2, 2)),
        took("dpc", 1, 0, 30, (5, 5)),
        took("timer_dpc", 1, 2, 50, (1, 1)),
    ];
    Session::from_batches(vec![
        rows(&[trace()]),
        rows(&all),
        rows(&[
            frame(0, Some(0), 16, Some(0)),
            frame(1, Some(0), 32, None),
            frame(2, None, 48, None),
        ]),
        rows(&[Method {
            method_id: 0,
            module_id: Some(0),
            name: "Receive".into(),
            ..Method::default()
        }]),
        rows(&[module(0, "nic.sys")]),
    ])
    .unwrap()
}

/// Formats the key of a row, count, own time, time and longest time in ms, share of a processor.
fn sums(request: &DpcRequest) -> Vec<String> {
    let rows: Vec<DpcRow> = request
        .form()
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let row = |row: &DpcRow| {
        let names =
            [&row.driver, &row.routine, &row.kind].map(|name| name.clone().unwrap_or_default());
        let of = names.concat() + &row.cpu.map(|cpu| cpu.to_string()).unwrap_or_default();
        let [own, all, max] =
            [row.exclusive_ns, row.duration_ns, row.max_duration_ns].map(|ns| ns / MS);
        format!(
            "{of}: {} {own} {all} {max} {:.2}",
            row.count, row.cpu_percent
        )
    };
    rows.iter().map(row).collect()
}

/// The example of `docs/numbers/dpc.md`.
#[test]
fn own_time_adds_up_and_has_nothing_that_came_in_between() {
    let by = |by| DpcRequest {
        by,
        ..DpcRequest::default()
    };
    assert_eq!(
        sums(&by(DpcBy::Driver)),
        [": 1 1 1 1 0.01", "nic.sys: 3 15 17 10 0.15"]
    );
    assert_eq!(
        sums(&by(DpcBy::Routine)),
        [
            "+0x30: 1 1 1 1 0.01",
            "nic.sys+0x20: 1 2 2 2 0.02",
            "nic.sysReceive: 2 13 15 10 0.13"
        ]
    );
    assert_eq!(
        sums(&by(DpcBy::Kind)),
        [
            "timer_dpc: 1 1 1 1 0.01",
            "isr: 1 2 2 2 0.02",
            "dpc: 2 13 15 10 0.13"
        ]
    );
    assert_eq!(
        sums(&by(DpcBy::Cpu)),
        ["1: 2 6 6 5 0.06", "0: 2 10 12 10 0.10"]
    );
}

#[test]
fn filters_choose_what_is_summed_up() {
    let all = DpcRequest::default();
    let driver = DpcRequest {
        driver: Some("NIC*".into()),
        kind: Some("isr".into()),
        ..all.clone()
    };
    assert_eq!(sums(&driver), ["nic.sys: 1 2 2 2 0.02"]);
    let long = DpcRequest {
        duration: Range {
            min: 5 * MS,
            max: i64::MAX,
        },
        cpu: Some(1),
        ..all.clone()
    };
    assert_eq!(sums(&long), ["nic.sys: 1 5 5 5 0.05"]);
    let early = DpcRequest {
        time: Range {
            min: 0,
            max: 12 * MS,
        },
        ..all
    };
    // Of the 12 ms of the range. The first one counts as a whole, although it ended after the range.
    assert_eq!(sums(&early), ["nic.sys: 2 10 12 10 83.33"]);
}

#[test]
fn single_ones_have_their_routine() {
    let asked = DpcRequest {
        details: true,
        sort: DpcSort::Time,
        ..DpcRequest::default()
    };
    let all: Vec<DpcEvent> = asked.form().ask(&session()).unwrap();
    let row = |row: &DpcEvent| format!("{} {:?} {:?}", row.start_ns / MS, row.driver, row.routine);
    assert_eq!(
        all.iter().map(row).collect::<Vec<_>>(),
        [
            r#"10 Some("nic.sys") Some("Receive")"#,
            r#"12 Some("nic.sys") Some("+0x20")"#,
            r#"30 Some("nic.sys") Some("Receive")"#,
            r#"50 None Some("+0x30")"#
        ]
    );
}
