//! Conversion of events into rows of all tables, in two passes over a session.
//!
//! - `pipeline`: the way of events to rows; its `importer` is the interface of importers
//! - `described`: the tables that name processes, threads and code
//! - a module for each topic, with the importers that are in the list `IMPORTERS`
//!
//! The second pass passes rows on in batches, so memory does not grow with the trace.

mod described;
mod pipeline;

/// Code on processors: samples, counters, and the stacks of events.
mod cpu {
    pub(super) mod counter_names;
    pub(super) mod counters;
    pub(super) mod samples;
    pub(super) mod stack_events;
}

/// .NET runtimes.
mod dotnet {
    pub(super) mod assemblies;
    pub(super) mod events;
    pub(super) mod runtimes;
}

/// Events that are shown or counted as such.
mod events {
    pub(super) mod event_count;
    pub(super) mod generic;
    pub(super) mod marks;
}

/// Disks, files, and the drivers above them.
mod files {
    pub(super) mod disk_queue;
    pub(super) mod io;
    pub(super) mod maps;
    pub(super) mod mini_filter;
}

/// Memory of the machine and of processes.
mod memory {
    pub(super) mod heap;
    pub(super) mod page_fault;
    pub(super) mod pool;
    pub(super) mod usage;
    pub(super) mod virtual_memory;
}

/// Network.
mod net {
    pub(super) mod dns;
    pub(super) mod sockets;
    pub(super) mod tcp;
    mod tcp_connection;
    pub(super) mod transfers;
}

/// Kernel objects, their handles, and keys of the registry.
mod objects {
    pub(super) mod handles;
    mod lifetimes;
    pub(super) mod object_types;
    pub(super) mod registry;
}

/// Power states of processors and of the machine.
mod power {
    pub(super) mod processor;
    pub(super) mod settings;
    pub(super) mod standby;
    pub(super) mod timer;
}

/// The recording and its machine.
mod recording {
    pub(super) mod adapters;
    pub(super) mod core_rows;
    pub(super) mod cores;
    pub mod facts;
    pub mod features;
    pub mod findings;
    pub(super) mod loggers;
    pub(super) mod machine;
}

/// Threads on processors.
mod sched {
    pub(super) mod affinity;
    mod deltas;
    pub(super) mod dpc;
    mod instead;
    mod interrupts;
    pub(super) mod priority;
    pub(super) mod switches;
}

/// System calls and messages between processes.
mod syscalls {
    pub(super) mod alpc;
    mod call_facts;
    pub(super) mod calls;
}

/// Windows, their objects, and input.
mod ui {
    mod focus;
    mod gdi_user;
    pub(super) mod inputs;
    pub mod screenshots;
    mod user_lock;
    pub(super) mod win32k;
}

use std::ops::ControlFlow;

use etwkit_etl::Session;

pub use pipeline::job::{ImportError, Imported, Options, Progress};
pub use pipeline::range::Range;
pub use pipeline::second_pass::write_trace;
pub use recording::{facts, features, findings};
pub use ui::screenshots;

use crate::sink::Sink;
use crate::topics::recorded;
use pipeline::{Declaration, collect, routes, second_pass};

/// All importers. Importers whose tables name things come first, and the one for events that no
/// other importer shows comes last. At the end of the trace they finish in reverse order: rows that
/// are still open may name further threads.
pub(crate) const IMPORTERS: &[&Declaration] = &[
    &second_pass::DECLARATION,
    &events::event_count::DECLARATION,
    &recording::machine::DECLARATION,
    &recording::adapters::DECLARATION,
    &facts::DECLARATION,
    &findings::DECLARATION,
    &features::DECLARATION,
    &recording::loggers::DECLARATION,
    &recording::core_rows::DECLARATION,
    &described::PROCESSES,
    &sched::affinity::DECLARATION,
    &described::CODE,
    &cpu::stack_events::DECLARATION,
    &cpu::samples::DECLARATION,
    &sched::switches::DECLARATION,
    &sched::priority::DECLARATION,
    &sched::dpc::DECLARATION,
    &power::processor::DECLARATION,
    &cpu::counters::DECLARATION,
    &files::io::DECLARATION,
    &files::mini_filter::DECLARATION,
    &memory::page_fault::DECLARATION,
    &net::transfers::DECLARATION,
    &net::dns::DECLARATION,
    &net::tcp::DECLARATION,
    &net::sockets::DECLARATION,
    &memory::usage::DECLARATION,
    &power::settings::DECLARATION,
    &power::timer::DECLARATION,
    &power::standby::DECLARATION,
    &objects::registry::DECLARATION,
    &syscalls::calls::DECLARATION,
    &syscalls::alpc::DECLARATION,
    &objects::handles::DECLARATION,
    &files::maps::DECLARATION,
    &memory::virtual_memory::DECLARATION,
    &memory::heap::DECLARATION,
    &memory::pool::DECLARATION,
    &ui::win32k::DECLARATION,
    &screenshots::DECLARATION,
    &events::marks::DECLARATION,
    &dotnet::runtimes::DECLARATION,
    &dotnet::events::DECLARATION,
    &events::generic::DECLARATION,
];

const _: () = assert!(
    routes::have_one_taker(IMPORTERS),
    "a kernel event is claimed by two importers"
);

/// Reads a session twice and writes the rows of all tables but `trace` and `diagnostic` to `sink`,
/// from a thread of its own. `progress` is called every few thousand events and can stop the
/// import.
///
/// # Errors
/// [`ImportError`]: a file cannot be read, a sink fails, or the caller stops. Damage is not an
/// error: it is counted in [`Imported::diagnostics`].
pub fn import(
    session: &Session,
    options: &Options,
    sink: &mut (dyn Sink + Send),
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Imported, ImportError> {
    let (mut collected, counts) = collect::collect(session, progress)?;
    let recorded = recorded(counts.identities(), counts.enabled());
    second_pass::run(
        session,
        &mut collected,
        recorded,
        (IMPORTERS, options),
        sink,
        progress,
    )
}
