//! What an answer without rows says: what was asked, what there is, and what was probably meant.
//!
//! What was asked is read from the command line, the same way for all questions, so that no question can
//! forget it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, CommandFactory};
use etwkit_query::dump::ask;
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::filter::{ProcessFilter, TextFilter};
use etwkit_query::range::Part;
use etwkit_query::{Session, similar};
use serde_json::json;

use crate::cli::Cli;
use crate::extracts::open_extracts;
use crate::printer::{Printer, grouped};

/// Extracts that are looked into for what was meant.
const LOOKED_INTO: usize = 16;
/// Different names that are compared with what was asked.
const COMPARED: usize = 20_000;

/// Names that are listed where none is similar, if there are no more.
const LISTED: usize = 8;

/// What an option chooses among.
enum Among {
    /// Processes, by the patterns of a process filter.
    Processes,
    /// Texts: what they are called, and their SQL, with the column `text`.
    Texts(&'static str, &'static str),
    /// Seconds of the trace.
    Time,
}

/// What the options choose among that most questions have. The first word is that of the dump, or `*`.
const OPTIONS: [(&str, &str, Among); 21] = [
    ("*", "process", Among::Processes),
    ("*", "related_process", Among::Processes),
    ("*", "parent", Among::Processes),
    ("*", "cmdline", Among::Texts("command line", "SELECT command_line AS text FROM process")),
    ("lbr", "methods", Among::Texts("method", "SELECT callee AS text FROM lbr_method")),
    (
        "cpu",
        "methods",
        Among::Texts(
            "method",
            "SELECT method AS text FROM cpu_method UNION SELECT concat(module, '!', method) FROM cpu_method",
        ),
    ),
    ("*", "stack_tags", Among::Texts("stack tag", "SELECT tag AS text FROM cpu_tag")),
    ("*", "tag", Among::Texts("stack tag", "SELECT tag AS text FROM cpu_tag")),
    ("*", "thread", Among::Texts("thread", "SELECT CAST(tid AS VARCHAR) AS text FROM thread")),
    ("*", "tid", Among::Texts("thread", "SELECT CAST(tid AS VARCHAR) AS text FROM thread")),
    ("*", "dll", Among::Texts("module", "SELECT name AS text FROM module")),
    ("disk", "file", Among::Texts("file", "SELECT path AS text FROM disk_file")),
    ("file", "file", Among::Texts("file", "SELECT path AS text FROM file_file")),
    ("dns", "query", Among::Texts("name", "SELECT name AS text FROM dns_query")),
    ("tracelog", "provider", Among::Texts("provider", "SELECT provider AS text FROM generic_event")),
    ("registry", "key", Among::Texts("key", "SELECT key AS text FROM registry_key")),
    ("syscall", "function", Among::Texts("function", "SELECT function AS text FROM syscall_function")),
    ("exception", "type", Among::Texts("type of exception", "SELECT exception_type AS text FROM exception")),
    ("exception", "message", Among::Texts("message", "SELECT message AS text FROM exception")),
    ("mark", "marker_filter", Among::Texts("mark", "SELECT text FROM mark")),
    ("*", "range", Among::Time),
];

/// An option of the command line that chooses among rows.
struct Given {
    /// As it was written.
    option: String,
    value: String,
    among: Option<&'static Among>,
}

/// Says why the answer of the command line of this printer is empty.
pub(crate) fn explain(printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let (line, extracts) = printer.asked();
    let Some((given, is_json)) = given(&line) else { return Ok(()) };
    if extracts.is_empty() {
        return Ok(());
    }
    let sentence = sentence(&given, &extracts, printer)?;
    if is_json {
        printer.json(&json!({ "nothing": sentence }))?;
    }
    printer.note(&sentence);
    Ok(())
}

/// The options of a line that choose among rows, and whether it asks for JSON.
fn given(line: &[OsString]) -> Option<(Vec<Given>, bool)> {
    let root = Cli::command();
    let matches = root.clone().try_get_matches_from(line).ok()?;
    let (mut command, mut matches, mut dump) = (&root, &matches, "");
    while let Some((name, inner)) = matches.subcommand() {
        (dump, matches) = (name, inner);
        command = command.find_subcommand(name)?;
    }
    let is_json = matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false);
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let options = command.get_arguments().filter(|arg| is_given(arg.get_id().as_str()));
    let chooses = options.filter(|arg| arg.get_help_heading().is_none() && !arg.is_hide_set());
    let all = chooses.filter_map(|arg| {
        let id = arg.get_id().as_str();
        // A flag stands alone.
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        let value = if is_flag { String::new() } else { value(matches, id)? };
        let among =
            OPTIONS.iter().find(|(of, name, _)| *name == id.replace('-', "_") && (*of == "*" || *of == dump));
        Some(Given { option: format!("--{}", arg.get_long()?), value, among: among.map(|(.., among)| among) })
    });
    // How many rows, and of what, is no choice among them.
    Some((all.filter(|one| !NO_CHOICE.contains(&one.option.as_str())).collect(), is_json))
}

