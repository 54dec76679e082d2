//! Profiles for pprof (<https://github.com/google/pprof>): the message `Profile` of its
//! `profile.proto`, compressed with gzip.
//!
//! A stack has two values: its weight in nanoseconds, and the number of items in that sum.
//! Processes and threads are labels. A location is a method, since stacks are grouped by methods; a
//! mapping is a file that holds code, by its name alone: readers open the file of a mapping, and a
//! trace may name any path. Readers print names to terminals, so invisible characters are escaped.

use std::collections::HashMap;
use std::io::Write;

use etwkit_base::path::file_name;
use etwkit_question::range::Range;
use etwkit_questions::cpu::Metric;
use etwkit_questions::cpu::source::CpuSource;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::dictionary::Texts;
use crate::profile::{Format, Head, Owner, Samples, WeighedStack, Writer, WrittenProfile};
use crate::protobuf::Message;
use crate::stacks::Names;
use crate::{Error, Result};

/// The format.
pub(crate) struct Pprof;

impl Format for Pprof {
    fn name(&self) -> &'static str {
        "pprof"
    }

    fn sentence(&self) -> &'static str {
        "Profile for pprof (go tool pprof) and other readers of its files; processes and threads are labels"
    }

    fn has_labels(&self) -> bool {
        true
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Writer<'o>> {
        let (start, duration_ns) = head.extent();
        Ok(Writer::Stacks(Box::new(Messages {
            out: GzEncoder::new(out, Compression::default()),
            texts: Texts::new(),
            metric: head.metric,
            time_ns: head.recording.unix_ns(start),
            duration_ns,
            comments: comments(head),
        })))
    }
}

/// Field numbers of `profile.proto`.
mod field {
    pub(super) mod profile {
        pub(crate) const SAMPLE_TYPE: u32 = 1;
        pub(crate) const SAMPLE: u32 = 2;
        pub(crate) const MAPPING: u32 = 3;
        pub(crate) const LOCATION: u32 = 4;
        pub(crate) const FUNCTION: u32 = 5;
        pub(crate) const STRING_TABLE: u32 = 6;
        pub(crate) const TIME_NANOS: u32 = 9;
        pub(crate) const DURATION_NANOS: u32 = 10;
        pub(crate) const COMMENT: u32 = 13;
        pub(crate) const DEFAULT_SAMPLE_TYPE: u32 = 14;
    }
    pub(super) mod value_type {
        pub(crate) const TYPE: u32 = 1;
        pub(crate) const UNIT: u32 = 2;
    }
    pub(super) mod sample {
        pub(crate) const LOCATION_ID: u32 = 1;
        pub(crate) const VALUE: u32 = 2;
        pub(crate) const LABEL: u32 = 3;
    }
    pub(super) mod label {
        pub(crate) const KEY: u32 = 1;
        pub(crate) const STR: u32 = 2;
        pub(crate) const NUM: u32 = 3;
    }
    pub(super) mod mapping {
        pub(crate) const ID: u32 = 1;
        pub(crate) const FILENAME: u32 = 5;
        pub(crate) const BUILD_ID: u32 = 6;
        pub(crate) const HAS_FUNCTIONS: u32 = 7;
    }
    pub(super) mod location {
        pub(crate) const ID: u32 = 1;
        pub(crate) const MAPPING_ID: u32 = 2;
        pub(crate) const LINE: u32 = 4;
    }
    pub(super) mod line {
        pub(crate) const FUNCTION_ID: u32 = 1;
    }
    pub(super) mod function {
        pub(crate) const ID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
        pub(crate) const SYSTEM_NAME: u32 = 3;
    }
}

/// Writes samples as they come, and after them the messages that they refer to: fields may be in
/// any order.
struct Messages<'o> {
    out: GzEncoder<&'o mut dyn Write>,
    texts: Texts,
    metric: Metric,
    time_ns: u64,
    duration_ns: i64,
    comments: Vec<String>,
}

impl Samples for Messages<'_> {
    fn sample(&mut self, sample: &WeighedStack<'_>, _: &Names) -> Result<()> {
        let Owner { process, pid, tid } = sample.owner;
        // The innermost frame comes first; 0 is not a location.
        let locations = sample
            .path
            .iter()
            .rev()
            .map(|number| u64::from(*number) + 1);
        let message = Message::new()
            .packed(field::sample::LOCATION_ID, locations)
            .packed(
                field::sample::VALUE,
                [sample.weight_ns, sample.count].map(i64::cast_unsigned),
            )
            .some(*pid, |message, pid| {
                self.label(message, "pid", (field::label::NUM, pid.cast_unsigned()))
            })
            .some(*tid, |message, tid| {
                self.label(message, "tid", (field::label::NUM, tid.cast_unsigned()))
            })
            .some(process.as_deref(), |message, process| {
                let process = self.texts.number(process);
                self.label(message, "process", (field::label::STR, process))
            });
        self.write(field::profile::SAMPLE, &message)
    }

    fn end(mut self: Box<Self>, written: &WrittenProfile, names: &Names) -> Result<()> {
        let (weight, count) = kinds(self.metric, written.source);
        for (kind, unit) in [(weight, "nanoseconds"), (count, "count")] {
            let message = Message::new()
                .number(field::value_type::TYPE, self.texts.number(kind))
                .number(field::value_type::UNIT, self.texts.number(unit));
            self.write(field::profile::SAMPLE_TYPE, &message)?;
        }
        self.code(names)?;
        let mut rest = Message::new()
            .number(field::profile::TIME_NANOS, self.time_ns)
            .int(field::profile::DURATION_NANOS, self.duration_ns);
        for comment in std::mem::take(&mut self.comments) {
            rest = rest.number(field::profile::COMMENT, self.texts.number(&comment));
        }
        rest = rest.number(
            field::profile::DEFAULT_SAMPLE_TYPE,
            self.texts.number(weight),
        );
        // The table of texts comes last, since every message before may add texts to it.
        for text in self.texts.all() {
            rest = rest.text(field::profile::STRING_TABLE, text);
        }
        self.out.write_all(rest.bytes()).map_err(Error::Write)?;
        self.out.finish().map_err(Error::Write)?;
        Ok(())
    }
}

