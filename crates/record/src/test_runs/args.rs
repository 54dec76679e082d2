//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use etwkit_terminal::errors::advised;

use crate::test_runs::matrix::{Axis, cells};
use crate::test_runs::name::plain;
use crate::test_runs::plan::Plan;
use crate::test_runs::timing::Timing;

/// The command, its parameters, and the number of runs.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// The test case, as recordings and rows are called
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The command with its arguments; {name} stands for a parameter of --matrix
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<String>,
    /// Number of runs of each combination of parameters
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: u32,
    /// A parameter with its values, as threads=1,2,4; every combination of several is run
    #[arg(long, value_name = "NAME=VALUES")]
    pub matrix: Vec<String>,
    /// Source of the duration of a run
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub timing: Timing,
    /// A line of the shell in front of each run, such as one that empties a folder; what it takes
    /// is not measured
    #[arg(long, value_name = "LINE")]
    pub before: Vec<String>,
    /// A line of the shell behind each run, also where the run failed
    #[arg(long, value_name = "LINE")]
    pub after: Vec<String>,
    /// Pause between two runs
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    pub cool_down: f64,
    /// End a command that takes longer, with all that it has started; its run counts as failed
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Power setting of the processor with its values, as HETEROPOLICY=0,4: a parameter as those of
    /// --matrix, set by powercfg for mains power and restored at the end; on Windows
    #[arg(long, value_name = "SETTING=VALUES")]
    pub power: Vec<String>,
    /// Record each run with this profile of `etwkit record profiles`, or FILE.wprp!NAME; several
    /// are recorded together. The file is named by the case, the duration, the machine and the time
    #[arg(long, value_name = "PROFILE")]
    pub record: Vec<String>,
    /// Record nothing and only measure, as without --record
    #[arg(long, conflicts_with = "record")]
    pub no_record: bool,
    /// Folder of the recordings
    #[arg(long, value_name = "FOLDER", requires = "record", default_value = ".")]
    pub to: PathBuf,
    /// Extract the recordings after all runs, as `etwkit extract` does
    #[arg(long, requires = "record", conflicts_with = "json")]
    pub extract: bool,
    /// Show what the slow runs have in common after all runs, as `etwkit explain` does
    #[arg(long, requires = "record")]
    pub explain: bool,
    /// Write a row for each run as CSV into this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Print a JSON object for each run and for each combination of parameters
    #[arg(long)]
    pub json: bool,
}

impl RunArgs {
    /// Returns the names of its parameters, in order.
    #[must_use]
    pub fn parameters(&self) -> Vec<String> {
        let name = |text: &String| text.split_once('=').map(|(name, _)| name.to_owned());
        self.matrix
            .iter()
            .chain(&self.power)
            .filter_map(name)
            .collect()
    }

    /// Returns the plan of these arguments. The output of commands goes to the error stream.
    ///
    /// # Errors
    /// A name, a parameter or a time is invalid.
    pub fn plan(&self) -> Result<Plan> {
        let mut axes: Vec<Axis> = self
            .matrix
            .iter()
            .map(|text| Axis::parse(text))
            .collect::<Result<_>>()?;
        self.check_use(&axes)?;
        // Power settings do not occur in the command, so they are added after the check above.
        let power: Vec<Axis> = self
            .power
            .iter()
            .map(|text| Axis::parse(text))
            .collect::<Result<_>>()?;
        if cfg!(not(windows)) && !power.is_empty() {
            let hint =
                "on Windows powercfg sets them; --matrix and --before set what other systems have";
            return Err(advised("--power needs Windows", hint));
        }
        let names = power.iter().map(|axis| axis.name.clone()).collect();
        axes.extend(power);
        self.check_name()?;
        Ok(Plan {
            case: self.name.clone(),
            command: self.command.clone(),
            cells: cells(&axes)?,
            power: names,
            // Set by the caller, which knows the folder of the machine.
            restore_file: None,
            repeat: self.repeat,
            before: self.before.clone(),
            after: self.after.clone(),
            cool_down: seconds("--cool-down", self.cool_down)?,
            timeout: self
                .timeout
                .map(|time| seconds("--timeout", time))
                .transpose()?,
            timing: self.timing,
            is_heard: true,
            out: self.to.clone(),
        })
    }

    /// Checks that each parameter is used. Runs that differ only in an unused parameter would be
    /// repetitions under different names.
    fn check_use(&self, axes: &[Axis]) -> Result<()> {
        let commands = self.command.iter().chain(&self.before).chain(&self.after);
        let texts: String = commands.cloned().collect();
        let is_unused = |axis: &&Axis| !texts.contains(&format!("{{{}}}", axis.name));
        let Some(unused) = axes.iter().find(is_unused) else {
            return Ok(());
        };
        Err(advised(
            format!("--matrix has {}, which nothing uses", unused.name),
            format!("write {{{}}} where its value belongs", unused.name),
        ))
    }

    /// Checks that the name can be a part of names of files.
    fn check_name(&self) -> Result<()> {
        let plain = plain(&self.name);
        if !self.name.is_empty() && plain == self.name {
            return Ok(());
        }
        Err(advised(
            format!(
                "expected a name of letters, digits and hyphens, found \"{}\"",
                self.name
            ),
            format!("\"{plain}\" would do; recordings are called so"),
        ))
    }
}

fn seconds(option: &str, value: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(value).map_err(|_| {
        advised(
            format!("expected seconds of 0 or more for {option}, found {value}"),
            "for example 2.5",
        )
    })
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn plan(line: &str) -> Result<Plan> {
        let command = RunArgs::augment_args(Command::new("run").no_binary_name(true));
        let matches = command.try_get_matches_from(line.split(' '))?;
        RunArgs::from_arg_matches(&matches)?.plan()
    }

    #[test]
    fn a_line_becomes_a_plan() {
        let plan =
            plan("Write --repeat 5 --matrix n=1,2 --timing printed --cool-down 0 -- writer --threads {n}")
                .unwrap();
        assert_eq!(
            (plan.case.as_str(), plan.cells.len(), plan.repeat),
            ("Write", 2, 5)
        );
        assert_eq!(
            (plan.timing, plan.cool_down),
            (Timing::Printed, Duration::ZERO)
        );
        assert_eq!(plan.command, ["writer", "--threads", "{n}"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, want) in [
            (
                "W --matrix n=1,2 -- writer",
                "--matrix has n, which nothing uses",
            ),
            (
                "a_b -- x",
                "expected a name of letters, digits and hyphens, found \"a_b\"",
            ),
            (
                "W --cool-down -1 -- x",
                "expected seconds of 0 or more for --cool-down, found -1",
            ),
            (
                "W --timeout NaN -- x",
                "expected seconds of 0 or more for --timeout, found NaN",
            ),
        ] {
            let line = line.replace("--cool-down -1", "--cool-down=-1");
            assert_eq!(plan(&line).unwrap_err().to_string(), want);
        }
    }
}
