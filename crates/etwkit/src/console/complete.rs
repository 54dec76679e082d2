//! Completions of a word: commands, options and their values, files, and names from the loaded
//! files.

use std::cell::RefCell;
use std::rc::Rc;

use clap::{Arg, CommandFactory};
use etwkit_base::shell::{Partial, partial, quoted};
use etwkit_compat::console as etwanalyzer;
use etwkit_engine::Engine;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use super::commands;
use super::names::{self, Kind};
use super::paths::{self, Files};
use super::set::Set;
use super::words::behind_first;
use crate::cli::Cli;

/// Largest number of offered words: longer lists are not read.
const MAX: usize = 500;
const TIME_FORMATS: [&str; 7] = [
    "s",
    "local",
    "localtime",
    "utc",
    "utctime",
    "here",
    "heretime",
];

/// Completes words of a console.
pub(super) struct Completions {
    set: Rc<RefCell<Set>>,
    engine: Engine,
}

impl Completions {
    pub(super) fn new(set: Rc<RefCell<Set>>, engine: Engine) -> Self {
        Self { set, engine }
    }

    /// Returns the start of the text to replace, and its completions.
    fn of(&self, line: &str) -> (usize, Vec<String>) {
        let at = partial(line);
        let Some(first) = at.before.first().map(|first| first.to_lowercase()) else {
            let ours = Cli::command();
            let ours = ours
                .get_subcommands()
                .map(|command| command.get_name().to_owned());
            let dots = commands::COMMANDS.iter().flat_map(|dot| dot.names).copied();
            let dots = dots
                .chain(commands::LEAVE)
                .filter(|name| name.len() > 1)
                .map(str::to_owned);
            return (at.start, beginning(&at.word, dots.chain(ours)));
        };
        let is_sql = first == ".sql" || (first == "sql" && !at.word.starts_with('-'));
        if is_sql {
            return sql(line);
        }
        let found = match first.as_str() {
            ".load" | ".load+" => paths::beginning(&at.word, Files::Loadable),
            ".cd" => paths::beginning(&at.word, Files::Folders),
            ".dir" => paths::beginning(&at.word, Files::All),
            ".unload" => self.loaded(&at.word),
            ".dump" => self.of_dump(&at),
            ".converttime" if at.word.starts_with('-') => {
                beginning(&at.word, ["-time", "-fd"].map(str::to_owned))
            }
            ".converttime" => self.loaded(&at.word),
            ".timefmt" => beginning(&at.word, TIME_FORMATS.map(str::to_owned)),
            ".processfmt" => beginning(
                &at.word,
                TIME_FORMATS
                    .iter()
                    .chain(&["none"])
                    .map(|word| (*word).to_owned()),
            ),
            ".help" | "help" | "?" => {
                let dots = commands::COMMANDS.iter().flat_map(|dot| dot.names).copied();
                beginning(
                    &at.word,
                    dots.chain(etwanalyzer::dumps()).map(str::to_owned),
                )
            }
            first if first.starts_with(['.', '-']) => Vec::new(),
            _ => self.of_ours(&at),
        };
        (at.start, found)
    }

    /// Completes a line of ETWAnalyzer: subcommands, switches and their values.
    fn of_dump(&self, at: &Partial) -> Vec<String> {
        let dump = at.before.iter().skip(1).find(|word| {
            !word.starts_with('-')
                && etwanalyzer::dumps().any(|dump| word.eq_ignore_ascii_case(dump))
        });
        let Some(dump) = dump else {
            return beginning(&at.word, etwanalyzer::dumps().map(str::to_owned));
        };
        if at.word.starts_with('-') {
            let switches = etwanalyzer::switches(dump)
                .into_iter()
                .map(|switch| format!("-{switch}"));
            return beginning(&at.word, switches);
        }
        let switch = at
            .before
            .last()
            .and_then(|word| word.strip_prefix('-'))
            .unwrap_or("");
        let switch = switch.to_lowercase();
        match (switch.as_str(), etwanalyzer::option(dump, &switch)) {
            ("fd" | "filedir", _) => self.loaded(&at.word),
            ("csv", _) => paths::beginning(&at.word, Files::All),
            ("methods", _) => self.names("methods", "", &at.word),
            (_, Some((_, words))) if !words.is_empty() => {
                beginning(&at.word, words.into_iter().map(str::to_owned))
            }
            (_, Some((option, _))) => self.names(option.trim_start_matches('-'), "", &at.word),
            _ => Vec::new(),
        }
    }

