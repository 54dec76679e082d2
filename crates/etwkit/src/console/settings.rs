//! Settings for all queries of a console: options that are added if a command has them and the line
//! does not.

use std::ffi::OsString;

use anyhow::bail;
use clap::CommandFactory;
use etwkit_sql::time_format::{MAX_DIGITS, TimeFormat};

use crate::cli::Cli;

/// Options that are added.
#[derive(Debug, Default)]
pub(super) struct Settings {
    time_format: Option<String>,
    time_digits: Option<String>,
    process_format: Option<String>,
    clip: bool,
    full_names: bool,
}

impl Settings {
    /// Sets `.timefmt [FORMAT [DIGITS]]`. Without a format, the defaults of the commands apply.
    pub(super) fn time_format(&mut self, words: &[String]) -> anyhow::Result<String> {
        let (format, digits) = match words {
            [] => (None, None),
            [format] => (Some(format), None),
            [format, digits] => (Some(format), Some(digits)),
            _ => bail!(".timefmt FORMAT DIGITS"),
        };
        if let Some(format) = format {
            format.parse::<TimeFormat>()?;
        }
        if let Some(digits) = digits {
            self.time_digits = Some(checked_digits(digits)?);
        } else if format.is_none() {
            self.time_digits = None;
        }
        self.time_format = format.cloned();
        Ok(text("times", self.time_format.as_deref()))
    }

    /// `.timedigits [N]`.
    pub(super) fn time_digits(&mut self, words: &[String]) -> anyhow::Result<String> {
        self.time_digits = words
            .first()
            .map(|digits| checked_digits(digits))
            .transpose()?;
        Ok(text("digits of a second", self.time_digits.as_deref()))
    }

    /// `.processfmt [FORMAT]`.
    pub(super) fn process_format(&mut self, words: &[String]) -> anyhow::Result<String> {
        if let Some(format) = words
            .first()
            .filter(|format| !format.eq_ignore_ascii_case("none"))
        {
            format.parse::<TimeFormat>()?;
        }
        self.process_format = words.first().cloned();
        Ok(text(
            "start and end after processes",
            self.process_format.as_deref(),
        ))
    }

    /// Sets `.clip [0|1|true|false]`. Without a word it toggles.
    pub(super) fn clip(&mut self, words: &[String]) -> anyhow::Result<String> {
        self.clip = match words.first().map(|word| word.to_lowercase()).as_deref() {
            None => !self.clip,
            Some("1" | "true" | "on") => true,
            Some("0" | "false" | "off") => false,
            Some(word) => bail!(".clip {word}: expected 0, 1, true or false"),
        };
        Ok(text(
            "lines are cut at the width of the terminal",
            Some(on(self.clip)),
        ))
    }

    /// Toggles `.sffn`.
    pub(super) fn full_names(&mut self) -> String {
        self.full_names = !self.full_names;
        text("whole paths of extracts", Some(on(self.full_names)))
    }

    /// Adds the missing options to our arguments, which do not include the name of the program.
    pub(super) fn add(&self, args: &mut Vec<OsString>) {
        let mut command = Cli::command();
        // Options go after the last subcommand: at the end of the line they could be after `--`.
        let mut depth = 0;
        for word in args.iter() {
            let Some(sub) = word.to_str().and_then(|word| command.find_subcommand(word)) else {
                break;
            };
            command = sub.clone();
            depth += 1;
        }
        let values = [
            ("time-format", self.time_format.as_deref()),
            ("time-digits", self.time_digits.as_deref()),
            ("process-format", self.process_format.as_deref()),
            ("clip", self.clip.then_some("")),
            ("show-full-file-name", self.full_names.then_some("")),
        ];
        for (option, value) in values {
            let Some(value) = value else { continue };
            let has_option = command
                .get_arguments()
                .any(|arg| arg.get_long() == Some(option));
            let long = format!("--{option}");
            // An option of the line takes precedence over the setting for all lines.
            let is_given = args.iter().any(|arg| {
                arg.to_str()
                    .and_then(|arg| arg.strip_prefix(&long))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            });
            if has_option && !is_given {
                let arg = if value.is_empty() {
                    long
                } else {
                    format!("{long}={value}")
                };
                args.insert(depth, arg.into());
            }
        }
    }
}

fn checked_digits(text: &str) -> anyhow::Result<String> {
    match text.parse::<u8>() {
        Ok(digits) if digits <= MAX_DIGITS => Ok(digits.to_string()),
        _ => bail!("{text}: expected a number of digits from 0 to {MAX_DIGITS}"),
    }
}

const fn on(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn text(what: &str, value: Option<&str>) -> String {
    format!("{what}: {}", value.unwrap_or("as the commands say"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(settings: &Settings, line: &str) -> String {
        let mut args: Vec<OsString> = line.split(' ').map(Into::into).collect();
        settings.add(&mut args);
        args.iter()
            .map(|arg| arg.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn settings_are_added_where_a_command_has_them() {
        let mut settings = Settings::default();
        let words = |words: &str| {
            words
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(settings.time_format(&words("s 6")).unwrap(), "times: s");
        settings.clip(&[]).unwrap();
        assert_eq!(
            added(&settings, "dump cpu x"),
            "dump cpu --clip --time-digits=6 --time-format=s x"
        );
        assert_eq!(
            added(&settings, "dump cpu --time-format=utc x"),
            "dump cpu --clip --time-digits=6 --time-format=utc x"
        );
        assert_eq!(added(&settings, "info x"), "info x");
        assert!(
            settings
                .time_digits(&words("7"))
                .unwrap_err()
                .to_string()
                .contains("0 to 6")
        );
        assert!(settings.time_format(&words("never")).is_err());
        assert!(settings.process_format(&words("None")).is_ok());
        settings.time_format(&[]).unwrap();
        settings.clip(&words("0")).unwrap();
        assert_eq!(
            added(&settings, "dump cpu x"),
            "dump cpu --process-format=None x"
        );
        assert_eq!(settings.full_names(), "whole paths of extracts: on");
    }
}
