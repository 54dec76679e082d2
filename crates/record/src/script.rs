//! Command lines of Windows as a script with explanations.

use anyhow::Result;
use etwkit_terminal::Lines;

use crate::line::RecorderLine;
use crate::step::Step;

/// Ending of a line that ends the script if it fails.
const OR_EXIT: &str = " || exit /b 1";

/// Prints command lines as a `.cmd` file. Each one ends the script if it fails.
pub(crate) fn print(steps: &[Step], notes: &[&str], lines: &mut Lines<'_>) -> Result<()> {
    lines.line("@echo off")?;
    lines.line("rem For Windows, in a terminal of an administrator.")?;
    for note in notes {
        lines.line(&format!("rem {note}"))?;
    }
    // A later line makes no sense without the previous one.
    steps.iter().try_for_each(|step| one(step, OR_EXIT, lines))
}

/// Prints the start of a recording, what is recorded, and its stop as a `.cmd` file. The recording
/// is also stopped if the recorded command fails.
pub(crate) fn print_recording(
    start: &[Step],
    recorded: &Step,
    stop: &Step,
    notes: &[&str],
    lines: &mut Lines<'_>,
) -> Result<()> {
    print(start, notes, lines)?;
    one(recorded, "", lines)?;
    one(stop, OR_EXIT, lines)
}

fn one(step: &Step, ending: &str, lines: &mut Lines<'_>) -> Result<()> {
    lines.line("")?;
    lines.line(&format!("rem {}", step.why))?;
    lines.line(&format!("{step}{ending}"))?;
    Ok(())
}

/// Prints a line of a recorder with the effect of each part.
pub(crate) fn explain(line: &RecorderLine, lines: &mut Lines<'_>) -> Result<()> {
    lines.line("@echo off")?;
    lines.line("rem For Windows, in a terminal of an administrator.")?;
    for (part, meaning) in &line.parts {
        lines.line(&format!("rem {part}: {meaning}"))?;
    }
    for note in &line.notes {
        lines.line(&format!("rem note: {note}"))?;
    }
    lines.line(&line.step.to_string())?;
    Ok(())
}
