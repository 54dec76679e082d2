//! Power settings of the processor as parameters: the power plan of Windows decides the cores of a
//! thread and their speed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use etwkit_terminal::errors::advised;

use crate::test_runs::matrix::Cell;

/// Runs `powercfg` with arguments and returns its output.
pub(crate) type Powercfg<'p> = &'p mut dyn FnMut(&[&str]) -> Result<String>;

/// The scheme and the group of settings in each line.
const OF_PROCESSOR: [&str; 2] = ["SCHEME_CURRENT", "SUB_PROCESSOR"];

/// Settings that are changed, and their original values.
pub(crate) struct Power<'p> {
    powercfg: Powercfg<'p>,
    /// File with the values in `before`, in case the process is killed before it restores them.
    file: Option<&'p Path>,
    before: Vec<(String, u32)>,
    /// The current values, so that nothing is set twice.
    now: Vec<(String, String)>,
}

impl<'p> Power<'p> {
    /// Reads the values of these settings for mains power. Values that an earlier process left in
    /// the file are restored first.
    ///
    /// # Errors
    /// A setting does not exist, `powercfg` fails, or the file cannot be written.
    pub(crate) fn of(
        names: &[String],
        file: Option<&'p Path>,
        powercfg: Powercfg<'p>,
    ) -> Result<Self> {
        let mut before = Vec::new();
        // Settings that an earlier run left changed are restored first. Otherwise they would be
        // taken for the settings of the user.
        if let Some(left) = file.and_then(|file| fs::read_to_string(file).ok()) {
            let left = Power {
                before: read(&left),
                now: Vec::new(),
                file,
                powercfg: &mut *powercfg,
            };
            left.restore()
                .context("an earlier run was ended before it restored the power settings")?;
        }
        for name in names {
            let asked = [&["/QUERY"], &OF_PROCESSOR[..], &[name]].concat();
            let text = powercfg(&asked)
                .with_context(|| format!("the power setting {name} cannot be read"))?;
            before.push((name.clone(), index(&text).ok_or_else(|| unknown(name))?));
        }
        if let Some(file) = file.filter(|_| !before.is_empty()) {
            // Written before anything is changed.
            let lines = before
                .iter()
                .map(|(name, value)| format!("{name} {value}\n"));
            let folder = file.parent().unwrap_or(Path::new(""));
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(file, lines.collect::<String>()))
                .with_context(|| {
                    format!(
                        "cannot keep the power settings that were before in {}",
                        file.display()
                    )
                })?;
        }
        Ok(Self {
            powercfg,
            file,
            before,
            now: Vec::new(),
        })
    }

    /// Sets the values of the cell.
    ///
    /// # Errors
    /// A value is not possible.
    pub(crate) fn set(&mut self, cell: &Cell) -> Result<()> {
        let is_ours = |name: &String| self.before.iter().any(|(own, _)| own == name);
        let wanted: Vec<_> = cell
            .values
            .iter()
            .filter(|(name, _)| is_ours(name))
            .cloned()
            .collect();
        // Consecutive runs may have the same settings, which do not have to be set again.
        if wanted == self.now {
            return Ok(());
        }
        for (name, value) in &wanted {
            self.write(name, value)?;
        }
        self.activate()?;
        self.now = wanted;
        Ok(())
    }

    fn write(&mut self, name: &str, value: &str) -> Result<()> {
        let line = [&["/SETACVALUEINDEX"], &OF_PROCESSOR[..], &[name, value]].concat();
        (self.powercfg)(&line)
            .with_context(|| format!("{name} cannot be {value}"))
            .map(|_| ())
    }

    /// Puts the settings into force.
    fn activate(&mut self) -> Result<()> {
        (self.powercfg)(&["/SETACTIVE", "SCHEME_CURRENT"]).map(|_| ())
    }

    /// Restores the original values.
    ///
    /// # Errors
    /// A setting could not be restored; the message has the command that sets it.
    pub(crate) fn restore(mut self) -> Result<()> {
        let before = std::mem::take(&mut self.before);
        // All of them are tried even if one fails, so that as many as possible are restored.
        let written = before
            .iter()
            .map(|(name, value)| self.write(name, &value.to_string()));
        let written: Vec<Result<()>> = written.collect();
        let all = if before.is_empty() {
            Ok(())
        } else {
            self.activate()
        };
        let restored = written.into_iter().chain([all]).collect::<Result<()>>();
        if let Some(file) = self.file.filter(|_| restored.is_ok() && !before.is_empty()) {
            // Restoring it twice does no harm.
            let _ = fs::remove_file(file);
        }
        restored.map_err(|error| {
            let lines = before.iter().map(|(name, value)| {
                format!("powercfg /SETACVALUEINDEX SCHEME_CURRENT SUB_PROCESSOR {name} {value}")
            });
            let lines = lines.collect::<Vec<_>>().join("; ");
            advised(
                format!("the power settings are not what they were: {error:#}"),
                format!("these lines set them: {lines}; powercfg /SETACTIVE SCHEME_CURRENT"),
            )
        })
    }
}

/// Parses lines of a name and a value.
fn read(text: &str) -> Vec<(String, u32)> {
    let setting = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    text.lines().filter_map(setting).collect()
}

