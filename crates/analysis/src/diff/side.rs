//! The compared sides: two traces, or two ranges of one, with their starts and ends.

use std::rc::Rc;

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_question::{Error, ask};
use etwkit_questions::mark::{MarkRequest, MarkRow};
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;

use super::parts::Parts;
use super::rows::MarkChange;
use super::totals::{Sums, Totals};
use super::{Align, DiffRequest};
use crate::Result;

/// Maximum number of marks of a trace that are used: a trace with more of them uses marks as
/// ordinary events, not as stages of a run.
const MOST_MARKS: usize = 10_000;

etwkit_question::declare! {
    /// The recording of a side.
    pub(super) row Recording {
        file_name: String = "File name.",
        computer: Option<String> = "Computer.",
        os_name: Option<String> = "Windows edition.",
        os_version: Option<String> = "Windows version.",
        processors: i64 = "Processors.",
        cpu_mhz: Option<i64> = "Their speed.",
        memory_bytes: Option<i64> = "Memory.",
        start_utc: String = "Start.",
        start_ns: i64 = "Start of the extracted part.",
        end_ns: i64 = "Its end.",
        sample_interval_ns: Option<i64> = "Time between samples.",
        lost_events: i64 = "Events that the recorder lost.",
        lost_buffers: i64 = "Buffers that the recorder lost.",
    }

    /// Lifetimes of processes.
    row Life {
        start_ns: Option<i64> = "Start of the first one.",
        stop_ns: Option<i64> = "End of the last one.",
        count: i64 = "Processes.",
    }
}

const RECORDING: &str =
    "SELECT file_name, computer, os_name, os_version, processors, cpu_mhz, memory_bytes, start_utc,
  coalesce(range_start_ns, 0) AS start_ns, coalesce(range_end_ns, duration_ns) AS end_ns, sample_interval_ns,
  lost_events, lost_buffers
FROM trace";

/// One side.
pub(super) struct Side {
    pub session: Rc<Session>,
    pub recording: Recording,
    /// The compared range; unlimited if it is the whole trace.
    pub time: Range,
    pub marks: Vec<MarkRow>,
    pub wall_ns: i64,
}

/// The duration that is compared as wall time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wall {
    /// From one mark to another.
    Marks(String, String),
    /// Lifetime of processes of this name.
    Process(String),
    /// Length of ranges that were given.
    Range,
    /// Length of the recordings, which does not measure any work.
    Recording,
}

impl Wall {
    /// Returns the process whose lifetime it is.
    pub(super) fn process(&self) -> Option<String> {
        let Self::Process(name) = self else {
            return None;
        };
        Some(name.clone())
    }

    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Marks(..) => "marks",
            Self::Process(_) => "process",
            Self::Range => "range",
            Self::Recording => "recording",
        }
    }
}

/// Both sides.
pub(super) struct Sides {
    pub sides: [Side; 2],
    pub wall: Wall,
    /// True if processes ran from start to end on both sides, and noise is all that their lifetimes
    /// differ by.
    pub is_alike: bool,
    /// True if they are ranges of one trace.
    pub is_one_trace: bool,
}

impl Side {
    fn new(session: Rc<Session>) -> Result<Self> {
        let recording = ask::<Recording>(&session, RECORDING)?.into_iter().next();
        let marks = match Question::ask::<MarkRow>(&MarkRequest::default(), &session) {
            Err(nothing) if nothing.is_nothing() => Vec::new(),
            marks => marks?,
        };
        let marks = marks.into_iter().take(MOST_MARKS).collect();
        Ok(Self {
            session,
            // Tables without a trace, as of a test, have nothing to describe.
            recording: recording.unwrap_or_default(),
            time: Range::default(),
            marks,
            wall_ns: 0,
        })
    }

    /// Returns start and end of the compared range.
    pub(super) fn bounds(&self) -> (i64, i64) {
        let start = self.recording.start_ns;
        let end = self.recording.end_ns;
        // clamp panics if the limits are reversed, as they may be in a damaged extract.
        let from = self.time.min.clamp(start, end.max(start));
        (from, self.time.max.clamp(from, end.max(from)))
    }

    /// Returns its length.
    pub(super) fn length_ns(&self) -> i64 {
        let (from, to) = self.bounds();
        to.saturating_sub(from)
    }

