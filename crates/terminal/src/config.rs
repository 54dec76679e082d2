//! The configuration file: defaults for options that a user would otherwise repeat on every command
//! line.
//!
//! Each line is `option = value`, or the name of an option alone that takes no value; `#` begins a
//! comment. An option is added to every command that has it, unless the command line gives it. The
//! file accepts only options that change the format of an answer or the sources of names: a
//! forgotten file must not change the question. Command lines of ETWAnalyzer follow that program
//! and not this file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Command;

use crate::errors::Advised;

/// The variable that names another file; an empty one means none.
const VARIABLE: &str = "ETWKIT_CONFIG";

/// A longer file is no configuration.
const MOST_BYTES: u64 = 1 << 20;

/// Options that the file accepts, and `true` for each one that takes a value.
const OPTIONS: [(&str, bool); 12] = [
    ("clip", false),
    ("color", true),
    ("no-cmdline", false),
    ("no-digit-sep", false),
    ("process-format", true),
    ("quiet", false),
    ("rename-rules", true),
    ("stack-tag-file", true),
    ("symbols", true),
    ("time-digits", true),
    ("time-format", true),
    ("verbose", false),
];

/// Finds the known name that is most similar to another one, if any is similar enough.
pub type Nearest = for<'k> fn(&str, &[&'k str]) -> Option<&'k str>;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    option: &'static str,
    value: Option<String>,
}

/// Returns the arguments of a command line with the missing options added from the file. `root` is
/// the command definition of the program.
///
/// # Errors
/// The file cannot be read, or a line of it is no setting.
pub fn with_defaults(
    args: &[OsString],
    root: impl FnOnce() -> Command,
    nearest: Nearest,
) -> anyhow::Result<Vec<OsString>> {
    let Some(path) = path() else {
        return Ok(args.to_owned());
    };
    let Some(text) = read(&path)? else {
        return Ok(args.to_owned());
    };
    let settings = parse(&text, &path, nearest)?;
    Ok(added(args, &settings, root()))
}

/// Returns the path of the configuration file.
fn path() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    // A variable that is set but empty means no file, not the usual one.
    if std::env::var_os(VARIABLE).is_some() {
        return variable(VARIABLE);
    }
    let home = || variable("HOME");
    let folder = if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library").join("Application Support"))
    } else {
        variable("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")))
    };
    folder.map(|folder| folder.join("etwkit").join("config"))
}

/// Returns its text; `None` if there is no file in the usual place.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let is_named = std::env::var_os(VARIABLE).is_some();
    let wrong = |problem: String| Advised {
        message: format!(
            "cannot read the configuration {}: {problem}",
            path.display()
        ),
        hint: format!("{VARIABLE} names another file; empty, it means none"),
    };
    match std::fs::metadata(path) {
        // A missing file is an error only if the variable names it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_named => return Ok(None),
        Err(error) => return Err(wrong(error.to_string()).into()),
        // A read from a pipe would wait for its writer.
        Ok(metadata) if !metadata.is_file() || metadata.len() > MOST_BYTES => {
            return Err(wrong("it is not a short text file".to_owned()).into());
        }
        Ok(_) => {}
    }
    Ok(Some(
        std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?,
    ))
}

fn parse(text: &str, path: &Path, nearest: Nearest) -> anyhow::Result<Vec<Setting>> {
    let mut settings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line
            .split_once('=')
            .map_or((line, None), |(name, value)| (name, Some(value)));
        let name = name.trim().trim_start_matches("--");
        let value = value.map(|value| value.trim().to_owned());
        settings.push(
            setting(name, value, nearest).map_err(|(problem, hint)| Advised {
                message: format!("{}, line {number}: {problem}", path.display()),
                hint,
            })?,
        );
    }
    Ok(settings)
}

/// Parses a setting. The error names the fault and a hint.
fn setting(
    name: &str,
    value: Option<String>,
    nearest: Nearest,
) -> Result<Setting, (String, String)> {
    let Some((option, takes_value)) = OPTIONS.iter().find(|(option, _)| *option == name) else {
        let names = OPTIONS.map(|(option, _)| option);
        let hint = nearest(name, &names).map_or_else(
            || format!("there are: {}", names.join(" ")),
            |near| format!("do you mean {near}?"),
        );
        return Err((
            format!("{name:?} is not an option of a configuration"),
            hint,
        ));
    };
    match (takes_value, value) {
        (true, Some(value)) if !value.is_empty() => Ok(Setting {
            option,
            value: Some(value),
        }),
        (false, None) => Ok(Setting {
            option,
            value: None,
        }),
        (true, _) => Err((
            format!("{option} needs a value"),
            format!("write {option} = VALUE"),
        )),
        (false, Some(_)) => Err((
            format!("{option} takes no value"),
            format!("write {option} alone"),
        )),
    }
}

