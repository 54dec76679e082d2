//! Limits of tables: correlations in their rows, and claims that they do not prove. Each sentence
//! follows from the definition of the quantity. The page of the quantity has more details.

/// Sentences for answers that were measured from these tables.
pub(crate) struct Limit {
    /// Tables of rows and of their sums.
    pub(crate) tables: &'static [&'static str],
    /// Correlations in time that are not shown to be causes.
    pub(crate) correlated: &'static [&'static str],
    /// Conclusions that must not be drawn.
    pub(crate) unproven: &'static [&'static str],
    /// The topic of `etwkit docs` that defines the quantity.
    pub(crate) page: &'static str,
}

const fn limit(
    tables: &'static [&'static str],
    correlated: &'static [&'static str],
    unproven: &'static [&'static str],
    page: &'static str,
) -> Limit {
    Limit {
        tables,
        correlated,
        unproven,
        page,
    }
}

/// Limits by table.
pub(crate) static LIMITS: &[Limit] = &[
    limit(
        &[
            "cpu_sample",
            "cpu_process",
            "cpu_method",
            "cpu_stack",
            "cpu_tag",
        ],
        &[
            "a method in the stack of a sample was being called at that moment; what ran between samples is not seen",
        ],
        &[
            "that a method without samples did not run: a sample stands for a whole sampling interval",
            "that CPU of one process made another one slow: waits and the critical path show that",
        ],
        "numbers/cpu",
    ),
    limit(
        &["context_switch", "ready_percentile"],
        &[
            "the thread that made another one ready ended its wait; why it did so then and not earlier is not recorded",
        ],
        &[
            "that who ended a wait caused its length",
            "that waits add up to lost time: threads wait at the same time, and idle ones wait for work",
        ],
        "numbers/waits",
    ),
    limit(
        &["disk_io", "disk_file"],
        &[
            "a disk access names the thread that issued it; cached writes are issued later, by the system",
        ],
        &[
            "that a program waited for a disk access: many are asynchronous or for the cache",
            "that a file without disk accesses was not used: it may have been in memory",
        ],
        "numbers/io",
    ),
    limit(
        &["file_io", "file_file"],
        &[],
        &["that bytes of a file operation reached a disk: the cache may have held them"],
        "numbers/io",
    ),
    limit(
        &["hard_fault", "hard_fault_file"],
        &[],
        &["that the next run reads these pages again: they may be in memory then"],
        "numbers/io",
    ),
    limit(
        &["mini_filter", "mini_filter_driver"],
        &["time in a filter driver is part of the operation that it saw"],
        &["that an operation would be shorter by all of that time without the driver"],
        "numbers/filters",
    ),
    limit(
        &["dns_query"],
        &["queries of a process at the time of its delay go together with it"],
        &[
            "that the process waited for a query: other threads may have gone on",
            "whether server or network is slow",
        ],
        "numbers/net",
    ),
    limit(
        &["tcp_connection", "tcp_event", "net_io"],
        &["segments that were sent again go together with loss; an answer may only have been late"],
        &["where on the way packets were lost or delayed"],
        "numbers/net",
    ),
    limit(
        &["dpc_isr", "driver_category"],
        &[],
        &["that a DPC or interrupt delayed the thread that it interrupted noticeably"],
        "numbers/dpc",
    ),
    limit(
        &["exception"],
        &[],
        &["that an exception was an error: programs throw and catch many in normal work"],
        "dump",
    ),
    limit(
        &["gc"],
        &[],
        &[
            "that a collection stopped the work that the user waited for: other threads and processes may matter more",
        ],
        "numbers/gc",
    ),
    limit(
        &["registry_io", "registry_key"],
        &[],
        &["that a value stayed the same between two reads"],
        "numbers/registry",
    ),
    limit(
        &["alpc", "alpc_process"],
        &["a late answer goes together with the work of its server in that time"],
        &["that the server worked on this message all that time"],
        "numbers/alpc",
    ),
    limit(
        &["syscall", "syscall_function"],
        &[],
        &["that the time of a call was spent working: a call that waits lasts as long as the wait"],
        "numbers/syscalls",
    ),
    limit(
        &["user_lock", "user_lock_process"],
        &["who had the lock while another thread waited for it"],
        &["what the holder did under the lock"],
        "numbers/windows",
    ),
    limit(
        &["ui_delay", "focus_change"],
        &[],
        &["that a person noticed: a window may have been hidden, or not clicked"],
        "numbers/windows",
    ),
    limit(
        &["memory_sample"],
        &[],
        &["peaks between two samples"],
        "numbers/machine",
    ),
    limit(
        &[
            "virtual_alloc",
            "virtual_alloc_process",
            "heap_process",
            "handle",
            "handle_type",
            "object_ref",
            "gdi_user_object",
            "gdi_user_type",
            "pool",
            "pool_tag",
        ],
        &[],
        &[
            "that memory or an object that was not given back at the end is a leak: it may be given back after the trace",
        ],
        "numbers/objects",
    ),
    limit(
        &["pmc", "pmc_thread", "pmc_sample"],
        &["counters of a processor go up for every thread that ran at that time"],
        &["which instruction or memory access cost the cycles"],
        "numbers/counters",
    ),
    limit(
        &[
            "cpu_frequency",
            "cpu_idle_state",
            "cpu_core_state",
            "power_setting",
        ],
        &["low frequency goes together with little load as well as with throttling"],
        &["why the processor had that frequency"],
        "numbers/counters",
    ),
    limit(
        &["mark"],
        &["activity between two marks happened in that time"],
        &["that all of it belongs to the work that the marks name"],
        "regions",
    ),
    limit(
        &["generic_event", "event_count"],
        &[],
        &[
            "what an event means beyond its fields: providers may log late, or only some of the cases",
        ],
        "messages",
    ),
];

/// Limits of questions, independent of the tables that they read.
pub(crate) static OF_QUESTIONS: &[(&str, &str, &str)] = &[
    (
        "diff",
        "what differs between two recordings goes with the difference in time",
        "that a difference is the cause, or would be there in the next pair of runs",
    ),
    (
        "explain",
        "what goes with slow runs, by the numbers of all runs",
        "that it makes runs slow: it may come from the same cause as the slowness",
    ),
    (
        "critical-path",
        "each step follows the thread that ended the wait before it",
        "that a step made shorter shortens the whole: another path may be as long",
    ),
    (
        "wait",
        "the next link of a chain kept the thread that ended the wait busy in that time",
        "that removing one link removes the wait",
    ),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn limits_name_tables_questions_and_pages_that_there_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for limit in LIMITS {
            let page = root.join(format!("docs/{}.md", limit.page));
            assert!(page.is_file(), "{}", limit.page);
            assert!(!limit.unproven.is_empty());
            for table in limit.tables {
                assert!(
                    etwkit_trace::topics::find(table).is_some(),
                    "there is no table {table}"
                );
            }
        }
        for (name, ..) in OF_QUESTIONS {
            assert!(
                etwkit_engine::question(name).is_some(),
                "there is no question {name}"
            );
        }
    }
}
