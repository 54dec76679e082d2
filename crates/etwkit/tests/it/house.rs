//! How sources are written: widths of lines, lengths of functions, first words of comments.

use std::path::{Path, PathBuf};

use crate::architecture::{root, sources};

/// Columns of a line.
const COLUMNS: usize = 110;

/// Lines of a function.
const FUNCTION: usize = 80;

/// Lines of a file that declares a question, without its tests.
const QUESTION: usize = 250;

/// All Rust files of the workspace and of its fuzz targets.
fn all_sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    sources(&root().join("fuzz"), &mut files);
    assert!(files.len() > 300, "{}", files.len());
    files
}

fn name(file: &Path) -> String {
    file.strip_prefix(root()).unwrap().display().to_string()
}

/// Numbers of the lines, from 1, that have a character of a text literal behind the last column: no formatter
/// breaks those.
fn lines_ended_by_texts(source: &str) -> Vec<usize> {
    let (mut found, mut line, mut column) = (Vec::new(), 1, 0);
    // What ends the literal that the place lies in: quotes and number signs.
    let mut until: Option<String> = None;
    let bytes: Vec<char> = source.chars().collect();
    let mut at = 0;
    while at < bytes.len() {
        let c = bytes[at];
        column += 1;
        if c == '\n' {
            (line, column) = (line + 1, 0);
        } else if until.is_some() && column > COLUMNS && found.last() != Some(&line) {
            found.push(line);
        }
        let rest = &bytes[at..];
        let skipped = match &until {
            Some(end) if rest.starts_with(&end.chars().collect::<Vec<_>>()) => {
                let length = end.chars().count();
                until = None;
                length
            }
            Some(end) if end == "\"" && c == '\\' && rest.get(1) != Some(&'\n') => 2,
            Some(_) => 1,
            None if rest.starts_with(&['/', '/']) => {
                rest.iter().take_while(|c| **c != '\n').count()
            }
            None if rest.starts_with(&['\'', '"', '\'']) => 3,
            None if rest.starts_with(&['\'', '\\', '"', '\'']) => 4,
            None if c == 'r'
                && !bytes[..at]
                    .last()
                    .is_some_and(|c| c.is_alphanumeric() || *c == '_') =>
            {
                let signs = rest[1..].iter().take_while(|c| **c == '#').count();
                if rest.get(1 + signs) == Some(&'"') {
                    until = Some(format!("\"{}", "#".repeat(signs)));
                    signs + 2
                } else {
                    1
                }
            }
            None if c == '"' => {
                until = Some("\"".to_owned());
                1
            }
            None => 1,
        };
        column += skipped - 1;
        at += skipped;
    }
    found
}

#[test]
fn lines_wrap_at_110_columns() {
    let mut wide = Vec::new();
    for file in all_sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        let texts = lines_ended_by_texts(&source);
        for (number, line) in (1..).zip(source.lines()) {
            let trimmed = line.trim_start();
            // Tables and addresses in comments cannot be broken.
            let is_whole = trimmed.starts_with("//")
                && (trimmed.contains('|')
                    || trimmed.split_whitespace().any(|word| word.len() > 60));
            // The formatter breaks no text, and nothing inside the calls of most macros.
            let has_text = line.contains('"') || texts.contains(&number);
            if line.chars().count() > COLUMNS && !is_whole && !has_text {
                wide.push(format!("{}:{number}", name(&file)));
            }
        }
    }
    assert!(wide.is_empty(), "longer than {COLUMNS} columns: {wide:#?}");
}

#[test]
fn functions_fit_two_screens() {
    let mut long = Vec::new();
    for file in all_sources()
        .iter()
        .filter(|file| file.components().any(|part| part.as_os_str() == "src"))
    {
        let source = std::fs::read_to_string(file).unwrap();
        let mut begun: Option<(usize, &str, String)> = None;
        for (number, line) in (1..).zip(source.lines()) {
            let indent = &line[..line.len() - line.trim_start().len()];
            match &begun {
                None => {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    let is_function = words.iter().take(5).any(|word| *word == "fn")
                        && !line.ends_with([';', '}']);
                    if is_function && !line.trim_start().starts_with("//") {
                        begun = Some((number, indent, line.trim().to_owned()));
                    }
                }
                Some((first, of, head))
                    if line == format!("{of}}}") || line == format!("{of};") =>
                {
                    if number - first + 1 > FUNCTION {
                        long.push(format!(
                            "{}:{first}: {} lines: {head}",
                            name(file),
                            number - first + 1
                        ));
                    }
                    begun = None;
                }
                Some(_) => {}
            }
        }
    }
    assert!(
        long.is_empty(),
        "functions of more than {FUNCTION} lines: {long:#?}"
    );
}

#[test]
fn a_question_is_read_in_one_go() {
    let (mut questions, mut long) = (0, Vec::new());
    for file in all_sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        if !code
            .lines()
            .any(|line| line.starts_with("impl Question for "))
        {
            continue;
        }
        questions += 1;
        let lines = code.lines().count();
        if lines > QUESTION {
            long.push(format!("{}: {lines} lines", name(&file)));
        }
    }
    assert!(questions > 40, "only {questions} questions were found");
    assert!(
        long.is_empty(),
        "questions of more than {QUESTION} lines: {long:#?}"
    );
}

#[test]
fn comments_stand_alone() {
    // Whoever reads help in an editor sees one comment, without its neighbour.
    let mut leaning = Vec::new();
    for file in all_sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        for (number, line) in (1..).zip(source.lines()) {
            if line.trim_start().starts_with("/// The same ") && !line.contains("The same as [`") {
                leaning.push(format!("{}:{number}", name(&file)));
            }
        }
    }
    assert!(
        leaning.is_empty(),
        "comments that need their neighbours: {leaning:#?}"
    );
}
