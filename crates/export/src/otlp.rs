//! Profiles of OpenTelemetry (<https://opentelemetry.io/docs/specs/otel/profiles/>): the message
//! `ProfilesData` of its `profiles.proto`, version v1development. The request that collectors take
//! has the same fields, so a file can be sent as it is.
//!
//! A sample has one value, its weight in nanoseconds. Processes and threads are attributes. A
//! location is a method, since stacks are grouped by methods; a mapping is a file that holds code,
//! by its name alone.

use std::collections::HashMap;
use std::io::Write;

use etwkit_base::path::file_name;
use etwkit_questions::cpu::Metric;

use crate::dictionary::Texts;
use crate::pprof::kinds;
use crate::profile::{Format, Head, Owner, Samples, WeighedStack, Writer, WrittenProfile};
use crate::protobuf::Message;
use crate::stacks::Names;
use crate::{Error, Result};

/// The format.
pub(crate) struct Otlp;

impl Format for Otlp {
    fn name(&self) -> &'static str {
        "otlp"
    }

    fn sentence(&self) -> &'static str {
        "Profile for collectors of OpenTelemetry (OTLP, v1development); processes and threads are attributes"
    }

    fn has_labels(&self) -> bool {
        true
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Writer<'o>> {
        let (start, duration_ns) = head.extent();
        Ok(Writer::Stacks(Box::new(Profile {
            out,
            texts: Texts::new(),
            attributes: Numbered::new(),
            stacks: Numbered::new(),
            samples: Message::new(),
            metric: head.metric,
            computer: head.recording.computer.clone(),
            time_ns: head.recording.unix_ns(start),
            duration_ns,
        })))
    }
}

/// Field numbers of `profiles.proto` and `common.proto`.
mod field {
    pub(super) mod data {
        pub(crate) const RESOURCE_PROFILES: u32 = 1;
        pub(crate) const DICTIONARY: u32 = 2;
    }
    pub(super) mod resource_profiles {
        pub(crate) const RESOURCE: u32 = 1;
        pub(crate) const SCOPE_PROFILES: u32 = 2;
    }
    pub(super) mod resource {
        pub(crate) const ATTRIBUTES: u32 = 1;
    }
    pub(super) mod scope_profiles {
        pub(crate) const SCOPE: u32 = 1;
        pub(crate) const PROFILES: u32 = 2;
    }
    pub(super) mod scope {
        pub(crate) const NAME: u32 = 1;
        pub(crate) const VERSION: u32 = 2;
    }
    pub(super) mod profile {
        pub(crate) const SAMPLE_TYPE: u32 = 1;
        pub(crate) const SAMPLES: u32 = 2;
        pub(crate) const TIME_UNIX_NANO: u32 = 3;
        pub(crate) const DURATION_NANO: u32 = 4;
    }
    pub(super) mod value_type {
        pub(crate) const TYPE: u32 = 1;
        pub(crate) const UNIT: u32 = 2;
    }
    pub(super) mod sample {
        pub(crate) const STACK: u32 = 1;
        pub(crate) const ATTRIBUTES: u32 = 2;
        pub(crate) const VALUES: u32 = 4;
    }
    pub(super) mod dictionary {
        pub(crate) const MAPPINGS: u32 = 1;
        pub(crate) const LOCATIONS: u32 = 2;
        pub(crate) const FUNCTIONS: u32 = 3;
        pub(crate) const LINKS: u32 = 4;
        pub(crate) const TEXTS: u32 = 5;
        pub(crate) const ATTRIBUTES: u32 = 6;
        pub(crate) const STACKS: u32 = 7;
    }
    pub(super) mod stack {
        pub(crate) const LOCATIONS: u32 = 1;
    }
    pub(super) mod location {
        pub(crate) const MAPPING: u32 = 1;
        pub(crate) const LINES: u32 = 3;
    }
    pub(super) mod line {
        pub(crate) const FUNCTION: u32 = 1;
    }
    pub(super) mod function {
        pub(crate) const NAME: u32 = 1;
        pub(crate) const SYSTEM_NAME: u32 = 2;
    }
    pub(super) mod mapping {
        pub(crate) const FILE_NAME: u32 = 4;
    }
    pub(super) mod key_value_and_unit {
        pub(crate) const KEY: u32 = 1;
        pub(crate) const VALUE: u32 = 2;
    }
    pub(super) mod key_value {
        pub(crate) const KEY: u32 = 1;
        pub(crate) const VALUE: u32 = 2;
    }
    pub(super) mod any_value {
        pub(crate) const STRING: u32 = 1;
        pub(crate) const INT: u32 = 3;
    }
}

/// Messages of a table, by their numbers. The first one is empty: the format takes 0 for nothing.
struct Numbered {
    numbers: HashMap<Vec<u8>, u64>,
    all: Vec<Message>,
}

impl Numbered {
    fn new() -> Self {
        let mut table = Self {
            numbers: HashMap::new(),
            all: Vec::new(),
        };
        table.number(Message::new());
        table
    }

    /// Returns the number of a message, which is the same for equal messages.
    fn number(&mut self, message: Message) -> u64 {
        let next = self.all.len() as u64;
        let number = *self.numbers.entry(message.bytes().to_vec()).or_insert(next);
        if number == next {
            self.all.push(message);
        }
        number
    }
}

/// Collects samples: they lie inside messages whose length comes first.
struct Profile<'o> {
    out: &'o mut dyn Write,
    texts: Texts,
    attributes: Numbered,
    stacks: Numbered,
    /// The fields `samples` of the profile.
    samples: Message,
    metric: Metric,
    computer: Option<String>,
    time_ns: u64,
    duration_ns: i64,
}

