//! Properties of the recording and the machine.

pub(super) mod sql;

use etwkit_question::declare;
use std::collections::BTreeSet;

use etwkit_base::path;

use self::sql::OF_TRACE;
use etwkit_question::Format::Word;
use etwkit_question::test_run::{TestName, TestStatus};
use etwkit_question::trace::TraceInfo;
use etwkit_question::{
    Above, Answer, Column, Example, Form, Line, OptionError, Question, Ranked, Sets, Shows, View,
    option,
};
use etwkit_question::{Result, ask};
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;

declare! {
    /// Options of `dump stats`.
    #[derive(Eq)]
    pub request StatsRequest {
        /// Only these properties: names with , ; or blanks between (*, ?, ! excludes)
        properties: Option<String> = option("PROPERTIES"),
        /// All properties of an extract on one line
        one_line: bool = option("").called("one-line").shape(),
    }

    /// A property.
    pub row Property {
        name: String = "Name.",
        value: String = "Value as text; times are UTC.",
    }
}

type PropertyColumn = Column<StatsRequest, Property>;

const PROPERTIES: View<StatsRequest, Property> = View::new(
    &[
        PropertyColumn::new("Name", "Name", Word, |_, row| row.name.clone().into()),
        PropertyColumn::new("Value", "Value", Word, |_, row| row.value.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No)
.with_total(|asked, rows, of_several| {
    let all: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: {}", row.name, row.value))
        .collect();
    let line = (asked.one_line && !of_several).then(|| Line::new(format!("  {}", all.join("; "))));
    line.into_iter().collect()
});

/// Key of the names of existing properties, next to the rows of an answer.
const KNOWN: &str = "properties";

impl Question for StatsRequest {
    const NAME: &'static str = "stats";
    const SENTENCE: &'static str = "Properties of the recording and the machine";
    const USUAL: &'static [&'static str] = &["properties", "one-line"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "machine and recording",
        },
        Example {
            words: "--one-line slow.etl",
            answer: "as one line for each trace",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::made::<Property>(self.sql(), |asked: &Self, session| {
            let rows = asked.ask(session)?;
            let known = match &asked.properties {
                // A misspelt name gives a list of the existing names.
                Some(names) if rows.is_empty() && !is_known(names) => {
                    Self::default().ask(session)?
                }
                _ => Vec::new(),
            };
            let known = known.into_iter().map(|property| property.name).collect();
            let shows = if asked.one_line {
                Shows::Sums
            } else {
                Shows::Untitled
            };
            let unknown = asked.unknown(&rows);
            let mut answer = Answer::rows(asked, &PROPERTIES, rows).showing(shows);
            answer.notes.extend(unknown);
            Ok(answer.with_sets(Sets::from([(KNOWN, known)])))
        })
    }

    fn compares(&self) -> bool {
        self.properties.is_some()
    }

    /// A name that no extract knows is a mistake. A valid name that no extract has gives an empty
    /// answer.
    fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        if all.iter().any(|(_, answer)| !answer.is_empty()) {
            return Ok(None);
        }
        let known = all
            .iter()
            .flat_map(|(_, answer)| answer.sets.get(KNOWN))
            .flatten();
        let known: BTreeSet<&str> = known.map(String::as_str).collect();
        if !known.is_empty() {
            let asked = self.properties.as_deref().unwrap_or("");
            let known: Vec<&str> = known.into_iter().collect();
            let problem = format!(
                "there is no property {asked:?}; there are: {}",
                known.join(" ")
            );
            return Err(OptionError::Value {
                option: "properties",
                problem,
            }
            .into());
        }
        for (_, answer) in all {
            answer.above = Above::Nothing;
            answer.parts.clear();
        }
        Ok(None)
    }
}

/// Names that ETWAnalyzer gives to groups of properties or to properties with another name here,
/// and our names.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("Disk", "Disk*;Volume*"),
    ("ModuleVersions", "module_version*"),
    ("BootToSessionStart", "BootToSessionStartS"),
    ("ExtractStartTime", "ExtractStartTimeS"),
    ("ExtractEndTime", "ExtractEndTimeS"),
];

/// Properties that the name of a file gives.
const OF_FILE_NAME: [&str; 4] = ["TestCase", "TestTimeMs", "PerformedAt", "TestStatus"];

/// Properties of machines that only some recordings and extracts have, in any order.
const OF_MACHINE: &[&str] = &[
    "UsedExtractOptions",
    "WinSatOSName",
    "IsDomainJoined",
    "MainModuleVersion",
    "Displays",
    "Network",
];

