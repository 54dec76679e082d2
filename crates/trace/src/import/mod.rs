//! Conversion of events into rows of all tables, in two passes over a session.
//!
//! - [`collect`](self): the first pass, which collects the meaning of names and addresses
//! - `importer`: the interface of importers; `routes`: dispatch of events to importers;
//!   `second_pass`: reads events in order of time and passes them to importers
//! - `context`, `line`, `arena`, `identity`: state shared by all importers
//! - `outbox`, `rows`, `waiting`, `stacks`, `nodes`: the path of rows to the tables, on a second
//!   thread
//! - one importer for each topic, in the list `IMPORTERS`
//!
//! The second pass passes rows on in batches, so memory does not grow with the trace.

mod actor;
mod adapters;
mod affinity;
mod alpc;
mod arena;
mod assemblies;
mod call_facts;
mod calls;
mod clip;
mod collect;
mod context;
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
mod focus;
mod gdi_user;
mod generic;
mod given;
mod handles;
mod heap;
mod identity;
mod importer;
mod inline_stack;
mod inputs;
mod instead;
mod interrupts;
mod io;
mod job;
mod line;
mod loggers;
mod machine;
mod maps;
mod marks;
mod memory;
mod mini_filter;
mod net;
mod nodes;
mod notes;
mod object_types;
mod objects;
mod outbox;
mod page_fault;
mod pool;
mod power;
mod priority;
mod range;
mod registry;
mod routes;
mod rows;
mod runtimes;
mod samples;
pub mod screenshots;
mod second_pass;
mod settings;
mod sockets;
mod stack_events;
mod stacks;
mod standby;
mod switches;
mod tables;
mod tcp;
mod tcp_connection;
mod timer;
mod user_lock;
mod virtual_memory;
mod waiting;
mod win32k;

use std::ops::ControlFlow;

use etwkit_etl::Session;

pub use job::{ImportError, Imported, Options, Progress};
pub use range::Range;
pub use second_pass::write_trace;

use crate::sink::Sink;
use crate::topics::recorded;
use importer::Declaration;

/// All importers. Importers whose tables name things come first, and the one for events that no
/// other importer shows comes last. At the end of the trace they finish in reverse order: rows that
/// are still open may name further threads.
pub(crate) const IMPORTERS: &[&Declaration] = &[
    &second_pass::DECLARATION,
    &event_count::DECLARATION,
    &machine::DECLARATION,
    &adapters::DECLARATION,
    &facts::DECLARATION,
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
    let recorded = recorded(counts.identities());
    second_pass::run(
        session,
        &mut collected,
        recorded,
        (IMPORTERS, options),
        sink,
        progress,
    )
}
