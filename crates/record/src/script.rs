//! Command lines of Windows as a script with explanations.

use anyhow::Result;
use etwkit_terminal::Lines;

use crate::line::RecorderLine;
use crate::step::Step;

/// Prints command lines as a `.cmd` file. Each one ends the script if it fails.
pub(crate) fn print(steps: &[Step], notes: &[&str], lines: &mut Lines<'_>) -> Result<()> {
    lines.line("@echo off")?;
    lines.line("rem For Windows, in a terminal of an administrator.")?;
    for note in notes {
        lines.line(&format!("rem {note}"))?;
    }
    for step in steps {
        lines.line("")?;
        lines.line(&format!("rem {}", step.why))?;
        // A later line makes no sense without the previous one.
        lines.line(&format!("{step} || exit /b 1"))?;
    }
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
