//! Files that are no traces, traces whose numbers are absurd, and archives that want to hurt.

use std::io::{Cursor, Read, Write};

use etwkit_etl::wire::buffer::{BufferHeader, HEADER_LEN, MAX_BUFFER_LEN, flag};
use etwkit_etl::writer::{KernelContext, KernelEvent};
use etwkit_fuzz::made;
use serde_json::Value;
use sevenz_rust2::encoder_options::Lzma2Options;
use sevenz_rust2::{ArchiveEntry, ArchiveWriter};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::{crowds, json, topics};

/// Makes the bytes of a file.
type Make = fn() -> Vec<u8>;

/// Name and bytes of a file.
pub(crate) fn make(case: usize) -> (&'static str, Vec<u8>) {
    let (name, make) = NAMES[case];
    (name, make())
}

/// All files. Endings are those of the files.
pub(crate) const NAMES: [(&str, Make); 85] = [
    ("empty.etl", Vec::new),
    ("one_byte.etl", || vec![b'x']),
    ("zeros.etl", || vec![0; 3 << 20]),
    ("ones.etl", || vec![0xFF; 3 << 20]),
    ("noise.etl", || noise(3 << 20)),
    ("noise_behind_a_header.etl", || {
        [trace(), noise(3 << 20)].concat()
    }),
    ("zeros_behind_a_header.etl", || {
        [trace(), vec![0; 64 << 20]].concat()
    }),
    ("text.etl", || b"<html>not a trace</html>\n".repeat(1000)),
    ("buffer_size_4g.etl", || patched(0, &u32::MAX.to_le_bytes())),
    ("buffer_size_0.etl", || patched(0, &[0; 4])),
    ("saved_offset_4g.etl", || patched(4, &[0xFF; 4])),
    ("header_record_64k.etl", || {
        patched(HEADER_LEN + 4, &[0xFF; 2])
    }),
    ("trace_buffer_size_4g.etl", || patched(PAYLOAD, &[0xFF; 4])),
    ("processors_4g.etl", || patched(PAYLOAD + 12, &[0xFF; 4])),
    ("end_time_max.etl", || {
        patched(PAYLOAD + 16, &i64::MAX.to_le_bytes())
    }),
    ("end_time_min.etl", || {
        patched(PAYLOAD + 16, &i64::MIN.to_le_bytes())
    }),
    ("pointer_size_255.etl", || patched(PAYLOAD + 44, &[0xFF; 4])),
    ("counts_4g.etl", || patched(PAYLOAD + 36, &[0xFF; 16])),
    ("frequency_0.etl", || patched(FREQUENCY, &[0; 8])),
    ("frequency_1.etl", || {
        patched(FREQUENCY, &1i64.to_le_bytes())
    }),
    ("frequency_max.etl", || {
        patched(FREQUENCY, &i64::MAX.to_le_bytes())
    }),
    ("frequency_negative.etl", || {
        patched(FREQUENCY, &(-1i64).to_le_bytes())
    }),
    ("start_time_max.etl", || {
        patched(FREQUENCY + 8, &i64::MAX.to_le_bytes())
    }),
    ("start_time_min.etl", || {
        patched(FREQUENCY + 8, &i64::MIN.to_le_bytes())
    }),
    ("times_at_the_ends.etl", times_at_the_ends),
    ("endless_names.etl", || {
        trace_of(&[(0x14, 10, vec![b'a'; 60_000]), (3, 1, vec![b'a'; 60_000])])
    }),
    ("claims_lznt1.etl", || claims(2, &[0x00, 0x30, 0])),
    ("claims_lz77.etl", || claims(3, &LZ77_RUN)),
    ("claims_huffman.etl", || claims(4, &[0x88; 300])),
    ("names.zip", || zipped(&HOSTILE_NAMES)),
    ("names.7z", || seven_zipped(&HOSTILE_NAMES, &trace())),
    ("bomb.zip", || zip_of("bomb.etl", 3 << 30)),
    ("bomb_below_the_limit.zip", || zip_of("bomb.etl", 900 << 20)),
    ("bomb.7z", || seven_zip_of("bomb.etl", 1200 << 20)),
    ("bomb_beside_a_trace.7z", || {
        seven_zip_of("bomb.txt", 1200 << 20)
    }),
    ("nested.zip", || {
        (0..50).fold(zipped(&["x.etl"]), |inner, _| zip_with("x.zip", &inner))
    }),
    ("nested_bomb.zip", || {
        zip_with("x.etl.zip", &zip_of("bomb.etl", 3 << 30))
    }),
    ("hundred_thousand_members.zip", || many(100_000, "txt")),
    ("thousand_traces.zip", || many(1000, "etl")),
    ("dictionary_4g.7z", dictionary),
    ("processes.etl", crowds::processes),
    ("one_process_id.etl", crowds::one_process_id),
    ("threads.etl", crowds::threads),
    ("one_thread_id.etl", crowds::one_thread_id),
    ("modules.etl", crowds::modules),
    ("modules_at_one_address.etl", crowds::modules_at_one_address),
    ("modules_in_modules.etl", crowds::modules_in_modules),
    ("file_names.etl", crowds::file_names),
    ("names_of_one_file.etl", crowds::names_of_one_file),
    ("methods_in_methods.etl", crowds::methods_in_methods),
    ("stacks.etl", crowds::stacks),
    ("stacks_by_key.etl", crowds::stacks_by_key),
    ("stacks_of_one_moment.etl", crowds::stacks_of_one_moment),
    ("stacks_that_come_early.etl", crowds::stacks_that_come_early),
    ("reads_at_once.etl", crowds::reads_at_once),
    ("operations_without_end.etl", crowds::operations_without_end),
    ("switches.etl", crowds::switches),
    ("one_moment.etl", crowds::one_moment),
    (
        "collections_without_end.etl",
        crowds::collections_without_end,
    ),
    ("layouts_of_one_name.etl", crowds::layouts_of_one_name),
    ("manifests.etl", crowds::manifests),
    ("providers.etl", crowds::providers),
    ("facts.etl", crowds::facts),
    ("registry_keys.etl", topics::registry_keys),
    ("registry_paths.etl", topics::registry_paths),
    ("window_objects.etl", topics::window_objects),
    ("window_lock.etl", topics::window_lock),
    ("window_delays.etl", topics::window_delays),
    ("focus.etl", topics::focus),
    ("handles.etl", topics::handles),
    ("allocations.etl", topics::allocations),
    ("system_calls.etl", topics::system_calls),
    ("queries.etl", topics::queries),
    ("sessions.etl", topics::sessions),
    ("standby.etl", topics::standby),
    ("exceptions.etl", topics::exceptions),
    ("extract.json", || json::changed(|_| {})),
    ("extract_without_processes.json", || {
        json::changed(|main| main["Processes"] = Value::Null)
    }),
    ("extract_of_other_types.json", json::other_types),
    ("extract_with_wide_texts.json", json::wide_texts),
    ("extract_with_extreme_numbers.json", json::extreme_numbers),
    ("extract_without_end.json", || {
        json::changed(|_| {})[..3000].to_vec()
    }),
    ("deep.json", || b"[".repeat(10 << 20)),
    ("many_processes.json", || json::large(100_000, 1)),
    ("many_methods.json", || json::large(100, 10_000)),
];

