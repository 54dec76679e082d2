//! Stacks in the extended data of provider events.

use etwkit_etl::RawEvent;
use etwkit_etl::bytes::{u32_at, u64_at};
use etwkit_etl::wire::extended::kind;

/// The addresses of a stack in the event itself, innermost first.
pub(crate) fn inline_stack(event: &RawEvent<'_>) -> Vec<u64> {
    let items = event.extended();
    // The first eight bytes are the match ID, which links the two parts of a split stack.
    if let Some(bytes) = items.find(kind::STACK_TRACE_64) {
        return (8..bytes.len())
            .step_by(8)
            .map_while(|at| u64_at(bytes, at))
            .collect();
    }
    let Some(bytes) = event.extended().find(kind::STACK_TRACE_32) else {
        return Vec::new();
    };
    (8..bytes.len())
        .step_by(4)
        .map_while(|at| u32_at(bytes, at).map(u64::from))
        .collect()
}
