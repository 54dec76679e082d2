//! The part of the trace to write: all of it, a range, the time between two marks, or each instance
//! of a region of interest.

use anyhow::Result;
use etwkit_analysis::region::{Manifest, RegionInstance, RegionRequest};
use etwkit_question::NamedFile;
use etwkit_question::ask;
use etwkit_question::range::{Range, TracePart};
use etwkit_question::trace::TraceInfo;
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;
use etwkit_terminal::errors::advised;

use crate::wpa::regions;

/// A moment long before and one long after every trace, 120 years from its start. Differences with
/// it do not overflow.
const FAR: i64 = 4_000_000_000_000_000_000;

/// Instances of a region that get files of their own.
const MAX_INSTANCES: usize = 200;

/// A part as requested.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Part {
    /// All of the trace.
    #[default]
    All,
    /// The value of `--range`, with its text.
    Range(String, TracePart),
    /// From the first mark with the first text to the next mark with the second text.
    Marks(String, String),
    /// Each instance of these regions.
    Region(String),
}

/// The part of a trace that is written, and other values that SQL needs.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Its start.
    pub from_ns: i64,
    /// Its end.
    pub to_ns: i64,
    /// True if it is less than the whole trace.
    pub is_part: bool,
    /// Start of the extracted range.
    pub start_ns: i64,
    /// End of the extracted range.
    pub end_ns: i64,
    /// Processors of the machine.
    pub processors: i64,
    /// The tables of regions, as SQL that comes before other SQL.
    pub regions: String,
}

etwkit_question::declare! {
    /// A recording.
    row Trace {
        start_ns: i64 = "Start of the extracted part.",
        end_ns: i64 = "End of the extracted part.",
        processors: i64 = "Processors.",
    }

    /// A mark.
    row Mark {
        ts_ns: i64 = "Time.",
        text: String = "Text.",
    }
}

impl View {
    /// Returns the view of a whole trace, with these instances of regions.
    ///
    /// # Errors
    /// There are too many instances.
    pub fn of_all(instances: &[RegionInstance]) -> Result<Self> {
        Ok(Self {
            regions: regions::tables(instances)?,
            ..Self::default()
        })
    }

    /// Returns the capacity of all processors in the part, in nanoseconds.
    #[must_use]
    pub fn capacity_ns(&self) -> f64 {
        // The extracted range may be less than the requested part, and processors have no time
        // outside of it.
        let from = self.from_ns.max(self.start_ns);
        let to = self.to_ns.min(self.end_ns);
        to.saturating_sub(from).max(0) as f64 * self.processors as f64
    }

    /// Puts the ends of the part into SQL.
    #[must_use]
    pub fn fill(&self, sql: &str) -> String {
        // A whole trace cuts nothing: rows that began before the recording keep their whole length.
        let (from, to) = if self.is_part {
            (self.from_ns, self.to_ns)
        } else {
            (-FAR, FAR)
        };
        self.filled(sql, from, to)
    }

    /// Puts ends into SQL that do not cut anything.
    #[must_use]
    pub fn fill_whole(&self, sql: &str) -> String {
        self.filled(sql, -FAR, FAR)
    }

    /// Returns the SQL for the length of a time inside the part, in nanoseconds, as a fraction; null
    /// if an end of the time is not known.
    pub(crate) fn length(&self, start: &str, end: &str) -> String {
        let (from, to) = if self.is_part {
            (self.from_ns.max(self.start_ns), self.to_ns.min(self.end_ns))
        } else {
            (self.start_ns, self.end_ns)
        };
        // `greatest` and `least` ignore nulls.
        let sql = format!(
            "CASE WHEN ({start}) IS NOT NULL AND ({end}) IS NOT NULL
             THEN CAST(greatest(least({end}, $to) - greatest({start}, $from), 0) AS DOUBLE) END"
        );
        self.filled(&sql, from, to)
    }

    fn filled(&self, sql: &str, from: i64, to: i64) -> String {
        // A negative number directly after a minus sign would start an SQL comment.
        let number = |number: i64| {
            if number < 0 {
                format!("({number})")
            } else {
                number.to_string()
            }
        };
        sql.replace("$from", &number(from))
            .replace("$to", &number(to))
            .replace("$end", &number(self.end_ns))
            .replace("$capacity", &format!("{:.1}", self.capacity_ns()))
    }

    /// Returns the SQL that has to come before a SELECT over this table.
    #[must_use]
    pub fn tables(&self, graph: &crate::wpa::catalog::Graph) -> &str {
        let is_of_regions = graph.table == regions::TABLE
            || graph
                .joins
                .iter()
                .any(|join| join.sql.contains(regions::ACTIVITY_JOIN));
        if is_of_regions { &self.regions } else { "" }
    }
}