impl Samples for Profile<'_> {
    fn sample(&mut self, sample: &WeighedStack<'_>, _: &Names) -> Result<()> {
        // The innermost frame comes first; 0 is not a location.
        let locations = sample
            .path
            .iter()
            .rev()
            .map(|number| u64::from(*number) + 1);
        let stack = Message::new().packed(field::stack::LOCATIONS, locations);
        let stack = self.stacks.number(stack);
        let attributes = self.owner(sample.owner);
        let message = Message::new()
            .number(field::sample::STACK, stack)
            .packed(field::sample::ATTRIBUTES, attributes)
            .packed(field::sample::VALUES, [sample.weight_ns.cast_unsigned()]);
        let samples = std::mem::take(&mut self.samples);
        self.samples = samples.message(field::profile::SAMPLES, &message);
        Ok(())
    }

    fn end(mut self: Box<Self>, written: &WrittenProfile, names: &Names) -> Result<()> {
        let (weight, _) = kinds(self.metric, written.source);
        let sample_type = Message::new()
            .number(field::value_type::TYPE, self.texts.number(weight))
            .number(field::value_type::UNIT, self.texts.number("nanoseconds"));
        let profile = std::mem::take(&mut self.samples)
            .message(field::profile::SAMPLE_TYPE, &sample_type)
            .fixed(field::profile::TIME_UNIX_NANO, self.time_ns)
            .int(field::profile::DURATION_NANO, self.duration_ns);
        let scope = Message::new()
            .text(field::scope::NAME, "etwkit")
            .text(field::scope::VERSION, env!("CARGO_PKG_VERSION"));
        let scope_profiles = Message::new()
            .message(field::scope_profiles::SCOPE, &scope)
            .message(field::scope_profiles::PROFILES, &profile);
        let resource_profiles = Message::new()
            .message(field::resource_profiles::RESOURCE, &self.resource())
            .message(field::resource_profiles::SCOPE_PROFILES, &scope_profiles);
        let dictionary = self.dictionary(names);
        let data = Message::new()
            .message(field::data::RESOURCE_PROFILES, &resource_profiles)
            .message(field::data::DICTIONARY, &dictionary);
        self.out.write_all(data.bytes()).map_err(Error::Write)
    }
}

impl Profile<'_> {
    /// Returns the numbers of the attributes of an owner.
    fn owner(&mut self, Owner { process, pid, tid }: &Owner) -> Vec<u64> {
        let int = |value: i64| Message::new().int(field::any_value::INT, value);
        let text = |value: &str| {
            let value = crate::text::visible(value, usize::MAX);
            Message::new().text(field::any_value::STRING, &value)
        };
        let all = [
            ("process.pid", pid.map(int)),
            ("thread.id", tid.map(int)),
            ("process.executable.name", process.as_deref().map(text)),
        ];
        let present = all
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        present
            .map(|(key, value)| {
                let attribute = Message::new()
                    .number(field::key_value_and_unit::KEY, self.texts.number(key))
                    .message(field::key_value_and_unit::VALUE, &value);
                self.attributes.number(attribute)
            })
            .collect()
    }

    /// Returns the recorded machine.
    fn resource(&self) -> Message {
        let attribute = |key: &str, value: &str| {
            let value = crate::text::visible(value, usize::MAX);
            let value = Message::new().text(field::any_value::STRING, &value);
            Message::new()
                .text(field::key_value::KEY, key)
                .message(field::key_value::VALUE, &value)
        };
        let system = attribute("os.type", "windows");
        Message::new()
            .message(field::resource::ATTRIBUTES, &system)
            .some(self.computer.as_deref(), |message, computer| {
                let host = attribute("host.name", computer);
                message.message(field::resource::ATTRIBUTES, &host)
            })
    }

    /// Returns all that samples refer to by number.
    fn dictionary(&mut self, names: &Names) -> Message {
        let mut mappings = Numbered::new();
        let mut functions = vec![Message::new()];
        let mut locations = vec![Message::new()];
        for (number, name) in (0..).zip(names.texts()) {
            let name = self.texts.number(name);
            // Labels and stacks that were not recorded are in no file.
            let mapping = names.module(number).map_or(0, |module| {
                let file = self.texts.number(file_name(module));
                mappings.number(Message::new().number(field::mapping::FILE_NAME, file))
            });
            let line = Message::new().number(field::line::FUNCTION, functions.len() as u64);
            locations.push(
                Message::new()
                    .number(field::location::MAPPING, mapping)
                    .message(field::location::LINES, &line),
            );
            functions.push(
                Message::new()
                    .number(field::function::NAME, name)
                    .number(field::function::SYSTEM_NAME, name),
            );
        }
        let links = [Message::new()];
        let tables = [
            (field::dictionary::MAPPINGS, &mappings.all[..]),
            (field::dictionary::LOCATIONS, &locations),
            (field::dictionary::FUNCTIONS, &functions),
            (field::dictionary::LINKS, &links),
            (field::dictionary::ATTRIBUTES, &self.attributes.all),
            (field::dictionary::STACKS, &self.stacks.all),
        ];
        let rows = tables
            .into_iter()
            .flat_map(|(field, rows)| rows.iter().map(move |row| (field, row)));
        let dictionary = rows.fold(Message::new(), |message, (field, row)| {
            message.message(field, row)
        });
        let texts = self.texts.all().iter();
        texts.fold(dictionary, |message, text| {
            message.text(field::dictionary::TEXTS, text)
        })
    }
}
