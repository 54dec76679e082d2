//! The filter language of the command line, in SQL.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray};
use datafusion::arrow::datatypes::{DataType, Int32Type};

use super::{Function, arguments};
use crate::filter::{ProcessFilter, TextFilter};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        call: "wildcard_match(text, pattern)",
        doc: "Whether the whole text matches the pattern, in any case: `*` is any text, `?` one character, `;` separates \
              alternatives, `!` before one excludes its matches. A missing text is empty; an empty pattern matches all.",
        example: "SELECT wildcard_match('KernelBase.dll', 'ntdll*;kernel*;!*32*')",
        answer: "true",
        arguments: &[DataType::Utf8, DataType::Utf8],
        returns: DataType::Boolean,
        compute: |columns| {
            let [texts, patterns] = arguments(columns)?;
            let mut parsed = Latest::new(TextFilter::parse);
            let rows = texts
                .as_string::<i32>()
                .iter()
                .zip(patterns.as_string::<i32>());
            let matches =
                rows.map(|(text, pattern)| Some(parsed.get(pattern.unwrap_or("")).matches(text)));
            Ok(Arc::new(matches.collect::<BooleanArray>()) as ArrayRef)
        },
    },
    Function {
        call: "process_match(name, pid, pattern)",
        doc: "Whether a process matches the pattern: as `wildcard_match`, and a number stands for the process with that id, \
              a name also for the same name with `.exe`.",
        example: "SELECT process_match('cmd.exe', 4711, 'explorer;cmd'), process_match('cmd.exe', 4711, '4711')",
        answer: "true|true",
        arguments: &[DataType::Utf8, DataType::Int32, DataType::Utf8],
        returns: DataType::Boolean,
        compute: |columns| {
            let [names, pids, patterns] = arguments(columns)?;
            let mut parsed = Latest::new(ProcessFilter::parse);
            let rows = names
                .as_string::<i32>()
                .iter()
                .zip(pids.as_primitive::<Int32Type>());
            let matches = rows
                .zip(patterns.as_string::<i32>())
                .map(|((name, pid), pattern)| {
                    Some(parsed.get(pattern.unwrap_or("")).matches(name, pid))
                });
            Ok(Arc::new(matches.collect::<BooleanArray>()) as ArrayRef)
        },
    },
];

/// Parses a pattern once for all rows with the same one, usually all rows.
pub(super) struct Latest<F> {
    parse: fn(&str) -> F,
    latest: Option<(String, F)>,
}

impl<F> Latest<F> {
    pub(super) fn new(parse: fn(&str) -> F) -> Self {
        Self {
            parse,
            latest: None,
        }
    }

    pub(super) fn get(&mut self, pattern: &str) -> &F {
        let latest = self.latest.take().filter(|(known, _)| known == pattern);
        &self
            .latest
            .insert(latest.unwrap_or_else(|| (pattern.to_owned(), (self.parse)(pattern))))
            .1
    }
}
