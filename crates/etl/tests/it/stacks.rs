//! Stacks and the records of a merge step.

use std::collections::HashMap;
use std::io::Cursor;

use etwkit_etl::bytes::Cursor as Fields;
use etwkit_etl::writer::{
    MergeRecord, SessionOptions, StackCounts, StackOwner, StackPart, TraceWriter, WriteError,
};
use etwkit_etl::{Guid, Identity, Order};
use proptest::collection::vec;
use proptest::prelude::*;

use super::kit::{END_TIME, open, trace, visit};

const HIGH: u64 = 0xFFFF_8000_0000_0000;

/// Frames by time, thread and process of the event that they belong to.
type Stacks = HashMap<(i64, u32, u32), Vec<u64>>;

/// Stacks by owner, combined as a reader has to do it: the first definition of a key after a
/// reference is its meaning for that part.
fn read_stacks(file: &[u8]) -> (Stacks, HashMap<u8, usize>) {
    let session = open(&[file.to_vec()]);
    let mut stacks = Stacks::new();
    let mut pending: HashMap<(u64, bool), Vec<_>> = HashMap::new();
    let mut types = HashMap::new();
    visit(&session, Order::Time, |event| {
        let Some(hook) = event.hook_id().filter(|hook| hook >> 8 == 0x18) else {
            return;
        };
        let size = event.pointer_size();
        let mut fields = Fields::new(event.payload());
        *types.entry(event.opcode()).or_insert(0) += 1;
        let owner = |f: &mut Fields<'_>| {
            let (time, process, thread) = (f.i64().unwrap(), f.u32().unwrap(), f.u32().unwrap());
            (time, thread, process)
        };
        let frames =
            |f: &mut Fields<'_>| -> Vec<u64> { std::iter::from_fn(|| f.pointer(size)).collect() };
        match hook & 0xFF {
            32 => stacks
                .entry(owner(&mut fields))
                .or_default()
                .extend(frames(&mut fields)),
            opcode @ (37 | 38) => {
                let owner = owner(&mut fields);
                let key = fields.pointer(size).unwrap();
                pending.entry((key, opcode == 37)).or_default().push(owner);
            }
            35 | 36 => {
                let key = fields.pointer(size).unwrap();
                let frames = frames(&mut fields);
                let kernel = *frames.last().unwrap() >= if size == 8 { HIGH } else { 0x8000_0000 };
                for owner in pending.remove(&(key, kernel)).unwrap_or_default() {
                    stacks.entry(owner).or_default().extend(&frames);
                }
            }
            other => panic!("type {other}"),
        }
    });
    assert!(pending.is_empty(), "undefined keys: {pending:?}");
    (stacks, types)
}

/// Resolves stacks by times alone: the first definition of a key at or after the time of the
/// reference is its meaning, independent of their places in the file.
fn resolve_by_time(file: &[u8]) -> Stacks {
    let (mut stacks, mut references, mut definitions) = (Stacks::new(), Vec::new(), Vec::new());
    visit(&open(&[file.to_vec()]), Order::File, |event| {
        let Some(hook) = event.hook_id().filter(|hook| hook >> 8 == 0x18) else {
            return;
        };
        let size = event.pointer_size();
        let mut fields = Fields::new(event.payload());
        let mut owner = (0, 0, 0);
        if matches!(hook & 0xFF, 32 | 37 | 38) {
            let (time, process, thread) = (fields.i64(), fields.u32(), fields.u32());
            owner = (time.unwrap(), thread.unwrap(), process.unwrap());
        }
        let words: Vec<u64> = std::iter::from_fn(|| fields.pointer(size)).collect();
        match hook & 0xFF {
            32 => drop(stacks.insert(owner, words)),
            part @ (37 | 38) => references.push((event.timestamp, (words[0], part == 37), owner)),
            _ => {
                let kernel = *words.last().unwrap() >= if size == 8 { HIGH } else { 0x8000_0000 };
                definitions.push((event.timestamp, (words[0], kernel), words[1..].to_vec()));
            }
        }
    });
    for (time, key, owner) in references {
        let later = definitions
            .iter()
            .filter(|(t, k, _)| *t >= time && *k == key);
        let (_, _, frames) = later.min_by_key(|(t, ..)| *t).expect("a definition");
        stacks.insert(owner, frames.clone());
    }
    stacks
}