    /// Completes a line of ours: commands, options and their values.
    fn of_ours(&self, at: &Partial) -> Vec<String> {
        let mut command = Cli::command();
        for word in &at.before {
            if let Some(sub) = command.find_subcommand(word) {
                command = sub.clone();
            }
        }
        let option = |name: &str| {
            command
                .get_arguments()
                .find(|arg| arg.get_long() == Some(name))
                .cloned()
        };
        if let Some((name, value)) = at
            .word
            .strip_prefix("--")
            .and_then(|word| word.split_once('='))
        {
            return option(name).map_or_else(Vec::new, |arg| {
                self.values(&arg, &format!("--{name}="), value)
            });
        }
        if at.word.starts_with('-') {
            let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
            return beginning(
                &at.word,
                shown.filter_map(|arg| Some(format!("--{}", arg.get_long()?))),
            );
        }
        let last = at
            .before
            .last()
            .and_then(|word| word.strip_prefix("--"))
            .and_then(option);
        if let Some(arg) = last.filter(|arg| arg.get_action().takes_values()) {
            return self.values(&arg, "", &at.word);
        }
        if command.has_subcommands() {
            let names = command
                .get_subcommands()
                .map(|sub| sub.get_name().to_owned());
            return beginning(&at.word, names);
        }
        paths::beginning(&at.word, Files::Loadable)
    }

    fn values(&self, arg: &Arg, head: &str, value: &str) -> Vec<String> {
        let words = arg.get_possible_values();
        if !words.is_empty() {
            let words = words
                .iter()
                .map(|word| format!("{head}{}", word.get_name()));
            return beginning(&format!("{head}{value}"), words);
        }
        // The replaced text starts before the head.
        let with_head = |found: Vec<String>| -> Vec<String> {
            found
                .into_iter()
                .map(|value| format!("{head}{value}"))
                .collect()
        };
        let name = arg.get_long().unwrap_or("");
        match name {
            "out" | "csv" | "stack-tag-file" => with_head(paths::beginning(value, Files::All)),
            "time-format" => with_head(beginning(value, TIME_FORMATS.map(str::to_owned))),
            _ => self.names(name, head, value),
        }
    }

    /// Returns names from the loaded files, for the options that filter by them. In a list the last
    /// part is completed.
    fn names(&self, option: &str, head: &str, value: &str) -> Vec<String> {
        let kind = match option {
            "process" | "zero-process" | "parent" => Kind::Process,
            "methods" | "method" | "butterfly" => Kind::Method,
            _ => return Vec::new(),
        };
        let at = value.rfind([';', '!']).map_or(0, |at| at + 1);
        let (front, begin) = value.split_at(at);
        let set = self.set.borrow();
        let found = names::beginning(kind, begin, set.extracts(), &self.engine);
        found
            .into_iter()
            .map(|name| quoted(&format!("{head}{front}{name}")))
            .collect()
    }

    fn loaded(&self, word: &str) -> Vec<String> {
        let set = self.set.borrow();
        let names = set
            .named()
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let mut found = beginning(word, names);
        if found.is_empty() {
            found = beginning(word, set.named().map(|path| path.display().to_string()));
        }
        found
            .into_iter()
            .filter(|name| names::is_plain(name))
            .map(|name| quoted(&name))
            .collect()
    }
}

