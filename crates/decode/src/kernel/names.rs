//! Compares the types in the views with the text tables, which name all types.

use std::collections::BTreeMap;

use super::{
    alpc, config, counter, disk, dpc, event_trace, fault, file_io, file_name, group_mask, heap,
    idle, image, memory, mini_filter, net, object, pool, process, registry, sample, scheduler,
    soft_fault, stack, syscall, thread, virtual_memory,
};
use crate::Tables;

/// The types of each module. The compiler warns about an omitted one, because it is never used.
const ALL: &[&[(u8, u8, &str)]] = &[
    alpc::opcode::ALL,
    config::opcode::ALL,
    counter::opcode::ALL,
    disk::opcode::ALL,
    dpc::opcode::ALL,
    event_trace::opcode::ALL,
    fault::opcode::ALL,
    file_io::opcode::ALL,
    file_name::opcode::ALL,
    group_mask::opcode::ALL,
    heap::opcode::ALL,
    idle::opcode::ALL,
    image::opcode::ALL,
    memory::opcode::ALL,
    mini_filter::opcode::ALL,
    net::tcp::ALL,
    net::udp::ALL,
    object::opcode::ALL,
    pool::opcode::ALL,
    process::opcode::ALL,
    registry::opcode::ALL,
    sample::opcode::ALL,
    scheduler::opcode::ALL,
    soft_fault::opcode::ALL,
    stack::opcode::ALL,
    syscall::opcode::ALL,
    thread::opcode::ALL,
    virtual_memory::opcode::ALL,
];

#[test]
fn types_have_the_names_of_the_text_tables() {
    let named = |row: &crate::tables::KnownEvent| {
        let (_, name) = row.name.rsplit_once('/')?;
        Some(((row.group?, row.id), name.to_owned()))
    };
    let rows = Tables::new().rows();
    let names: BTreeMap<(u8, u16), String> = rows.iter().filter_map(named).collect();
    let mut seen = BTreeMap::new();
    for (group, number, text) in ALL.iter().copied().flatten().copied() {
        let name = names.get(&(group, number.into())).map(String::as_str);
        assert_eq!(name, Some(text), "type {number} of group {group}");
        assert_eq!(
            seen.insert((group, number), text),
            None,
            "type {number} of group {group} is named twice"
        );
    }
    assert!(seen.len() > 100, "{}", seen.len());
}
