//! Parts of a trace whose place differs from trace to trace: they are written with clock times, or
//! by the marks around them.

use std::borrow::Cow;

use serde_json::Value;

use super::{Opt, OptionError, OptionKind, Request, Values, option};
use crate::covered::{Covered, Recorder};
use crate::moment::{MARK, moment};
use crate::range::{Range, TracePart, Unit};
use crate::trace::TraceInfo;
use crate::{Error, Result};
use etwkit_sql::Session;

/// The option for a part of a trace between two marks.
const BETWEEN: &str = "between";

/// The option for a part of a trace by times.
const RANGE: &str = "range";

/// Returns the options of a question, and the option for marks if it has the one for times.
pub(super) fn with_marks(mut options: Vec<Opt>) -> Vec<Opt> {
    let at = options
        .iter()
        .position(|o| o.name == RANGE && o.kind == OptionKind::Range(Unit::Moment));
    if let Some(at) = at {
        let sentence = "Only the part of the trace between two marks: the first one with the first text, and \
                        the next one after it with the second (*, ?)";
        let between = option("MARK")
            .excludes(&[RANGE])
            .of_field(BETWEEN, sentence)
            .opt(OptionKind::Two, None);
        options.insert(at + 1, between);
    }
    options
}

/// The parts of a request whose positions depend on the trace.
pub(super) struct Places {
    clock: Vec<ClockPart>,
    /// The texts of two marks.
    marks: Option<[String; 2]>,
}

struct ClockPart {
    /// The name of the option.
    option: &'static str,
    /// The text as it was written.
    text: String,
    part: TracePart,
}

impl Places {
    /// Splits values into the parts and the other values.
    pub(super) fn of(
        options: &[Opt],
        values: &Values,
    ) -> std::result::Result<(Self, Values), OptionError> {
        let mut clock = Vec::new();
        let mut others = values.clone();
        // With `--zero-time` times count from another zero and cannot be clock times. `--range`
        // still counts from the start of the trace, so it may be one.
        let counts_from_start =
            |option: &&Opt| option.name == RANGE || !values.contains_key("zero-time");
        let parts_of = options
            .iter()
            .filter(|option| option.kind == OptionKind::Range(Unit::Moment));
        for option in parts_of.filter(counts_from_start) {
            let text = values.get(option.name).and_then(Value::as_str);
            let part = text.and_then(|text| Some((text, TracePart::parse(text).ok()?)));
            if let Some((text, part @ TracePart::Clock(..))) = part {
                clock.push(ClockPart {
                    option: option.name,
                    text: text.to_owned(),
                    part,
                });
                others.remove(option.name);
            }
        }
        let marks = others
            .remove(BETWEEN)
            .map(|marks| two(&marks))
            .transpose()?;
        if marks.is_some() && values.contains_key(RANGE) {
            return Err(wrong("--range already names the part"));
        }
        Ok((Self { clock, marks }, others))
    }

    /// Returns the parts as values.
    pub(super) fn written(&self) -> impl Iterator<Item = (String, Value)> {
        let clock = self
            .clock
            .iter()
            .map(|part| (part.option.to_owned(), part.text.as_str().into()));
        let marks = self
            .marks
            .iter()
            .map(|marks| (BETWEEN.to_owned(), marks.to_vec().into()));
        clock.chain(marks)
    }

    /// Returns SQL comments about the parts that the SQL leaves out.
    pub(super) fn comment(&self) -> String {
        let line = |part: &ClockPart| {
            let ClockPart { option, text, .. } = part;
            format!("-- without --{option} {text:?}, whose seconds depend on the trace\n")
        };
        let marks = self.marks.iter().map(|[begin, end]| {
            format!("-- without --{BETWEEN} {begin:?} {end:?}, whose seconds depend on the trace\n")
        });
        self.clock.iter().map(line).chain(marks).collect()
    }

    /// Returns the request with their positions in this trace.
    pub(super) fn placed<'q, Q: Request + Clone>(
        &self,
        request: &'q Q,
        session: &Session,
    ) -> Result<Cow<'q, Q>> {
        if self.clock.is_empty() && self.marks.is_none() {
            return Ok(Cow::Borrowed(request));
        }
        let mut places = Values::new();
        if !self.clock.is_empty() {
            let info = TraceInfo::ask(session)?;
            // The length of an extracted part is not its end.
            let (_, end_ns) = Covered::whole(Recorder::Any).ends_ns(session)?;
            for ClockPart { option, text, part } in &self.clock {
                let range = part.place(text, info.clock(), end_ns);
                let range = range.map_err(|source| Error::Part { option, source })?;
                places.insert((*option).to_owned(), range.with_unit(Unit::Moment).into());
            }
        }
        if let Some([begin, end]) = &self.marks {
            MARK.check(session, true)?;
            let min = moment(session, begin, None)?;
            // Marks repeat: the end is the first one after the start, not the first one of the
            // trace.
            let max = moment(session, end, Some(min))?;
            places.insert(
                RANGE.to_owned(),
                Range { min, max }.with_unit(Unit::Moment).into(),
            );
        }
        let mut placed = request.clone();
        placed.place(&places);
        Ok(Cow::Owned(placed))
    }
}

/// Returns the texts of two marks.
fn two(marks: &Value) -> std::result::Result<[String; 2], OptionError> {
    let texts = marks
        .as_array()
        .map(|marks| marks.iter().map(Value::as_str).collect::<Vec<_>>());
    match texts.as_deref() {
        Some([Some(begin), Some(end)]) => Ok([(*begin).to_owned(), (*end).to_owned()]),
        _ => Err(wrong(&format!(
            "two texts of marks were expected, not {marks}"
        ))),
    }
}

fn wrong(problem: &str) -> OptionError {
    OptionError::Value {
        option: BETWEEN,
        problem: problem.to_owned(),
    }
}