/// Returns the arguments with the missing settings added, as far as their command has these
/// options.
fn added(args: &[OsString], settings: &[Setting], mut command: Command) -> Vec<OsString> {
    let words: Vec<_> = args
        .iter()
        .skip(1)
        .map(|arg| arg.to_string_lossy())
        .collect();
    // After `--` every word is the name of a file, even if it looks like an option.
    let end = words
        .iter()
        .position(|word| word == "--")
        .unwrap_or(words.len());
    // Options that all commands share are known to each command only after the whole is built.
    command.build();
    let Some((command, named)) = meant(&command, words.iter().take(end)) else {
        return args.to_owned();
    };
    let is_given = |option: &str| {
        let is_it = |word: &str| {
            word.strip_prefix("--")
                .and_then(|word| word.split('=').next())
                == Some(option)
        };
        words.iter().take(end).any(|word| is_it(word))
    };
    // A default for one command must not be a usage error for another.
    let takes = |option: &str| {
        command
            .get_arguments()
            .any(|arg| arg.get_long() == Some(option))
    };
    // Quiet and verbose exclude each other: a line with one of them must not get the other from the
    // file.
    let is_short = |word: &str| word == "-q" || word == "-v";
    let speaks = || {
        is_given("quiet")
            || is_given("verbose")
            || words.iter().take(end).any(|word| is_short(word))
    };
    let lacking = settings.iter().filter(|setting| {
        let is_said =
            is_given(setting.option) || (matches!(setting.option, "quiet" | "verbose") && speaks());
        takes(setting.option) && !is_said
    });
    // Joined with `=`, so that a value with a leading dash is not taken for an option.
    let lacking = lacking.map(|Setting { option, value }| match value {
        Some(value) => format!("--{option}={value}").into(),
        None => format!("--{option}").into(),
    });
    // A command that passes a line on to another program takes all words after the first one for
    // that program, so options of etwkit have to come before it.
    let passes_on = command
        .get_arguments()
        .any(clap::Arg::is_trailing_var_arg_set);
    let end = if passes_on { named } else { end };
    let (front, behind) = args.split_at_checked(end + 1).unwrap_or((args, &[]));
    front
        .iter()
        .cloned()
        .chain(lacking)
        .chain(behind.iter().cloned())
        .collect()
}

/// Returns the command that words name, and the number of words up to its name; `None` if they name
/// none, which only prints help.
fn meant<'c, 'w>(
    root: &'c Command,
    words: impl Iterator<Item = &'w std::borrow::Cow<'w, str>>,
) -> Option<(&'c Command, usize)> {
    let mut command = root;
    let mut named = 0;
    for (count, word) in (1..).zip(words) {
        if let Some(sub) = command.find_subcommand(&**word) {
            (command, named) = (sub, count);
        }
    }
    (!std::ptr::eq(command, root) && !command.has_subcommands()).then_some((command, named))
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }

    #[test]
    fn defaults_are_added_where_commands_have_them() {
        let text = "# how I like it\n\ntime-format = utc\nno-digit-sep\n--color=never\nquiet\n";
        let settings = parse(text, Path::new("config"), |_, _| None).unwrap();
        let option = |name| Arg::new(name).long(name);
        let said = [
            option("color"),
            option("quiet"),
            option("verbose").short('v'),
        ];
        let cpu = Command::new("cpu")
            .args(said.clone())
            .args([option("time-format"), option("no-digit-sep")]);
        let passed_on = Arg::new("line")
            .num_args(1..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true);
        let root = Command::new("etwkit")
            .subcommand(Command::new("info").args(said.clone()))
            .subcommand(Command::new("wpr").args(said).arg(passed_on))
            .subcommand(Command::new("dump").subcommand(cpu));
        for (line, expected) in [
            (
                "etwkit dump cpu a.etwx",
                "etwkit dump cpu a.etwx --time-format=utc --no-digit-sep --color=never --quiet",
            ),
            (
                "etwkit dump cpu --time-format s a.etwx -v",
                "etwkit dump cpu --time-format s a.etwx -v --no-digit-sep --color=never",
            ),
            (
                "etwkit info --quiet -- a.etl",
                "etwkit info --quiet --color=never -- a.etl",
            ),
            (
                "etwkit wpr -start CPU",
                "etwkit wpr --color=never --quiet -start CPU",
            ),
            ("etwkit --help", "etwkit --help"),
            ("etwkit dump", "etwkit dump"),
        ] {
            assert_eq!(
                added(&args(line), &settings, root.clone()),
                args(expected),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, problem) in [
            (
                "\ntime-fromat = s",
                "config, line 2: \"time-fromat\" is not an option of a configuration",
            ),
            (
                "process = x",
                "config, line 1: \"process\" is not an option of a configuration",
            ),
            ("time-format", "config, line 1: time-format needs a value"),
            ("clip = yes", "config, line 1: clip takes no value"),
        ] {
            assert_eq!(
                parse(text, Path::new("config"), |_, _| None)
                    .unwrap_err()
                    .to_string(),
                problem
            );
        }
    }
}
