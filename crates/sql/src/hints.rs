//! Suggestions for misspelt names and unsupported SQL.

use std::fs;
use std::path::{Path, PathBuf};

use datafusion::common::SchemaError;
use datafusion::common::utils::datafusion_strsim::normalized_levenshtein;

use crate::tables;

/// Minimum similarity of a suggested name, from 0 to 1.
const SIMILAR: f64 = 0.45;
/// Minimum similarity of a name that is taken for the meant one.
const MEANT: f64 = 0.7;
/// Maximum distance of another name's similarity from the best one.
const CLOSE_TO_BEST: f64 = 0.15;
/// Maximum number of suggested names.
const OFFERED: usize = 3;
/// Maximum number of names to list if none is similar.
const LISTED: usize = 80;
/// Maximum number of files of a folder that are compared with a missing one.
const MAX_FILES: usize = 10_000;

/// Returns message and hint for a table or function that does not exist; other messages of the
/// planner unchanged.
pub(crate) fn of_plan(message: &str) -> (String, Option<String>) {
    if let Some(name) = message
        .strip_prefix("table '")
        .and_then(|rest| rest.strip_suffix("' not found"))
    {
        let name = name.rsplit('.').next().unwrap_or(name);
        let known: Vec<&str> = tables().map(|table| table.name).collect();
        return (
            format!("there is no table {name}"),
            Some(offer(name, &known, "tables")),
        );
    }
    if let Some(named) = of_arguments(message) {
        return named;
    }
    // "Invalid function 'x'.\nDid you mean 'y'?"
    if let Some((name, rest)) = message
        .strip_prefix("Invalid function '")
        .and_then(|rest| rest.split_once("'."))
    {
        let meant = rest
            .trim()
            .strip_prefix("Did you mean '")
            .and_then(|rest| rest.strip_suffix("'?"));
        return (
            format!("there is no function {name}"),
            meant.map(|meant| format!("did you mean {meant}?")),
        );
    }
    let hint = PLANNING
        .iter()
        .find(|(part, _)| message.contains(part))
        .map(|(_, hint)| (*hint).to_owned());
    (message.to_owned(), hint)
}

/// Returns message and hint if the arguments of a function have the wrong types.
fn of_arguments(message: &str) -> Option<(String, Option<String>)> {
    let (_, call) =
        message.split_once("No function matches the given name and argument types '")?;
    let (call, rest) = call.split_once("'.")?;
    let (name, _) = call.split_once('(')?;
    // Own functions describe the expected arguments, which helps more than the list of the engine.
    if let Some((_, own)) = message.split_once("coercion failed with: Error during planning: ") {
        let own = own.split(". No function matches").next().unwrap_or(own);
        let hint =
            format!("cast(VALUE AS TYPE) converts; `etwkit docs sql` shows how {name} is called");
        return Some((own.to_owned(), Some(hint)));
    }
    let known = rest.split("Candidate functions:").nth(1).unwrap_or("");
    let known: Vec<&str> = known
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let known: Vec<&str> = known
        .into_iter()
        .filter(|known| !known.contains("UserDefined"))
        .collect();
    let takes = if known.is_empty() {
        String::new()
    } else {
        format!("; there are: {}", known.join(", "))
    };
    Some((
        format!("{name} cannot be called as {call}"),
        Some(format!("cast(VALUE AS TYPE) converts{takes}")),
    ))
}

/// Advice for messages of the planner that contain these words.
const PLANNING: [(&str, &str); 4] = [
    (
        "must appear in the GROUP BY clause",
        "name it in GROUP BY, write GROUP BY ALL, or take any_value of it, which is one of its values",
    ),
    (
        "Cannot coerce arithmetic",
        "cast(VALUE AS bigint) or AS double makes a number of a text; || joins texts",
    ),
    (
        "There isn't a common type",
        "cast(VALUE AS TYPE) converts: text, bigint, double, boolean",
    ),
    (
        "can only be applied to array",
        "make_array(a, b) or array_agg(x) makes a list; a text is none",
    ),
];

