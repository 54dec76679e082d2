//! Programs of others that this one answers for when a link to it has their name: `ln -s etwkit wpr`.

use std::ffi::OsString;
use std::path::Path;

use etwkit_base::path::stem_of;

/// Names of programs, and the command of ours that takes their lines as they are.
pub(crate) const PROGRAMS: [(&str, &[&str]); 4] = [
    ("wpr", &["record", "wpr"]),
    ("xperf", &["record", "xperf"]),
    ("wpaexporter", &["wpaexporter"]),
    ("strace", &["strace"]),
];

/// Returns the command line with the command that the name of the program stands for.
pub(crate) fn resolved(mut args: Vec<OsString>) -> Vec<OsString> {
    let Some(program) = args.first() else {
        return args;
    };
    let stem = stem_of(Path::new(program)).to_lowercase();
    let known = PROGRAMS.iter().find(|(name, _)| *name == stem);
    if let Some((_, command)) = known {
        args.splice(1..1, command.iter().map(OsString::from));
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> String {
        let args = words.split(' ').map(OsString::from).collect();
        let resolved = resolved(args).into_iter().map(OsString::into_string);
        resolved.collect::<Result<Vec<_>, _>>().unwrap().join(" ")
    }

    #[test]
    fn a_link_answers_as_the_program_of_its_name() {
        assert_eq!(
            line("/usr/bin/wpr -start CPU"),
            "/usr/bin/wpr record wpr -start CPU"
        );
        assert_eq!(
            line("XPERF.EXE -d a.etl"),
            "XPERF.EXE record xperf -d a.etl"
        );
        assert_eq!(
            line("wpaexporter -i a.etl"),
            "wpaexporter wpaexporter -i a.etl"
        );
        assert_eq!(line("./strace a.etl"), "./strace strace a.etl");
        assert_eq!(line("etwkit wpr -start CPU"), "etwkit wpr -start CPU");
    }

    #[test]
    fn each_command_exists() {
        for (name, words) in PROGRAMS {
            let mut command = &crate::cli::command();
            for word in words {
                command = command
                    .find_subcommand(word)
                    .unwrap_or_else(|| panic!("{name}: {word}"));
            }
        }
    }
}
