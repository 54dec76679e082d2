//! Stays in connected standby: entries and exits become rows.

use etwkit_decode::kernel::Hook;
use etwkit_decode::kernel::power_setting::KERNEL_POWER;
use etwkit_decode::standby::{Enter, Event, Exit, StandbyReader, id, reason_name};
use etwkit_etl::RawEvent;

use crate::declared::{Events, sums};
use crate::import::pipeline::{Context, Declaration, Importer, Learned};
use crate::sink::{Sink, SinkError};
use crate::table::{self, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    // Rows show only a part of these events, so they also stay events of their own.
    hears: &[Events::Provider(KERNEL_POWER, &[id::ENTER, id::EXIT])],
    tables: &[sums(table::Standby::TABLE)],
    make: |_| Box::new(Standby::default()),
    ..Declaration::EMPTY
};

/// Pairs entries with exits.
#[derive(Debug, Default)]
struct Standby {
    reader: StandbyReader,
    open: Option<Box<table::Standby>>,
}

impl Standby {
    /// Writes the stay that has not ended.
    fn give_up(&mut self, context: &mut Context<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.open
            .take()
            .map_or(Ok(()), |row| write(&row, context, sink))
    }
}

impl Importer for Standby {
    fn hear(
        &mut self,
        _: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(read) = self.reader.read(event, &mut context.decoder) else {
            return Ok(());
        };
        let ns = context.ns(event.timestamp);
        match read {
            Event::Enter(enter) => {
                // The exit of the previous stay was lost: a machine is in standby at most once at a
                // time.
                self.give_up(context, sink)?;
                self.open = Some(Box::new(entered(ns, enter)));
                Ok(())
            }
            Event::Exit(exit) => {
                // A stay that began before the recording has only its end.
                let mut row = self.open.take().unwrap_or_default();
                left(&mut row, ns, exit);
                write(&row, context, sink)
            }
        }
    }

    fn finish(
        mut self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.give_up(context, sink)
    }
}

fn entered(ns: i64, enter: Enter) -> table::Standby {
    table::Standby {
        enter_ns: Some(ns),
        scenario: enter.scenario.map(|id| id as i64),
        enter_reason: Some(enter.reason as i32),
        enter_reason_name: reason_name(enter.reason),
        remaining_capacity: enter.remaining_capacity.map(i64::from),
        full_capacity: enter.full_capacity.map(i64::from),
        is_lid_open: enter.is_lid_open,
        has_external_monitor: enter.has_external_monitor,
        ..table::Standby::default()
    }
}

fn left(row: &mut table::Standby, ns: i64, exit: Exit) {
    let nanoseconds = |us: u64| i64::try_from(us).ok()?.checked_mul(1000);
    let duration = nanoseconds(exit.duration_us);
    row.exit_ns = Some(ns);
    // The clock of the trace may stop in standby, so the reported duration is a column of its own.
    row.duration_ns = row
        .enter_ns
        .map_or(duration, |enter| Some(ns.saturating_sub(enter)));
    row.exit_reason = Some(exit.reason as i32);
    row.exit_reason_name = reason_name(exit.reason);
    row.told_duration_ns = duration;
    row.drips_ns = nanoseconds(exit.drips_us);
    row.non_drips_ns = duration
        .zip(row.drips_ns)
        .map(|(all, drips)| all.saturating_sub(drips));
    row.first_drips_ns = nanoseconds(exit.first_drips_us);
    row.drips_transitions = Some(exit.drips_transitions.into());
    row.activated_ns = nanoseconds(exit.activated_us);
    row.active_ns = nanoseconds(exit.active_us);
    row.energy_drain = Some(exit.energy_drain.into());
    row.is_audio_playing = exit.is_audio_playing;
    row.is_on_ac = exit.is_on_ac;
}

/// Writes a stay if some of it is in the extracted part of the trace.
fn write(
    row: &table::Standby,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    let range = context.range;
    let begin = row.enter_ns.unwrap_or(i64::MIN);
    let end = row.exit_ns.unwrap_or(i64::MAX);
    if begin > range.end_ns || end < range.start_ns {
        return Ok(());
    }
    context.tables.push(row, sink)
}