/// Returns the parts to write, each with the prefix of its file names.
///
/// # Errors
/// The marks or regions do not exist, or the query fails.
pub(crate) fn views(
    part: &Part,
    regions: Option<&NamedFile<Manifest>>,
    session: &Session,
) -> Result<Vec<(String, View)>> {
    let facts = "SELECT coalesce(range_start_ns, 0) AS start_ns,
       coalesce(range_end_ns, duration_ns) AS end_ns, processors FROM trace";
    let trace = ask::<Trace>(session, facts)?.into_iter().next();
    let trace = trace.unwrap_or(Trace {
        start_ns: 0,
        end_ns: 0,
        processors: 0,
    });
    // All instances are found once for the trace, even if only some are written: activities in a
    // part may have started before it.
    let instances = regions
        .map(|file| instances(file, None, session))
        .transpose()?
        .unwrap_or_default();
    let all = View {
        from_ns: trace.start_ns,
        to_ns: trace.end_ns,
        start_ns: trace.start_ns,
        end_ns: trace.end_ns,
        processors: trace.processors,
        ..View::of_all(&instances)?
    };
    let of = |from_ns: i64, to_ns: i64| View {
        from_ns,
        to_ns,
        is_part: true,
        ..all.clone()
    };
    Ok(match part {
        Part::All => vec![(String::new(), all)],
        Part::Range(text, written) => {
            let info = TraceInfo::ask(session)?;
            let Range { min, max } = written.place(text, info.clock(), info.duration_ns)?;
            // Open ends of a range are the ends of 64 bits, and differences with them would
            // overflow in SQL.
            vec![(String::new(), of(min.max(-FAR), max.min(FAR)))]
        }
        Part::Marks(from, to) => {
            let (from, to) = between(from, to, session)?;
            vec![(String::new(), of(from, to))]
        }
        Part::Region(name) => {
            let Some(file) = regions else {
                return Err(advised(
                    "no file defines regions",
                    "name one with --regions FILE",
                ));
            };
            instances_to_write(file, name, session)?
                .into_iter()
                .map(|(prefix, start, end)| (prefix, of(start, end)))
                .collect()
        }
    })
}

/// Returns the instances of a region that get files of their own: prefix of file names, start and
/// end.
fn instances_to_write(
    file: &NamedFile<Manifest>,
    name: &str,
    session: &Session,
) -> Result<Vec<(String, i64, i64)>> {
    let found = instances(file, Some(name), session)?;
    // An instance without an end has no files, since its length is unknown.
    let ends = found.iter();
    let ends: Vec<(i64, i64)> = ends
        .filter_map(|found| Some((found.start_ns, found.stop_ns?)))
        .collect();
    if ends.is_empty() || ends.len() > MAX_INSTANCES {
        let text = format!(
            "the trace has {} instances of the region {name:?}",
            ends.len()
        );
        let how = format!(
            "`etwkit dump region --details` lists them; 1 to {MAX_INSTANCES} can be written"
        );
        return Err(advised(text, how));
    }
    // A single instance needs no number in its file names.
    let has_numbers = ends.len() > 1;
    let prefix = |number: usize| {
        if has_numbers {
            format!("{number}_")
        } else {
            String::new()
        }
    };
    let numbered = (1..).zip(ends);
    Ok(numbered
        .map(|(number, (start, end))| (prefix(number), start, end))
        .collect())
}

fn instances(
    file: &NamedFile<Manifest>,
    region: Option<&str>,
    session: &Session,
) -> Result<Vec<RegionInstance>> {
    let request = RegionRequest {
        manifest: file.clone(),
        region: region.map(str::to_owned),
        details: true,
        ..RegionRequest::default()
    };
    Ok(request.ask_instances(session)?.rows)
}

/// Returns the times of two marks, the second one after the first. A text that is not the text of a
/// mark is used as a pattern.
fn between(from: &str, to: &str, session: &Session) -> Result<(i64, i64)> {
    let marks: Vec<Mark> = ask(session, "SELECT ts_ns, text FROM mark ORDER BY ts_ns, text")?;
    let first = find(&marks, from, i64::MIN).ok_or_else(|| no_mark(from, ""))?;
    let second = find(&marks, to, first).ok_or_else(|| no_mark(to, " after the first"))?;
    Ok((first, second))
}

fn find(marks: &[Mark], text: &str, after: i64) -> Option<i64> {
    let pattern = TextFilter::parse(text);
    let later = || marks.iter().filter(|mark| mark.ts_ns > after);
    // An exact text takes precedence over a pattern, since marks may contain `*` and `?`.
    let exact = later().find(|mark| mark.text == text);
    exact
        .or_else(|| later().find(|mark| pattern.matches(Some(&mark.text))))
        .map(|mark| mark.ts_ns)
}

fn no_mark(text: &str, behind: &str) -> anyhow::Error {
    advised(
        format!("there is no mark {text:?}{behind}"),
        "`etwkit dump mark` lists the marks that there are",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_of_what_was_extracted_and_asked_for() {
        let extracted = View {
            start_ns: 10,
            end_ns: 20,
            processors: 2,
            is_part: true,
            ..View::default()
        };
        let capacity = |from_ns, to_ns| {
            View {
                from_ns,
                to_ns,
                ..extracted.clone()
            }
            .capacity_ns()
        };
        assert_eq!(
            [capacity(5, 15), capacity(12, 18), capacity(15, FAR)],
            [10.0, 12.0, 10.0]
        );
        assert_eq!([capacity(-FAR, FAR), capacity(30, 40)], [20.0, 0.0]);
    }
}
