//! Groups of arguments that dumps share. This file imports no command; the commands, and the root
//! of `dump`, import it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::bail;
use clap::Args;
use etwkit_compat::EtwAnalyzerForm;
use etwkit_compat::csv::Style;
use etwkit_question::numbers::Numbers;
use etwkit_question::test_run::Selection;
use etwkit_question::text::{ProcessFormat, Text};
use etwkit_question::trace::TraceInfo;
use etwkit_sql::time_format::{DEFAULT_DIGITS, TimeFormat, TimeWriter};

use super::typed::{Typed, TypedFormat};
use crate::arguments::WhereArgs;
use crate::dialect::OtherEngine;
use crate::options::{OUTPUT, OptionGroup, SCHEMA};
use crate::out_file::Replace;

/// The group of options that name a file of rows.
const FILE: &str = "file-of-rows";

/// Options whose output is declared, so that no extract is read for it.
const WITHOUT_EXTRACTS: [&str; 2] = [SCHEMA, "show_sql"];

/// Inputs of a dump, and its output format.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Extracts (NAME.etwx), traces, which are extracted into a cache first, folders with both,
    /// patterns such as "runs/**/*.etwx", or "@FILE" with one of these on each line
    #[arg(value_name = "EXTRACT", required_unless_present_any = WITHOUT_EXTRACTS)]
    pub(super) extracts: Vec<PathBuf>,
    /// The files that these stand for, after the first search.
    #[arg(skip)]
    pub(super) named: OnceLock<Vec<PathBuf>>,
    /// Also search subfolders
    #[arg(long)]
    pub(super) recursive: bool,
    #[command(flatten)]
    pub(super) chosen_by: WhereArgs,
    /// Print JSON: a line that names the command and the format, then one object on each line
    #[arg(long, conflicts_with = "csv", help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Write the rows to a file, as comma-separated values; - is the standard output
    #[arg(long, value_name = "FILE", group = FILE, help_heading = OUTPUT)]
    pub(crate) csv: Option<PathBuf>,
    /// Write the rows with types, and with run_id and labels: parquet to --out, arrow to --out or a
    /// pipe
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["json", "csv"],
          help_heading = OUTPUT)]
    pub(super) format: Option<TypedFormat>,
    /// The file of --format, which its ending implies (.parquet, .arrows)
    #[arg(long, value_name = "FILE", group = FILE, conflicts_with = "json", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// The file of one finding of `diagnose`, which --out names as well.
    #[arg(skip)]
    pub(super) finding_file: Option<PathBuf>,
    /// Put an apostrophe before texts that a spreadsheet would run as a formula: those that start
    /// with =, +, -, @ or a control character
    #[arg(long, requires = "csv", help_heading = OUTPUT)]
    pub(crate) csv_for_excel: bool,
    /// Overwrite an existing file with --csv or --out, whichever program wrote it; traces and
    /// extracts are never overwritten
    #[arg(long, requires = FILE, help_heading = OUTPUT)]
    pub(crate) force: bool,
    /// Continue with the other extracts after an error in one. The error is printed at the end, and
    /// the exit code is 2. Reports that answer for each extract by itself always continue
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Print the SQL instead of the answer
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) show_sql: bool,
    /// Print the SQL for another engine that reads the files of one extract; `etwkit sql
    /// --show-setup` prints its macros and views
    #[arg(long, value_name = "ENGINE", value_enum, requires = "show_sql", help_heading = OUTPUT)]
    pub(super) dialect: Option<OtherEngine>,
    /// Format of times: s (seconds of the trace, the default), local, localtime, utc, utctime, here
    /// or heretime
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT)]
    time_format: Option<TimeFormat>,
    /// Digits of a second, 0 to 6
    #[arg(long, value_name = "N", default_value_t = DEFAULT_DIGITS, help_heading = OUTPUT,
          value_parser = clap::value_parser!(u8).range(0..=i64::from(etwkit_sql::time_format::MAX_DIGITS)))]
    pub(crate) time_digits: u8,
    /// Write numbers without commas between groups of digits
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_digit_sep: bool,
    /// Cut lines at the width of the terminal (or COLUMNS)
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) clip: bool,
    /// Show the whole path of an extract instead of the name of its trace
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) show_full_file_name: bool,
    /// Additional settings of an ETWAnalyzer line; `None` on our own command lines.
    #[arg(skip)]
    pub(crate) etwanalyzer: Option<EtwAnalyzerForm>,
    /// True if the question compares two extracts, so that it needs both. One that is named twice is
    /// compared with itself.
    #[arg(skip)]
    pub(super) is_of_two: bool,
    /// Default number of rows of a ranked list in text.
    #[arg(skip)]
    pub(super) most_rows: Option<usize>,
    /// Columns by name: a;b only these, !a all but these, +a also these (*, ?)
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, help_heading = OUTPUT)]
    pub(crate) column: Option<String>,
    // Last, since few need them and help keeps the order.
    #[command(flatten)]
    pub(super) tests: OptionGroup<Selection>,
}

