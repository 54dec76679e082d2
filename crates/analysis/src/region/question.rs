//! Regions as a question: columns of sums and instances.

use etwkit_question::Format::{FineMilliseconds, Id, Moment, Process, Whole, Word};
use etwkit_question::{
    Answer, Column, Descriptions, Example, Files, FilesError, Form, Line, ProcessCell, Question,
    Ranked, Value, View,
};
use etwkit_sql::Session;

use super::{Manifest, RegionAnswer, RegionInstance, RegionRequest, RegionRow, RegionSort};
use crate::Result;

/// Maximum number of levels by which instances are indented.
// Deeper ones would push the name out of the window.
const MOST_INDENTED: usize = 40;

/// Properties of the sums that decide their columns: a column without any number is not shown.
#[derive(Clone)]
struct Sums {
    sort: RegionSort,
    has_names: bool,
    has_open_starts: bool,
    has_open_stops: bool,
}

type RegionColumn = Column<Sums, RegionRow>;

const SUMS: View<Sums, RegionRow> = View::new(
    &[
        RegionColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        RegionColumn::new("Duration", "Sum ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        RegionColumn::new("Min", "Min ms", FineMilliseconds, |_, row| {
            row.min_duration_ns.into()
        }),
        RegionColumn::new("Mean", "Mean ms", FineMilliseconds, |_, row| {
            row.mean_duration_ns.map(|ns| ns.round() as i64).into()
        })
        .worst(),
        RegionColumn::new("Max", "Max ms", FineMilliseconds, |_, row| {
            row.max_duration_ns.into()
        })
        .worst(),
        RegionColumn::new("First", "First", Moment, |_, row| row.first_start_ns.into()),
        RegionColumn::new("Last", "Last", Moment, |_, row| row.last_stop_ns.into()),
        RegionColumn::new("Names", "Names", Whole, |_, row| row.names.into())
            .shown_if(|asked| asked.has_names),
        RegionColumn::new("OpenStart", "No end", Whole, |_, row| {
            row.open_starts.into()
        })
        .sum()
        .shown_if(|asked| asked.has_open_starts),
        RegionColumn::new("OpenStop", "No begin", Whole, |_, row| {
            row.open_stops.into()
        })
        .sum()
        .shown_if(|asked| asked.has_open_stops),
        RegionColumn::new("Region", "Region", Word, |_, row| {
            title(&row.region, row.friendly_name.as_deref()).into()
        }),
        RegionColumn::new("Guid", "GUID", Word, |_, row| {
            row.region_guid.clone().into()
        })
        .hidden(),
    ],
    |row| row.duration_ns as f64,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, RegionSort::Time | RegionSort::Name)));

/// Properties of the instances that decide their columns: a column without any value is not shown.
#[derive(Clone)]
struct Instances {
    sort: RegionSort,
    has_names: bool,
    /// True if some ended in another process than they started in.
    ends_elsewhere: bool,
}

type One = Column<Instances, RegionInstance>;

