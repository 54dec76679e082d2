//! A trace, and a program that exports its tables.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use etwkit_engine::{Asking, Engine, Settings};
use etwkit_export::wpa::catalog::by_name;
use etwkit_export::wpa::{ExportFrontEnd, LineArgs, Output, ProfileArgs};
use etwkit_question::ask;
use etwkit_sql::Session;
use etwkit_synth::Options;
use etwkit_terminal::{CommandOutput, Exit};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a trace of the scenario, and the output of a program.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) trace: PathBuf,
    engine: Engine,
    pub(crate) lines: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) json: Vec<Value>,
}

impl Place {
    pub(crate) fn new(scenario: &str) -> Self {
        let place = Self::of(&format!("{scenario}.etl"));
        let found = etwkit_synth::find(scenario).unwrap();
        found
            .write(File::create(&place.trace).unwrap(), &Options::default())
            .unwrap();
        place
    }

    /// A place of a trace or extract with this name, which is not there yet.
    pub(crate) fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join(name);
        let cache = Some(folder.path().join("cache"));
        let engine = Engine::new(Settings {
            cache,
            temp_dir: None,
            is_offline: true,
        });
        Self {
            folder,
            trace,
            engine,
            lines: Vec::new(),
            notes: Vec::new(),
            json: Vec::new(),
        }
    }

    /// Folder of the written files.
    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    pub(crate) fn session(&self) -> Arc<Session> {
        let paths = [self.trace.clone()];
        Arc::new(
            self.engine
                .open(&Asking::default(), &paths, &mut Vec::new())
                .unwrap(),
        )
    }

    /// `etwkit export --profile`.
    pub(crate) fn export(&mut self, args: &ProfileArgs, range: Option<&str>) -> Result<Exit> {
        let (out, traces) = (self.out(), [self.trace.clone()]);
        let output = Output {
            range,
            folder: Some(&out),
            force: true,
            json: false,
        };
        etwkit_export::wpa::export(args, &traces, output, self)
    }

    /// `etwkit wpaexporter`, with the trace and the folder.
    pub(crate) fn wpaexporter(&mut self, words: &str) -> Result<Exit> {
        let (out, trace) = (self.out(), self.trace.clone());
        let words = words.split_whitespace().map(str::to_owned);
        let of_place = [
            "-i",
            trace.to_str().unwrap(),
            "-outputfolder",
            out.to_str().unwrap(),
        ]
        .map(str::to_owned);
        let args = LineArgs {
            args: words.chain(of_place).collect(),
        };
        etwkit_export::wpa::wpaexporter(&args, self)
    }

    /// Names of the files that were written, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.out()) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A file that was written: titles, and rows by title.
    pub(crate) fn table(&self, file: &str) -> Csv {
        Csv::read(&self.out().join(file))
    }

    /// Writes a graph with these columns, given with their aggregations, of rows that a filter
    /// keeps, and returns the table.
    pub(crate) fn graph(
        &mut self,
        name: &str,
        keys: usize,
        columns: &[(&str, &str)],
        filter: &str,
    ) -> Csv {
        let exit = self.export_graph(name, keys, columns, filter).unwrap();
        assert_eq!(exit, Exit::Answered, "{:?}", self.lines);
        self.table(&self.files()[0])
    }

    /// The line about a graph that is not written.
    pub(crate) fn not_written(&mut self, name: &str, columns: &[(&str, &str)]) -> String {
        let exit = self.export_graph(name, 0, columns, "").unwrap();
        assert_eq!(exit, Exit::Nothing, "{:?}", self.lines);
        self.lines.pop().unwrap()
    }

    fn export_graph(
        &mut self,
        name: &str,
        keys: usize,
        columns: &[(&str, &str)],
        filter: &str,
    ) -> Result<Exit> {
        for earlier in self.files() {
            std::fs::remove_file(self.out().join(earlier)).unwrap();
        }
        let graph = by_name(name).unwrap();
        let column = |(title, aggregation): &(&str, &str)| {
            let guid = graph.by_name(title).and_then(|column| column.guid);
            format!(
                "<Column Guid=\"{}\" Name=\"{title}\" IsVisible=\"true\" AggregationMode=\"{aggregation}\"/>",
                guid.unwrap_or("")
            )
        };
        let columns: String = columns.iter().map(column).collect();
        let filter = filter.replace('&', "&amp;").replace('"', "&quot;");
        let filter = filter.replace('<', "&lt;");
        let text = format!(
            "<WpaProfileContainer Version=\"2\"><Content><Views><View Title=\"All\" IsVisible=\"true\"><Graphs>\
             <Graph Guid=\"{}\" Name=\"{name}\"><Preset Name=\"x\" KeyColumnCount=\"{keys}\" \
             InitialFilterQuery=\"{filter}\" InitialFilterShouldKeep=\"true\"><Columns>{columns}</Columns></Preset></Graph>\
             </Graphs></View></Views></Content></WpaProfileContainer>",
            graph.guid.unwrap_or("")
        );
        let file = self.folder.path().join("x.wpaProfile");
        std::fs::write(&file, text).unwrap();
        let args = ProfileArgs {
            profiles: vec![file.to_str().unwrap().to_owned()],
            ..ProfileArgs::default()
        };
        self.export(&args, None)
    }

    /// One number of the extract.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let rows: Vec<Number> = ask(
            &self.session(),
            &format!("SELECT CAST(({sql}) AS BIGINT) AS number"),
        )
        .unwrap();
        rows[0].number.unwrap_or_default()
    }

    /// Numbers of the extract by a text.
    pub(crate) fn numbers(&self, sql: &str) -> BTreeMap<String, i64> {
        let rows: Vec<Named> = ask(&self.session(), sql).unwrap();
        rows.into_iter().map(|row| (row.name, row.number)).collect()
    }
}

