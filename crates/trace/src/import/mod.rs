//! Conversion of events into rows of all tables, in two passes over a session.
//!
//! - `pipeline`: the way of events to rows; its `importer` is the interface of importers
//! - one importer for each topic, in the list `IMPORTERS`
//!
//! The second pass passes rows on in batches, so memory does not grow with the trace.

mod actor;
mod adapters;
mod affinity;
mod alpc;
mod assemblies;
mod call_facts;
mod calls;
mod core_rows;
mod cores;
mod counter_names;
mod counters;
mod deltas;
mod described;
mod disk_queue;
mod dns;
mod dotnet;
mod dpc;
mod event_count;
pub mod facts;
pub mod findings;
mod focus;
mod gdi_user;
mod generic;
mod handles;
mod heap;
mod inputs;
mod instead;
mod interrupts;
mod io;
mod loggers;
mod machine;
mod maps;
mod marks;
mod memory;
mod mini_filter;
mod net;
mod object_types;
mod objects;
mod page_fault;
mod pipeline;
mod pool;
mod power;
mod priority;
mod registry;
mod runtimes;
mod samples;
pub mod screenshots;
mod settings;
mod sockets;
mod stack_events;
mod standby;
mod switches;
mod tcp;
mod tcp_connection;
mod timer;
mod user_lock;
mod virtual_memory;
mod win32k;

use std::ops::ControlFlow;

use etwkit_etl::Session;

pub use pipeline::job::{ImportError, Imported, Options, Progress};
pub use pipeline::range::Range;
pub use pipeline::second_pass::write_trace;

use crate::sink::Sink;
use crate::topics::recorded;
use importer::Declaration;
use pipeline::{
    clip, collect, context, identity, importer, inline_stack, job, line, range, routes,
    second_pass, tables, waiting,
};

/// All importers. Importers whose tables name things come first, and the one for events that no
/// other importer shows comes last. At the end of the trace they finish in reverse order: rows that
/// are still open may name further threads.
pub(crate) const IMPORTERS: &[&Declaration] = &[
    &second_pass::DECLARATION,
    &event_count::DECLARATION,
    &machine::DECLARATION,
    &adapters::DECLARATION,
    &facts::DECLARATION,
    &findings::DECLARATION,
    &loggers::DECLARATION,
    &core_rows::DECLARATION,
    &described::PROCESSES,
    &affinity::DECLARATION,
    &described::CODE,
    &stack_events::DECLARATION,
    &samples::DECLARATION,
    &switches::DECLARATION,
    &priority::DECLARATION,
    &dpc::DECLARATION,
    &power::DECLARATION,
    &counters::DECLARATION,
    &io::DECLARATION,
    &mini_filter::DECLARATION,
    &page_fault::DECLARATION,
    &net::DECLARATION,
    &dns::DECLARATION,
    &tcp::DECLARATION,
    &sockets::DECLARATION,
    &memory::DECLARATION,
    &settings::DECLARATION,
    &timer::DECLARATION,
    &standby::DECLARATION,
    &registry::DECLARATION,
    &calls::DECLARATION,
    &alpc::DECLARATION,
    &handles::DECLARATION,
    &maps::DECLARATION,
    &virtual_memory::DECLARATION,
    &heap::DECLARATION,
    &pool::DECLARATION,
    &win32k::DECLARATION,
    &screenshots::DECLARATION,
    &marks::DECLARATION,
    &runtimes::DECLARATION,
    &dotnet::DECLARATION,
    &generic::DECLARATION,
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
