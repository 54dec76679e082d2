//! How varied the stacks of a trace are: of the samples (and of the context switches) that have a stack, how
//! many have one that no other had before, how deep they are, and how many bytes an event has.
//!
//! ```console
//! $ cargo run --release -p etwkit-synth --example distinct_stacks -- TRACE
//! ```
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measurement, not a part of the program"
)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use etwkit_decode::kernel::stack::{self, Owner};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::Order;
use etwkit_etl::bytes::u32_at;
use etwkit_trace::directory::DirectoryBuilder;
use etwkit_trace::tracker::stack::StackPart;

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let input = etwkit_extract::open(&paths, &etwkit_extract::Options::default()).expect("a trace");
    let session = input.session();
    let (mut builder, mut events, mut bytes) = (DirectoryBuilder::default(), 0u64, 0u64);
    let pass = |each: &mut dyn FnMut(&etwkit_etl::RawEvent<'_>)| {
        let visit = |event: &etwkit_etl::RawEvent<'_>| {
            each(event);
            ControlFlow::Continue(())
        };
        session
            .for_each(Order::Time, visit)
            .expect("a readable trace");
    };
    pass(&mut |event| {
        builder.observe(event);
        (events, bytes) = (events + 1, bytes + event.record.len() as u64);
    });
    let directory = builder.finish(8, session.clock().frequency);

    // Kind of the event that owns a stack, by the time and thread that the stack names.
    let mut owners: HashMap<(i64, u32), &str> = HashMap::new();
    let mut stacks: BTreeMap<&str, HashMap<(i64, u32), Vec<u64>>> = BTreeMap::new();
    pass(&mut |event| {
        let Some(hook) = Hook::of(event) else { return };
        let payload = event.payload();
        let frames: Vec<u64> = match (hook.group, hook.opcode) {
            (group::PERFINFO, 46) => {
                owners.insert(
                    (event.timestamp, u32_at(payload, 8).unwrap_or_default()),
                    "samples",
                );
                return;
            }
            (group::THREAD, 36) => {
                owners.insert(
                    (event.timestamp, u32_at(payload, 0).unwrap_or_default()),
                    "switches",
                );
                return;
            }
            (group::STACK, stack::opcode::STACK) => stack::frames(payload, Owner::LEN, 8).collect(),
            (group::STACK, stack::opcode::REFERENCE_KERNEL | stack::opcode::REFERENCE_USER) => {
                let Some(key) = stack::key(payload, Owner::LEN, 8) else {
                    return;
                };
                let is_kernel = hook.opcode == stack::opcode::REFERENCE_KERNEL;
                let part = if is_kernel {
                    StackPart::Kernel
                } else {
                    StackPart::User
                };
                let Some(id) = directory.stack_keys.resolve(event.timestamp, key, part) else {
                    return;
                };
                directory.stacks.frames(id).collect()
            }
            _ => return,
        };
        let Some(owner) = Owner::parse(payload).map(|o| (o.timestamp, o.tid)) else {
            return;
        };
        if let Some(kind) = owners.get(&owner) {
            stacks
                .entry(kind)
                .or_default()
                .entry(owner)
                .or_default()
                .extend(frames);
        }
    });
    println!(
        "{events} events, {:.1} bytes each",
        bytes as f64 / events as f64
    );
    for (kind, stacks) in stacks {
        let distinct: HashSet<&Vec<u64>> = stacks.values().collect();
        let frames: usize = stacks.values().map(Vec::len).sum();
        let (all, new) = (stacks.len() as f64, distinct.len() as f64);
        println!(
            "{kind}: {all} with a stack, {new} distinct, rate {:.3}, {:.1} frames each",
            new / all,
            frames as f64 / all
        );
    }
}