/// SQL features that the engine lacks: start of its message, name of the feature, and the
/// replacement.
const MISSING: [(&str, &str, &str); 6] = [
    (
        "Unsupported ast node Pivot",
        "PIVOT",
        "write a column for each value: sum(x) FILTER (WHERE name = 'a') AS a, sum(x) FILTER (WHERE name = 'b') AS b",
    ),
    (
        "Unsupported ast node Unpivot",
        "UNPIVOT",
        "write a SELECT for each column, with UNION ALL between",
    ),
    (
        "Unsupported ast node MatchRecognize",
        "MATCH_RECOGNIZE",
        "lag(x) and lead(x) OVER (ORDER BY …) compare rows with others",
    ),
    (
        "LATERAL VIEWS",
        "LATERAL VIEW",
        "unnest(list) in a SELECT makes rows of a list",
    ),
    ("TOP", "TOP", "LIMIT comes at the end of the statement"),
    (
        "Unsupported SQL type",
        "this type",
        "there are text, int, bigint, double, boolean, timestamp, interval",
    ),
];

/// Maximum length, in characters, of the part of an engine message about an unsupported feature
/// that is shown.
const SHOWN: usize = 200;

/// Returns message and hint for a feature that the engine lacks. Its own message is a dump of the
/// syntax tree.
pub(crate) fn of_missing(message: &str) -> (String, Option<String>) {
    if let Some((part, name, hint)) = MISSING.iter().find(|(part, ..)| message.starts_with(part)) {
        let kind = message
            .split_once("Unsupported SQL type ")
            .map(|(_, kind)| format!("the type {kind}"));
        let name = kind
            .filter(|_| part.ends_with("type"))
            .unwrap_or_else(|| (*name).to_owned());
        return (format!("{name} is not supported"), Some((*hint).to_owned()));
    }
    let words = message.split_once(" {").map_or(message, |(words, _)| words);
    (
        format!(
            "not supported: {}",
            words.chars().take(SHOWN).collect::<String>()
        ),
        None,
    )
}

/// Returns advice for a value that cannot be computed.
pub(crate) fn of_execution(message: &str) -> &'static str {
    if message.contains("subquery returned more than one row") {
        return "LIMIT 1, or an aggregate such as max, makes one row of it; IN (SELECT …) compares with several";
    }
    "try_cast and nullif give NULL where a value cannot be computed; `etwkit sql --show-schema` shows the types"
}

/// Returns message and hint for a column that does not exist or that several tables have.
pub(crate) fn of_schema(error: &SchemaError) -> (String, Option<String>) {
    match error {
        SchemaError::FieldNotFound {
            field,
            valid_fields,
        } => {
            let known: Vec<&str> = valid_fields
                .iter()
                .map(|column| column.name.as_str())
                .collect();
            let name = match &field.relation {
                Some(table) => format!("{}.{}", table.table(), field.name),
                None => field.name.clone(),
            };
            (
                format!("there is no column {name}"),
                Some(offer(&field.name, &known, "columns")),
            )
        }
        SchemaError::AmbiguousReference { field } => {
            let hint = format!("write the table in front: TABLE.{}", field.name);
            (
                format!("several tables have a column {}", field.name),
                Some(hint),
            )
        }
        other => (other.to_string(), None),
    }
}

/// Returns the first of the similar names, if it is so similar that it is meant.
#[must_use]
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let mut meant = scored(name, known);
    meant.retain(|(similarity, _)| *similarity >= MEANT);
    closest(meant).into_iter().next()
}

/// Returns the file or folder with the name most similar to a missing one, in the same folder.
#[must_use]
pub fn similar_file(missing: &Path) -> Option<PathBuf> {
    let name = missing.file_name()?.to_str()?;
    let folder = missing.parent()?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|other| other != name)
        .take(MAX_FILES)
        .collect();
    // The order of a folder is not always the same.
    names.sort();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    nearest(name, &known).map(|found| missing.with_file_name(found))
}