/// Returns `true` if a filter names an existing property, even one that an extract lacks.
#[must_use]
pub fn is_known(properties: &str) -> bool {
    let filter = filter_of(properties);
    // Names of disks, volumes and modules have a number or letter of the machine; one of each is
    // enough here.
    let others = ["Source", "Disk0", "VolumeC:", "module_version1.name"];
    let of_trace = OF_TRACE.iter().map(|(name, _)| *name);
    let all = of_trace
        .chain(OF_FILE_NAME)
        .chain(others)
        .chain(OF_MACHINE.iter().copied());
    all.into_iter().any(|name| filter.matches(Some(name)))
}

/// A time in units of 100 ns since 1601 as text.
// The constant is the time from 1601 to 1970, where the time stamps of SQL start.
pub(super) fn utc(filetime: &str) -> String {
    format!(
        "concat(to_char(to_timestamp_micros(({filetime} - 116444736000000000) / 10), '%Y-%m-%dT%H:%M:%S%.6f'), 'Z')"
    )
}

/// Returns the properties of a test that its file name gives. The machine of the name counts only
/// if the recording does not have its own.
fn of_test(name: TestName) -> Vec<Property> {
    let status = name.status.map(|status| match status {
        TestStatus::Passed => "Passed",
        TestStatus::Failed => "Failed",
    });
    let all = [
        ("TestCase", Some(name.test_case)),
        ("TestTimeMs", Some(name.duration_ms.to_string())),
        (
            "PerformedAt",
            name.performed_at
                .map(|at| at.format("%Y-%m-%dT%H:%M:%S").to_string()),
        ),
        ("TestStatus", status.map(str::to_owned)),
        ("Machine", Some(name.machine)),
    ];
    let property = |(name, value): (&str, Option<String>)| {
        Some(Property {
            name: name.to_owned(),
            value: value?,
        })
    };
    all.into_iter().filter_map(property).collect()
}

/// Returns the names or patterns of a list of properties.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ', ';'])
        .filter(|entry| !entry.is_empty())
}

/// Returns the patterns of our names for an entry.
fn of_our_names(entry: &str) -> String {
    let (not, name) = entry
        .strip_prefix('!')
        .map_or(("", entry), |name| ("!", name));
    match OTHER_NAMES
        .iter()
        .find(|(theirs, _)| theirs.eq_ignore_ascii_case(name))
    {
        None => entry.to_owned(),
        Some((_, ours)) => ours
            .split(';')
            .map(|one| format!("{not}{one}"))
            .collect::<Vec<_>>()
            .join(";"),
    }
}

/// Returns the filter on our names for a list of names or patterns.
fn filter_of(properties: &str) -> TextFilter {
    let ours: Vec<String> = entries(properties).map(of_our_names).collect();
    TextFilter::parse(&ours.join(";"))
}

impl StatsRequest {
    /// Returns a note about names among others that no property has; without any row the answer is an error.
    fn unknown(&self, rows: &[Property]) -> Option<String> {
        let asked = self.properties.as_deref().filter(|_| !rows.is_empty())?;
        let is_in_rows = |entry: &str| {
            let filter = filter_of(entry.trim_start_matches('!'));
            rows.iter().any(|row| filter.matches(Some(&row.name)))
        };
        let unknown: Vec<&str> = entries(asked)
            .filter(|entry| !is_in_rows(entry) && !is_known(entry.trim_start_matches('!')))
            .collect();
        (!unknown.is_empty()).then(|| {
            format!(
                "there is no property {}; `etwkit dump stats` lists all",
                unknown.join(", ")
            )
        })
    }

    /// Runs the question. A pattern that no property matches gives no rows.
    ///
    /// # Errors
    /// The query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<Property>> {
        let mut all: Vec<Property> = ask(session, &self.sql())?;
        // The source is the file that was named, and not an extract of it in the cache.
        let source = all.iter_mut().find(|property| property.name == "Source");
        if let (Some(source), Some(trace)) = (source, session.trace_path()) {
            trace.clone_into(&mut source.value);
        }
        let value = |name: &str| all.iter().find(|property| property.name == name);
        let named = |name| TestName::parse(path::file_name(&value(name)?.value));
        // An extract can have another name than its trace.
        let test = named("Source").or_else(|| named("SourceETLFileName"));
        let mut of_test = test.map_or_else(Vec::new, of_test);
        if value("Machine").is_some() {
            of_test.retain(|property| property.name != "Machine");
        }
        all.splice(0..0, of_test);
        if let Some(filter) = &self.properties {
            let filter = filter_of(filter);
            all.retain(|property| filter.matches(Some(&property.name)));
        }
        Ok(all)
    }
}
