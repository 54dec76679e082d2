//! The option `--range` of commands that are not declared questions: a part of the trace.

use etwkit_extract::Input;
use etwkit_question::range::{Range as Placed, RangeError, TracePart};
use etwkit_question::trace::TraceInfo;
use etwkit_sql::Session;
use etwkit_sql::time_format::TraceClock;
use etwkit_terminal::errors::Advised;
use etwkit_trace::import::Range;

/// A part of a trace as written by the user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeRange<'a> {
    text: &'a str,
    part: TracePart,
}

impl<'a> TimeRange<'a> {
    /// Parses `A..B`, `A..` or `..B` in seconds since the start of the trace or as clock times,
    /// both ends included.
    pub(crate) fn parse(text: Option<&'a str>) -> anyhow::Result<Self> {
        let part = text
            .map(TracePart::parse)
            .transpose()
            .map_err(|error| of_range(&error))?;
        let all = TracePart::Known(Placed::default());
        Ok(Self {
            text: text.unwrap_or_default(),
            part: part.unwrap_or(all),
        })
    }

    /// Returns the range in a trace.
    pub(crate) fn of(&self, input: &Input) -> anyhow::Result<Range> {
        let session = input.session();
        let clock = session.clock();
        let zone = session
            .earliest()
            .map(|file| file.header().time_zone.bias_at(clock.start));
        let (end, _) = session.ends();
        let length = end.map_or(0, |end| clock.nanoseconds(end));
        let clock = TraceClock {
            start_filetime: clock.start,
            bias_minutes: zone,
        };
        let Placed { min, max } = self.place(clock, length)?;
        Ok(Range {
            start_ns: min,
            end_ns: max,
        })
    }

    /// Returns the range in the trace of an extract.
    pub(crate) fn of_session(&self, session: &Session) -> anyhow::Result<Placed> {
        // Seconds mean the same in every trace; only clock times depend on its start.
        if let TracePart::Known(range) = self.part {
            return Ok(range);
        }
        let info = TraceInfo::ask(session)?;
        self.place(info.clock(), info.duration_ns)
    }

    fn place(&self, clock: TraceClock, length: i64) -> anyhow::Result<Placed> {
        Ok(self
            .part
            .place(self.text, clock, length)
            .map_err(|error| of_range(&error))?)
    }
}

/// Formats the error of a range in one line.
fn of_range(error: &RangeError) -> Advised {
    Advised {
        message: format!("--range: {error}"),
        hint: error.hint.to_owned(),
    }
}