/// Returns the most similar known names, at most three. Wildcards and case do not count.
#[must_use]
pub fn similar(name: &str, known: &[&str]) -> Vec<String> {
    closest(scored(name, known))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// Returns the known names with their similarity.
fn scored<'k>(name: &str, known: &[&'k str]) -> Vec<(f64, &'k str)> {
    let name = name.to_lowercase().replace(['*', '?', '!'], "");
    let lower: Vec<String> = known.iter().map(|known| known.to_lowercase()).collect();
    // Typing errors are in the last part of a path, or in the name before a process id.
    let bare = |text: &str| {
        let last = text.rsplit(['\\', '/', '!']).next().unwrap_or(text);
        last.split_once(" (")
            .map_or(last, |(name, _)| name)
            .trim_end_matches(".exe")
            .to_owned()
    };
    let wanted = bare(&name);
    let score = |known: &String| similarity(&name, known).max(similarity(&wanted, &bare(known)));
    lower.iter().map(score).zip(known.iter().copied()).collect()
}

/// Returns the similarity: 1 for the same name, 0 for a name that has nothing in common with it.
fn similarity(name: &str, known: &str) -> f64 {
    // Texts of very different lengths are not alike, and comparing long ones takes long. Being a
    // part of the other counts only for three letters or more: two are a part of almost every name.
    let is_part =
        name.len() > 2 && !known.is_empty() && (known.contains(name) || name.contains(known));
    if !is_part
        && (known.len() > name.len().saturating_mul(3)
            || name.len() > known.len().saturating_mul(3))
    {
        return 0.0;
    }
    let whole = normalized_levenshtein(name, known);
    // People often remember only a part of a name.
    if is_part {
        whole.max(SIMILAR + whole / 2.0)
    } else {
        whole
    }
}

/// Returns the names that are similar enough, the most similar first.
fn closest(mut close: Vec<(f64, &str)>) -> Vec<&str> {
    close.retain(|(similarity, _)| *similarity >= SIMILAR);
    close.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    // A column that several tables have is known several times.
    close.dedup();
    let best = close.first().map_or(1.0, |(similarity, _)| *similarity);
    close.retain(|(similarity, _)| *similarity >= best - CLOSE_TO_BEST);
    close
        .into_iter()
        .take(OFFERED)
        .map(|(_, name)| name)
        .collect()
}

fn offer(name: &str, known: &[&str], what: &str) -> String {
    let name = name.to_lowercase();
    let close = closest(
        known
            .iter()
            .map(|known| (similarity(&name, known), *known))
            .collect(),
    );
    if !close.is_empty() {
        return format!("did you mean {}?", close.join(" or "));
    }
    let more = if known.len() > LISTED { ", …" } else { "" };
    let known: Vec<&str> = known.iter().take(LISTED).copied().collect();
    format!("{what}: {}{more}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{nearest, similar, similar_file};

    #[test]
    fn a_misspelled_file_is_found_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["slow-login.etl", "slow-login.truth.json", "other.etl"] {
            std::fs::write(path(name), "").unwrap();
        }
        assert_eq!(
            similar_file(&path("slow-logn.etl")),
            Some(path("slow-login.etl"))
        );
        assert_eq!(similar_file(&path("quite-different.bin")), None);
        assert_eq!(similar_file(&path("none/slow-logn.etl")), None);
    }

    #[test]
    fn what_was_mistyped_is_found() {
        let processes = ["explorer.exe (1234)", "cmd.exe (7)", "System (4)"];
        let cases: [(&str, &[&str]); 4] = [
            ("explorr", &["explorer.exe (1234)"]),
            ("Exploer.exe", &["explorer.exe (1234)"]),
            ("*cmd2*", &["cmd.exe (7)"]),
            ("notepad", &[]),
        ];
        for (name, found) in cases {
            assert_eq!(similar(name, &processes), found, "{name}");
        }
        // A name that is only similar is offered, and not taken for the meant one.
        let commands = ["dump", "diagnose", "disk"];
        for (name, meant) in [
            ("dmp", Some("dump")),
            ("Diagnos", Some("diagnose")),
            ("dusk", Some("disk")),
            ("dia", None),
            ("dip", None),
        ] {
            assert_eq!(nearest(name, &commands), meant, "{name}");
        }
        assert_eq!(
            similar("kernel32", &[r"C:\Windows\System32\kernel32.dll"]).len(),
            1
        );
        assert!(similar("", &processes).is_empty() && similar("x", &[]).is_empty());
    }
}