    /// Returns the first mark after a time whose text matches.
    fn mark(&self, text: &str, after: Option<i64>) -> Result<i64> {
        let filter = TextFilter::parse(text);
        let mut fits = self
            .marks
            .iter()
            .filter(|mark| filter.matches(Some(&mark.text)));
        let found = fits.find(|mark| after.is_none_or(|after| mark.ts_ns > after));
        found.map(|mark| mark.ts_ns).ok_or_else(|| {
            let behind = if after.is_none() {
                ""
            } else {
                " after the first"
            };
            let message = format!(
                "there is no mark {text:?}{behind} in {}",
                self.recording.file_name
            );
            Error::NotThere {
                message,
                how: "`etwkit dump mark` lists the marks that there are".to_owned(),
            }
        })
    }

    /// Returns the time from the start of the first process to the end of the last one, clipped to
    /// the compared range.
    fn lifetime(&self, asked: &DiffRequest) -> Result<Option<i64>> {
        let conditions = asked.processes.conditions().joined();
        let (from, to) = self.bounds();
        let sql = format!(
            "SELECT min(greatest(coalesce(p.start_ns, {from}), {from})) AS start_ns,
  max(least(coalesce(p.stop_ns, {to}), {to})) AS stop_ns, count(*) AS count
FROM process p
WHERE coalesce(p.start_ns, {from}) <= {to} AND coalesce(p.stop_ns, {to}) >= {from} AND {conditions}"
        );
        let life = ask::<Life>(&self.session, &sql)?
            .into_iter()
            .next()
            .filter(|life| life.count > 0);
        Ok(life.and_then(|life| Some(life.stop_ns?.saturating_sub(life.start_ns?).max(0))))
    }
}

impl Sides {
    pub(super) fn of(asked: &DiffRequest, session: &Session) -> Result<Self> {
        let mut sessions = session.each().into_iter().map(Rc::new);
        // One extract is both sides if it is given two ranges.
        let a = sessions.next();
        let b = sessions.next();
        let more = sessions.count();
        let is_one_trace = b.is_none();
        let b = b.or_else(|| a.clone().filter(|_| asked.range.0.len() == 2));
        let (Some(a), Some(b)) = (a, b) else {
            return Err(one_side());
        };
        if more > 0 {
            let message = format!(
                "{} traces are named, and a comparison is of two",
                more.saturating_add(2)
            );
            return Err(Error::WrongCount {
                message,
                how: "name two of them, or two parts of one with --range",
            });
        }
        let sides = [Side::new(a)?, Side::new(b)?];
        let mut both = Self {
            sides,
            wall: Wall::Recording,
            is_alike: false,
            is_one_trace,
        };
        both.place(asked)?;
        both.measure(asked)?;
        Ok(both)
    }

    /// Finds the compared range of each side.
    fn place(&mut self, asked: &DiffRequest) -> Result<()> {
        if let Some(text) = asked.range.0.first() {
            let [a, b] = &mut self.sides;
            a.time = Parts::place(text, &a.session)?;
            b.time = Parts::place(asked.range.0.get(1).unwrap_or(text), &b.session)?;
            self.wall = Wall::Range;
            return Ok(());
        }
        let from = asked.from_mark.as_deref();
        let to = asked.to_mark.as_deref();
        if from.is_some() || to.is_some() {
            for side in &mut self.sides {
                let min = from.map(|from| side.mark(from, None)).transpose()?;
                let max = to.map(|to| side.mark(to, min)).transpose()?;
                side.time = Range {
                    min: min.unwrap_or(i64::MIN),
                    max: max.unwrap_or(i64::MAX),
                };
            }
            let word = |text: Option<&str>, other: &str| text.unwrap_or(other).to_owned();
            self.wall = Wall::Marks(word(from, "the start"), word(to, "the end"));
            return Ok(());
        }
        let common = self.common_marks();
        let ends = (common.first().cloned(), common.last().cloned());
        // A single common mark is not an interval. A summary cannot be restricted to a range, and
        // is compared as a whole.
        if let ((Some(first), Some(last)), Align::Marks, true) =
            (ends, asked.align, common.len() > 1)
            && self.sides.iter().all(has_single_rows)
        {
            let [a, b] = &mut self.sides;
            a.time = Range {
                min: first.at[0],
                max: last.at[0],
            };
            b.time = Range {
                min: first.at[1],
                max: last.at[1],
            };
            self.wall = Wall::Marks(first.text, last.text);
        }
        Ok(())
    }

