//! The tools of ETWAnalyzer's `-mcp`, under their names and with their arguments: each call becomes
//! a command line of ETWAnalyzer, which is translated and answered like one from the terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use etwkit_base::lock::lock;
use etwkit_base::path::name_of;
use etwkit_base::shell;
use etwkit_compat::console::{dumps, fits, found, native, switch, switches};
use etwkit_engine::question;
use etwkit_question::{AnyQuestion, Values};
use etwkit_terminal::Exit;
use serde_json::{Value, json};

use crate::mcp::arguments::Arguments;
use crate::mcp::evidence::Evidence;
use crate::mcp::problem::{Problem, Result};
use crate::mcp::reply;
use crate::mcp::shared::{Call, EXTRACTION, QUESTION};
use crate::mcp::tool::{Answer, Tool, Work};
use crate::mcp::traces::Trace;
use crate::said;

/// Names of the `-dump` questions in ETWAnalyzer's tools.
const DUMPS: [&str; 18] = [
    "cpu",
    "process",
    "exception",
    "memory",
    "disk",
    "file",
    "dns",
    "tcp",
    "marker",
    "threadpool",
    "power",
    "stats",
    "version",
    "objectref",
    "virtualalloc",
    "lbr",
    "pmc",
    "tracelog",
];

/// Prefix of the names of those tools.
const DUMP: &str = "etw_dump_";

/// Switches that change the command of a line, and switches that write files to arbitrary paths.
const NOT_HERE: [&str; 11] = [
    "dump",
    "extract",
    "convert",
    "converttime",
    "loadsymbol",
    "console",
    "mcp",
    "analyze",
    "csv",
    "copyfilesto",
    "clip",
];

/// Largest number of loaded files whose tables an answer names.
const MOST_NAMED: usize = 4;

/// Returns the tools.
pub(crate) fn tools() -> Vec<Tool> {
    let files = "Paths, folders or queries such as C:\\Extract\\*slow*, with commas between";
    let server = "Symbol server or path: MS, Google, syngo, NtSymbolPath, or folders";
    let more = "More switches of -extract";
    let trace = "Trace (.etl, .etl.gz, .zip, .7z, .cab) or folder with traces";
    let mut all = vec![
        tool(
            "etw_load",
            "Loads traces or extracts (.etl, .etwx, .json7z), which the etw_dump_ tools ask.",
            &[
                ("filePaths", files),
                ("keepOldFiles", ""),
                ("recursive", ""),
            ],
            &["filePaths"],
            load,
        ),
        tool(
            "etw_unload",
            "Forgets loaded files, or all.",
            &[("filePaths", files)],
            &[],
            unload,
        ),
        tool("etw_list", "The loaded files.", &[], &[], |call, _, _| {
            Ok(listed(call))
        }),
    ];
    all.extend(DUMPS.iter().map(|dump| dump_tool(dump)));
    all.push(Tool {
        most: EXTRACTION,
        writes: true,
        ..tool(
            "etw_extract",
            "Extracts traces into a folder Extract next to them; etw_load loads the files that it names.",
            &[
                ("etlFile", trace),
                ("extractors", "All, or several words"),
                ("symbolServer", server),
                ("arguments", more),
            ],
            &["etlFile"],
            extract,
        )
    });
    all.push(Tool {
        most: EXTRACTION,
        writes: true,
        ..tool(
            "etw_extract_timerange",
            "Extracts parts of traces, each into an extract of its own.",
            &[
                ("etlFile", trace),
                (
                    "regions",
                    "Start and end of each part in seconds: 1.0 2.0 3.0 +2",
                ),
                ("extractors", "All, or several words"),
                ("symbolServer", server),
                ("arguments", more),
            ],
            &["etlFile", "regions"],
            extract,
        )
    });
    let command = [("command", "A sub command of -dump, such as cpu")];
    all.push(tool(
        "etw_help",
        "Help for -dump: switches and examples.",
        &command,
        &[],
        help,
    ));
    all
}

fn tool(
    name: &str,
    sentence: &str,
    arguments: &[(&str, &str)],
    required: &'static [&'static str],
    work: Work,
) -> Tool {
    let one = |(name, sentence): &(&str, &str)| {
        let schema = if sentence.is_empty() {
            json!({"type": "boolean", "default": false})
        } else {
            json!({"type": "string", "description": sentence})
        };
        ((*name).to_owned(), schema)
    };
    Tool {
        name: name.to_owned(),
        sentence: sentence.to_owned(),
        arguments: arguments.iter().map(one).collect::<Values>(),
        required,
        most: QUESTION,
        writes: false,
        question: None,
        work,
    }
}

