//! Screenshots: files next to the trace, and the clicks and keys that they belong to.

use std::collections::BTreeSet;

use etwkit_base::path::{file_name, without_ending};
use etwkit_decode::hook_events::{HOOK_EVENTS, HookEvent, HookReader};
use etwkit_decode::kernel::Hook;
use etwkit_etl::RawEvent;

use super::inputs::Input;
pub use super::inputs::Inputs;
use crate::declared::{Events, sums};
use crate::import::pipeline::job::Imported;
use crate::import::pipeline::{Context, Declaration, Importer, Learned, Range};
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{Row, Screenshot, Trace};

pub(crate) const DECLARATION: Declaration = Declaration {
    // Rows show only a part of these events, so they also stay events of their own.
    hears: &[Events::Provider(HOOK_EVENTS, &[])],
    // Written by the code that finds the screenshots.
    tables: &[sums(Screenshot::TABLE)],
    make: |_| Box::new(HookEvents::default()),
    ..Declaration::EMPTY
};

/// Inputs (clicks and keys) that are kept, and as many reported pictures.
const MAX_KEPT: usize = 100_000;
/// Characters of a button, key or name that are kept: more than a file system allows.
const MAX_TEXT: usize = 260;
const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;
/// The picture of the reaction is taken this much later than the click.
const REACTION_NS: i64 = SECOND / 2;
/// A picture that was taken by the timer can be this much older than the trace.
const BEFORE: i64 = 3600 * SECOND;

/// A screenshot in the folder next to a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Name of its folder, which is next to the trace.
    pub folder: String,
    /// Name of the file.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Time at which it was written, as FILETIME.
    pub modified: Option<i64>,
}

/// Follows the events of the recording tool.
#[derive(Debug, Default)]
struct HookEvents {
    reader: HookReader,
    inputs: Inputs,
}

impl HookEvents {
    fn event(&mut self, read: HookEvent, ns: i64) {
        let (number, input) = match read {
            HookEvent::Click {
                number,
                button,
                x,
                y,
            } => (
                number,
                Input {
                    ns,
                    is_key: false,
                    text: cut(&button),
                    at: Some((x, y)),
                },
            ),
            HookEvent::Key { number, key } => (
                number,
                Input {
                    ns,
                    is_key: true,
                    text: cut(&key),
                    at: None,
                },
            ),
            HookEvent::Picture { path } => {
                let name = cut(file_name(&path));
                if self.inputs.pictures.len() < MAX_KEPT && !name.is_empty() {
                    // The path is the recorded machine's, so only the file name can match a file
                    // next to the trace.
                    self.inputs.pictures.entry(name).or_insert(ns);
                }
                return;
            }
        };
        if self.inputs.by_number.len() < MAX_KEPT {
            self.inputs.by_number.entry(number).or_insert(input);
        }
    }
}

impl Importer for HookEvents {
    fn hear(
        &mut self,
        _: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        if let Some(read) = self.reader.read(event, &mut context.decoder) {
            self.event(read, context.ns(event.timestamp));
        }
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        context.inputs = self.inputs;
        Ok(())
    }
}

fn cut(text: &str) -> String {
    // A hostile event can contain a text of up to 64 KiB.
    text.chars().take(MAX_TEXT).collect()
}

/// The meaning of a screenshot's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    /// The picture of a click or key.
    Input(i32),
    /// The screenshot half a second after a click or key.
    Reaction(i32),
    /// The picture of the enter key.
    Enter(i32),
    /// A picture of the timer, with its time of day in nanoseconds.
    Timer(Option<i64>),
    Other,
}

impl Name {
    fn parse(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let stem = without_ending(&lower);
        let Some(rest) = stem.strip_prefix("screenshot_") else {
            return Self::Other;
        };
        if let Some(time) = rest.strip_prefix("forced_") {
            return Self::Timer(time_of_day(time));
        }
        let of = |text: &str| text.parse().ok();
        if let Some(number) = rest.strip_suffix("after500ms").and_then(of) {
            return Self::Reaction(number);
        }
        if let Some(number) = rest.strip_suffix("_enter").and_then(of) {
            return Self::Enter(number);
        }
        of(rest).map_or(Self::Other, Self::Input)
    }

    const fn number(self) -> Option<i32> {
        match self {
            Self::Input(number) | Self::Reaction(number) | Self::Enter(number) => Some(number),
            Self::Timer(_) | Self::Other => None,
        }
    }
}

/// `HH.mm.ss.fff` as nanoseconds of the day.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split('.');
    let mut number = |digits: usize, limit: i64| {
        let part = parts.next()?;
        let number: i64 = part.parse().ok()?;
        (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()) && number < limit)
            .then_some(number)
    };
    let hour = number(2, 24)?;
    let minute = number(2, 60)?;
    let second = number(2, 60)?;
    let ms = number(3, 1000)?;
    parts
        .next()
        .is_none()
        .then_some(((hour * 60 + minute) * 60 + second) * SECOND + ms * 1_000_000)
}

/// Writes the table `screenshot`.
///
/// # Errors
/// The errors of the sink.
pub fn write(
    imported: &Imported,
    pictures: &[Picture],
    range: Range,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    write_all(
        screenshots(&imported.inputs, &imported.trace, pictures, range),
        sink,
    )
}

