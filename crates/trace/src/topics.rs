//! Which tables get their rows from what a recording switches on.

/// Topics, by the names that [`Recorded`](crate::summary::Recorded) has, and the tables that only they fill.
/// Columns that a topic adds to tables of others are not counted.
const TABLES: [(&str, &[&str]); 17] = [
    (
        "CPU samples",
        &["cpu_sample", "cpu_stack", "cpu_process", "cpu_method", "cpu_tag", "cpu_class", "cpu_method_class"],
    ),
    (
        "context switches",
        &[
            "context_switch",
            "cpu_process",
            "cpu_method",
            "cpu_tag",
            "cpu_stack",
            "ready_percentile",
            "cpu_class",
            "cpu_method_class",
            "cpu_class_priority",
        ],
    ),
    ("DPCs and interrupts", &["dpc_isr"]),
    ("images", &["module"]),
    ("disk I/O", &["disk_io", "disk_file"]),
    ("file I/O", &["file_io", "file_file"]),
    ("hard faults", &["hard_fault"]),
    ("TCP and UDP", &["net_io"]),
    ("system calls", &["syscall", "syscall_function"]),
    ("registry", &["registry_io", "registry_key"]),
    ("virtual memory", &["virtual_alloc", "virtual_range", "virtual_alloc_process"]),
    ("handles", &["object", "handle", "object_ref", "handle_type"]),
    (".NET", &["exception", "gc", "jit", "thread_pool"]),
    ("DNS queries", &["dns_query"]),
    ("TCP connections", &["tcp_connection", "tcp_retransmit", "tcp_event"]),
    ("network transfers", &["net_io"]),
    ("power settings", &["power_setting", "power_profile"]),
];

/// The topics that fill a table; none for a table that is filled whatever was recorded, or by events that are
/// no topic.
#[must_use]
pub fn of_table(table: &str) -> Vec<&'static str> {
    TABLES.iter().filter(|(_, tables)| tables.contains(&table)).map(|(topic, _)| *topic).collect()
}

/// The tables that a topic fills.
#[must_use]
pub fn tables_of(topic: &str) -> &'static [&'static str] {
    TABLES.iter().find(|(name, _)| *name == topic).map_or(&[], |(_, tables)| tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::recorded;
    use crate::table;

    #[test]
    fn topics_and_tables_are_those_that_there_are() {
        let topics: Vec<&str> = recorded(std::iter::empty()).iter().map(|row| row.topic.name).collect();
        for (topic, tables) in &TABLES {
            assert!(topics.contains(topic), "there is no topic {topic}");
            for name in *tables {
                assert!(table::find(name).is_some(), "there is no table {name}");
                assert!(of_table(name).contains(topic));
            }
        }
        assert_eq!(of_table("net_io"), ["TCP and UDP", "network transfers"]);
        assert!(of_table("process").is_empty() && tables_of("stacks").is_empty());
    }
}