fn dump_tool(dump: &str) -> Tool {
    let question = native(dump).and_then(question);
    let sentence = question.map_or("", AnyQuestion::sentence);
    let sentence = format!("-dump {dump} of the loaded files. {sentence}.");
    let some = some_switches(dump);
    let arguments =
        format!("Switches of -dump {dump} as ETWAnalyzer has them{some}; etw_help explains them");
    Tool {
        question,
        ..tool(
            &format!("{DUMP}{dump}"),
            &sentence,
            &[("arguments", &arguments)],
            &[],
            ask,
        )
    }
}

/// Returns a few switches of this subcommand.
fn some_switches(dump: &str) -> String {
    let some: Vec<String> = switches(dump)
        .iter()
        .take(5)
        .map(|name| format!("-{name}"))
        .collect();
    if some.is_empty() {
        String::new()
    } else {
        format!(", such as {}", some.join(" "))
    }
}

fn loaded<'c>(call: &Call<'c>) -> MutexGuard<'c, Vec<PathBuf>> {
    lock(&call.shared.loaded)
}

fn listed(call: &Call<'_>) -> Answer {
    let all: Vec<String> = loaded(call)
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    [("loaded".to_owned(), all.into())].into_iter().collect()
}

fn named(given: Arguments<'_>) -> Result<Vec<String>> {
    let all = given.text("filePaths")?.unwrap_or("");
    Ok(all
        .split(',')
        .map(str::trim)
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect())
}

fn load(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let is_recursive = given.flag("recursive")?;
    let keeps = given.flag("keepOldFiles")?;
    let paths = found(&named(given)?, is_recursive).map_err(|error| of_line(&error))?;
    // Lines may run much later. The meaning of a relative path must not depend on the current
    // folder at that time.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let paths: Vec<PathBuf> = paths.into_iter().map(absolute).collect();
    let mut all = loaded(call);
    if !keeps {
        all.clear();
    }
    for path in paths {
        if !all.contains(&path) {
            all.push(path);
        }
    }
    drop(all);
    Ok(listed(call))
}

fn unload(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let queries = named(given)?;
    let goes = |path: &PathBuf| queries.is_empty() || queries.iter().any(|query| fits(query, path));
    loaded(call).retain(|path| !goes(path));
    Ok(listed(call))
}

fn ask(call: &Call<'_>, given: Arguments<'_>, tool: &Tool) -> Result<Answer> {
    let files = loaded(call).clone();
    if files.is_empty() {
        return Err(
            Problem::bad("no file is loaded").with_hint("`etw_load` loads traces and extracts")
        );
    }
    let dump = tool.name.strip_prefix(DUMP).unwrap_or("");
    let mut line = vec!["-dump".to_owned(), dump.to_owned()];
    line.extend(more_words(given.text("arguments")?)?);
    // Files that the line itself names replace the loaded ones. Only the line knows them, so the
    // answer does not name its source files.
    let names_files = line.iter().any(|word| is_switch(word, &["fd", "filedir"]));
    if !names_files {
        line.extend(
            files
                .iter()
                .flat_map(|file| ["-fd".to_owned(), file.display().to_string()]),
        );
    }
    // Escape sequences are noise for an agent, and would be escaped to text.
    line.push("-nocolor".to_owned());
    let mut answer = run(call, &line)?;
    let mut evidence = Evidence::default();
    if let (Some(question), false) = (tool.question, names_files) {
        // A question that needs options has no SQL without them.
        let sql = question
            .read(&Values::new())
            .map_or_else(|_| String::new(), |request| request.show_sql());
        for file in files.iter().take(MOST_NAMED) {
            rests_on(call, file, &sql, &mut evidence)?;
        }
        evidence.of_question(question.name());
    }
    answer.extend(evidence.json());
    Ok(answer)
}

/// Adds the tables from which an answer of a loaded file was measured.
fn rests_on(call: &Call<'_>, file: &Path, sql: &str, evidence: &mut Evidence) -> Result<()> {
    let extract = call
        .shared
        .engine
        .extract_of(call.asking, file, &mut Vec::new())?;
    let handle = name_of(file);
    let trace = Trace {
        handle,
        named: file.to_owned(),
        extract,
    };
    evidence.of_sql(&call.session(&trace)?, &trace.handle, sql);
    Ok(())
}

fn extract(call: &Call<'_>, given: Arguments<'_>, tool: &Tool) -> Result<Answer> {
    let regions = given.text("regions")?;
    let usual = if regions.is_some() {
        "CPU Disk File TCP Stacktag"
    } else {
        "All"
    };
    let mut line = vec!["-extract".to_owned()];
    line.extend(more_words(Some(
        given.text("extractors")?.unwrap_or(usual),
    ))?);
    line.extend([
        "-fd".to_owned(),
        not_refused(given.required("etlFile")?)?.to_owned(),
    ]);
    let server = not_refused(given.text("symbolServer")?.unwrap_or("MS"))?;
    line.extend(["-symserver".to_owned(), server.to_owned()]);
    if let Some(regions) = regions {
        line.push("-extractregion".to_owned());
        line.extend(more_words(Some(regions))?);
    }
    line.extend(more_words(given.text("arguments")?)?);
    line.extend(["-allcpu", "-child", "-nocolor"].map(str::to_owned));
    let mut answer = run(call, &line)?;
    answer.insert("tool".into(), tool.name.as_str().into());
    Ok(answer)
}