/// Where the payload of the header event begins, and the frequency in it.
const PAYLOAD: usize = HEADER_LEN + 32;
const FREQUENCY: usize = PAYLOAD + 256;

/// Paths that must not be used as they are.
const HOSTILE_NAMES: [&str; 12] = [
    "../../../../tmp/etwkit-escaped.etl",
    "/tmp/etwkit-escaped.etl",
    "C:\\x\\etwkit-escaped.etl",
    "\\\\?\\C:\\etwkit-escaped.etl",
    "\\\\server\\share\\etwkit-escaped.etl",
    "CON.etl",
    "NUL.etl",
    "COM1.etl",
    "a/../b/./etwkit-escaped.etl",
    "trailing. .etl",
    "\u{202E}\x1B[2J\n.etl",
    ".etl",
];

/// Compressed: a literal, then a match of it with a length of 32 bits.
const LZ77_RUN: [u8; 14] = [
    0, 0, 0, 0x40, b'a', 7, 0, 0xFF, 0, 0, 0xFF, 0xFF, 0xFF, 0x0F,
];

fn trace() -> Vec<u8> {
    trace_of(&[(0x0F, 46, vec![0; 16]), (5, 36, vec![0; 24])])
}

/// A trace of kernel events: group, type, payload.
fn trace_of(events: &[(u8, u8, Vec<u8>)]) -> Vec<u8> {
    let mut writer = made::writer(8);
    for ((group, opcode, payload), timestamp) in events.iter().zip(1..) {
        let event = KernelEvent {
            context: KernelContext::ids(4, 8),
            timestamp,
            group: *group,
            opcode: *opcode,
            version: 3,
            payload,
            ..KernelEvent::default()
        };
        made::add(&mut writer, 0, event);
    }
    made::bytes(writer)
}