/// The rows: pictures in the folder, then pictures that are only reported.
fn screenshots(
    inputs: &Inputs,
    trace: &Trace,
    pictures: &[Picture],
    range: Range,
) -> Vec<Screenshot> {
    let there: BTreeSet<&str> = pictures
        .iter()
        .map(|picture| picture.name.as_str())
        .collect();
    let missing = inputs
        .pictures
        .keys()
        .filter(|name| !there.contains(name.as_str()));
    let rows = pictures
        .iter()
        .map(|picture| row(inputs, trace, &picture.name, Some(picture)));
    let mut rows: Vec<Screenshot> = rows
        .chain(missing.map(|name| row(inputs, trace, name, None)))
        .collect();
    rows.retain(|row| {
        row.ts_ns
            // A screenshot without a time is kept for every range.
            .is_none_or(|ns| range == Range::ALL || range.contains(ns))
    });
    rows.sort_by(|a, b| (a.ts_ns, &a.file_name, &a.path).cmp(&(b.ts_ns, &b.file_name, &b.path)));
    rows
}

fn row(inputs: &Inputs, trace: &Trace, file_name: &str, picture: Option<&Picture>) -> Screenshot {
    let name = Name::parse(file_name);
    let input = name
        .number()
        .and_then(|number| inputs.by_number.get(&number));
    let trigger = match (name, input) {
        (Name::Input(_), Some(input)) if input.is_key => "key",
        (Name::Input(_), _) => "click",
        (Name::Reaction(_), _) => "reaction",
        (Name::Enter(_), _) => "enter",
        (Name::Timer(_), _) => "timer",
        (Name::Other, _) => "other",
    };
    let (ts_ns, time_from) = time(inputs, trace, (name, file_name), input, picture).unzip();
    Screenshot {
        ts_ns,
        time_from,
        trigger,
        event_number: name.number(),
        input: input.map(|input| input.text.clone()),
        x: input.and_then(|input| input.at).map(|at| at.0),
        y: input.and_then(|input| input.at).map(|at| at.1),
        file_name: file_name.to_owned(),
        path: picture.map(|picture| format!("{}/{}", picture.folder, picture.name)),
        has_file: picture.is_some(),
        size_bytes: picture.and_then(|picture| i64::try_from(picture.bytes).ok()),
    }
}

/// Time of a screenshot, and the source of this time.
fn time(
    inputs: &Inputs,
    trace: &Trace,
    (name, file_name): (Name, &str),
    input: Option<&Input>,
    picture: Option<&Picture>,
) -> Option<(i64, &'static str)> {
    if let Some(input) = input {
        // A reaction has the number of the click or key before it.
        let later = if matches!(name, Name::Reaction(_)) {
            REACTION_NS
        } else {
            0
        };
        return Some((input.ns.saturating_add(later), "event"));
    }
    // From the most exact source to the least: the event, the time in the name, the time of the
    // file.
    if let Some(ns) = inputs.pictures.get(file_name) {
        return Some((*ns, "event"));
    }
    if let Name::Timer(Some(of_day)) = name
        && let Some(ns) = of_timer(of_day, trace)
    {
        return Some((ns, "name"));
    }
    let written = picture?
        .modified?
        .checked_sub(trace.start_filetime)?
        .checked_mul(100)?;
    Some((written, "modified"))
}

/// Nanoseconds from the start of a trace to a time of day on its machine. A time shortly before the
/// start is on the same day; any other earlier time is on the next day.
fn of_timer(of_day: i64, trace: &Trace) -> Option<i64> {
    let bias = i64::from(trace.time_zone_bias_minutes?).checked_mul(60 * SECOND / 100)?;
    // The name has the local time of the recorded machine, the trace starts at a time in UTC.
    let local = trace.start_filetime.checked_sub(bias)?;
    let start_of_day = local.rem_euclid(DAY / 100).checked_mul(100)?;
    // The name has no date: the result is from an hour before the start to 23 hours after it.
    Some((of_day - start_of_day + BEFORE).rem_euclid(DAY) - BEFORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_why_a_picture_was_taken() {
        for (name, expected) in [
            ("Screenshot_17.jpg", Name::Input(17)),
            ("screenshot_17After500ms.JPG", Name::Reaction(17)),
            ("Screenshot_17_Enter.jpg", Name::Enter(17)),
            (
                "Screenshot_Forced_08.09.10.011.jpg",
                Name::Timer(Some(29_350_011_000_000)),
            ),
            ("Screenshot_Forced_24.09.10.011.jpg", Name::Timer(None)),
            ("Screenshot_Forced_+8.09.10.011.jpg", Name::Timer(None)),
            ("Screenshot_99999999999.jpg", Name::Other),
            ("desktop.jpg", Name::Other),
        ] {
            assert_eq!(Name::parse(name), expected, "{name}");
        }
    }

    #[test]
    fn times_of_the_timer_are_those_of_the_clock_of_the_machine() {
        // 2024-05-06 21:59:00 UTC, in a zone that is two hours ahead: 23:59 on the wall.
        let trace = Trace {
            start_filetime: 133_594_650_000_000_000 + (11 * 3600 + 29 * 60) * 10_000_000,
            time_zone_bias_minutes: Some(-120),
            ..Trace::default()
        };
        let at = |text: &str| of_timer(time_of_day(text).unwrap(), &trace).unwrap() / 1_000_000;
        assert_eq!(
            (at("23.59.01.500"), at("00.00.30.000"), at("23.58.59.000")),
            (1500, 90_000, -1000)
        );
        assert_eq!(of_timer(0, &Trace::default()), None);
    }
}
