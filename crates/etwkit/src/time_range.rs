//! The option `--range` of commands that read traces: a part of the trace.

use anyhow::Context;
use etwkit_extract::Input;
use etwkit_query::range::{Part, Range as Placed};
use etwkit_query::time_format::TraceClock;
use etwkit_trace::import::Range;

/// A part of a trace as it was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeRange<'a> {
    text: &'a str,
    part: Part,
}

impl<'a> TimeRange<'a> {
    /// Reads `A..B`, `A..` or `..B` in seconds since the start of the trace or as clock times, both ends
    /// included.
    pub(crate) fn parse(text: Option<&'a str>) -> anyhow::Result<Self> {
        let part = text.map(Part::parse).transpose().context("--range")?;
        let all = Part::Known(Placed::default());
        Ok(Self { text: text.unwrap_or_default(), part: part.unwrap_or(all) })
    }

    /// Where it lies in a trace.
    pub(crate) fn of(&self, input: &Input) -> anyhow::Result<Range> {
        let session = input.session();
        let clock = session.clock();
        let zone = session.earliest().map(|file| file.header().time_zone.bias_at(clock.start));
        let (end, _) = session.ends();
        let length = end.map_or(0, |end| clock.nanoseconds(end));
        let clock = TraceClock { start_filetime: clock.start, bias_minutes: zone };
        let Placed { min, max } = self.part.place(self.text, clock, length).context("--range")?;
        Ok(Range { start_ns: min, end_ns: max })
    }
}
