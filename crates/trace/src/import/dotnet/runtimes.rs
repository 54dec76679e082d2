//! .NET runtimes in processes.

use etwkit_decode::clr::{self, RuntimeInformation};
use etwkit_decode::kernel::Hook;
use etwkit_etl::RawEvent;
use rustc_hash::FxHashSet;

use crate::declared::{Events, sums};
use crate::import::pipeline::{Context, Declaration, Importer, key};
use crate::sink::{Sink, SinkError};
use crate::table::{DotnetRuntime, Row};
use crate::tracker::process::ProcessKey;

/// The ID of these events, of programs and in the rundown.
const INFORMATION: &[u16] = &[clr::id::RUNTIME_INFORMATION];

pub(crate) const DECLARATION: Declaration = Declaration {
    // They also stay events of their own: rows have the start of a runtime, but not the time at
    // which it was listed.
    hears: &[
        Events::Provider(clr::RUNTIME, INFORMATION),
        Events::Provider(clr::RUNDOWN, INFORMATION),
    ],
    tables: &[sums(DotnetRuntime::TABLE)],
    make: |_| Box::new(Runtimes::default()),
    ..Declaration::EMPTY
};

/// Runtimes that are remembered; a malicious file can list any number of them.
const MAX_RUNTIMES: usize = 1 << 16;

/// Records each runtime once: the rundown at the end of the trace repeats those that started in it.
#[derive(Debug, Default)]
struct Runtimes {
    known: FxHashSet<(Option<ProcessKey>, u16)>,
}

impl Importer for Runtimes {
    fn hear(
        &mut self,
        _: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(information) = RuntimeInformation::parse(event.payload()) else {
            return Ok(());
        };
        let process = event
            .process_id()
            .and_then(|pid| context.directory.process_at(pid, event.timestamp));
        if self.known.len() >= MAX_RUNTIMES
            || !self.known.insert((process, information.clr_instance))
        {
            return Ok(());
        }
        // The range is not checked: a process of the range may be listed only after it, in the
        // rundown at the end of the trace.
        let is_start = event.provider() == clr::RUNTIME;
        let row = row(
            information,
            process,
            is_start.then(|| context.ns(event.timestamp)),
        );
        context.tables.push(&row, sink)
    }
}

fn row(
    information: RuntimeInformation,
    process: Option<ProcessKey>,
    start_ns: Option<i64>,
) -> DotnetRuntime {
    let version = |parts: [u16; 4]| parts.map(|part| part.to_string()).join(".");
    let text = |text: String| Some(text).filter(|text| !text.is_empty());
    DotnetRuntime {
        process_key: key(process),
        clr_instance: information.clr_instance.into(),
        flavour: match information.sku {
            1 => Some("framework"),
            2 => Some("core"),
            _ => None,
        },
        version: version(information.vm_version),
        library_version: version(information.bcl_version),
        start_ns,
        path: text(information.runtime_dll),
        command_line: text(information.command_line),
        startup_mode: information.startup_mode.into(),
        startup_flags: information.startup_flags.into(),
    }
}