etwkit_question::declare! {
    /// A number.
    row Number {
        number: Option<i64> = "The number.",
    }

    /// A number with its name.
    row Named {
        name: String = "The name.",
        number: i64 = "The number.",
    }
}

impl CommandOutput for Place {
    fn line(&mut self, line: &str) -> Result<()> {
        self.lines.push(line.to_owned());
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    fn json_start(&mut self, _command: &str) {}

    fn json(&mut self, value: &Value) -> Result<()> {
        self.json.push(value.clone());
        Ok(())
    }
}

impl ExportFrontEnd for Place {
    fn open(&mut self, path: &Path) -> Result<Arc<Session>> {
        Ok(Arc::new(self.engine.open(
            &Asking::default(),
            &[path.to_owned()],
            &mut self.notes,
        )?))
    }

    fn write_file(
        &mut self,
        file: &Path,
        _force: bool,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<bool>,
    ) -> Result<()> {
        let mut rows: Vec<u8> = Vec::new();
        if write(&mut rows)? {
            std::fs::write(file, rows)?;
        }
        Ok(())
    }
}

/// A file of CSV.
pub(crate) struct Csv {
    pub(crate) titles: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Csv {
    fn read(path: &Path) -> Self {
        let mut reader = csv::Reader::from_path(path).unwrap();
        let titles = reader
            .headers()
            .unwrap()
            .iter()
            .map(str::to_owned)
            .collect();
        let rows = reader
            .records()
            .map(|row| row.unwrap().iter().map(str::to_owned).collect())
            .collect();
        Self { titles, rows }
    }

    fn place(&self, title: &str) -> usize {
        self.titles
            .iter()
            .position(|known| known == title)
            .unwrap_or_else(|| panic!("{title}: {:?}", self.titles))
    }

    /// The values of a column.
    pub(crate) fn column(&self, title: &str) -> Vec<&str> {
        let place = self.place(title);
        self.rows.iter().map(|row| row[place].as_str()).collect()
    }

    /// The sum of a column, in units of its last digit.
    pub(crate) fn sum(&self, title: &str) -> i64 {
        self.column(title).into_iter().map(digits).sum()
    }

    /// Sums of a column by another one.
    pub(crate) fn sums(&self, by: &str, title: &str) -> BTreeMap<String, i64> {
        let mut sums = BTreeMap::new();
        for (name, value) in self.column(by).into_iter().zip(self.column(title)) {
            *sums.entry(name.to_owned()).or_default() += digits(value);
        }
        sums
    }
}

/// A number without its point; an empty text is not a number.
fn digits(text: &str) -> i64 {
    if text.is_empty() {
        0
    } else {
        text.replace('.', "")
            .parse()
            .unwrap_or_else(|_| panic!("{text:?}"))
    }
}
