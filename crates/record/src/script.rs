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

/// First lines of each script.
const HEAD: [&str; 2] = [
    "@echo off",
    "rem For Windows: save this as a .cmd file and run it in a terminal of an administrator.",
];

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
    let args = steps.iter().flat_map(|step| &step.args);
    args.map(String::as_str)
        .chain(notes.iter().map(AsRef::as_ref))
        .try_for_each(check)?;
    HEAD.iter().try_for_each(|line| lines.line(line))?;
    for note in notes {
        lines.line(&format!("rem {}", note.as_ref()))?;
    }
    // A later line makes no sense without the previous one.
    steps.iter().try_for_each(|step| one(step, OR_EXIT, lines))
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
    let later = recorded.iter().chain([stop]);
    later
        .flat_map(|step| &step.args)
        .try_for_each(|arg| check(arg))?;
    print(start, notes, lines)?;
    recorded.iter().try_for_each(|step| one(step, "", lines))?;
    one(stop, OR_EXIT, lines)
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

fn one(step: &Step, ending: &str, lines: &mut Lines<'_>) -> Result<()> {
    lines.line("")?;
    lines.line(&format!("rem {}", step.why))?;
    lines.line(&format!("{step}{ending}"))?;
    Ok(())
}

/// Prints a line of a recorder with the effect of each part. Its variables stay variables.
///
/// # Errors
/// As for [`print()`].
pub(crate) fn explain(line: &RecorderLine, lines: &mut Lines<'_>) -> Result<()> {
    line.step.args.iter().try_for_each(|arg| check(arg))?;
    HEAD.iter().try_for_each(|line| lines.line(line))?;
    for (part, meaning) in &line.parts {
        lines.line(&format!("rem {}: {meaning}", comment(part)))?;
    }
    for note in &line.notes {
        lines.line(&format!("rem note: {}", with_variables(note)))?;
    }
    let mut step = line.step.clone();
    step.args = step.args.iter().map(|arg| with_variables(arg)).collect();
    lines.line(&step.to_string())?;
    Ok(())
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