const INSTANCES: View<Instances, RegionInstance> = View::new(
    &[
        One::time("Start", |_, row| row.start_ns.into()),
        One::new("Stop", "Stop", Moment, |_, row| row.stop_ns.into()).or("open"),
        One::new("Duration", "ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        One::new("Id", "Id", Id, |_, row| row.id.into()).hidden(),
        One::new("Parent", "Parent", Whole, |_, row| row.parent_id.into()).hidden(),
        One::new("Region", "Region", Word, |_, row| {
            let depth =
                // A depth that does not fit is deeper than the limit.
                usize::try_from(row.depth).map_or(MOST_INDENTED, |depth| depth.min(MOST_INDENTED));
            format!(
                "{}{}",
                "  ".repeat(depth),
                title(&row.region, row.friendly_name.as_deref())
            )
            .into()
        }),
        One::new("Instance", "Instance", Word, |_, row| {
            row.instance.clone().into()
        })
        .shown_if(|asked| asked.has_names),
        One::new("Process", "Process", Process, |_, row| {
            process(row.start_process.as_ref(), row.start_pid)
        }),
        One::new("Tid", "Tid", Id, |_, row| row.start_tid.into()),
        One::new("StopProcess", "Stop process", Process, |_, row| {
            process(row.stop_process.as_ref(), row.stop_pid)
        })
        .shown_if(|asked| asked.ends_elsewhere),
        One::new("StopTid", "Stop tid", Id, |_, row| row.stop_tid.into()).hidden(),
        One::new("Provider", "Provider", Word, |_, row| {
            row.provider.clone().into()
        })
        .hidden(),
        One::new("StartEvent", "Start event", Word, |_, row| {
            row.start_event.clone().into()
        })
        .hidden(),
        One::new("StopEvent", "Stop event", Word, |_, row| {
            row.stop_event.clone().into()
        })
        .hidden(),
        One::new("StartFields", "Start fields", Word, |_, row| {
            row.start_fields.clone().into()
        })
        .hidden(),
        One::new("StopFields", "Stop fields", Word, |_, row| {
            row.stop_fields.clone().into()
        })
        .hidden(),
        One::new("Metadata", "Metadata", Word, |_, row| {
            row.metadata.clone().into()
        })
        .hidden(),
    ],
    |row| row.start_ns as f64,
)
.ranking(|asked| {
    Ranked::rows_unless(matches!(
        asked.sort,
        RegionSort::Usual | RegionSort::Time | RegionSort::Name
    ))
});

/// Returns the friendly name, or else the name.
fn title(name: &str, friendly_name: Option<&str>) -> String {
    friendly_name
        .filter(|name| !name.is_empty())
        .unwrap_or(name)
        .to_owned()
}

fn process(name: Option<&String>, pid: Option<i64>) -> Value {
    if name.is_none() && pid.is_none() {
        return Value::Missing;
    }
    Value::Process(ProcessCell {
        name: name.cloned(),
        pid,
        ..ProcessCell::default()
    })
}

impl RegionRequest {
    /// Returns the answer with regions, or with single instances.
    fn found(&self, session: &Session) -> Result<Answer> {
        let (answer, missing) = if self.details {
            let RegionAnswer { rows, missing } = self.ask_instances(session)?;
            let ended = |row: &RegionInstance| row.stop_ns.is_some();
            let shown = Instances {
                sort: self.sort,
                has_names: rows.iter().any(|row| row.instance.is_some()),
                // Mostly the process is the same at both ends, and a second column would repeat
                // the first.
                ends_elsewhere: rows
                    .iter()
                    .any(|row| ended(row) && row.stop_process_key != row.start_process_key),
            };
            (Answer::rows(&shown, &INSTANCES, rows), missing)
        } else {
            let RegionAnswer { rows, missing } = self.ask(session)?;
            let shown = Sums {
                sort: self.sort,
                has_names: rows.iter().any(|row| row.names > 0),
                has_open_starts: rows.iter().any(|row| row.open_starts > 0),
                has_open_stops: rows.iter().any(|row| row.open_stops > 0),
            };
            (Answer::rows(&shown, &SUMS, rows), missing)
        };
        // Without these lines, regions whose events were not recorded would look as if they never
        // happened.
        let line = |event: String| Line::new(format!("not in the extract: {event}"));
        Ok(answer.with_foot(missing.into_iter().map(line)))
    }
}

impl Question for RegionRequest {
    const NAME: &'static str = "region";
    const ALIASES: &'static [&'static str] = &["regions"];
    const SENTENCE: &'static str = "Regions of interest: the time between two events, as a file of \
                                    Windows Performance Analyzer defines them";
    const USUAL: &'static [&'static str] = &["regions", "region", "instance", "open", "duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "--regions login.xml slow.etl",
            answer: "regions that a file defines",
        },
        Example {
            words: "--regions login.xml --duration 1s.. slow.etl",
            answer: "those that lasted for long",
        },
    ];

    fn form(&self) -> Form<Self> {
        // The SQL is the query for the events; instances are found in them. So `--sql` shows something
        // that runs, but not the answer itself.
        let form = if self.details {
            Form::made::<RegionInstance>(self.sql(), Self::found).describing(|asked, fields| {
                // Columns of documentation: all that an answer can have.
                let all = Instances {
                    sort: asked.sort,
                    has_names: true,
                    ends_elsewhere: true,
                };
                INSTANCES.describe::<RegionInstance>(&all, Into::into, fields);
            })
        } else {
            Form::made::<RegionRow>(self.sql(), Self::found).describing(|asked, fields| {
                let sort = asked.sort;
                let all = Sums {
                    sort,
                    has_names: true,
                    has_open_starts: true,
                    has_open_stops: true,
                };
                SUMS.describe::<RegionRow>(&all, Into::into, fields);
            })
        };
        form.top(self.top)
    }

    fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError> {
        self.manifest.load(files, None, Manifest::parse)?;
        match self.manifest.content {
            Some(_) => Ok(()),
            None => Err(FilesError::Missing {
                option: "regions",
                what: "a file that defines regions",
            }),
        }
    }

    fn file_notes(&self) -> Vec<String> {
        self.manifest().warnings().lines()
    }

    fn descriptions(&self) -> Option<&Descriptions> {
        Some(&self.descriptions)
    }
}
