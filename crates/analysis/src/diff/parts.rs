//! Ranges of traces that are compared: texts of an option that can be repeated.

use etwkit_question::Error;
use etwkit_question::range::{Range, TracePart};
use etwkit_question::trace::TraceInfo;
use etwkit_question::{Opt, OptionError, OptionKind, OptionValue, Spec, Values};
use etwkit_sql::Session;
use serde_json::Value;

use crate::Result;

/// Ranges of a trace as they were written, one for each side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts(pub Vec<String>);

impl Parts {
    /// Returns the range of a text in a trace.
    pub(super) fn place(text: &str, session: &Session) -> Result<Range> {
        let option = "range";
        let info = TraceInfo::ask(session)?;
        let placed = TracePart::parse(text)
            .and_then(|part| part.place(text, info.clock(), info.duration_ns));
        placed.map_err(|source| Error::Part { option, source })
    }
}

/// Parses a repeated option, a list, or one text with `;` between.
impl OptionValue for Parts {
    fn options(&self, spec: Spec) -> Vec<Opt> {
        vec![spec.opt(OptionKind::List, None)]
    }

    fn read(values: &Values, spec: &Spec) -> std::result::Result<Option<Self>, OptionError> {
        let wrong = |problem: String| OptionError::Value {
            option: spec.name,
            problem,
        };
        let texts: Vec<String> = match values.get(spec.name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.split(';').map(str::to_owned).collect(),
            Some(Value::Array(list)) => {
                let texts = list
                    .iter()
                    .map(|text| text.as_str().map(str::to_owned))
                    .collect::<Option<_>>();
                texts.ok_or_else(|| wrong("expected texts such as 1.5s..2s".to_owned()))?
            }
            Some(other) => {
                return Err(wrong(format!(
                    "expected a text such as 1.5s..2s, found {other}"
                )));
            }
        };
        if texts.len() > 2 {
            return Err(wrong(format!(
                "two parts are compared, not {}",
                texts.len()
            )));
        }
        for text in &texts {
            TracePart::parse(text).map_err(|source| OptionError::Range {
                option: spec.name,
                source,
            })?;
        }
        Ok(Some(Self(texts)))
    }

    fn write(&self, spec: &Spec, values: &mut Values) {
        values.insert(spec.name.into(), self.0.clone().into());
    }
}
