//! Scenarios whose code has names: what happens in each of them, step by step.

mod dotnet;
pub(crate) mod file_writer;
pub(crate) mod git_bash;
pub(crate) mod load_stress;
pub(crate) mod pe_cores;
pub(crate) mod priority_inversion;
pub(crate) mod serializer_tests;
pub(crate) mod starvation;
pub(crate) mod wait_chain;
mod windows;