fn times_at_the_ends() -> Vec<u8> {
    let mut writer = made::writer(8);
    for timestamp in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX] {
        for (group, opcode) in [
            (0x0F, 46),
            (5, 36),
            (5, 1),
            (3, 1),
            (0x14, 10),
            (4, 64),
            (1, 10),
            (0x18, 32),
        ] {
            let payload = &[timestamp as u8; 80];
            let context = KernelContext::ids(4, 8);
            let event = KernelEvent {
                context,
                timestamp,
                group,
                opcode,
                version: 3,
                payload,
                ..KernelEvent::default()
            };
            made::add(&mut writer, opcode.into(), event);
        }
    }
    made::bytes(writer)
}

fn patched(at: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = trace();
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = etwkit_testkit::Random::new(1);
    std::iter::repeat_with(|| random.below(256) as u8)
        .take(len)
        .collect()
}

/// Ten thousand small buffers that each claim to unpack to 16 MiB.
fn claims(format: u16, packed: &[u8]) -> Vec<u8> {
    let mut file = trace();
    file[0x2C..0x2E].copy_from_slice(&format.to_le_bytes());
    let size = (HEADER_LEN + packed.len()).next_multiple_of(8);
    let header = BufferHeader {
        buffer_size: size as u32,
        offset: MAX_BUFFER_LEN,
        buffer_flag: flag::COMPRESSED,
        ..BufferHeader::default()
    };
    for _ in 0..10_000 {
        let start = file.len();
        file.extend(header.to_bytes());
        file.extend(packed);
        file.resize(start + size, 0);
    }
    file
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(true)
}

fn zipped(names: &[&str]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for name in names {
        zip.start_file(*name, options()).unwrap();
        zip.write_all(&trace()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn zip_with(name: &str, content: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(name, options()).unwrap();
    zip.write_all(content).unwrap();
    zip.finish().unwrap().into_inner()
}

/// A trace header, and zeros up to `size` bytes.
fn zeros(size: u64) -> impl Read {
    let head = trace();
    let rest = size - head.len() as u64;
    Cursor::new(head).chain(std::io::repeat(0).take(rest))
}

fn zip_of(name: &str, size: u64) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(name, options()).unwrap();
    std::io::copy(&mut zeros(size), &mut zip).unwrap();
    zip.finish().unwrap().into_inner()
}

fn many(count: usize, ending: &str) -> Vec<u8> {
    let trace = trace();
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..count {
        zip.start_file(format!("{number}.{ending}"), stored)
            .unwrap();
        if number == 0 || ending == "etl" {
            zip.write_all(&trace[..1024]).unwrap();
        }
    }
    zip.finish().unwrap().into_inner()
}

fn seven_zipped(names: &[&str], content: &[u8]) -> Vec<u8> {
    let mut archive = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    for name in names {
        archive
            .push_archive_entry(ArchiveEntry::new_file(name), Some(content))
            .unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A bomb in front of a trace.
fn seven_zip_of(name: &str, size: u64) -> Vec<u8> {
    let mut archive = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    archive.set_content_methods(vec![Lzma2Options::from_level(0).into()]);
    archive
        .push_archive_entry(ArchiveEntry::new_file(name), Some(zeros(size)))
        .unwrap();
    archive
        .push_archive_entry(ArchiveEntry::new_file("x.etl"), Some(&trace()[..]))
        .unwrap();
    archive.finish().unwrap().into_inner()
}

/// A small archive that wants the largest dictionary that there is.
fn dictionary() -> Vec<u8> {
    let mut bytes = seven_zipped(&["x.etl"], &trace());
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let (from, len) = (32 + word(&bytes, 12), word(&bytes, 20));
    let header = &mut bytes[from..from + len];
    let method = header.windows(2).position(|pair| pair == [0x21, 0x21]);
    // Flags and length of the id, the id of LZMA2, one byte of properties: the size of the dictionary.
    let method = method.or_else(|| {
        header
            .windows(2)
            .position(|pair| pair == [0x21, 1])
            .map(|at| at - 1)
    });
    if let Some(at) = method {
        header[at + 3] = 40;
    }
    let sum = crc32fast::hash(header).to_le_bytes();
    bytes[28..32].copy_from_slice(&sum);
    let sum = crc32fast::hash(&bytes[12..32]).to_le_bytes();
    bytes[8..12].copy_from_slice(&sum);
    bytes
}
