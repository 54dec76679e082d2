//! The work of both command lines: a file for each trace, part of it and table of the profiles.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use etwkit_analysis::region::Manifest;
use etwkit_base::path::stem_of;
use etwkit_engine::{InputKind, named, read_rules};
use etwkit_question::NamedFile;
use etwkit_question::range::TracePart;
use etwkit_question::{ask, has_rows, is_recorded_but_empty};
use etwkit_sql::Session;
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;
use serde_json::json;

use crate::wpa::args::{LineArgs, ProfileArgs};
use crate::wpa::catalog::{self, Graph};
use crate::wpa::front::ExportFrontEnd;
use crate::wpa::line::{Does, ExporterLine, OPTIONS};
use crate::wpa::names::Names;
use crate::wpa::part::{Part, View, views};
use crate::wpa::plan::{Plan, graph, is_guessed, plan};
use crate::wpa::profile::{Preset, Profile};
use crate::wpa::{regions, rows, shipped};

/// Options of `etwkit export` in addition to [`ProfileArgs`].
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// Only this part of the trace.
    pub range: Option<&'a str>,
    /// The folder to write into; `None` for the folder of the trace.
    pub folder: Option<&'a Path>,
    /// True if existing files are replaced.
    pub force: bool,
    /// True if JSON is printed.
    pub json: bool,
}

/// The work to do.
#[derive(Debug)]
struct Job {
    /// Traces and extracts.
    traces: Vec<PathBuf>,
    profiles: Vec<Profile>,
    /// The folder to write into; `None` for the folder of each trace.
    folder: Option<PathBuf>,
    prefix: String,
    part: Part,
    regions: Option<NamedFile<Manifest>>,
    delimiter: u8,
    single_rows: bool,
    force: bool,
    json: bool,
}

/// Runs `etwkit export --profile`.
///
/// # Errors
/// A profile or trace cannot be read, the marks or regions do not exist, no graph of the profiles
/// is known here, or a file cannot be written.
pub fn export(
    args: &ProfileArgs,
    traces: &[PathBuf],
    output: Output<'_>,
    front: &mut dyn ExportFrontEnd,
) -> Result<Exit> {
    let part = match (output.range, &args.from_mark, &args.to_mark, &args.region) {
        (Some(range), ..) => Part::Range(range.to_owned(), TracePart::parse(range)?),
        (_, Some(from), Some(to), _) => Part::Marks(from.clone(), to.clone()),
        (.., Some(region)) => Part::Region(region.clone()),
        _ => Part::All,
    };
    let job = Job {
        traces: traces.to_vec(),
        profiles: args
            .profiles
            .iter()
            .map(|name| profile(name))
            .collect::<Result<_>>()?,
        folder: output.folder.map(Path::to_owned),
        prefix: args.prefix.clone(),
        part,
        regions: args.regions.as_deref().map(manifest).transpose()?,
        delimiter: b',',
        single_rows: args.rows,
        force: output.force,
        json: output.json,
    };
    job.run(front)
}

/// Runs a command line of `wpaexporter`.
///
/// # Errors
/// The line is wrong, or an error of [`export`].
pub fn wpaexporter(args: &LineArgs, front: &mut dyn ExportFrontEnd) -> Result<Exit> {
    let line = ExporterLine::parse(&args.args)?;
    if line.help {
        help().iter().try_for_each(|line| front.line(line))?;
        return Ok(Exit::Answered);
    }
    line.notes.iter().for_each(|note| front.note(note));
    let job = Job {
        profiles: line
            .profiles
            .iter()
            .map(|name| profile(name))
            .collect::<Result<_>>()?,
        regions: line.regions.as_deref().map(manifest).transpose()?,
        traces: line.traces,
        // `wpaexporter` writes into the current folder by default, unlike `etwkit export`.
        folder: Some(line.folder.unwrap_or_else(|| PathBuf::from("."))),
        prefix: line.prefix,
        part: line.part,
        delimiter: line.delimiter.unwrap_or(b','),
        single_rows: false,
        // Scripts run it repeatedly. Traces and extracts are never replaced.
        force: true,
        json: false,
    };
    job.run(front)
}

/// Returns the options of `wpaexporter` and their treatment.
fn help() -> Vec<String> {
    let mut lines = vec![
        "wpaexporter -i TRACE… -profile FILE|NAME [OPTIONS]".to_owned(),
        String::new(),
    ];
    for option in OPTIONS {
        let names: Vec<String> = option.names.iter().map(|name| format!("-{name}")).collect();
        let does = match option.does {
            Does::Ours(what) => what.to_owned(),
            Does::Nothing(why) => format!("changes nothing: {why}"),
            Does::Refused(why) => format!("refused: {why}"),
        };
        lines.push(format!("{:<26} {does}", names.join(", ")));
    }
    lines
}