fn frames(seed: u8, kernel: bool, wide: bool) -> Vec<u64> {
    let base = match (kernel, wide) {
        (true, true) => HIGH + 0x1000,
        (true, false) => 0x8000_1000,
        (false, _) => 0x40_1000,
    };
    (0..u64::from(seed % 5 + 1))
        .map(|depth| base + u64::from(seed) * 0x100 + depth)
        .collect()
}

proptest! {
    /// Any use of keys, even one that jumps back in time, preserves the frames of every stack.
    #[test]
    fn stack_keys_resolve_to_their_frames(
        wide in any::<bool>(),
        stack_keys in 1u32..20,
        stacks in vec((0u16..3, -2i64..4, 0u8..40, any::<bool>()), 1..200),
    ) {
        let mut options = SessionOptions { stack_keys, ..SessionOptions::default() };
        options.header.pointer_size = if wide { 8 } else { 4 };
        options.header.log_file_mode |= 0x1000_0000; // times in one buffer jump back
        let mut expected = HashMap::new();
        let file = trace(&options, |writer| {
            let mut now = 100;
            for ((cpu, step, seed, kernel), thread_id) in stacks.iter().copied().zip(0..) {
                now += step;
                let owner = StackOwner { timestamp: now - 1, process_id: 7, thread_id };
                let part = if kernel { StackPart::Kernel } else { StackPart::User };
                let frames = frames(seed, kernel, wide);
                writer.write_stack_key(cpu, now, owner, part, &frames).unwrap();
                expected.insert((owner.timestamp, thread_id, 7), frames);
            }
        });
        prop_assert_eq!(&read_stacks(&file).0, &expected);
        prop_assert_eq!(resolve_by_time(&file), expected);
    }
}

#[test]
fn all_forms_of_stack_events_are_written() {
    let options = SessionOptions {
        stack_keys: 1,
        ..SessionOptions::default()
    };
    let owner = |timestamp| StackOwner {
        timestamp,
        process_id: 1,
        thread_id: 2,
    };
    let file = trace(&options, |writer| {
        writer.write_stack(0, 11, owner(10), &[HIGH, 5]).unwrap();
        writer
            .write_stack_key(0, 21, owner(20), StackPart::Kernel, &[HIGH + 1])
            .unwrap();
        writer
            .write_stack_key(0, 22, owner(20), StackPart::User, &[1, 2])
            .unwrap();
        writer
            .write_stack_key(0, 31, owner(30), StackPart::User, &[3])
            .unwrap();
        writer
            .write_stack_key(0, 32, owner(32), StackPart::User, &[])
            .unwrap();
        let counts = StackCounts {
            whole: 2,
            kernel: 1,
            user: 2,
            deleted: 1,
            in_use: 2,
        };
        assert_eq!(writer.stack_counts(), counts);
    });
    let (stacks, types) = read_stacks(&file);
    let mut times: Vec<i64> = stacks.keys().map(|owner| owner.0).collect();
    times.sort_unstable();
    assert_eq!(times, [10, 20, 30, 32]);
    assert_eq!(stacks[&(30, 2, 1)], [3]);
    assert_eq!(stacks[&(10, 2, 1)], [HIGH, 5]);
    assert_eq!(
        types,
        HashMap::from([(32, 2), (35, 1), (36, 2), (37, 1), (38, 2)])
    );
}

#[test]
fn a_stack_that_cannot_be_defined_is_refused_and_does_no_harm() {
    let options = super::kit::small_buffers();
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), &options).unwrap();
    let owner = StackOwner {
        timestamp: 1,
        process_id: 1,
        thread_id: 1,
    };
    let mut refused = |frames: usize| {
        writer
            .write_stack_key(0, 2, owner, StackPart::Kernel, &vec![HIGH; frames])
            .unwrap_err()
    };
    assert!(matches!(refused(10_000), WriteError::RecordTooLong { .. }));
    assert!(matches!(
        refused(510),
        WriteError::RecordLargerThanBuffer { .. }
    ));
    writer.finish(END_TIME).unwrap();
}

