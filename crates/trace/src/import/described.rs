//! The tables that name processes, threads, modules and methods. They are written at the end, when
//! all names are known.

use etwkit_decode::kernel::merge::IMAGE_ID;
use etwkit_decode::kernel::provider::{self, KERNEL_PROCESS};
use etwkit_decode::kernel::{group, image, process, thread};

use crate::declared::{Events, Topic, sums};
use crate::import::pipeline::identity::DescribedThread;
use crate::import::pipeline::{Context, Declaration, Importer, Learned, waiting};
use crate::sink::{Sink, SinkError};
use crate::table::{Method, Module, Process, Row, Thread};

const OF_PROCESSES: Events = Events::Kernel(group::PROCESS, process::LIFETIME);
/// Events of a process that starts to end. They do not show that processes were recorded.
const ENDINGS: Events = Events::Kernel(group::PROCESS, &[process::opcode::TERMINATE]);
const OF_IMAGES: Events = Events::Kernel(group::IMAGE, image::LIFETIME);

pub(super) const PROCESSES: Declaration = Declaration {
    // All of these were read by the first pass. Events of the provider stay events: they contain
    // more.
    takes: &[
        OF_PROCESSES,
        ENDINGS,
        Events::Kernel(group::THREAD, thread::LIFETIME),
    ],
    tables: &[sums(Process::TABLE), sums(Thread::TABLE)],
    topics: &[Topic {
        place: 60,
        name: "processes",
        answers: "what ran",
        recorded_by: "PROC_THREAD",
        events: &[
            OF_PROCESSES,
            Events::Provider(KERNEL_PROCESS, provider::id::PROCESSES),
        ],
        tables: &[],
    }],
    make: |_| Box::new(Processes),
    ..Declaration::EMPTY
};

/// Writes the collected data about processes and threads.
struct Processes;

impl Importer for Processes {
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // Creators of processes and threads may be threads that no other row names.
        let processes = context.identity.processes();
        context.tables.push_all(processes, sink)?;
        let end = learned.collected.end;
        for DescribedThread { row, begins } in context.identity.threads(end) {
            context.notes.unknown_threads += u64::from(row.process_key.is_none());
            let (process, time) =
                begins.map_or((None, end), |begins| (begins.process, begins.time));
            let row = waiting::row(row, move |row, found| {
                row.start_frame_id = begins.map(|begins| found.frame(begins.address));
            });
            context.wait(time, None, process, row);
        }
        Ok(())
    }
}

pub(super) const CODE: Declaration = Declaration {
    takes: &[
        OF_IMAGES,
        Events::Kernel(group::IMAGE, &[image::opcode::KERNEL_BASE]),
        Events::Class(IMAGE_ID),
    ],
    tables: &[sums(Module::TABLE), sums(Method::TABLE)],
    topics: &[
        Topic {
            place: 70,
            name: "images",
            answers: "which modules were loaded",
            recorded_by: "LOADER",
            events: &[
                OF_IMAGES,
                Events::Provider(KERNEL_PROCESS, provider::id::IMAGES),
            ],
            tables: &[Module::TABLE],
        },
        Topic {
            place: 80,
            name: "image identities",
            answers: "which PDB belongs to a module",
            recorded_by: "merge (xperf -d, wpr -stop)",
            events: &[Events::Class(IMAGE_ID)],
            tables: &[],
        },
    ],
    make: |_| Box::new(Code),
    ..Declaration::EMPTY
};

/// Writes the collected data about modules and methods.
struct Code;

impl Importer for Code {
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let collected = learned.collected;
        context
            .tables
            .push_all(context.identity.modules(&collected.assemblies), sink)?;
        let methods = context
            .identity
            .methods(&collected.methods, &collected.assemblies);
        context.tables.push_all(methods, sink)
    }
}
