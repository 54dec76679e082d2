//! Events that describe others: they are kept in every part, at any time.
//!
//! Processes, images and names are reported once, when they start or end, and again at the start or
//! end of a recording. Apart from events that the numbers of the part need, no other event outside
//! the part is kept.

use etwkit_decode::clr;
use etwkit_decode::eventinfo;
use etwkit_decode::eventsource::CHUNK_ID;
use etwkit_decode::kernel::merge::{IMAGE_ID, SYSTEM_CONFIG_EX};
use etwkit_decode::kernel::power_setting::KERNEL_POWER;
use etwkit_decode::kernel::processor_power::PROCESSOR_POWER;
use etwkit_decode::kernel::provider::KERNEL_PROCESS;
use etwkit_decode::kernel::{Hook, file_name, group, object, process, registry, sample, thread};
use etwkit_etl::RawEvent;

/// Names of performance counters, types of `PERFINFO`.
const COUNTER_CONFIG: u8 = etwkit_decode::kernel::counter::opcode::CONFIG;

/// True if an event describes other events, or an object that outlives a part.
pub(crate) fn is_describing(hook: Option<Hook>, event: &RawEvent<'_>) -> bool {
    match hook {
        Some(hook) => is_describing_kernel(hook),
        None if event.kind.is_classic() => {
            matches!(
                event.provider(),
                IMAGE_ID | SYSTEM_CONFIG_EX | eventinfo::CLASS
            )
        }
        None if event.kind.is_manifest() => is_describing_provider(event),
        None => false,
    }
}

fn is_describing_kernel(Hook { group, opcode, .. }: Hook) -> bool {
    match group {
        // Images and configuration are needed by every part, as code and machine are the same in
        // all.
        group::EVENT_TRACE | group::CONFIG | group::IMAGE => true,
        group::PROCESS => process::is_lifetime(opcode) || opcode == process::opcode::TERMINATE,
        group::THREAD => thread::is_lifetime(opcode),
        group::FILE => file_name::is_name(opcode),
        group::REGISTRY => registry::is_block(opcode),
        group::PERFINFO => sample::is_interval(opcode) || opcode == COUNTER_CONFIG,
        // A handle may live through the part without an event in it. References are left out: each
        // call has one.
        group::OBJECT => !matches!(
            opcode,
            object::opcode::REFERENCE | object::opcode::DEREFERENCE
        ),
        _ => false,
    }
}

/// IDs of the .NET runtime that report the loading and unloading of methods, modules, assemblies
/// and domains, and of collections, which have an event for each of their steps.
const RUNTIME: [std::ops::RangeInclusive<u16>; 5] = [1..=4, 7..=9, 141..=145, 151..=158, 187..=190];

fn is_describing_provider(event: &RawEvent<'_>) -> bool {
    let id = event.descriptor().id;
    match event.provider() {
        clr::RUNDOWN => true,
        clr::RUNTIME => RUNTIME.iter().any(|ids| ids.contains(&id)),
        // The value of a setting, or the speed of a processor, applies until the next event.
        // These hold from one event to the next, so that the one before the part is needed.
        KERNEL_PROCESS | KERNEL_POWER | PROCESSOR_POWER => true,
        // A manifest of an EventSource, in pieces.
        _ => id == CHUNK_ID,
    }
}