fn help(call: &Call<'_>, given: Arguments<'_>, _: &Tool) -> Result<Answer> {
    let command = given.text("command")?.unwrap_or("").trim();
    let known = || dumps().any(|dump| dump.eq_ignore_ascii_case(command));
    if !command.is_empty() && !known() && !command.eq_ignore_ascii_case("marker") {
        let all: Vec<&str> = dumps().collect();
        return Err(Problem::bad(format!(
            "there is no -dump {command}; there are: {}",
            all.join(", ")
        )));
    }
    let words = ["-dump", command, "-help"]
        .into_iter()
        .filter(|word| !word.is_empty());
    run(call, &words.map(str::to_owned).collect::<Vec<_>>())
}

/// Returns the words of an argument. Words that change the command or write a file elsewhere are
/// rejected.
fn more_words(line: Option<&str>) -> Result<Vec<String>> {
    let all = shell::split(line.unwrap_or(""));
    all.iter()
        .try_for_each(|word| not_refused(word).map(|_| ()))?;
    Ok(all)
}

/// Rejects a word that changes the command or writes a file elsewhere.
fn not_refused(word: &str) -> Result<&str> {
    if is_switch(word, &NOT_HERE) {
        let problem = format!("{word} has no place in a tool: expected switches that only ask");
        return Err(
            Problem::bad(problem).with_hint("run the line in a terminal: etwkit takes it there")
        );
    }
    Ok(word)
}

/// True if a word is one of these switches, by ETWAnalyzer's rules: in any case, and with the long
/// dash that word processors put in place of a short one.
fn is_switch(word: &str, switches: &[&str]) -> bool {
    switch(word).is_some_and(|name| switches.contains(&name.as_str()))
}

/// Runs a line and returns its output.
fn run(call: &Call<'_>, line: &[String]) -> Result<Answer> {
    let mut out = Kept::default();
    let mut err = Kept::default();
    let exit = (call.shared.run_line)(line, call.asking, &mut out, &mut err);
    // A canceled line ends like a failed one, but its notes do not explain why.
    if call.asking.cancel.is_asked() {
        return Err(Problem::cancelled());
    }
    let text = out.text();
    let notes = err.text();
    if exit == Exit::Error {
        return Err(
            Problem::bad(notes.trim().to_owned()).with_hint("`etw_help` explains the switches")
        );
    }
    let mut answer = Answer::new();
    answer.insert("text".into(), reply::lines(&text).into());
    answer.insert("found".into(), (exit == Exit::Answered).into());
    let notes: Vec<Value> = notes.lines().map(|note| reply::cut(note).into()).collect();
    answer.insert("notes".into(), notes.into());
    Ok(answer)
}

fn of_line(error: &anyhow::Error) -> Problem {
    let problem = Problem::bad(said(error.as_ref()));
    match error.downcast_ref::<etwkit_compat::LineError>() {
        Some(wrong) => problem.with_hint(wrong.hint.clone()),
        None => problem,
    }
}

/// Largest part of a line's output that is kept, in bytes. The rest would be cut anyway.
const MOST_KEPT: usize = 8 << 20;

/// Output of a line.
#[derive(Debug, Default)]
struct Kept(Vec<u8>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = MOST_KEPT.saturating_sub(self.0.len()).min(bytes.len());
        self.0.extend(bytes.iter().take(room));
        // The rest counts as written: an error would end the line and change its exit code.
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_makes_no_other_command_and_writes_nothing() {
        assert_eq!(
            more_words(Some(r#"-pn "my app" -fd C:\x\y"#)).unwrap(),
            ["-pn", "my app", "-fd", r"C:\x\y"]
        );
        for refused in [
            "-topn 3 -extract all",
            "-CSV out.csv",
            "-Console",
            "-mcp",
            "\u{2013}csv x",
            "-pn a \u{2013}Clip",
        ] {
            assert!(more_words(Some(refused)).is_err(), "{refused}");
        }
    }

    #[test]
    fn every_tool_asks_a_question_that_there_is() {
        for tool in tools().iter().filter(|tool| tool.name.starts_with(DUMP)) {
            assert!(tool.question.is_some(), "{}", tool.name);
        }
        assert_eq!(tools().len(), 24);
    }
}
