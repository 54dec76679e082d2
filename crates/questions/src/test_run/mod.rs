//! Lists the test runs of recordings: a question about names of files, not about extracts.

use etwkit_question::declare;
use std::time::SystemTime;

use etwkit_base::digits::counted;
use etwkit_question::Error;
use etwkit_question::Format::{Whole, Word};
use etwkit_question::test_run::{Selection, TestFile, TestRun};
use etwkit_question::{
    Above, Answer, Column, Example, Form, Line, OfNames, Question, Ranked, Shows, View, group,
    option,
};

mod rows;

pub use rows::{RunSums, TestRow};

declare! {
    /// Options of `dump test-run`.
    pub request TestRunRequest {
        /// Also search subfolders
        recursive: bool = option(""),
        /// Filter on tests
        selection: Selection = group(),
        /// Print the files of each recording
        print_files: bool = option("").called("print-files").output(),
        /// Print each recording, with one x for each 200 ms that its test took
        verbose: bool = option("").called("recordings").output(),
    }
}

/// Nouns of a number of tests.
const TESTS: [&str; 2] = ["test", "tests"];

type TestColumn = Column<TestRunRequest, TestRow>;

const RECORDINGS: View<TestRunRequest, TestRow> = View::new(
    &[
        TestColumn::new("Time", "Time", Word, |_, row| {
            row.performed_at.replace('T', " ").into()
        }),
        TestColumn::new("Duration", "Took ms", Whole, |_, row| {
            row.duration_ms.into()
        }),
        TestColumn::new("TestCase", "Test case", Word, |_, row| {
            row.test_case.clone().into()
        }),
        TestColumn::new("Machine", "Machine", Word, |_, row| {
            row.machine.clone().into()
        })
        .or("?"),
        TestColumn::new("Status", "Status", Word, |_, row| row.status.clone().into())
            .shown_if_known(|_| true),
        TestColumn::new("Trace", "Trace", Word, |_, row| row.trace.clone().into()).hidden(),
        TestColumn::new("Extract", "Extract", Word, |_, row| {
            row.extract.clone().into()
        })
        .hidden(),
        TestColumn::new("Bar", "", Word, |_, row| bar(row).into()).shown_if(|asked| asked.verbose),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No)
.with_below(|asked, row| {
    let files = row
        .trace
        .iter()
        .chain(&row.extract)
        .filter(|_| asked.print_files);
    files.map(|file| Line::new(format!("    {file}"))).collect()
});

/// Returns one x for each 200 ms, up to the end of a line.
fn bar(row: &TestRow) -> String {
    (0..row.duration_ms / 200).take(500).map(|_| 'x').collect()
}

/// Formats `dd hh:mm:ss`.
fn length(seconds: i64) -> String {
    let days = seconds / 86_400;
    let hours = seconds / 3600 % 24;
    let minutes = seconds / 60 % 60;
    format!("{days:02} {hours:02}:{minutes:02}:{:02}", seconds % 60)
}

fn heading(run: &TestRun) -> Line {
    let RunSums {
        seconds,
        test_cases,
        tests,
        ..
    } = RunSums::of(std::slice::from_ref(run));
    Line::heading(format!(
        "Run {} starts at {}, duration {}, {}, {}",
        run.index,
        run.start(),
        length(seconds),
        counted(test_cases as u64, ["test case", "test cases"]),
        counted(tests as u64, TESTS)
    ))
}

fn total(runs: &[TestRun]) -> Option<Line> {
    let (first, last) = runs.first().zip(runs.last())?;
    let RunSums {
        tests,
        recordings,
        extracted,
        machines,
        ..
    } = RunSums::of(runs);
    Some(Line::new(format!(
        "{} from {} to {}: {}, {}, {extracted} of them extracted, machines: {}",
        counted(runs.len() as u64, ["run", "runs"]),
        first.start(),
        last.end(),
        counted(tests as u64, TESTS),
        counted(recordings as u64, ["recording", "recordings"]),
        if machines.is_empty() { "?" } else { &machines }
    )))
}

impl TestRunRequest {
    /// Returns the answer to the names of these recordings.
    pub fn answer_for(&self, files: Vec<TestFile>, now: SystemTime) -> Answer {
        let runs = self.selection.of(files, now);
        let groups = runs
            .iter()
            .map(|run| (heading(run), TestRow::of(run)))
            .collect();
        let lists = self.verbose || self.print_files;
        Answer::headed(self, &RECORDINGS, groups)
            .showing(if lists { Shows::Rows } else { Shows::Headings })
            .with_foot(total(&runs))
            .or_line(Line::new("no test matches"))
            .below(Above::Nothing)
    }
}

impl Question for TestRunRequest {
    const NAME: &'static str = "test-run";
    const ALIASES: &'static [&'static str] = &["testrun"];
    const SENTENCE: &'static str = "Runs of automated tests, by the names of their files";
    const USUAL: &'static [&'static str] = &["copy-files-to", "with-traces", "print-files"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "traces/",
            answer: "the test runs of a folder",
        },
        Example {
            words: "--test-case \"CallupAdhoc*\" traces/",
            answer: "runs of these test cases",
        },
    ];

    fn form(&self) -> Form<Self> {
        let nothing = "-- takes names of files: no extract, no SQL\n".to_owned();
        Form::made::<TestRow>(nothing, |_, _| Err(Error::OfNames))
    }

    fn of_names(&self) -> Option<OfNames<'_>> {
        let answer = Box::new(|files, now| self.answer_for(files, now));
        Some(OfNames {
            recursive: self.recursive,
            answer,
        })
    }
}