    /// Measures the wall times.
    fn measure(&mut self, asked: &DiffRequest) -> Result<()> {
        for side in &mut self.sides {
            side.wall_ns = side.length_ns();
        }
        // Marks are set to delimit the measured time: they take precedence over the lifetime of a
        // process.
        let name = asked
            .processes
            .process
            .as_deref()
            .filter(|_| !matches!(self.wall, Wall::Marks(..)));
        if let Some(name) = name {
            let [a, b] = &mut self.sides;
            if let (Some(of_a), Some(of_b)) = (a.lifetime(asked)?, b.lifetime(asked)?) {
                (a.wall_ns, b.wall_ns) = (of_a, of_b);
                self.wall = Wall::Process(name.to_owned());
            }
        }
        Ok(())
    }

    /// Measures by the process that started and ended on both sides and whose lifetimes differ
    /// most, if the request does not name the measured time: the length of a recording is not one.
    pub(super) fn measure_by_process(&mut self, sums: &[Sums; 2], noise_ns: i64) {
        let [of_a, of_b] = sums;
        // If several processes have the name, the duration comes from the longest one, which may be
        // a different one on each side.
        let lived = |totals: &Totals| {
            totals
                .duration
                .filter(|_| totals.is_whole && totals.count == Some(1))
        };
        let both = of_a.iter().filter_map(|(key, (name, _, a))| {
            let a = lived(a)?;
            let b = lived(&of_b.get(key)?.2)?;
            Some((a.abs_diff(b), name, a, b))
        });
        let most = both.max_by_key(|(difference, ..)| *difference);
        let Some((difference, name, a, b)) = most.filter(|_| self.wall == Wall::Recording) else {
            return;
        };
        self.is_alike = difference <= noise_ns.unsigned_abs();
        if !self.is_alike {
            let [side_a, side_b] = &mut self.sides;
            (side_a.wall_ns, side_b.wall_ns) = (a, b);
            self.wall = Wall::Process(name.clone());
        }
    }

    /// Returns B − A, if the wall times are durations of the measured work.
    pub(super) fn wall_difference(&self) -> Option<i64> {
        let [a, b] = &self.sides;
        (self.wall != Wall::Recording).then(|| b.wall_ns.saturating_sub(a.wall_ns))
    }

    /// Returns the marks that both sides have, in the same order on both.
    fn common_marks(&self) -> Vec<Common> {
        let [a, b] = &self.sides;
        if self.is_one_trace {
            return Vec::new();
        }
        let mut common = Vec::new();
        let mut rest = b.marks.as_slice();
        for mark in &a.marks {
            // Only marks after the last pair are looked at, so pairs have the same order on both
            // sides.
            let Some(at) = rest.iter().position(|other| other.text == mark.text) else {
                continue;
            };
            let Some((found, behind)) = rest.get(at..).and_then(<[_]>::split_first) else {
                continue;
            };
            common.push(Common {
                text: mark.text.clone(),
                at: [mark.ts_ns, found.ts_ns],
            });
            rest = behind;
        }
        common
    }

    /// Returns the time from each mark to the next one that both sides have.
    pub(super) fn mark_changes(&self) -> Vec<MarkChange> {
        let common = self.common_marks();
        let change = |(from, to): (&Common, &Common)| {
            let ([from_a, from_b], [to_a, to_b]) = (from.at, to.at);
            let a = to_a.saturating_sub(from_a);
            let b = to_b.saturating_sub(from_b);
            MarkChange {
                name: from.text.clone(),
                until: to.text.clone(),
                a_ns: Some(a),
                b_ns: Some(b),
                difference_ns: b.saturating_sub(a),
            }
        };
        common
            .iter()
            .zip(common.iter().skip(1))
            .map(change)
            .collect()
    }
}

/// A mark of both sides, with its times.
#[derive(Debug, Clone)]
struct Common {
    text: String,
    at: [i64; 2],
}

/// Returns `true` if it can be restricted to a range.
fn has_single_rows(side: &Side) -> bool {
    let has = |table| side.session.has_rows(table) == Some(true);
    // An extract without any sums of CPU recorded none of it: other tables with single rows remain.
    has("context_switch") || has("cpu_sample") || !has("cpu_process")
}

fn one_side() -> Error {
    Error::WrongCount {
        message: "there is one trace, and a comparison is of two".to_owned(),
        how: "name a second one, or two parts of it: --range 1..3 --range 4..6",
    }
}
