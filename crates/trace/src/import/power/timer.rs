//! Requests for a resolution of the system timer, each with its period of validity.

use etwkit_decode::kernel::Hook;
use etwkit_decode::kernel::power_setting::KERNEL_POWER;
use etwkit_decode::timer::{Requester, Resolution, TimerReader, id};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, sums};
use crate::import::pipeline::{Context, Declaration, Importer, Learned, key};
use crate::sink::{Sink, SinkError};
use crate::table::{Row, TimerResolution};
use crate::tracker::process::ProcessKey;

pub(crate) const DECLARATION: Declaration = Declaration {
    // Rows show only a part of these events, so they also stay events of their own.
    hears: &[Events::Provider(KERNEL_POWER, id::ALL)],
    tables: &[sums(TimerResolution::TABLE)],
    make: |_| Box::new(Timers::default()),
    ..Declaration::EMPTY
};

/// Maximum number of open requests; a malicious file can contain any number of them.
const MAX_OPEN: usize = 1 << 16;

/// Nanoseconds of the unit in which resolutions are reported.
const UNIT_NS: i64 = 100;

/// The requester. A process that no event describes has only its ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Asker {
    Process(Option<ProcessKey>, u32),
    Kernel,
    System,
}

/// The requests currently in force.
#[derive(Debug, Default)]
struct Timers {
    reader: TimerReader,
    open: FxHashMap<Asker, TimerResolution>,
}

impl Timers {
    fn request(
        &mut self,
        request: Resolution,
        time: i64,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let (asker, kind, application) = match request.whose {
            Requester::Process(pid, application) => (
                Asker::Process(context.directory.process_at(pid, time), pid),
                "process",
                application,
            ),
            Requester::Kernel => (Asker::Kernel, "kernel", None),
            Requester::System => (Asker::System, "system", None),
        };
        let resolution_ns = i64::from(request.resolution).saturating_mul(UNIT_NS);
        let held = self.open.get(&asker);
        // The rundown at the end of a recording repeats requests that were already reported.
        // The rundown may also contain requests that started before the trace: these have no row
        // yet and get one without a start.
        if request.is_rundown && held.is_some_and(|row| row.resolution_ns == resolution_ns) {
            return Ok(());
        }
        let ns = context.ns(time);
        // A process has one request at a time: the new one replaces the old one, whose row ends
        // here.
        if let Some(row) = self.open.remove(&asker) {
            write(
                &TimerResolution {
                    end_ns: Some(ns),
                    ..row
                },
                context,
                sink,
            )?;
        }
        // A process takes its request back with a resolution of 0.
        // Without room the request is not followed. The row before it has ended all the same.
        if resolution_ns == 0 || self.open.len() >= MAX_OPEN {
            return Ok(());
        }
        let process = if let Asker::Process(process, _) = asker {
            process
        } else {
            None
        };
        let row = TimerResolution {
            kind,
            process_key: key(process),
            application: application.filter(|path| !path.is_empty()),
            resolution_ns,
            // A request of the rundown began at an unknown time.
            start_ns: (!request.is_rundown).then_some(ns),
            end_ns: None,
            is_ignored: request.is_ignored,
        };
        self.open.insert(asker, row);
        Ok(())
    }
}

impl Importer for Timers {
    fn hear(
        &mut self,
        _: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        match self.reader.read(event, &mut context.decoder) {
            Some(request) => self.request(request, event.timestamp, context, sink),
            None => Ok(()),
        }
    }

    /// Windows takes the request of a process back when it ends.
    fn finish(
        self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // Only processes end. Requests of the kernel stay open to the end of the trace.
        let ended = |asker: &Asker| {
            let Asker::Process(process, _) = asker else {
                return None;
            };
            context.directory.processes.instance((*process)?)?.stop
        };
        let rows = self.open.into_iter();
        let rows = rows.map(|(asker, row)| TimerResolution {
            end_ns: ended(&asker).map(|stop| context.ns(stop)),
            ..row
        });
        let mut rows: Vec<TimerResolution> = rows.collect();
        // The rows come out of a hash map and have to be in the same order in every run.
        rows.sort_by(|a, b| {
            let place = |row: &TimerResolution| {
                // The start alone is no order: requests of one rundown all lack it.
                (row.start_ns, row.kind, row.process_key, row.resolution_ns)
            };
            // The path is compared last and by reference, since it is a text and only rarely
            // decides.
            place(a)
                .cmp(&place(b))
                .then_with(|| a.application.cmp(&b.application))
        });
        rows.iter().try_for_each(|row| write(row, context, sink))
    }
}

/// Writes a request that was in force at some time of the extracted part of the trace.
fn write(
    row: &TimerResolution,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    let range = context.range;
    // Null counts as before or after the trace, so such a row touches every range.
    if row.start_ns.is_some_and(|ns| ns > range.end_ns)
        || row.end_ns.is_some_and(|ns| ns < range.start_ns)
    {
        return Ok(());
    }
    context.tables.push(row, sink)
}
