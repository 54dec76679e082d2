//! Sections `totals` and `processes`.

use std::collections::BTreeMap;

use etwkit_etl::clock::Clock;
use serde_json::{Map, Value, json};

use crate::directory::{Directory, ProcessSource};
use crate::tracker::image::ImageInstance;
use crate::tracker::process::ProcessInstance;

pub(super) fn totals(directory: &Directory) -> Value {
    let images = directory.images.images();
    json!({
        "processes": directory.processes.instances().len(),
        "process_source": directory.process_source.map(|source| match source {
            ProcessSource::KernelLogger => "kernel_logger",
            ProcessSource::KernelProcess => "Microsoft-Windows-Kernel-Process",
        }),
        "threads": directory.threads.pairs().count(),
        "image_events": directory.images.events(),
        "images": images.len(),
        "images_with_pdb": images.iter().filter(|i| i.pdb.is_some()).count(),
        "file_names": directory.file_names.len(),
        "layout_fallbacks": directory.layout_fallbacks,
    })
}

pub(super) fn section(directory: &Directory, clock: &Clock) -> Value {
    let mut threads: BTreeMap<u32, usize> = BTreeMap::new();
    // A pair that returns in a later instance of the process ID counts for its first instance, so
    // that the processes add up to the total.
    for ((pid, _), seen) in directory.threads.first_seen() {
        if let Some(key) = directory.process_at(pid, seen) {
            *threads.entry(key.0).or_default() += 1;
        }
    }
    let mut images: BTreeMap<u32, Vec<&ImageInstance>> = BTreeMap::new();
    for image in directory.images.images() {
        if let Some(key) = directory.process_at(image.pid, image.first_seen) {
            images.entry(key.0).or_default().push(image);
        }
    }
    let mut section = Map::new();
    for (instance, key) in directory.processes.instances().iter().zip(0u32..) {
        let own_threads = threads.get(&key).map_or(0, |count| *count);
        let own_images = images.remove(&key).unwrap_or_default();
        section.insert(
            instance.key_text(),
            process(instance, own_threads, own_images, directory, clock),
        );
    }
    Value::Object(section)
}

fn text_or_null(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        Value::from(text)
    }
}

fn process(
    instance: &ProcessInstance,
    threads: usize,
    images: Vec<&ImageInstance>,
    directory: &Directory,
    clock: &Clock,
) -> Value {
    let described = instance.is_described();
    json!({
        "pid": instance.pid,
        "parent_pid": instance.parent_pid,
        "session_id": instance.session_id,
        "name": if described { Value::from(instance.name.as_str()) } else { Value::Null },
        "command_line": text_or_null(&instance.command_line),
        "package": text_or_null(&instance.package),
        "app_id": text_or_null(&instance.app_id),
        "sid": instance.sid,
        "start_s": instance.start.map(|t| clock.seconds(t)),
        "stop_s": instance.stop.map(|t| clock.seconds(t)),
        "exit_code": instance.exit_code,
        "defunct": instance.defunct,
        "threads": threads,
        "image_count": images.len(),
        "images": image_table(images, directory, clock),
    })
}

fn image_table(mut images: Vec<&ImageInstance>, directory: &Directory, clock: &Clock) -> Value {
    let dos = |image: &ImageInstance| directory.paths.dos_path(&image.path);
    // The numbers after equal bases follow this order, which must not depend on the order of events
    // with one time.
    images.sort_by_key(|image| (image.base, image.load, dos(image)));
    let mut table = Map::new();
    let mut same_base = (None, 1);
    for image in images {
        same_base = if same_base.0 == Some(image.base) {
            (same_base.0, same_base.1 + 1)
        } else {
            (Some(image.base), 1)
        };
        let mut key = format!("{:#x}", image.base);
        if same_base.1 > 1 {
            key.push_str(&format!("#{}", same_base.1));
        }
        table.insert(key, image_value(image, &dos(image), clock));
    }
    Value::Object(table)
}

fn image_value(image: &ImageInstance, dos_path: &str, clock: &Clock) -> Value {
    let pdb = image.pdb.as_ref();
    json!({
        "size": image.size,
        "path": dos_path,
        "nt_path": &*image.path,
        "timestamp": image.time_date_stamp,
        "checksum": image.checksum,
        "load_s": image.load.map(|t| clock.seconds(t)),
        "unload_s": image.unload.map(|t| clock.seconds(t)),
        "pdb": pdb.map(|p| json!({ "guid": p.guid.to_string(), "age": p.age, "name": p.name })),
        "id_timestamp": image.info.as_ref().map(|i| i.time_date_stamp),
        "original_name": image.info.as_ref().map(|i| i.original_name.as_str()),
        "file_version": image.version.as_ref().map(|v| v.binary_version.as_str()),
    })
}