#[test]
fn merge_records_have_their_documented_layout() {
    let guid = Guid::literal("01020304-0506-0708-090a-0b0c0d0e0f10");
    let strings = ["a", "b", "c", "d", "e", "f", "g", "h", "", "ä"];
    for (pointer_size, wide) in [(4, false), (8, true)] {
        let mut options = SessionOptions::default();
        options.header.pointer_size = pointer_size;
        let (image_base, time_date_stamp) = (0x40_0000, 0x5E00_0001);
        let file = trace(&options, |writer| {
            for record in [
                MergeRecord::FileVersion {
                    image_size: 0x9000,
                    time_date_stamp,
                    strings,
                },
                MergeRecord::ImageInfo {
                    image_base,
                    image_size: 0x9000,
                    process_id: 4,
                    time_date_stamp,
                    original_file_name: "a.dll",
                },
                MergeRecord::DbgIdRsds {
                    image_base,
                    process_id: 4,
                    guid,
                    age: 3,
                    pdb_name: "a.pdb",
                },
                MergeRecord::BuildInfo {
                    install_date: -1,
                    build_lab: "lab",
                    product_name: "pro",
                },
                MergeRecord::SystemPaths {
                    system_directory: "s",
                    windows_directory: "w",
                },
                MergeRecord::VolumeMapping {
                    nt_path: "n",
                    dos_path: "d",
                },
                MergeRecord::EventInfo(b"blob"),
            ] {
                writer.write_merge_record(0, 5, &record).unwrap();
            }
        });
        let size = pointer_size as usize;
        let mut seen = Vec::new();
        visit(&open(&[file]), Order::File, |event| {
            let Identity::Classic {
                class,
                opcode,
                version,
            } = event.identity()
            else {
                return;
            };
            assert_eq!((event.thread_id(), event.process_id()), (None, None));
            assert_eq!((event.pointer_size(), wide), (size, size == 8));
            let mut f = Fields::new(event.payload());
            let class = class.to_string();
            seen.push((class[..8].to_owned(), opcode, version));
            let texts = |f: &mut Fields<'_>, count: usize| -> Vec<String> {
                (0..count).map(|_| f.text()).collect()
            };
            match (&class[..8], opcode) {
                ("b3e675d7", 64) => {
                    assert_eq!((f.u32(), f.u32()), (Some(0x9000), Some(time_date_stamp)));
                    assert_eq!(texts(&mut f, 10), strings);
                }
                ("b3e675d7", 0) => {
                    assert_eq!(
                        (f.pointer(size), f.pointer(size)),
                        (Some(image_base), Some(0x9000))
                    );
                    assert_eq!((f.u32(), f.u32()), (Some(4), Some(time_date_stamp)));
                    assert_eq!(texts(&mut f, 1), ["a.dll"]);
                }
                ("b3e675d7", 36) => {
                    assert_eq!((f.pointer(size), f.u32()), (Some(image_base), Some(4)));
                    assert_eq!(
                        (f.guid(), f.u32(), f.ansi()),
                        (Some(guid), Some(3), &b"a.pdb"[..])
                    );
                }
                ("9b79ee91", 32) => {
                    assert_eq!(f.i64(), Some(-1));
                    assert_eq!(texts(&mut f, 2), ["lab", "pro"]);
                }
                ("9b79ee91", 33) => assert_eq!(texts(&mut f, 2), ["s", "w"]),
                ("9b79ee91", 35) => assert_eq!(texts(&mut f, 2), ["n", "d"]),
                _ => assert_eq!(f.take(4), Some(&b"blob"[..])),
            }
            assert!(f.is_empty());
        });
        let expected = [
            ("b3e675d7", 64, 0),
            ("b3e675d7", 0, 2),
            ("b3e675d7", 36, 2),
            ("9b79ee91", 32, 0),
            ("9b79ee91", 33, 0),
            ("9b79ee91", 35, 0),
            ("bbccf6c1", 32, 0),
        ];
        assert_eq!(
            seen,
            expected.map(|(class, opcode, version)| (class.to_owned(), opcode, version))
        );
    }
}