/// Reads a profile: a file, or a built-in one by its name.
fn profile(name: &str) -> Result<Profile> {
    // A file of the user takes precedence over a built-in profile: a user with a file named `cpu`
    // means that file.
    let file = Path::new(name);
    match shipped::by_name(name) {
        Some(ours) if !file.is_file() => Ok(ours.read()?),
        None if !file.exists() => {
            let ours: Vec<&str> = shipped::SHIPPED.iter().map(|ours| ours.name).collect();
            Err(advised(
                format!("there is no profile {name}"),
                format!("name a file, or one of ours: {}", ours.join(", ")),
            ))
        }
        _ => Ok(read_rules(file, Profile::parse)?),
    }
}

fn manifest(file: &str) -> Result<NamedFile<Manifest>> {
    Ok(NamedFile::from(read_rules(
        Path::new(file),
        Manifest::parse,
    )?))
}

/// Number of tables by outcome.
#[derive(Debug, Default)]
struct Done {
    written: u64,
    empty: u64,
}

impl Job {
    fn run(&self, front: &mut dyn ExportFrontEnd) -> Result<Exit> {
        let traces = named(&self.traces, InputKind::Answers, false)?;
        if self.json {
            front.json_start("export");
        }
        self.note_files(front);
        let mut done = Done::default();
        let mut given = BTreeMap::new();
        for trace in &traces {
            // One session for all parts and tables of a trace: opening it may have extracted the
            // trace.
            let session = front.open(trace)?;
            let parts = views(&self.part, self.regions.as_ref(), &session)?;
            let folder = folder(self.folder.as_deref(), trace);
            let of_trace = match traces.len() {
                0..=1 => String::new(),
                _ => prefix_of_trace(&mut given, &folder, &stem_of(trace)),
            };
            for (prefix, view) in &parts {
                // One set of names for all profiles: two of them may have the same preset.
                let mut names = Names::new(&format!("{}{of_trace}{prefix}", self.prefix))?;
                let presets = self.profiles.iter().flat_map(|profile| &profile.presets);
                for preset in presets {
                    self.table(
                        preset,
                        &folder,
                        &mut names,
                        (&session, view),
                        front,
                        &mut done,
                    )?;
                }
            }
        }
        // Tables without rows are an answer. A profile without any known table is an error, since a
        // script would otherwise continue without its files.
        match done {
            Done { written: 1.., .. } => Ok(Exit::Answered),
            Done { empty: 1.., .. } => Ok(Exit::Nothing),
            Done { .. } => Err(advised(
                "nothing of the profile can be written here",
                "`etwkit docs wpaexporter` lists the graphs and columns that can",
            )),
        }
    }

    /// Tells what could not be followed in the profiles and in the file of regions.
    fn note_files(&self, front: &mut dyn ExportFrontEnd) {
        let profiles = self.profiles.iter();
        let mut lines: Vec<String> = profiles
            .flat_map(|profile| profile.warnings.lines())
            .collect();
        let manifest = self.regions.as_ref().and_then(|file| file.content.as_ref());
        lines.extend(manifest.map_or_else(Vec::new, |manifest| manifest.warnings().lines()));
        lines.iter().for_each(|line| front.note(line));
    }

    /// Writes one table and reports the outcome.
    fn table(
        &self,
        preset: &Preset,
        folder: &Path,
        names: &mut Names,
        (session, view): (&Session, &View),
        front: &mut dyn ExportFrontEnd,
        done: &mut Done,
    ) -> Result<()> {
        let plan = match self.planned(preset, view) {
            Ok(plan) => plan,
            Err(why) => return self.note_left_out(preset, &why, front),
        };
        if is_guessed(preset) {
            let guid = preset.graph_guid.as_deref().unwrap_or("without a GUID");
            let name = plan.graph.name;
            front.note(&format!(
                "graph {guid} is not known here: it is read as {name}, to which its columns belong"
            ));
        }
        let file = folder.join(names.file(plan.graph.name, &preset.name));
        let rows = self.write(&plan, &file, (session, view), front)?;
        if rows == 0 {
            done.empty += 1;
            return self.note_left_out(preset, &nothing(plan.graph, session)?, front);
        }
        done.written += 1;
        let name = file.display().to_string();
        if self.json {
            let graph = plan.graph.name;
            let left_out = &plan.left_out;
            let table = json!({"file": name, "graph": graph, "preset": preset.name, "rows": rows,
                "left_out": left_out, "sql": plan.sql});
            return front.json(&table);
        }
        front.line(&format!(
            "{name}: {rows} {}",
            if rows == 1 { "row" } else { "rows" }
        ))?;
        plan.left_out
            .iter()
            .try_for_each(|what| front.line(&format!("  left out: {what}")))
    }

