//! `-console`, and the commands of ETWAnalyzer in the console, which query the loaded files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etwkit_base::path::{name_of, split_typed};
use etwkit_sql::filter::TextFilter;

use crate::drive::local;
use crate::line::Word;
pub use crate::line::switch;
use crate::read::read;
use crate::switch::{NO_COLOR, Switch, To, find, value_of};
use crate::{
    Command, Find, LineError, Plan, command, dump, files, has_word, help, is_line, small, tables,
};

pub(crate) const SWITCHES: &[Switch] = &[
    Switch {
        names: &["nocolor"],
        to: NO_COLOR,
    },
    Switch {
        names: &["debug"],
        to: To::Nothing(0, "there is no log file"),
    },
];

/// The initial state of a console.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// Files, folders and queries.
    pub queries: Vec<String>,
    /// True if files in subfolders are included.
    pub is_recursive: bool,
    /// True to disable colors.
    pub is_plain: bool,
}

/// Returns the initial state of the console that a line requests; `None` for other lines.
#[must_use]
pub fn begin(args: &[OsString]) -> Option<anyhow::Result<Begin>> {
    if !is_line(args) {
        return None;
    }
    let words = crate::words(args);
    let last = words.iter().filter_map(|word| command(word)).next_back();
    (last == Some(Command::Console) && !has_word(&words, "-help")).then(|| begin_of(&words))
}

fn begin_of(words: &[String]) -> anyhow::Result<Begin> {
    let said = read("console", words, &[SWITCHES], |word, _, said| {
        let Word::Plain(query) = word else {
            return Ok(false);
        };
        said.queries.all.push(query.clone());
        Ok(true)
    })?;
    let is_plain = value_of(&said.native, "--color").is_some();
    Ok(Begin {
        queries: said.queries.all,
        is_recursive: said.queries.is_recursive,
        is_plain,
    })
}

/// Returns the extracts and traces on disk that queries name, by the start of the recording.
///
/// # Errors
///
/// No file matches, or a folder cannot be read.
pub fn found(queries: &[String], is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let found = files::extracts(queries, is_recursive)?;
    if found.is_empty() {
        let hint = "a query is compared with whole paths: start it with *";
        return Err(LineError::new(format!("no file matches {}", queries.join(" ")), hint).into());
    }
    Ok(found)
}

/// Returns the local file or folder that a path means.
#[must_use]
pub fn path(path: &str) -> PathBuf {
    local(path)
}

/// Returns `true` if a loaded file, whose path is absolute, matches a query: by its path or name,
/// or by its whole path if the query is a pattern.
#[must_use]
pub fn fits(query: &str, file: &Path) -> bool {
    if query.contains(['*', '?', ';', '!']) {
        return fits_patterns(query, file);
    }
    let named = local(query);
    let is_same = |path: &Path| std::path::absolute(path).is_ok_and(|path| path == file);
    let is_part = !query.contains(['\\', '/', ':']);
    is_same(&named)
        || files::named(&named).is_some_and(|path| is_same(&path))
        || (is_part && name_of(file).to_lowercase().contains(&query.to_lowercase()))
}

/// Compares the last part of a pattern; a folder before it is the folder of the file.
fn fits_patterns(query: &str, file: &Path) -> bool {
    let mut filters = Vec::new();
    for part in query
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (sign, part) = part
            .strip_prefix('!')
            .map_or(("", part), |part| ("!", part));
        let (folder, filter) = split_typed(part);
        let lies_there =
            || std::path::absolute(local(folder)).is_ok_and(|folder| file.starts_with(folder));
        if sign.is_empty() && !folder.is_empty() && !lies_there() {
            continue;
        }
        filters.push(format!("{sign}{filter}"));
    }
    let has_positive = |filters: &[String]| filters.iter().any(|filter| !filter.starts_with('!'));
    // A query that only excludes means all other files.
    let only_excludes = query.split(';').all(|part| part.trim().starts_with('!'));
    (only_excludes || has_positive(&filters))
        && files::fits(&TextFilter::parse(&filters.join(";")), file)
}