impl Messages<'_> {
    fn write(&mut self, field: u32, message: &Message) -> Result<()> {
        self.out
            .write_all(Message::new().message(field, message).bytes())
            .map_err(Error::Write)
    }

    /// Adds a label to a sample: a number, or the number of a text.
    fn label(&mut self, sample: Message, key: &str, (field, value): (u32, u64)) -> Message {
        let key = self.texts.number(key);
        let label = Message::new()
            .number(field::label::KEY, key)
            .number(field, value);
        sample.message(field::sample::LABEL, &label)
    }

    /// Writes mappings, functions and locations of all names.
    fn code(&mut self, names: &Names) -> Result<()> {
        let mut mappings = Mappings::default();
        for (number, name) in (0..).zip(names.texts()) {
            let id = u64::from(number) + 1;
            let name = self.texts.number(name);
            let function = Message::new()
                .number(field::function::ID, id)
                .number(field::function::NAME, name)
                .number(field::function::SYSTEM_NAME, name);
            self.write(field::profile::FUNCTION, &function)?;
            // Labels and stacks that were not recorded are in no file, and have no mapping.
            let mapping = names
                .module(number)
                .map(|module| mappings.number(module, names.build_id(number)));
            let location = Message::new()
                .number(field::location::ID, id)
                .some(mapping, |location, mapping| {
                    location.number(field::location::MAPPING_ID, mapping)
                })
                .message(
                    field::location::LINE,
                    &Message::new().number(field::line::FUNCTION_ID, id),
                );
            self.write(field::profile::LOCATION, &location)?;
        }
        // Readers take the first one for the program.
        let mut order: Vec<(u64, &Mapping)> = (1..).zip(&mappings.all).collect();
        order.sort_by_key(|(_, (file, _))| !file.to_lowercase().ends_with(".exe"));
        for (id, (file, build_id)) in order {
            let mapping = Message::new()
                .number(field::mapping::ID, id)
                .number(field::mapping::FILENAME, self.texts.number(file))
                .number(field::mapping::BUILD_ID, self.texts.number(build_id))
                // All existing names: none has to be looked up.
                .number(field::mapping::HAS_FUNCTIONS, 1);
            self.write(field::profile::MAPPING, &mapping)?;
        }
        Ok(())
    }
}

/// Returns the names of the two values of a stack: its weight and the number of items.
pub(crate) fn kinds(metric: Metric, source: Option<CpuSource>) -> (&'static str, &'static str) {
    match (metric, source) {
        (Metric::Wait, _) => ("wait", "waits"),
        (Metric::Ready, _) => ("ready", "times_ready"),
        (Metric::Cpu, Some(CpuSource::ContextSwitches)) => ("cpu", "scheduling_slices"),
        (Metric::Cpu, _) => ("cpu", "samples"),
    }
}

/// Returns comments for a reader who has nothing but the file.
fn comments(head: &Head<'_>) -> Vec<String> {
    let mut comments = vec![
        format!("etwkit {}", env!("CARGO_PKG_VERSION")),
        format!("{}: {}", head.recording.file_name, head.name),
    ];
    if head.time != Range::default() {
        comments.push(format!("part of the trace, in nanoseconds: {}", head.time));
    }
    comments
}

/// Name of a file that holds code, and its build id.
type Mapping = (String, String);

/// Mappings by number, from 1. Processes that mapped one file share its mapping.
#[derive(Default)]
struct Mappings {
    numbers: HashMap<Mapping, u64>,
    all: Vec<Mapping>,
}

impl Mappings {
    fn number(&mut self, module: &str, build_id: Option<String>) -> u64 {
        // What an extract calls a file name has no folder, unless somebody made it so.
        let file = file_name(module);
        // A file without an identity has an empty one in the format.
        let mapping = (file.to_owned(), build_id.unwrap_or_default());
        let next = self.all.len() as u64 + 1;
        let number = *self.numbers.entry(mapping.clone()).or_insert(next);
        if number == next {
            self.all.push(mapping);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_a_file_name_and_not_a_path() {
        let mut mappings = Mappings::default();
        let names = [r"\\host\share\a.dll", "../../a.dll", "a.dll", "b.exe"];
        let numbers = names.map(|name| mappings.number(name, None));
        assert_eq!(numbers, [1, 1, 1, 2]);
        assert_eq!(mappings.number("a.dll", Some("AB1".into())), 3);
        assert!(
            mappings
                .all
                .iter()
                .all(|(file, _)| !file.contains(['/', '\\']))
        );
    }
}
