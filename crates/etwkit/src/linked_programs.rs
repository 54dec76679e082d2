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

/// Puts a blank before SQL that begins with a comment (`-- …`), which would be read as an option: the
/// name of an option has no blank.
pub(crate) fn with_sql_comments(mut args: Vec<OsString>) -> Vec<OsString> {
    if !args.iter().skip(1).any(|arg| arg == "sql") {
        return args;
    }
    for arg in args.iter_mut().skip(1) {
        if arg.to_str().is_some_and(is_comment) {
            let mut sql = OsString::from(" ");
            sql.push(&*arg);
            *arg = sql;
        }
    }
    args
}

fn is_comment(word: &str) -> bool {
    let name = word
        .strip_prefix("--")
        .and_then(|rest| rest.split('=').next());
    name.is_some_and(|name| name.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_may_begin_with_a_comment() {
        let read = |words: &[&str]| {
            let args = words.iter().map(OsString::from).collect();
            with_sql_comments(args)
        };
        for sql in ["-- how many\nSELECT 1", "--all\nSELECT 1"] {
            let with_blank = format!(" {sql}");
            assert_eq!(
                read(&["etwkit", "sql", "a.etwx", sql]),
                ["etwkit", "sql", "a.etwx", with_blank.as_str()]
            );
        }
        for words in [
            ["etwkit", "sql", "--", "SELECT 1"],
            ["etwkit", "sql", "--where=suite = 'x'", "SELECT 1"],
            ["etwkit", "dump", "cpu", "-- x"],
        ] {
            assert_eq!(read(&words), words);
        }
    }

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
