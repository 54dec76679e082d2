//! Parts of a trace that are written with clock times: each trace has them elsewhere.

use std::borrow::Cow;

use serde_json::Value;

use super::{Kind, Opt, Request, Values};
use crate::Session;
use crate::dump::trace::TraceInfo;
use crate::dump::{Error, Result};
use crate::range::{Part, Unit};

/// The parts of a request that are written with clock times.
pub(super) struct ClockParts(Vec<ClockPart>);

struct ClockPart {
    /// The word of the option.
    option: &'static str,
    /// As it was written.
    text: String,
    part: Part,
}

impl ClockParts {
    /// The parts among values, and the other values.
    pub(super) fn of(options: &[Opt], values: &Values) -> (Self, Values) {
        let (mut parts, mut others) = (Vec::new(), values.clone());
        // Times that count from another zero are none of a clock; `--range` counts from the start all the
        // same.
        let counts_from_start = |option: &&Opt| option.name == "range" || !values.contains_key("zero-time");
        let parts_of = options.iter().filter(|option| option.kind == Kind::Range(Unit::Moment));
        for option in parts_of.filter(counts_from_start) {
            let text = values.get(option.name).and_then(Value::as_str);
            let part = text.and_then(|text| Some((text, Part::parse(text).ok()?)));
            if let Some((text, part @ Part::Clock(..))) = part {
                parts.push(ClockPart { option: option.name, text: text.to_owned(), part });
                others.remove(option.name);
            }
        }
        (Self(parts), others)
    }

    /// They as values.
    pub(super) fn written(&self) -> impl Iterator<Item = (String, Value)> {
        self.0.iter().map(|part| (part.option.to_owned(), part.text.as_str().into()))
    }

    /// What SQL without them leaves out.
    pub(super) fn comment(&self) -> String {
        let line = |part: &ClockPart| {
            let ClockPart { option, text, .. } = part;
            format!("-- without --{option} {text:?}, whose seconds depend on the trace\n")
        };
        self.0.iter().map(line).collect()
    }

    /// The request with the places that they have in this trace.
    pub(super) fn placed<'q, Q: Request + Clone>(
        &self,
        request: &'q Q,
        session: &Session,
    ) -> Result<Cow<'q, Q>> {
        if self.0.is_empty() {
            return Ok(Cow::Borrowed(request));
        }
        let info = TraceInfo::ask(session)?;
        let mut places = Values::new();
        for ClockPart { option, text, part } in &self.0 {
            let range = part.place(text, info.clock(), info.duration_ns);
            let range = range.map_err(|source| Error::Part { option, source })?;
            places.insert((*option).to_owned(), range.with_unit(Unit::Moment).into());
        }
        let mut placed = request.clone();
        placed.place(&places);
        Ok(Cow::Owned(placed))
    }
}
