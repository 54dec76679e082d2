//! Operations on the registry. Events name a key by its control block, whose path the first pass
//! collected.

use std::sync::Arc;

use etwkit_decode::kernel::registry::{
    BLOCKS, Begin, OPERATIONS, Operation, name, names_value, opcode,
};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, key, waiting};
use crate::sink::Sink;
use crate::table::{RegistryIo, RegistryKey, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    // Control blocks became names in the first pass.
    takes: &[
        Events::Kernel(group::REGISTRY, OPERATIONS),
        Events::Kernel(group::REGISTRY, BLOCKS),
    ],
    tables: &[rows(RegistryIo::TABLE)],
    topics: &[Topic {
        place: 160,
        name: "registry",
        answers: "which keys were read",
        recorded_by: "REGISTRY",
        // Hives and transactions have no rows, but they also show that the registry was recorded.
        events: &[Events::KernelBetween(
            group::REGISTRY,
            opcode::CREATE,
            LAST_TYPE,
        )],
        tables: &[RegistryIo::TABLE, RegistryKey::TABLE],
    }],
    make: |_| Box::new(Registry),
    ..Declaration::EMPTY
};

/// The highest type of this group.
const LAST_TYPE: u8 = 49;

/// Maximum bytes of a path. Real paths have a few hundred; a small file can claim long paths by the
/// million.
const MAX_PATH: usize = 8192;

/// The key that the name of a row is relative to.
pub(crate) type Base = Option<Arc<str>>;

/// Each operation is a row; nothing is kept between events.
struct Registry;

impl Importer for Registry {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let Some(kind) = name(hook.opcode) else {
            return Ok(true);
        };
        let read = Operation::parse(event.payload(), hook.version, event.pointer_size());
        let Some(read) = read else { return Ok(false) };
        operation(kind, &read, hook.opcode, event, context);
        Ok(true)
    }
}

fn operation(
    kind: &'static str,
    read: &Operation,
    opcode: u8,
    event: &RawEvent<'_>,
    context: &mut Context<'_>,
) {
    let end = event.timestamp;
    let start = match read.begin {
        Begin::At(start) => start,
        Begin::Elapsed(ticks) => end.saturating_sub(ticks),
    };
    let is_in_order = start <= end;
    // A damaged start would put the row far outside the order of the table.
    let start = if is_in_order { start } else { end };
    let start_ns = context.ns(start);
    let end_ns = context.ns(end);
    if !context.range.contains(start_ns) {
        return;
    }
    let keys = &context.directory.registry_keys;
    // The key exists when the operation starts, and may be gone when it ends.
    let base = keys
        .path(read.block, start)
        .or_else(|| keys.path(read.block, end))
        .map(Arc::clone);
    let is_value = names_value(opcode);
    let text = Some(read.name.as_str()).filter(|text| !text.is_empty());
    let tid = context.thread_of(event);
    let who = tid.map(|tid| context.of_thread(tid, end));
    let process = who.and_then(|who| who.process);
    let row = RegistryIo {
        operation: kind,
        process_key: key(process),
        thread_key: who.map(|who| who.thread_key),
        start_ns,
        end_ns,
        duration_ns: is_in_order.then(|| end_ns.saturating_sub(start_ns)),
        key: text.filter(|_| !is_value).map(Arc::from),
        is_whole_key: false,
        key_block: read.block as i64,
        value: text.filter(|_| is_value).map(Arc::from),
        index: read.index.map(i64::from),
        status: read.status as i32,
        cpu: event.cpu.into(),
        stack_id: None,
    };
    let row = waiting::row(row, move |row, stacks| {
        complete(row, base);
        row.stack_id = stacks.own();
    });
    context.wait(end, tid, process, row);
}

/// The path of a key from its base and a name, truncated if it is too long.
pub(crate) fn joined(base: Base, name: Option<Arc<str>>) -> Base {
    let key = match (base, name) {
        (_, Some(name)) if is_rooted(&name) => Some(name),
        (Some(base), Some(name)) => Some(Arc::from(format!(
            "{}\\{name}",
            base.trim_end_matches('\\')
        ))),
        (base, name) => base.or(name),
    };
    key.map(|key| match key.get(..key.floor_char_boundary(MAX_PATH)) {
        Some(cut) if cut.len() < key.len() => Arc::from(cut),
        _ => key,
    })
}

fn is_rooted(text: &str) -> bool {
    text.starts_with('\\')
}

/// Builds the path of the row only when the row is written: until then all rows share one copy of
/// their base's path.
fn complete(row: &mut RegistryIo, base: Base) {
    row.key = joined(base, row.key.take());
    row.is_whole_key = row.key.as_deref().is_some_and(is_rooted);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_put_together_from_base_and_name() {
        let path = |base: Option<&str>, name: Option<&str>| {
            let mut row = RegistryIo {
                key: name.map(Arc::from),
                ..RegistryIo::default()
            };
            complete(&mut row, base.map(Arc::from));
            (row.key.as_deref().map(str::to_owned), row.is_whole_key)
        };
        let machine = Some(r"\REGISTRY\MACHINE");
        for (base, name, key, is_whole) in [
            (
                machine,
                Some(r"Software\A"),
                Some(r"\REGISTRY\MACHINE\Software\A"),
                true,
            ),
            (
                Some(r"\REGISTRY\"),
                Some("USER"),
                Some(r"\REGISTRY\USER"),
                true,
            ),
            (machine, None, machine, true),
            (
                machine,
                Some(r"\Registry\User"),
                Some(r"\Registry\User"),
                true,
            ),
            (None, Some("Software"), Some("Software"), false),
            (None, None, None, false),
        ] {
            assert_eq!(
                path(base, name),
                (key.map(str::to_owned), is_whole),
                "{base:?} {name:?}"
            );
        }
    }

    #[test]
    fn long_paths_are_cut_at_a_character() {
        let mut row = RegistryIo {
            key: Some("ä".repeat(MAX_PATH).into()),
            ..RegistryIo::default()
        };
        complete(&mut row, Some("\\a".into()));
        assert_eq!(row.key.map(|key| key.len()), Some(MAX_PATH - 1));
    }
}