/// Returns the words with this prefix, in any case, sorted and without duplicates.
fn beginning(word: &str, all: impl IntoIterator<Item = String>) -> Vec<String> {
    let word = word.to_lowercase();
    let mut found: Vec<String> = all
        .into_iter()
        .filter(|name| name.to_lowercase().starts_with(&word))
        .collect();
    found.sort();
    found.dedup();
    found.truncate(MAX);
    found
}

/// Completes the last word of an SQL query: a table, or a column of a table that the query names,
/// otherwise of any table.
fn sql(line: &str) -> (usize, Vec<String>) {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let start = line.rfind(|c: char| !is_name(c)).map_or(0, |at| {
        at + line
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    });
    let (front, word) = line.split_at(start);
    let before: Vec<String> = behind_first(front)
        .split(|c| !is_name(c))
        .map(str::to_lowercase)
        .collect();
    let last = before
        .iter()
        .rev()
        .find(|word| !word.is_empty())
        .map(String::as_str);
    let tables = || etwkit_sql::tables().map(|table| table.name.to_owned());
    if matches!(last, Some("from" | "join")) {
        return (start, beginning(word, tables()));
    }
    if word.is_empty() {
        return (start, Vec::new());
    }
    let named = |table: &&&etwkit_trace::table::Table| before.iter().any(|word| word == table.name);
    let all: Vec<_> = etwkit_sql::tables().collect();
    let mut from: Vec<_> = all.iter().filter(named).collect();
    if from.is_empty() {
        from = all.iter().collect();
    }
    let columns = from
        .iter()
        .flat_map(|table| table.columns)
        .map(|column| column.name.to_owned());
    (start, beginning(word, columns.chain(tables())))
}

impl Completer for Completions {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        // Only the text before the cursor is completed.
        let line = line.get(..pos).unwrap_or(line);
        let (start, found) = self.of(line);
        let is_one = found.len() == 1;
        let pair = |name: String| {
            // A folder and an option with `=` are continued without a blank.
            let goes_on = name.ends_with(['/', '=']);
            let blank = if is_one && !goes_on { " " } else { "" };
            Pair {
                replacement: format!("{name}{blank}"),
                display: name,
            }
        };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Hinter for Completions {
    type Hint = String;
}
impl Highlighter for Completions {}
impl Validator for Completions {}
impl Helper for Completions {}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<String> {
        let engine = Engine::default();
        let set = Rc::new(RefCell::new(Set::new(engine.clone())));
        Completions::new(set, engine).of(line).1
    }

    #[test]
    fn commands_switches_and_words_are_completed() {
        for (line, expected) in [
            (".lo", &[".load", ".load+"][..]),
            ("crit", &["critical-path"]),
            (".dump pro", &["process"]),
            (".DUMP cpu -topnm", &["-topnmethods"]),
            (".dump cpu -sortby cpuw", &["cpuwait", "cpuwaitready"]),
            ("dump mem", &["memory"]),
            ("dump cpu --first-l", &["--first-last"]),
            ("dump cpu --sort-by sta", &["stack-depth", "start-time"]),
            (
                "dump cpu --sort-by=sta",
                &["--sort-by=stack-depth", "--sort-by=start-time"],
            ),
            (
                "dump cpu --time-format=u",
                &["--time-format=utc", "--time-format=utctime"],
            ),
            ("export --metric r", &["ready"]),
            ("symbols ", &["load"]),
            (".timefmt u", &["utc", "utctime"]),
            (".help .timef", &[".timefmt"]),
            (".sql SELECT * FROM cpu_sam", &["cpu_sample"]),
            (".sql SELECT weight_n", &["weight_ns"]),
            (
                "sql 'SELECT sum(weight_ns) FROM cpu_sample WHERE is_id",
                &["is_idle"],
            ),
            (".list x", &[]),
            ("dump cpu --process cm", &[]),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
        assert!(
            !of(".dump cpu -").contains(&"-keepalive".to_owned()),
            "a switch of other dumps"
        );
        assert!(of("").len() > 20);
    }
}
