//! Speeds, parking and idle states of processors: events become intervals.

use std::collections::BTreeMap;

use etwkit_decode::kernel::processor_power::{
    Delivered, Event, IDS, PROCESSOR_POWER, Parking, Rundown,
};
use etwkit_decode::kernel::{Hook, group, idle};
use etwkit_etl::RawEvent;

use crate::declared::{Events, rows, sums};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, Learned, Range};
use crate::import::recording::cores::Cores;
use crate::sink::{Sink, SinkError};
use crate::table::{CpuFrequency, CpuIdleState, CpuParking, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[
        Events::Kernel(group::POWER, &[idle::opcode::ENTER, idle::opcode::EXIT]),
        Events::Provider(PROCESSOR_POWER, IDS),
    ],
    tables: &[
        sums(CpuFrequency::TABLE),
        rows(CpuIdleState::TABLE),
        sums(CpuParking::TABLE),
    ],
    make: |learned| Box::new(Power::new(&learned.collected.cores)),
    ..Declaration::EMPTY
};

/// The open intervals of a processor.
#[derive(Debug, Default)]
struct OpenIntervals {
    /// Start and value of the speed that Windows requested.
    requested: Option<(i64, u32)>,
    /// End of the last measured speed.
    delivered_until: Option<i64>,
    /// Start and number of the idle state.
    idle: Option<(i64, u32)>,
    /// Start and kind of parking.
    parked: Option<(i64, Parking)>,
    /// True if any event reported parking.
    is_parking_known: bool,
}

/// Follows the processors.
struct Power<'c> {
    cores: &'c Cores,
    open: BTreeMap<u16, OpenIntervals>,
}

impl<'c> Power<'c> {
    fn new(cores: &'c Cores) -> Self {
        Self {
            cores,
            open: BTreeMap::new(),
        }
    }
}

impl Importer for Power<'_> {
    /// Takes an idle event.
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let is_enter = hook.opcode == idle::opcode::ENTER;
        let Some(state) = idle::state(event.payload()) else {
            return Ok(false);
        };
        let now = context.ns(event.timestamp);
        // Idle events carry no processor; the one that logged them is the one that sleeps.
        let open = self.open.entry(event.cpu).or_default();
        // An exit without its entry ends a sleep that started before the trace, or whose start was
        // lost. It gets no row: its start would be invented.
        let before = std::mem::replace(&mut open.idle, is_enter.then_some((now, state)));
        if let Some((start, state)) = before {
            slept(event.cpu, (start, now), state, context, sink)?;
        }
        Ok(true)
    }

    /// Takes an event of Kernel-Processor-Power.
    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let descriptor = event.descriptor();
        let now = context.ns(event.timestamp);
        let cores = self.cores;
        match Event::parse(descriptor.id, descriptor.version, event.payload()) {
            Some(Event::Requested(number, mhz)) => {
                // The event names a processor by its group and number, and rows by its index.
                // Without the list of processors of a machine with several groups there is no
                // index.
                if let Some(cpu) = cores.index(number) {
                    self.requested(cpu, now, mhz, context, sink)?;
                }
                // The event reports limits that no row shows, so it stays an event of its own.
                Ok(false)
            }
            Some(Event::Delivered(delivered)) => {
                let Some(cpu) = cores.index(delivered.number) else {
                    return Ok(false);
                };
                self.delivered(cpu, now, delivered, context, sink)
            }
            Some(Event::Park(number, how)) => {
                let Some(cpu) = cores.index(number) else {
                    return Ok(false);
                };
                self.park(cpu, now, Some(how), context, sink)?;
                Ok(true)
            }
            Some(Event::Unpark(number, how)) => {
                let Some(cpu) = cores.index(number) else {
                    return Ok(false);
                };
                self.unpark(cpu, now, how, context, sink)?;
                Ok(true)
            }
            Some(Event::Rundown(rundown)) => {
                self.rundown(now, rundown, context, sink)?;
                // Not shown as a row: the rundown also holds facts for which there is no column, so
                // it stays a generic event.
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Ends all open intervals when the trace ends.
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // What is still open here lasted to the end of the trace.
        let end = context.ns(learned.collected.end);
        for (cpu, open) in self.open {
            if let Some((start, mhz)) = open.requested {
                ran(cpu, (start, end), mhz, "requested", None, context, sink)?;
            }
            if let Some((start, how)) = open.parked {
                parked(cpu, (start, end), how, context, sink)?;
            }
            if let Some((start, state)) = open.idle {
                slept(cpu, (start, end), state, context, sink)?;
            }
        }
        Ok(())
    }
}

