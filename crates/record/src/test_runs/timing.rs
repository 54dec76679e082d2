//! Duration of a run: by the wall clock, or as the command itself reports it.

use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use etwkit_terminal::errors::advised;
use regex_lite::Regex;

/// Source of a run's duration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Timing {
    /// From the start of the command until it has ended, by the clock
    #[default]
    Wall,
    /// The exit code of the command, in milliseconds, as test programs report what they measured
    /// themselves
    ExitCode,
    /// The last duration that the command prints: a number with ms or s behind it
    Printed,
}

impl Timing {
    /// Returns the duration in milliseconds.
    ///
    /// # Errors
    /// The command did not report one.
    pub(crate) fn duration_ms(
        self,
        wall: Duration,
        exit_code: Option<i32>,
        printed: &str,
    ) -> Result<u64> {
        match self {
            Self::Wall => Ok(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)),
            Self::ExitCode => {
                let code = exit_code.and_then(|code| u64::try_from(code).ok());
                let hint = "--timing wall measures wall-clock time";
                code.ok_or_else(|| advised("the command ended without an exit code that is a duration", hint))
            }
            Self::Printed => last_duration(printed).ok_or_else(|| {
                let hint = "expected a number followed by ms or s, as in \"done in 12.04 s\"; --timing wall measures wall-clock time";
                advised("the command printed no duration", hint)
            }),
        }
    }

    /// True if an exit code other than 0 means that the command failed.
    pub(crate) const fn is_code_a_failure(self) -> bool {
        !matches!(self, Self::ExitCode)
    }
}

/// Returns the last duration in a text, in milliseconds, rounded to the nearest.
fn last_duration(text: &str) -> Option<u64> {
    let duration = Regex::new(
        r"(?i)(?:^|[^\w.,])(\d+(?:[.,]\d+)?) ?(ms|s|sec|seconds|milliseconds)(?:$|[^\w])",
    )
    .ok()?;
    // The last one: programs print steps first and the total at the end.
    let found = duration.captures_iter(text).last()?;
    let number: f64 = found.get(1)?.as_str().replace(',', ".").parse().ok()?;
    let is_ms = found.get(2)?.as_str().to_ascii_lowercase().starts_with('m');
    let ms = (if is_ms { number } else { number * 1000.0 }).round();
    // A number out of range is not the duration of a run.
    (ms < 1e15).then_some(ms as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_duration_that_is_printed_counts() {
        for (text, want) in [
            (
                "Did write 5000 files of 100 KB size (488 MB) in 12.042 s",
                Some(12_042),
            ),
            ("first 10 ms\nthen 7,5 ms.\n", Some(8)),
            ("took 3 seconds", Some(3000)),
            ("42ms", Some(42)),
            ("(1.5s)", Some(1500)),
            ("file5s 10 samples v1.2.3s", None),
            ("", None),
            ("99999999999999999999999 s", None),
        ] {
            assert_eq!(last_duration(text), want, "{text}");
        }
    }

    #[test]
    fn each_way_has_its_own_source() {
        let wall = Duration::from_micros(12_999);
        assert_eq!(Timing::Wall.duration_ms(wall, Some(7), "3 s").unwrap(), 12);
        assert_eq!(
            Timing::ExitCode.duration_ms(wall, Some(7), "3 s").unwrap(),
            7
        );
        assert_eq!(
            Timing::Printed.duration_ms(wall, Some(7), "3 s").unwrap(),
            3000
        );
        assert!(Timing::ExitCode.duration_ms(wall, Some(-5), "").is_err());
        assert!(Timing::ExitCode.duration_ms(wall, None, "").is_err());
    }
}