/// Parses the value for mains power: the first of the last two numbers, which are hexadecimal. The
/// words around them are in the language of Windows.
fn index(text: &str) -> Option<u32> {
    // The last two numbers are the current values for mains and battery, independent of the
    // language of the words around them. Recordings are made on mains.
    let numbers = text.lines().filter_map(|line| line.rsplit_once("0x"));
    let numbers: Vec<u32> = numbers
        .filter_map(|(_, digits)| u32::from_str_radix(digits.trim(), 16).ok())
        .collect();
    numbers
        .len()
        .checked_sub(2)
        .and_then(|at| numbers.get(at))
        .copied()
}

fn unknown(name: &str) -> anyhow::Error {
    advised(
        format!("the processor has no power setting {name}"),
        "`powercfg /ALIASES` lists their names, as PROCTHROTTLEMAX, HETEROPOLICY, SCHEDPOLICY",
    )
}

/// Runs `powercfg` of this system.
///
/// # Errors
/// It cannot be started, or it fails.
pub(crate) fn powercfg(args: &[&str]) -> Result<String> {
    let output = Command::new("powercfg")
        .args(args)
        .stdin(Stdio::null())
        .output();
    let output = output.context("cannot run powercfg")?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    if !output.status.success() {
        bail!("powercfg {} said: {said}", args.join(" "));
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of Windows for a setting.
    const QUERY: &str = "Power Scheme GUID: 381b4222-f694-41f0-9685-ff5bb260df2e  (Balanced)\n\
        Minimum Possible Setting: 0x00000000\nMaximum Possible Setting: 0x00000064\n\
        Possible Settings increment: 0x00000001\nPossible Settings units: %\n\
        Current AC Power Setting Index: 0x00000050\nCurrent DC Power Setting Index: 0x00000032\n";

    fn cell(value: &str) -> Cell {
        Cell {
            values: vec![
                ("n".into(), "1".into()),
                ("PROCTHROTTLEMAX".into(), value.into()),
            ],
        }
    }

    #[test]
    fn settings_are_set_once_for_each_value_and_restored() {
        let mut lines = Vec::new();
        let mut powercfg = |args: &[&str]| {
            lines.push(args.join(" "));
            Ok(QUERY.to_owned())
        };
        let mut power = Power::of(&["PROCTHROTTLEMAX".into()], None, &mut powercfg).unwrap();
        for value in ["50", "50", "100"] {
            power.set(&cell(value)).unwrap();
        }
        power.restore().unwrap();
        let set = |value| {
            format!("/SETACVALUEINDEX SCHEME_CURRENT SUB_PROCESSOR PROCTHROTTLEMAX {value}")
        };
        let active = || "/SETACTIVE SCHEME_CURRENT".to_owned();
        let query = "/QUERY SCHEME_CURRENT SUB_PROCESSOR PROCTHROTTLEMAX".to_owned();
        // 0x50 is the original value.
        assert_eq!(
            lines,
            [
                query,
                set(50),
                active(),
                set(100),
                active(),
                set(80),
                active()
            ]
        );
    }

    #[test]
    fn what_an_ended_process_has_left_is_restored_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept/power.txt");
        let mut lines = Vec::new();
        let mut powercfg = |args: &[&str]| {
            lines.push(args.join(" "));
            Ok(QUERY.to_owned())
        };
        let mut power = Power::of(&["PROCTHROTTLEMAX".into()], Some(&file), &mut powercfg).unwrap();
        power.set(&cell("50")).unwrap();
        // Like a process that is killed here. The next one has no power settings of its own.
        drop(power);
        let power = Power::of(&[], Some(&file), &mut powercfg).unwrap();
        power.restore().unwrap();
        assert!(!file.exists());
        let last = &lines[lines.len() - 2..];
        assert_eq!(
            last,
            [
                "/SETACVALUEINDEX SCHEME_CURRENT SUB_PROCESSOR PROCTHROTTLEMAX 80",
                "/SETACTIVE SCHEME_CURRENT"
            ]
        );
    }

    #[test]
    fn what_cannot_be_restored_says_how() {
        let mut powercfg = |args: &[&str]| match args[0] {
            "/QUERY" => Ok(QUERY.to_owned()),
            _ => Err(anyhow::anyhow!("Access is denied.")),
        };
        let mut power = Power::of(&["PROCTHROTTLEMAX".into()], None, &mut powercfg).unwrap();
        let error = power.set(&cell("50")).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "PROCTHROTTLEMAX cannot be 50: Access is denied."
        );
        let error = power.restore().unwrap_err();
        let hint = &error
            .downcast_ref::<etwkit_terminal::errors::Advised>()
            .unwrap()
            .hint;
        assert!(
            hint.contains("SUB_PROCESSOR PROCTHROTTLEMAX 80; powercfg /SETACTIVE"),
            "{hint}"
        );
        let mut powercfg = |_: &[&str]| Ok(String::new());
        let error = Power::of(&["NOSUCH".into()], None, &mut powercfg)
            .err()
            .unwrap();
        assert_eq!(
            error.to_string(),
            "the processor has no power setting NOSUCH"
        );
    }
}
