//! Operations on the registry. Where a key lies is told by control blocks, whose names the first walk learned.

use std::sync::Arc;

use etwkit_decode::kernel::Hook;
use etwkit_decode::kernel::registry::{Begin, Operation, is_block, name, names_value};
use etwkit_etl::RawEvent;

use super::context::{Context, Pending};
use crate::table::RegistryIo;

/// Bytes of a path that are kept. Paths of Windows are a few hundred long; a small file can claim long ones by the million.
const MAX_PATH: usize = 8192;

/// The key that the name of a row is relative to.
pub(super) type Base = Option<Arc<str>>;

/// Takes an event; `running` is the thread on its processor. Returns whether a table shows it.
pub(super) fn event(
    hook: Hook,
    event: &RawEvent<'_>,
    running: Option<u32>,
    context: &mut Context<'_>,
) -> bool {
    let Some(kind) = name(hook.opcode) else {
        // Control blocks became names in the first walk.
        return is_block(hook.opcode);
    };
    let Some(read) = Operation::parse(event.payload(), hook.version, event.pointer_size()) else {
        return false;
    };
    let end = event.timestamp;
    let start = match read.begin {
        Begin::At(start) => start,
        Begin::Elapsed(ticks) => end.saturating_sub(ticks),
    };
    let is_in_order = start <= end;
    let start = if is_in_order { start } else { end };
    let (start_ns, end_ns) = (context.ns(start), context.ns(end));
    if !context.range.contains(start_ns) {
        return true;
    }
    let keys = &context.directory.registry_keys;
    // The key is there when the operation begins, and may be gone when it ends.
    let base = keys.path(read.block, start).or_else(|| keys.path(read.block, end)).map(Arc::clone);
    let is_value = names_value(hook.opcode);
    let text = Some(read.name.as_str()).filter(|text| !text.is_empty());
    let tid = event.thread_id().or(running);
    let who = tid.map(|tid| context.of_thread(tid, end));
    let process = who.and_then(|who| who.process);
    let row = RegistryIo {
        operation: kind,
        process_key: super::identity::key(process),
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
    context.wait(end, tid, process, Pending::Registry(Box::new(row), base));
    true
}

/// Puts the path of the row together. Done when the row is written: until then the path of its base is held once for all rows.
pub(super) fn complete(row: &mut RegistryIo, base: Base) {
    let is_rooted = |text: &str| text.starts_with('\\');
    let key = match (base, row.key.take()) {
        (_, Some(name)) if is_rooted(&name) => Some(name),
        (Some(base), Some(name)) => Some(Arc::from(format!("{}\\{name}", base.trim_end_matches('\\')))),
        (base, name) => base.or(name),
    };
    row.is_whole_key = key.as_deref().is_some_and(is_rooted);
    row.key = key.map(|key| match key.get(..key.floor_char_boundary(MAX_PATH)) {
        Some(cut) if cut.len() < key.len() => Arc::from(cut),
        _ => key,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_put_together_from_base_and_name() {
        let path = |base: Option<&str>, name: Option<&str>| {
            let mut row = RegistryIo { key: name.map(Arc::from), ..RegistryIo::default() };
            complete(&mut row, base.map(Arc::from));
            (row.key.as_deref().map(str::to_owned), row.is_whole_key)
        };
        let machine = Some(r"\REGISTRY\MACHINE");
        for (base, name, key, is_whole) in [
            (machine, Some(r"Software\A"), Some(r"\REGISTRY\MACHINE\Software\A"), true),
            (Some(r"\REGISTRY\"), Some("USER"), Some(r"\REGISTRY\USER"), true),
            (machine, None, machine, true),
            (machine, Some(r"\Registry\User"), Some(r"\Registry\User"), true),
            (None, Some("Software"), Some("Software"), false),
            (None, None, None, false),
        ] {
            assert_eq!(path(base, name), (key.map(str::to_owned), is_whole), "{base:?} {name:?}");
        }
    }

    #[test]
    fn long_paths_are_cut_at_a_character() {
        let mut row = RegistryIo { key: Some("ä".repeat(MAX_PATH).into()), ..RegistryIo::default() };
        complete(&mut row, Some("\\a".into()));
        assert_eq!(row.key.map(|key| key.len()), Some(MAX_PATH - 1));
    }
}