impl Common {
    /// Returns the files that --csv may overwrite: a CSV file of a dump, which can be written
    /// again.
    pub(super) const fn csv_replace(&self) -> Replace {
        if self.force {
            Replace::Anything
        } else {
            Replace::OwnCsv
        }
    }

    /// True if the answer is text for people.
    pub(super) const fn is_text(&self) -> bool {
        !self.json && !self.has_one_file()
    }

    /// True if the rows of all extracts become one file or stream.
    pub(super) const fn has_one_file(&self) -> bool {
        self.csv.is_some() || self.format.is_some() || self.out.is_some()
    }

    /// Returns the target of rows with types, if they are wanted.
    pub(super) fn typed(&self) -> anyhow::Result<Option<Typed<'_>>> {
        let file = self.out.as_deref();
        let ending = file.and_then(Path::extension);
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        let format = match (self.format, ending.as_deref()) {
            (Some(format), _) => format,
            (None, _) if file.is_none() => return Ok(None),
            (None, Some("parquet")) => TypedFormat::Parquet,
            (None, Some("arrows")) => TypedFormat::Arrow,
            _ => bail!("--out needs a name that ends with .parquet or .arrows, or --format"),
        };
        let replace = Replace::forced(self.force);
        Ok(Some(Typed {
            format,
            file,
            replace,
        }))
    }

    /// True if the standard output belongs to rows of a file, so that no sentence may be between
    /// them.
    pub(super) fn streams(&self) -> bool {
        let has_csv = self.csv.as_deref().is_some_and(is_stdout);
        has_csv || self.format.is_some() && self.out.is_none()
    }

    /// Returns the format of times: by default seconds, which options also accept, and for
    /// ETWAnalyzer lines the local time.
    pub(super) fn time_format(&self) -> TimeFormat {
        let usual = if self.is_etwanalyzer() {
            TimeFormat::Local
        } else {
            TimeFormat::Seconds
        };
        self.time_format.unwrap_or(usual)
    }

    /// Returns the number of rows of a ranked list that text shows; `None` if it shows all.
    pub(super) fn most_rows(&self) -> Option<usize> {
        self.most_rows.filter(|_| !self.is_etwanalyzer())
    }

    /// Returns the format of numbers in text.
    pub(super) fn numbers(&self) -> Numbers {
        let numbers = self
            .etwanalyzer
            .as_ref()
            .map(|form| form.numbers)
            .unwrap_or_default();
        if self.no_digit_sep {
            numbers.ungrouped()
        } else {
            numbers
        }
    }

    /// Returns the format of values of a trace for people.
    pub(super) fn text(&self, processes: Option<&ProcessOutput>, info: &TraceInfo) -> Text {
        Text {
            numbers: self.numbers(),
            is_etwanalyzer: self.is_etwanalyzer(),
            times: TimeWriter::new(self.time_format(), self.time_digits, info.clock()),
            process_times: processes.and_then(|processes| processes.process_format),
            command_lines: processes.is_none_or(|processes| !processes.no_cmdline),
        }
    }

    /// Returns the style of a CSV file in the format of ETWAnalyzer.
    pub(super) fn etwanalyzer_csv(&self) -> Option<&Style> {
        self.etwanalyzer.as_ref()?.csv.as_ref()
    }

    /// True if text has the units and digits of ETWAnalyzer.
    pub(super) const fn is_etwanalyzer(&self) -> bool {
        self.etwanalyzer.is_some()
    }
}

/// True if the name of a file means the standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Format of processes.
#[derive(Debug, Args)]
pub(crate) struct ProcessOutput {
    /// Start and end after names: none, or a time format [default: + and - mark processes that
    /// started or ended]
    #[arg(long, value_name = "FORMAT", value_parser = process_format, help_heading = OUTPUT)]
    pub(crate) process_format: Option<ProcessFormat>,
    /// Leave command lines out
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_cmdline: bool,
}

fn process_format(text: &str) -> Result<ProcessFormat, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(ProcessFormat::None);
    }
    text.parse()
        .map(ProcessFormat::Times)
        .map_err(|error| format!("{error}, or none"))
}