impl Power<'_> {
    fn rundown(
        &mut self,
        now: i64,
        rundown: Rundown,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(cpu) = self.cores.index(rundown.number) else {
            return Ok(());
        };
        let how = match (rundown.is_parked, rundown.is_soft_parked) {
            (None, _) => return Ok(()),
            // Soft parking is tested first: a processor that is parked softly may be marked as
            // parked as well.
            (_, Some(true)) => Some(Parking::Soft),
            (Some(true), _) => Some(Parking::Parked),
            (Some(false), _) => None,
        };
        self.park(cpu, now, how, context, sink)
    }

    fn requested(
        &mut self,
        cpu: u16,
        now: i64,
        mhz: u32,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let open = self.open.entry(cpu).or_default();
        match open.requested.replace((now, mhz)) {
            // The speed that Windows asks for holds until it asks for another one, so a row can be
            // written only with the next event.
            Some((start, before)) => {
                ran(cpu, (start, now), before, "requested", None, context, sink)
            }
            None => Ok(()),
        }
    }

    /// Takes a measured speed: the mean since the previous event, or over the time that the event
    /// reports. Returns true if the speed is known.
    fn delivered(
        &mut self,
        cpu: u16,
        now: i64,
        delivered: Delivered,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<bool, SinkError> {
        // Older versions give the speed as a share of the nominal one, which is known only if the
        // rundown named it.
        let of_percent = || {
            let nominal = self.cores.nominal_mhz(delivered.number)?;
            u32::try_from(u64::from(nominal) * u64::from(delivered.percent) / 100).ok()
        };
        let mhz = delivered.mhz.or_else(of_percent);
        let open = self.open.entry(cpu).or_default();
        let before = open.delivered_until.replace(now);
        let reported = delivered
            .duration_us
            .and_then(|us| i64::try_from(us).ok())
            .filter(|us| *us > 0);
        // The reported length is in microseconds.
        let reported = reported.map(|us| now.saturating_sub(us.saturating_mul(1000)));
        // Without either bound the start is unknown, and a stretch with an invented start would be
        // counted as time.
        let start = match (reported, before) {
            // Both bounds apply: stretches of one processor must not overlap, and an event covers
            // no more than the time that it states.
            (Some(reported), Some(before)) => Some(reported.max(before)),
            (reported, before) => reported.or(before),
        };
        let percent = i32::try_from(delivered.percent).ok();
        if let Some((start, mhz)) = start.zip(mhz) {
            ran(cpu, (start, now), mhz, "delivered", percent, context, sink)?;
        }
        Ok(mhz.is_some())
    }

    /// A processor is parked in this way from now on, or not parked at all.
    fn park(
        &mut self,
        cpu: u16,
        now: i64,
        how: Option<Parking>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let open = self.open.entry(cpu).or_default();
        open.is_parking_known = true;
        // The rundown at the end repeats known states; only a change starts another stretch.
        // Times stay those of the first report.
        if open.parked.map(|(_, how)| how) == how {
            return Ok(());
        }
        match std::mem::replace(&mut open.parked, how.map(|how| (now, how))) {
            Some((start, how)) => parked(cpu, (start, now), how, context, sink),
            None => Ok(()),
        }
    }

    fn unpark(
        &mut self,
        cpu: u16,
        now: i64,
        how: Option<Parking>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let open = self.open.entry(cpu).or_default();
        // The rundown reports only processors whose state it knows, so absence of a report does not
        // mean that the processor was not parked.
        if !open.is_parking_known {
            // Nothing reported the parking of the processor before, so it was parked at the start
            // of the trace.
            open.parked = Some((0, how.unwrap_or(Parking::Parked)));
        }
        // A processor may be parked for two reasons. The end of one of them does not end the other.
        let is_other = open.parked.zip(how).is_some_and(|((_, is), was)| is != was);
        if is_other {
            Ok(())
        } else {
            self.park(cpu, now, None, context, sink)
        }
    }
}

/// The part of an interval in the range; `None` if it has no length there.
fn part((start, end): (i64, i64), range: Range) -> Option<(i64, i64)> {
    let start = range.clip(start);
    let end = range.clip(end);
    // Null lengths are dropped: rows are summed by their lengths, and a stretch outside the range
    // would be a row with two equal times.
    (start < end).then_some((start, end))
}

fn ran(
    cpu: u16,
    time: (i64, i64),
    mhz: u32,
    kind: &'static str,
    performance_percent: Option<i32>,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    // Speed 0 means unknown.
    let Some(mhz) = i32::try_from(mhz).ok().filter(|mhz| *mhz > 0) else {
        return Ok(());
    };
    let Some((start_ns, stop_ns)) = part(time, context.range) else {
        return Ok(());
    };
    let row = CpuFrequency {
        cpu: cpu.into(),
        start_ns,
        stop_ns,
        mhz,
        kind,
        performance_percent,
    };
    context.tables.push(&row, sink)
}

fn parked(
    cpu: u16,
    time: (i64, i64),
    how: Parking,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    let kind = match how {
        Parking::Parked => "parked",
        Parking::Soft => "soft",
        Parking::Forced => "forced",
    };
    let Some((start_ns, stop_ns)) = part(time, context.range) else {
        return Ok(());
    };
    context.tables.push(
        &CpuParking {
            cpu: cpu.into(),
            start_ns,
            stop_ns,
            kind,
        },
        sink,
    )
}

fn slept(
    cpu: u16,
    time: (i64, i64),
    state: u32,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    let Some((start_ns, end_ns)) = part(time, context.range) else {
        return Ok(());
    };
    let row = CpuIdleState {
        cpu: cpu.into(),
        start_ns,
        end_ns,
        state: state as i32,
    };
    context.tables.push(&row, sink)
}
