//! Rules of the sections of `etwkit info --json` that no sample trace covers: traces made by the
//! writer.

use std::io::Cursor;

use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{KernelContext, KernelEvent, ManifestEvent, SessionOptions, TraceWriter};
use etwkit_etl::{Guid, Session};
use etwkit_trace::summary::Summary;
use serde_json::{Map, Value, json};

type Writer = TraceWriter<Cursor<Vec<u8>>>;

/// Values of 1, 2, 4 or 8 bytes, concatenated.
macro_rules! bytes {
    ($($value:expr),* $(,)?) => { [$(&$value.to_le_bytes()[..]),*].concat() };
}

/// The sections of a trace whose clock ticks once per microsecond.
fn sections(events: impl FnOnce(&mut Writer)) -> Map<String, Value> {
    let mut options = SessionOptions::default();
    options.header.perf_freq = 1_000_000;
    options.header.cpu_count = 2;
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), &options).unwrap();
    events(&mut writer);
    let file = writer.finish(1).unwrap().into_inner();
    Summary::read(&Session::open(vec![Box::new(file)]).unwrap())
        .unwrap()
        .sections
}

/// A kernel event without thread and process in its header.
fn kernel(
    w: &mut Writer,
    cpu: u16,
    timestamp: i64,
    (group, opcode, version): (u8, u8, u8),
    payload: &[u8],
) {
    let context = KernelContext::None;
    let event = KernelEvent {
        context,
        timestamp,
        group,
        opcode,
        version,
        payload,
        ..KernelEvent::default()
    };
    w.write(cpu, event).unwrap();
}

/// The start of a thread of process 8.
fn thread(w: &mut Writer, timestamp: i64, tid: u32) {
    kernel(w, 0, timestamp, (5, 1, 3), &bytes!(8u32, tid));
}

fn sample(w: &mut Writer, cpu: u16, timestamp: i64, tid: u32, ip: u64) {
    kernel(
        w,
        cpu,
        timestamp,
        (15, 46, 2),
        &bytes!(ip, tid, 1u16, 0u8, 0u8),
    );
}

const KERNEL: u64 = 0xFFFF_8000_0000_1000;

#[test]
fn a_stack_finds_its_sample_also_in_a_later_buffer_of_equal_time() {
    let s = sections(|w| {
        thread(w, 1, 4);
        kernel(
            w,
            0,
            10,
            (24, 32, 2),
            &bytes!(10i64, 8u32, 4u32, KERNEL, 0x1000u64),
        );
        // Belongs to no sample.
        kernel(w, 0, 10, (24, 32, 2), &bytes!(10i64, 8u32, 5u32, KERNEL));
        sample(w, 1, 10, 4, 0x2000);
    });
    let stacks = &s["cpu"]["stacks"];
    assert_eq!(
        [&stacks["attached_to_samples"], &stacks["frames"]],
        [&json!(1), &json!(2)]
    );
    assert_eq!(
        [
            &stacks["samples_with_kernel_stack"],
            &stacks["samples_with_user_stack"]
        ],
        [1, 1]
    );
}

#[test]
fn a_stack_without_frames_is_attached_but_makes_no_sample_with_a_stack() {
    let s = sections(|w| {
        sample(w, 0, 10, 4, 0x2000);
        kernel(w, 0, 11, (24, 32, 2), &bytes!(10i64, 8u32, 4u32));
    });
    let stacks = &s["cpu"]["stacks"];
    assert_eq!(
        [
            &stacks["attached_to_samples"],
            &stacks["samples_with_any_stack"]
        ],
        [&json!(1), &json!(0)]
    );
}

#[test]
fn a_stack_key_means_its_first_definition_from_the_reference_on() {
    let s = sections(|w| {
        sample(w, 0, 10, 4, KERNEL);
        kernel(w, 0, 11, (24, 37, 2), &bytes!(10i64, 8u32, 4u32, 7u64));
        kernel(w, 0, 12, (24, 38, 2), &bytes!(10i64, 8u32, 4u32, 9u64));
        kernel(w, 0, 12, (24, 35, 2), &bytes!(9u64, KERNEL, 0x1000u64));
        kernel(w, 0, 13, (24, 36, 2), &bytes!(7u64));
        kernel(w, 0, 14, (24, 36, 2), &bytes!(7u64, KERNEL));
    });
    let stacks = &s["cpu"]["stacks"];
    let counts = [
        "key_references",
        "key_definitions",
        "key_references_unresolved",
        "frames",
    ];
    assert_eq!(
        counts.map(|key| stacks[key].as_u64().unwrap()),
        [2, 3, 0, 2]
    );
}

