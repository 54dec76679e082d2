//! Scenarios whose code has names: what happens in each of them, step by step.

pub(crate) mod git_bash;
pub(crate) mod pe_cores;
pub(crate) mod priority_inversion;
pub(crate) mod starvation;
pub(crate) mod wait_chain;
mod windows;