    fn planned(&self, preset: &Preset, view: &View) -> Result<Plan, String> {
        let Some(graph) = graph(preset) else {
            let guid = preset
                .graph_guid
                .as_deref()
                .or(preset.element.as_deref())
                .unwrap_or("without a GUID");
            let names: Vec<&str> = preset
                .columns
                .iter()
                .filter(|shown| shown.is_visible)
                .map(|shown| shown.name.as_str())
                .collect();
            if let Some(known) = catalog::other(guid) {
                return Err(format!(
                    "graph {} is not modelled: extracts have no rows for it, even if the trace has \
                     its events (recorded by {})",
                    known.name, known.recorded_by
                ));
            }
            return Err(format!(
                "graph {guid} is not known here; its columns: {}",
                names.join(", ")
            ));
        };
        let has_regions = self.regions.is_some();
        if graph.table == regions::TABLE && !has_regions {
            return Err(
                "no file defines regions: name one with --regions FILE (wpaexporter: -regionsxml)"
                    .to_owned(),
            );
        }
        let mut plan = plan(preset, graph, view, self.single_rows)?;
        if !has_regions && plan.sql.contains(regions::ACTIVITY_JOIN) {
            plan.left_out.push(
                "activities, which are regions of interest: name a file of them with --regions FILE (wpaexporter: -regionsxml)".to_owned(),
            );
        }
        Ok(plan)
    }

    /// Writes the file if there are rows.
    fn write(
        &self,
        plan: &Plan,
        file: &Path,
        (session, view): (&Session, &View),
        front: &mut dyn ExportFrontEnd,
    ) -> Result<u64> {
        if let Some(folder) = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let mut rows = 0;
        front.write_file(file, self.force, &mut |out| {
            rows = rows::write(plan, view.capacity_ns(), self.delimiter, session, out)?;
            // Otherwise a file with only titles would remain.
            Ok(rows > 0)
        })?;
        Ok(rows)
    }

    fn note_left_out(
        &self,
        preset: &Preset,
        why: &str,
        front: &mut dyn ExportFrontEnd,
    ) -> Result<()> {
        let of = graph(preset).map(|graph| graph.name);
        if self.json {
            let guid = &preset.graph_guid;
            let table =
                json!({"graph": of, "graph_guid": guid, "preset": preset.name, "not_written": why});
            return front.json(&table);
        }
        let graph = of.map_or_else(String::new, |name| format!("{name}, "));
        front.line(&format!("not written: {graph}{}: {why}", preset.name))
    }
}

etwkit_question::declare! {
    /// What records a topic.
    row Topic {
        recorded_by: String = "Keywords of the kernel logger, or a provider.",
    }
}

/// Returns the reason why a table has no rows.
fn nothing(graph: &Graph, session: &Session) -> Result<String> {
    let table = graph.table;
    if session.leaves_out(table) {
        return Ok(
            "the extract is a summary, which has no single rows; `etwkit extract` makes a full one"
                .to_owned(),
        );
    }
    // Regions are not a table of the extract: they come from the file that the line names.
    let is_there = table == regions::TABLE || has_rows(session, table)?;
    if is_there {
        return Ok("no rows, in this part of the trace and with this filter".to_owned());
    }
    if is_recorded_but_empty(session, table)? {
        return Ok(format!(
            "it was recorded, and the extract has none of it (table {table} is empty)"
        ));
    }
    let sql = format!(
        "SELECT recorded_by FROM topic WHERE NOT is_recorded AND recorded_by IS NOT NULL
         AND contains(concat(';', tables, ';'), ';{table};')"
    );
    let how = ask::<Topic>(session, &sql)?.into_iter().next();
    Ok(match how {
        Some(Topic { recorded_by }) => format!(
            "nothing of it was recorded (table {table} is empty; to record it: {recorded_by})"
        ),
        None if session.is_of_part()? => {
            format!("this part of the trace has none of it (table {table} is empty)")
        }
        None => format!("nothing of it was recorded (table {table} is empty)"),
    })
}

/// Returns the folder of the files of a trace.
fn folder(named: Option<&Path>, trace: &Path) -> PathBuf {
    named
        .or_else(|| trace.parent())
        .unwrap_or(Path::new(""))
        .to_owned()
}

/// What the files of one of several traces begin with. Traces of one name in different folders, and a trace
/// beside its extract, would otherwise replace each other's files where these go to one folder.
fn prefix_of_trace(
    given: &mut BTreeMap<(PathBuf, String), usize>,
    folder: &Path,
    stem: &str,
) -> String {
    // Names that differ only in case are the same on Windows.
    let times = given
        .entry((folder.to_owned(), stem.to_lowercase()))
        .or_default();
    *times += 1;
    match *times {
        1 => format!("{stem}_"),
        again => format!("{stem}_({})_", again - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_one_name_do_not_replace_each_others_files() {
        let mut given = BTreeMap::new();
        let mut prefix =
            |folder: &str, stem: &str| prefix_of_trace(&mut given, Path::new(folder), stem);
        assert_eq!(
            [prefix("out", "slow"), prefix("out", "Slow")],
            ["slow_", "Slow_(1)_"]
        );
        assert_eq!(
            [prefix("a", "slow"), prefix("out", "fast")],
            ["slow_", "fast_"]
        );
    }
}
