//! DPCs and interrupts.

use etwkit_decode::kernel::dpc::{self, DpcIsr, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, waiting};
use crate::sink::Sink;
use crate::table::{self, Row};

/// The events of DPCs and interrupts.
pub(super) const EVENTS: Events = Events::Kernel(
    group::PERFINFO,
    &[
        opcode::ISR_MSI,
        opcode::THREADED_DPC,
        opcode::ISR,
        opcode::DPC,
        opcode::TIMER_DPC,
        opcode::ISR_PASSIVE,
    ],
);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(table::DpcIsr::TABLE)],
    topics: &[Topic {
        place: 50,
        name: "DPCs and interrupts",
        answers: "which driver took the CPU",
        recorded_by: "DPC+INTERRUPT",
        events: &[EVENTS],
        tables: &[table::DpcIsr::TABLE],
    }],
    make: |_| Box::new(Dpcs::default()),
    ..Declaration::EMPTY
};

/// The name of a DPC or interrupt, and the content of its event; `None` for other events.
pub(super) fn read(hook: Hook, event: &RawEvent<'_>) -> Option<(&'static str, DpcIsr)> {
    let kind = dpc::name(hook.opcode)?;
    Some((
        kind,
        DpcIsr::parse(
            event.payload(),
            hook.opcode,
            hook.version,
            event.pointer_size(),
        )?,
    ))
}

/// Maximum number held for a processor, because a longer one around them may still end.
const MAX_HELD: usize = 256;

/// DPCs and interrupts have their own rows. The time of others nested in one is counted separately.
#[derive(Default)]
struct Dpcs {
    /// Start and length of the DPCs and interrupts of each processor that are not nested in another
    /// one so far, by their ends.
    ended: FxHashMap<u16, Vec<(i64, i64)>>,
}

impl Dpcs {
    /// Time of the DPCs and interrupts inside the one that ends now on a processor. They are logged
    /// when they end, so those that interrupted this one came before it. Those nested more deeply
    /// are counted with these.
    fn inside(&mut self, cpu: u16, start_ns: i64, end_ns: i64) -> i64 {
        let ended = self.ended.entry(cpu).or_default();
        // All that started after its start ended before it does, so they are inside of it.
        let first = ended
            .iter()
            .rposition(|(start, _)| *start < start_ns)
            .map_or(0, |before| before + 1);
        let inside = ended
            .drain(first..)
            .map(|(_, length)| length)
            .fold(0, i64::saturating_add);
        // The oldest is dropped, since an outer one that is still running started before all that
        // are held.
        if ended.len() >= MAX_HELD {
            ended.remove(0);
        }
        ended.push((start_ns, end_ns.saturating_sub(start_ns)));
        inside
    }
}

impl Importer for Dpcs {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let Some((kind, read)) = read(hook, event) else {
            return Ok(false);
        };
        // Start and end are raw ticks in one event, so the length is exact even if events before it
        // were lost.
        let start_ns = context.ns(read.initial_time);
        let end_ns = context.ns(event.timestamp);
        // Followed outside the range as well: a DPC in the range may contain interrupts that were
        // logged before it.
        let inside_ns = self.inside(event.cpu, start_ns, end_ns);
        if context.range.contains(start_ns) {
            let duration_ns = end_ns.saturating_sub(start_ns);
            let row = table::DpcIsr {
                kind,
                cpu: event.cpu.into(),
                start_ns,
                end_ns,
                duration_ns,
                // Clocks of damaged files go back, so the sum of the inner ones may exceed the
                // length.
                nested_ns: inside_ns.min(duration_ns).max(0),
                vector: read.vector.map(Into::into),
                ..table::DpcIsr::default()
            };
            write(row, &read, event, context);
        }
        Ok(true)
    }
}

fn write(row: table::DpcIsr, read: &DpcIsr, event: &RawEvent<'_>, context: &mut Context<'_>) {
    let running = context.running_on(event.cpu);
    // The thread that was interrupted is not the cause of the work. It is where the time is
    // missing.
    let process = running.and_then(|tid| context.directory.process_of_thread(tid, event.timestamp));
    let routine = read.routine;
    let row = waiting::row(row, move |row, stacks| {
        row.stack_id = stacks.own();
        row.frame_id = stacks.kernel_frame(routine);
    });
    context.wait(event.timestamp, running, process, row);
}
