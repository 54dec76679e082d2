//! Extracts asked in SQL, against what independent programs know of the same traces.

mod agreement;
mod calls;
mod counters;
mod dotnet;
mod io;
mod net;
mod objects;
mod power;
mod range;
mod real;
mod samples;
mod sched;
pub(crate) mod support;
mod system;
mod trees;
mod waits;

pub(crate) use self::support::Extract;
