//! Disk and file operations, hard faults, and the names of their files.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Event, SLACK_US, Sums, Trace, add, add_us, agree, check, raise_us};

/// Where the priority lies in `IrpFlags`.
const PRIORITY_SHIFT: u64 = 17;
/// Statuses from here on are warnings and errors.
const FAILED: u64 = 0x8000_0000;

fn check_disk(trace: &Trace) -> usize {
    let mut sums = Sums::default();
    let mut last_completion: HashMap<u64, i64> = HashMap::new();
    for event in trace
        .events
        .iter()
        .filter(|event| event.name.starts_with("DiskIo/"))
    {
        let (kind, bytes) = match event.name.as_str() {
            "DiskIo/Read" => ("read", event.number("TransferSize")),
            "DiskIo/Write" => ("write", event.number("TransferSize")),
            "DiskIo/FlushBuffers" => ("flush", 0),
            _ => continue,
        };
        let (disk, response) = (
            event.number("DiskNumber"),
            event.signed("HighResResponseTime"),
        );
        let previous = last_completion
            .insert(disk, event.ticks)
            .unwrap_or(i64::MIN);
        let service = trace.duration_us(event.ticks - previous.max(event.ticks - response));
        let process = trace.owner(event);
        let (disk, mut groups) = (disk.to_string(), Vec::new());
        groups.push(vec!["total"]);
        groups.push(vec!["by_disk", &disk]);
        groups.push(vec!["by_process", &process]);
        let file =
            (kind != "flush").then(|| trace.file_name(event.number("FileObject"), event.ticks));
        let of_process = format!("{process} {}", file.as_deref().unwrap_or_default());
        if let Some(file) = &file {
            groups.push(vec!["by_file", file]);
            groups.push(vec!["by_process_and_file", &of_process]);
        }
        for keys in groups {
            let group = sums.at(&keys);
            for key in ["reads", "writes", "flushes", "read_bytes", "write_bytes"] {
                add(group, key, 0);
            }
            match kind {
                "flush" => add(group, "flushes", 1),
                kind => {
                    add(group, &format!("{kind}s"), 1);
                    add(group, &format!("{kind}_bytes"), bytes);
                }
            }
            let io = trace.duration_us(response);
            add_us(group, "io_us", io);
            raise_us(group, "max_io_us", io);
            add_us(group, "service_us", service);
        }
        if kind != "flush" {
            let priority = (event.number("IrpFlags") >> PRIORITY_SHIFT & 7).to_string();
            add(sums.at(&["by_priority"]), &priority, 1);
        }
    }
    trace.agrees("/disk_io", &sums.0.into())
}

/// Every completion lies its response time behind the start that its request packet names.
fn check_disk_starts(trace: &Trace) -> usize {
    let mut started: HashMap<u64, &Event> = HashMap::new();
    let mut completed = 0;
    for event in trace
        .events
        .iter()
        .filter(|event| event.name.starts_with("DiskIo/"))
    {
        if event.name.ends_with("Init") {
            started.insert(event.number("Irp"), event);
            continue;
        }
        let start = started.remove(&event.number("Irp")).expect("a start");
        assert_eq!(
            event.ticks - start.ticks,
            event.signed("HighResResponseTime")
        );
        assert_eq!(
            event.number("IssuingThreadId"),
            start.number("IssuingThreadId")
        );
        completed += 1;
    }
    assert!(started.is_empty());
    2 * completed
}

fn check_files(trace: &Trace) -> usize {
    let mut started: HashMap<u64, &Event> = HashMap::new();
    let mut sums = Sums::default();
    for event in trace
        .events
        .iter()
        .filter(|event| event.name.starts_with("FileIo/"))
    {
        if event.name != "FileIo/OperationEnd" {
            if event.fields.contains_key("IrpPtr") {
                started.insert(event.number("IrpPtr"), event);
            }
            continue;
        }
        let start = started.remove(&event.number("IrpPtr")).expect("a start");
        let file = match start.name.as_str() {
            "FileIo/Create" => trace
                .directory
                .paths
                .dos_path(&Arc::from(start.text("OpenPath")))
                .to_string(),
            _ => trace.file_name(start.number("FileKey"), start.ticks),
        };
        let operation = start.name["FileIo/".len()..].to_lowercase();
        let duration = trace.duration_us(event.ticks - start.ticks);
        let status = event.number("NtStatus");
        let transferred = if matches!(&*operation, "read" | "write") {
            event.number("ExtraInfo")
        } else {
            0
        };
        let of_process = format!("{} {file}", trace.owner(start));
        for keys in [
            &["total", &*operation][..],
            &["by_process_and_file", &of_process, &operation],
        ] {
            let group = sums.at(keys);
            add(group, "count", 1);
            add(group, "bytes", transferred);
            add(group, "failed", u64::from(status >= FAILED));
            add_us(group, "duration_us", duration);
            raise_us(group, "max_us", duration);
        }
        add(sums.at(&["by_status"]), &format!("{status:#x}"), 1);
    }
    assert!(started.is_empty());
    agree(
        &format!("{}/file_io", trace.name),
        &super::without(&trace.truth["file_io"], &["note"]),
        &sums.0.into(),
    )
}

fn check_hard_faults(trace: &Trace) -> usize {
    let mut sums = Sums::default();
    for event in trace.all("PageFault/HardFault") {
        let (process, file) = (
            trace.owner(event),
            trace.file_name(event.number("FileObject"), event.ticks),
        );
        for keys in [
            &["total"][..],
            &["by_process", &process],
            &["by_file", &file],
        ] {
            let group: &mut Map<String, Value> = sums.at(keys);
            add(group, "count", 1);
            add(group, "bytes", event.number("ByteCount"));
            add_us(
                group,
                "duration_us",
                trace.duration_us(event.ticks - event.signed("InitialTime")),
            );
        }
    }
    trace.agrees("/hard_faults", &json!(sums.0))
}

/// The disk reads that woke the last thread of each chain of waits.
fn check_chain_roots(trace: &Trace) -> usize {
    let chains = trace.truth["waitchain"]["chains"]
        .as_array()
        .unwrap()
        .iter();
    let roots: Vec<Value> = chains
        .map(|chain| chain["root"].clone())
        .filter(|root| root["kind"] == "disk read")
        .collect();
    let read = |root: &Value| {
        let completes = |event: &&Event| {
            event.text("Irp") == root["irp"]
                && (event.us - root["complete_us"].as_f64().unwrap()).abs() < SLACK_US
        };
        let event = trace
            .all("DiskIo/Read")
            .find(completes)
            .expect("a completed read");
        let response = event.signed("HighResResponseTime");
        json!({
            "kind": "disk read",
            "irp": event.text("Irp"),
            "complete_us": event.us,
            "init_us": trace.time_us(event.ticks - response),
            "duration_us": trace.duration_us(response),
            "size": event.number("TransferSize"),
            "file": trace.file_name(event.number("FileObject"), event.ticks),
        })
    };
    let ours: Value = roots.iter().map(read).collect();
    agree(
        &format!("{}/waitchain/chains/root", trace.name),
        &roots.into(),
        &ours,
    )
}

#[test]
fn disk_reads_behind_chains_of_waits() {
    check(&["waitchain"], check_chain_roots);
}

#[test]
fn disk_and_file_operations() {
    check(&["files"], |trace| {
        check_disk(trace) + check_disk_starts(trace) + check_files(trace) + check_hard_faults(trace)
    });
}
