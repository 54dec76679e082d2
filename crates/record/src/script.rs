//! Command lines of Windows as a script with explanations.
//!
//! A script is a `.cmd` file. There `%` starts the name of a variable, other than at the prompt, so
//! words of the user go through [`literal`](crate::step::literal) before they become a part of a
//! line.

use anyhow::Result;
use etwkit_terminal::errors::advised;
use etwkit_terminal::{Lines, escape};

use crate::line::RecorderLine;
use crate::step::Step;

/// Ending of a line that ends the script if it fails.
const OR_EXIT: &str = " || exit /b 1";

/// First line of each script.
const SILENT: &str = "@echo off";

/// Line that makes `cmd.exe` read the rest of the script as UTF-8: it reads each line by the code page that
/// is in force then, and by default by that of the language of Windows.
const UTF_8: &str = "chcp 65001 >nul";

/// The purpose of each script.
const FOR_WINDOWS: &str =
    "rem For Windows: save this as a .cmd file and run it in a terminal of an administrator.";

/// Note on characters beyond ASCII. `cmd.exe` reads a byte order mark as a part of the first command.
const SAVE_AS: &str =
    "rem It has characters beyond ASCII: save it as UTF-8 without a byte order mark.";

/// Characters that `cmd.exe` reads as operators in the first word of a comment.
const OPERATORS: &[char] = &['&', '|', '<', '>', '^', '(', ')'];

/// Prints command lines as a `.cmd` file. Each one ends the script if it fails.
///
/// # Errors
/// A line or a note contains control characters, or nothing can be printed.
pub(crate) fn print<N: AsRef<str>>(
    steps: &[Step],
    notes: &[N],
    lines: &mut Lines<'_>,
) -> Result<()> {
    let mut body = remarks(notes)?;
    for step in steps {
        // A later line makes no sense without the previous one.
        body.extend(one(step, OR_EXIT)?);
    }
    write(&body, lines)
}

/// Prints the start of a recording, the lines that are recorded, and its stop as a `.cmd` file. The
/// recording is also stopped if the recorded command fails.
///
/// # Errors
/// As for [`print()`].
pub(crate) fn print_recording<N: AsRef<str>>(
    start: &[Step],
    recorded: &[Step],
    stop: &Step,
    notes: &[N],
    lines: &mut Lines<'_>,
) -> Result<()> {
    let mut body = remarks(notes)?;
    for step in start {
        body.extend(one(step, OR_EXIT)?);
    }
    for step in recorded {
        body.extend(one(step, "")?);
    }
    body.extend(one(stop, OR_EXIT)?);
    write(&body, lines)
}

/// Prints a script: its first lines, and these.
fn write(body: &[String], lines: &mut Lines<'_>) -> Result<()> {
    let is_ascii = body.iter().all(|line| line.is_ascii());
    let head: &[&str] = if is_ascii {
        &[SILENT, FOR_WINDOWS]
    } else {
        &[SILENT, UTF_8, FOR_WINDOWS, SAVE_AS]
    };
    let body = body.iter().map(String::as_str);
    for line in head.iter().copied().chain(body) {
        lines.line(line)?;
    }
    Ok(())
}

/// Returns notes as comments.
fn remarks<N: AsRef<str>>(notes: &[N]) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    for note in notes {
        let note = note.as_ref();
        check(note)?;
        remarks.push(format!("rem {note}"));
    }
    Ok(remarks)
}

/// Refuses a text with line breaks and other characters that are printed escaped: the script would
/// have another text.
fn check(text: &str) -> Result<()> {
    let printed = escape::text(text);
    if printed == text {
        return Ok(());
    }
    Err(advised(
        format!("a script of Windows cannot contain \"{printed}\""),
        "leave out line breaks and other control characters",
    ))
}

/// Returns a command line with its purpose above it.
fn one(step: &Step, ending: &str) -> Result<[String; 3]> {
    step.args.iter().try_for_each(|arg| check(arg))?;
    Ok([
        String::new(),
        format!("rem {}", step.why),
        format!("{step}{ending}"),
    ])
}

/// Prints a line of a recorder with the effect of each part. Its variables stay variables.
///
/// # Errors
/// As for [`print()`].
pub(crate) fn explain(line: &RecorderLine, lines: &mut Lines<'_>) -> Result<()> {
    line.step.args.iter().try_for_each(|arg| check(arg))?;
    let parts = line.parts.iter();
    let parts = parts.map(|(part, meaning)| format!("rem {}: {meaning}", comment(part)));
    let notes = line.notes.iter();
    let notes = notes.map(|note| format!("rem note: {}", with_variables(note)));
    let mut step = line.step.clone();
    step.args = step.args.iter().map(|arg| with_variables(arg)).collect();
    let body: Vec<String> = parts.chain(notes).chain([step.to_string()]).collect();
    write(&body, lines)
}

/// Returns a text as the start of a comment. `cmd.exe` reads operators in the first word of one.
fn comment(text: &str) -> String {
    let text = with_variables(text);
    let first = text
        .split_once(' ')
        .map_or(text.as_str(), |(first, _)| first);
    if first.contains(OPERATORS) {
        format!("option {text}")
    } else {
        text
    }
}

/// Returns a word of a line that people have in a script or type at the prompt. `%` stays as it is in
/// a variable, in an argument of a script, and where it is doubled already. Others are doubled.
fn with_variables(word: &str) -> String {
    let mut written = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('%') {
        let (reference, next) = after.split_at(reference(after));
        written.push_str(before);
        written.push_str(if reference.is_empty() { "%%" } else { "%" });
        written.push_str(reference);
        rest = next;
    }
    written.push_str(rest);
    written
}

/// Returns the length of the text after `%` that makes it a reference: `COMPUTERNAME%`, `1`, `~dp0`,
/// `*` or another `%`. It is 0 for other texts.
fn reference(text: &str) -> usize {
    if text.starts_with(|first: char| matches!(first, '%' | '*') || first.is_ascii_digit()) {
        return 1;
    }
    if let Some(modified) = text.strip_prefix('~') {
        let number = modified.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let is_argument = number.starts_with(|first: char| first.is_ascii_digit());
        return if is_argument {
            text.len() - number.len() + 1
        } else {
            0
        };
    }
    match text.split_once('%') {
        Some((name, _)) if is_variable(name) => name.len() + 1,
        _ => 0,
    }
}

/// True for the name of a variable, with a part or a replacement after a colon, as in `TEMP:~0,2`.
fn is_variable(text: &str) -> bool {
    let (name, _) = text.split_once(':').unwrap_or((text, ""));
    let is_letter = |letter: char| letter.is_alphanumeric() || "_().-#".contains(letter);
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(is_letter)
}
