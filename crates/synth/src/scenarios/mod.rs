//! Scenarios with named code: the events in each of them, step by step.

pub(crate) mod collections;
pub(crate) mod desktop;
pub(crate) mod dotnet;
pub(crate) mod file_filters;
pub(crate) mod file_writer;
pub(crate) mod git_bash;
pub(crate) mod load_stress;
pub(crate) mod many_slow_calls;
pub(crate) mod memory;
pub(crate) mod name_lookup;
pub(crate) mod pe_cores;
pub(crate) mod priority_inversion;
pub(crate) mod process_starts;
pub(crate) mod serializer_tests;
pub(crate) mod services;
pub(crate) mod slow_browsing;
pub(crate) mod slow_system;
pub(crate) mod starvation;
pub(crate) mod system_calls;
pub(crate) mod test_runs;
pub(crate) mod timers;
pub(crate) mod tracing;
pub(crate) mod wait_chain;
pub(crate) mod windows;