/// Returns the plan for `-dump` over files that `find` chooses.
///
/// # Errors
///
/// The error in the line.
pub fn dump(words: &[String], find: Find<'_>) -> anyhow::Result<Plan> {
    let words = [&["-dump".to_owned()], words].concat();
    if has_word(&words, "-help") || has_word(&words, "-h") {
        return Ok(Plan::Text(help::text(&words)));
    }
    Ok(dump::translate(&words, find)?.into())
}

/// Returns the plan for `-converttime` over files that `find` chooses.
///
/// # Errors
///
/// The error in the line.
pub fn convert_time(words: &[String], find: Find<'_>) -> anyhow::Result<Plan> {
    let words = [&["-converttime".to_owned()], words].concat();
    Ok(small::CONVERT_TIMES.step(&words, find, false)?.into())
}

/// Returns names of the sub commands of `-dump`.
pub fn dumps() -> impl Iterator<Item = &'static str> {
    tables::DUMPS
        .iter()
        .filter_map(|dump| dump.names.first())
        .copied()
}

/// Returns our question for a sub command of `-dump`.
#[must_use]
pub fn native(dump: &str) -> Option<&'static str> {
    tables::dump(dump).map(|dump| dump.native)
}

/// Returns the switches of a sub command of `-dump`, without dash; refused ones are left out.
#[must_use]
pub fn switches(dump: &str) -> Vec<&'static str> {
    let table = tables::dump(dump).map_or(&[][..], |dump| dump.switches);
    let switches = table.iter().flat_map(|table| table.iter());
    let there = switches.filter(|switch| !matches!(switch.to, To::Missing(_)));
    there
        .flat_map(|switch| switch.names)
        .copied()
        .chain(["fd", "csv", "debug", "help"])
        .collect()
}

/// Returns our option for a switch of a sub command, if there is one, and the words that it takes.
#[must_use]
pub fn option(dump: &str, switch: &str) -> Option<(&'static str, Vec<&'static str>)> {
    let table = tables::dump(dump)?.switches;
    match find(table, switch)?.to {
        To::Text(option) | To::Maybe(option) => Some((option, Vec::new())),
        To::Word(option, words) | To::MaybeWord(option, words) => {
            Some((option, words.iter().map(|(word, _)| *word).collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_a_console_begins_with() {
        let of = |line: &str| begin(&line.split(' ').map(Into::into).collect::<Vec<OsString>>());
        let begin = of("etwkit -console a.etwx -fd *b* -recursive")
            .unwrap()
            .unwrap();
        assert_eq!(
            begin,
            Begin {
                queries: vec!["a.etwx".into(), "*b*".into()],
                is_recursive: true,
                is_plain: false
            }
        );
        assert_eq!(
            of("ETWAnalyzer -console").unwrap().unwrap(),
            Begin::default()
        );
        assert!(of("etwkit console a.etwx").is_none());
        assert!(of("etwkit -console -help").is_none());
        assert!(
            of("etwkit -console -dump cpu").is_none(),
            "the last command counts"
        );
        assert!(of("etwkit -console -speed").unwrap().is_err());
    }

    #[test]
    fn loaded_files_are_chosen_by_path_name_or_pattern() {
        let here = std::path::absolute(".").unwrap();
        let file = here.join("runs").join("Slow.System.etwx");
        for (query, expected) in [
            ("*slow*", true),
            ("*Slow*;!*runs*", false),
            ("!*fast*", true),
            ("!*slow*", false),
            ("slow", true),
            ("Slow.System.etwx", true),
            ("runs/Slow.System.etwx", true),
            (r"runs\*", true),
            (r"other\*", false),
            ("*System.json", true),
            ("*System", false),
            ("fast", false),
        ] {
            assert_eq!(fits(query, &file), expected, "{query}");
        }
    }
}