/// Options that change how rows are put together, sorted or cut, so that they do not empty an answer by
/// themselves.
const NO_CHOICE: [&str; 14] = [
    "--by",
    "--sort-by",
    "--top",
    "--recursive",
    "--show-total",
    "--top-stacks",
    "--top-methods",
    "--idle",
    "--show-module",
    "--show-stack",
    "--first-last",
    "--zero-time",
    "--stack-tag-file",
    "--rename-rules",
];

fn value(matches: &ArgMatches, id: &str) -> Option<String> {
    let values = matches.try_get_raw(id).ok().flatten()?;
    let values: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
    Some(values.join(" "))
}

fn sentence(given: &[Given], extracts: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<String> {
    let of = match extracts {
        [one] => one.display().to_string(),
        several => format!("{} extracts", several.len()),
    };
    if given.is_empty() {
        return Ok(format!("there is none of it in {of}"));
    }
    let options: Vec<String> =
        given.iter().map(|one| format!("{} {}", one.option, one.value).trim_end().to_owned()).collect();
    let asked = format!("nothing in {of} fits {}", options.join(" "));
    let looked_into = extracts.get(..LOOKED_INTO).unwrap_or(extracts);
    let session = open_extracts(looked_into, printer)?;
    let mut why = Vec::new();
    for one in given {
        why.extend(match &one.among {
            Some(Among::Processes) => no_process(&session, &one.value)?,
            Some(Among::Texts(what, sql)) => no_text(&session, what, sql, &one.value)?,
            Some(Among::Time) => outside(&session, &one.value)?,
            None => None,
        });
    }
    Ok(match (why.as_slice(), given) {
        ([], [_]) => asked,
        ([], _) => format!("{asked}, all of it together"),
        _ => format!("{asked}: {}", why.join("; ")),
    })
}

etwkit_query::declare! {
    /// A process.
    row ProcessName {
        name: Option<String> = "Name, if it is known.",
        pid: Option<i64> = "Process id.",
    }

    /// A name that a filter is compared with.
    row TextRow {
        text: Option<String> = "The name.",
    }
}

/// That no process passes a filter, and which ones are called nearly so.
fn no_process(session: &Session, filter: &str) -> anyhow::Result<Option<String>> {
    let sql = format!("SELECT DISTINCT name, pid FROM process ORDER BY name, pid LIMIT {COMPARED}");
    let all: Vec<ProcessName> = ask(session, &sql)?;
    let wanted = ProcessFilter::parse(filter);
    let pid = |row: &ProcessName| row.pid.and_then(|pid| i32::try_from(pid).ok());
    if all.iter().any(|row| wanted.matches(row.name.as_deref(), pid(row))) {
        return Ok(None);
    }
    let called = |row: &ProcessName| match (&row.name, row.pid) {
        (Some(name), Some(pid)) => Some(format!("{name} ({pid})")),
        (name, _) => name.clone(),
    };
    let names: Vec<String> = all.iter().filter_map(called).collect();
    Ok(Some(none_fits("process", "processes", filter, &names, all.len())))
}

/// That none of these texts passes a filter, and which ones are nearly so.
fn no_text(session: &Session, what: &str, sql: &str, filter: &str) -> anyhow::Result<Option<String>> {
    let sql =
        format!("SELECT DISTINCT text FROM ({sql}) WHERE text IS NOT NULL ORDER BY text LIMIT {COMPARED}");
    let all: Vec<TextRow> = ask(session, &sql)?;
    let names: Vec<String> = all.into_iter().filter_map(|row| row.text).collect();
    let wanted = TextFilter::parse(filter);
    if names.iter().any(|name| wanted.matches(Some(name))) {
        return Ok(None);
    }
    Ok(Some(none_fits(what, &plural(what), filter, &names, names.len())))
}

fn plural(what: &str) -> String {
    match what {
        "type of exception" => "types of exceptions".to_owned(),
        what => format!("{what}s"),
    }
}

fn none_fits(what: &str, several: &str, filter: &str, names: &[String], count: usize) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let close = similar(filter, &names);
    let meant = match close.as_slice() {
        [] if (1..=LISTED).contains(&names.len()) => format!(": {}", names.join(", ")),
        [] => String::new(),
        close => format!(", similar: {}", close.join(", ")),
    };
    let what_there_is = match count {
        0 => format!("there are no {several}"),
        1 => format!("there is 1 {what}"),
        count if count >= COMPARED => format!("there are more than {} {several}", grouped(COMPARED as u64)),
        count => format!("there are {} {several}", grouped(count as u64)),
    };
    format!("no {what} fits {filter} ({what_there_is}{meant})")
}

/// That a range lies outside the trace.
fn outside(session: &Session, text: &str) -> anyhow::Result<Option<String>> {
    let Ok(part) = Part::parse(text) else { return Ok(None) };
    let info = TraceInfo::ask(session)?;
    let Ok(range) = part.place(text, info.clock(), info.duration_ns) else { return Ok(None) };
    let length = info.duration_ns as f64 / 1e9;
    let is_outside = range.min > info.duration_ns || range.max < 0;
    Ok(is_outside.then(|| format!("the trace goes from 0 to {length:.3} s")))
}