#[test]
fn thread_0_is_process_0_wherever_it_occurs() {
    let read = bytes!(0u32, 0u32, 512u32, 0u32, 0u64, 5u64, 6u64, 100u64, 0u32);
    let fault = bytes!(5i64, 0u64, 0u64, 5u64, 0u32, 4096u32);
    for (section, id, payload) in [("disk", (1, 10, 3), read), ("faults", (2, 32, 2), fault)] {
        let s = sections(|w| kernel(w, 0, 10, id, &payload));
        assert!(s[section]["by_process"]["0"].is_object(), "{section}");
        assert_eq!(
            (&s["processes"]["0"]["name"], &s["totals"]["processes"]),
            (&Value::Null, &json!(1))
        );
    }
}

/// A process event of version 4 with process ID and exit status.
fn process(w: &mut Writer, timestamp: i64, opcode: u8, key: u64, pid: u32, exit: u32) {
    let fixed = bytes!(key, pid, 4u32, 1i32, exit, 0u64, 0u32);
    // No SID, a name, no texts.
    let payload = [&fixed[..], &[0; 4], b"a.exe\0", &[0; 6]].concat();
    kernel(w, 0, timestamp, (3, opcode, 4), &payload);
}

#[test]
fn a_thread_known_from_the_end_belongs_to_the_instance_that_ran_then() {
    let s = sections(|w| {
        process(w, 10, 1, 1, 8, 259);
        process(w, 20, 2, 1, 8, 5);
        process(w, 30, 1, 2, 8, 259);
        kernel(w, 0, 90, (5, 4, 3), &bytes!(8u32, 4u32));
        process(w, 90, 4, 2, 8, 259);
        process(w, 91, 39, 1, 8, 5);
        process(w, 92, 39, 3, 8, 6);
    });
    let row = |key: &str| {
        let p = &s["processes"][key];
        json!([
            p["name"],
            p["start_s"],
            p["stop_s"],
            p["exit_code"],
            p["defunct"],
            p["threads"]
        ])
    };
    assert_eq!(row("8"), json!(["a.exe", 1e-5, 2e-5, 5, true, 0]));
    assert_eq!(row("8#2"), json!(["a.exe", 3e-5, null, null, false, 1]));
    assert_eq!(row("8#3"), json!(["a.exe", null, null, 6, true, 0]));
    assert_eq!(
        (&s["totals"]["processes"], &s["totals"]["layout_fallbacks"]),
        (&json!(3), &json!(0))
    );
}

#[test]
fn service_time_is_that_since_the_last_completion_on_the_disk() {
    let s = sections(|w| {
        for (time, disk, response) in [(100, 0u32, 50u64), (120, 1, 90), (130, 0, 80), (200, 0, 10)]
        {
            let irp = bytes!(disk, 0u32, response, 0u64, 3u32);
            kernel(w, 0, time, (1, 14, 3), &irp);
        }
    });
    let disks = &s["disk"]["by_disk"];
    assert_eq!(
        [&disks["0"]["service_us"], &disks["0"]["elapsed_us"]],
        [&json!(90.0), &json!(140.0)]
    );
    assert_eq!(
        [&disks["1"]["service_us"], &disks["1"]["flushes"]],
        [&json!(90.0), &json!(1)]
    );
    assert_eq!(s["disk"]["by_file"], json!({}), "flushes have no file");
    assert_eq!(s["disk"]["by_process"]["?"]["flushes"], 4);
}

#[test]
fn runtimes_come_in_the_order_of_the_trace() {
    let runtime = |w: &mut Writer, timestamp, instance: u16| {
        let payload = [
            bytes!(instance, 1u16, 0u64, 0u64, 0u32, 0u8),
            vec![0; 2 + 16 + 2],
        ]
        .concat();
        let descriptor = Descriptor {
            id: 187,
            ..Descriptor::default()
        };
        let provider = Guid::literal("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
        let event = ManifestEvent {
            timestamp,
            provider,
            descriptor,
            process_id: 8,
            payload: &payload,
            ..ManifestEvent::default()
        };
        w.write(0, event).unwrap();
    };
    let s = sections(|w| {
        [9, 7, 9]
            .into_iter()
            .zip(1..)
            .for_each(|(instance, t)| runtime(w, t, instance));
    });
    let runtimes = s["dotnet"]["runtimes"]["8"].as_array().unwrap();
    assert_eq!(
        runtimes
            .iter()
            .map(|r| r["clr_instance"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [9, 7]
    );
}
